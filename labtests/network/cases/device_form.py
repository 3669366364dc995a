"""The form of what a case file says about devices: NICs, switches and their ports."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Priority = Annotated[int, Field(ge=0, le=7)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=1e12)]
NotNegative = Annotated[float, Field(ge=0, le=1e12)]
Milliseconds = Annotated[float, Field(ge=0, le=1e9)]  # picoseconds must fit into 62 bits
Period = Annotated[float, Field(ge=0.001, le=1e9)]  # us
GbitPerS = Annotated[float, Field(ge=1e-6, le=1e4)]
HostRate = Annotated[float, Field(ge=0, le=1e4)]  # Gbit/s; 0: stands still
Count = Annotated[int, Field(ge=1, le=2**31)]
Bytes = Annotated[int, Field(ge=0, le=2**40)]


class CasePart(BaseModel):
    """Strict: no conversions, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GroupPart(CasePart):
    """What some priorities have of their own in a switch's memory, on every port."""

    priorities: list[Priority] = Field(min_length=1)
    alpha: Positive | None = None
    xoff_bytes: Bytes | None = None
    xon_offset_bytes: Bytes | None = None
    guaranteed_bytes: Bytes | None = None
    headroom_bytes: Bytes | None = None


class MemoryPart(CasePart):
    """The packet memory of a switch; how it works: labtests/network/memory.py."""

    total_bytes: Annotated[int, Field(ge=1, le=2**40)] = 16_000_000
    cell_bytes: Count = Field(default=208, description="1: no rounding of frames up to cells.")
    alpha: Positive = 0.125
    guaranteed_bytes: Bytes = Field(default=1664, description="Per port and each of 8 priorities.")
    headroom_bytes: Bytes | None = Field(
        default=None, description="Per port and PFC priority; by rate and length unless given."
    )
    headroom_pool_bytes: Bytes = Field(default=0, description="For all groups; own then 0.")
    headroom_pool_limit_bytes: Bytes | None = Field(
        default=None, description="What one group may take of it; by rate and length unless given."
    )
    xoff_bytes: Bytes | None = Field(default=None, description="Static threshold; else dynamic.")
    xon_offset_bytes: Bytes = 457_600
    egress_limit_bytes: Bytes = Field(default=5_200_000, description="Per lossy queue.")
    egress_alpha: Positive | None = Field(
        default=None, description="A dynamic limit of lossy queues, instead of egress_limit_bytes."
    )
    egress_shared_bytes: Bytes | None = Field(
        default=None,
        description="What lossy queues share; as large as the shared pool if not given.",
    )
    egress_guaranteed_bytes: Bytes = Field(default=1664, description="Per lossy queue.")
    groups: list[GroupPart] | None = None


class EcnPart(CasePart):
    """RED and ECN on egress queues; marking.py."""

    queues: list[Priority] = Field(min_length=1)
    low_bytes: Bytes
    high_bytes: Bytes
    probability: Share
    weighting_exponent: Annotated[int, Field(ge=0, le=15)] = 0
    mark: Literal["arriving", "leaving", "never"] = Field(
        default="arriving", description="never: picked packets are dropped, ECN-capable or not."
    )
    poll_period_us: Period | None = Field(
        default=None, description="The average looks so often; at each arrival unless given."
    )


class QueuePart(CasePart):
    """One egress queue in its scheduler."""

    group: Literal["sp", "1", "2"]
    weight: Count = 1


class SchedulePart(CasePart):
    """How the eight queues of every port are served; scheduling.py."""

    discipline: Literal["sp", "wrr", "wfq"] = "wrr"
    unit: Literal["weight", "byte-count"] = "byte-count"
    queues: list[QueuePart] | None = Field(default=None, min_length=8, max_length=8)


class RoutePart(CasePart):
    """A static route of a switch: used before the shortest path."""

    to: str = Field(description="A host, an IPv4 prefix (10.0.0.0/8), or `any`.")
    via: str | Annotated[list[str], Field(max_length=64)] = Field(
        description="A port, by the device it leads to; of several, the hash chooses; [] drops."
    )


class PausePart(CasePart):
    """How ports pause and obey; pause_frames.py, pausing.py."""

    quanta: Annotated[int, Field(ge=1, le=65535)] = 65535
    refresh_share: Share = Field(
        default=0.5, description="Of a pause's time, then it is sent again; 0: never."
    )
    response_ns: Annotated[float, Field(ge=0, le=1e9)] | None = Field(
        default=None, description="From a pause's arrival until it takes effect; 0 unless given."
    )
    response_quanta: Annotated[int, Field(ge=0, le=65535)] | Literal["longest"] | None = Field(
        default=None,
        description="The same in quanta of the link; longest: what 802.1Qbb allows at its rate.",
    )


class LinkPausePart(CasePart):
    """802.3x: one pause for all priorities, instead of PFC; link_pausing.py, receiving.py."""

    send: bool = True
    obey: bool = True
    xoff_bytes: Annotated[int, Field(ge=1, le=2**40)] | None = Field(
        default=None, description="Of a switch port: all that came in by it; xon_bytes: half."
    )
    xon_bytes: Bytes | None = None


class ReceivePart(CasePart):
    """A host that takes packets in at a rate, and its NIC's receive buffers; receiving.py."""

    rate_gbit_per_s: HostRate | None = Field(
        default=None, description="Bytes of frames with FCS; 0: nothing; as they come unless given."
    )
    buffer_bytes: Annotated[int, Field(ge=1, le=2**40)] = Field(
        default=131_008, description="Of each priority."
    )
    xoff_bytes: Annotated[int, Field(ge=1, le=2**40)] | None = Field(
        default=None, description="Half of the buffer unless given; xon_bytes: half of that."
    )
    xon_bytes: Bytes | None = None


class RateLimitPart(CasePart):
    """The most that each of these egress queues sends, preamble and gap counted; shaping.py."""

    queues: list[Priority] = Field(min_length=1)
    rate_gbit_per_s: GbitPerS
    burst_bytes: Annotated[int, Field(ge=1, le=2**30)] = 16_384


class WatchdogPart(CasePart):
    """A pause watchdog, NX-OS or SONiC; network/watchdog.py."""

    interval_ms: Positive = 100.0
    shutdown_multiplier: Annotated[int, Field(ge=1, le=10)] = 1
    auto_restore_multiplier: Annotated[float, Field(ge=0, le=100)] = 10.0
    fixed_restore_multiplier: Annotated[float, Field(ge=0, le=100)] = 0.0
    action: Literal["drop", "forward", "alert"] = "drop"
    poll_ms: Positive = 100.0
    phase_ms: NotNegative | None = Field(
        default=None, description="Polls are at phase_ms + n poll_ms; from the seed unless given."
    )
    priorities: list[Priority] | None = Field(default=None, description="Unless given, all.")


class DeadlockPart(CasePart):
    """Comware's detection of PFC deadlocks; network/watchdog.py."""

    interval_ms: Positive
    delay_ms: Positive | None = Field(default=None, description="recover_mode auto needs it.")
    recover_mode: Literal["auto", "manual"] = "auto"
    action: Literal["forward", "drop"] = "forward"
    precision_ms: Positive = 10.0
    phase_ms: NotNegative | None = None
    priorities: list[Priority] | None = Field(default=None, description="Unless given, all.")


class PauseTimeoutPart(CasePart):
    """A pause timeout of FCoE ports; network/watchdog.py."""

    timeout_ms: Positive = 500.0
    poll_ms: Positive = 100.0
    phase_ms: NotNegative | None = None
    priorities: list[Priority] | None = Field(default=None, description="Unless given, all.")


Dscp = Annotated[int, Field(ge=0, le=63)]
_KEY = BeforeValidator(lambda key: int(key) if isinstance(key, str) and key.isdecimal() else key)
DscpKey = Annotated[Dscp, _KEY]
PriorityKey = Annotated[Priority, _KEY]


class PortPart(CasePart):
    """Settings of one port of a switch; what is not given is as for the switch."""

    pfc: list[Priority] | None = None
    ecn: list[EcnPart] | None = None
    schedule: SchedulePart | None = None
    rate_limits: list[RateLimitPart] | None = None
    pause: PausePart | None = None
    link_pause: LinkPausePart | None = None
    headroom_bytes: Bytes | None = Field(
        default=None, description="Per lossless priority; as `memory` says unless given."
    )
    watchdog: WatchdogPart | None = None
    deadlock: DeadlockPart | None = None
    pause_timeout: PauseTimeoutPart | None = None
    trust: Literal["dscp", "dot1p", "none"] | None = Field(
        default=None, description="dscp unless given. dot1p: 0 for packets without a tag."
    )


class SwitchPart(PortPart):
    """Settings of a switch and all its ports, or of all switches that have none of their own."""

    memory: MemoryPart | None = None
    ports: dict[str, PortPart] | None = Field(
        default=None, description="By the name of the device that the port leads to."
    )
    dscp_dot1p: dict[DscpKey, Priority] | None = Field(
        default=None, description="DSCP -> dot1p (PFC priority); others dscp / 8."
    )
    dot1p_lp: dict[PriorityKey, Priority] | None = Field(
        default=None, description="dot1p -> queue; others the same number."
    )
    routes: list[RoutePart] | None = None
    hash_seed: Annotated[int, Field(ge=0, le=2**32 - 1)] | None = Field(
        default=None, description="Of ECMP; by the switch's name unless given, so all differ."
    )


class DcqcnPart(CasePart):
    """A reaction point and a notification point. `connectx`: dcqcn.py; others: reaction.py."""

    form: Literal["off", "connectx", "timers", "paper"] = "connectx"
    parameters: dict[str, int] = Field(
        default_factory=dict, description="form connectx: sysfs names of roce_rp and roce_np."
    )
    gain: Share = 1 / 256
    alpha_period_us: Period = 55.0
    cut_period_us: Period = 50.0
    increase_period_us: Period = 55.0
    byte_counter_bytes: Bytes = 10_000_000
    recovery_stages: Count = 5
    additive_gbit_per_s: NotNegative = 0.04
    hyper_gbit_per_s: NotNegative = 0.2
    min_rate_gbit_per_s: GbitPerS = 0.04
    clamp_target: bool = True
    cnp_interval_us: Annotated[int, Field(ge=0, le=2**31)] | None = None
    cnp_priority: Priority | None = None
    cnp_pacing: Literal["flow", "port", "none"] = Field(
        default="flow", description="What keeps the CNP interval. none: each mark is answered."
    )
    cnp_dscp: Dscp | None = Field(default=None, description="8 x cnp_priority unless given.")
    cnp_polled: bool = Field(default=False, description="CNPs go at the ends of intervals.")
    cnp_in_order: bool = Field(default=False, description="No CNP for packets out of sequence.")
    rp_priorities: list[Priority] | None = Field(
        default=None, description="Whose flows obey CNPs; unless given, all. form off: none."
    )
    np_priorities: list[Priority] | None = Field(
        default=None, description="Whose marks are answered with CNPs; unless given, all."
    )


class NicPart(CasePart):
    """Settings of a host's NIC, or of all that have none of their own."""

    pfc: list[Priority] | None = None
    dcqcn: DcqcnPart | None = None
    pause: PausePart | None = None
    link_pause: LinkPausePart | None = None
    receive: ReceivePart | None = None
    random_gap: Annotated[float, Field(ge=0, le=0.1)] | None = Field(
        default=None, description="Most of a frame's time that passes behind it at random; 0."
    )
    trust: Literal["dscp", "pcp"] | None = Field(default=None, description="dscp unless given.")
    dscp: dict[DscpKey, Priority] | None = Field(
        default=None, description="DSCP -> priority; others dscp / 8."
    )
