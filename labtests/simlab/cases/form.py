"""The form of a case file, as pydantic models. They know forms, not what names refer to."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from labtests.inventory.names import Name

Priority = Annotated[int, Field(ge=0, le=7)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=1e12)]
NotNegative = Annotated[float, Field(ge=0, le=1e12)]
Milliseconds = Annotated[float, Field(ge=0, le=1e9)]  # picoseconds must fit into 62 bits
Period = Annotated[float, Field(ge=0.001, le=1e9)]  # us
GbitPerS = Annotated[float, Field(ge=1e-6, le=1e4)]
HostRate = Annotated[float, Field(ge=0, le=1e4)]  # Gbit/s; 0: stands still
Count = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=0, le=2**40)]


class _Part(BaseModel):
    """Strict: no conversions, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GroupPart(_Part):
    """What some priorities have of their own in a switch's memory, on every port."""

    priorities: list[Priority] = Field(min_length=1)
    alpha: Positive | None = None
    xoff_bytes: Bytes | None = None
    xon_offset_bytes: Bytes | None = None
    guaranteed_bytes: Bytes | None = None
    headroom_bytes: Bytes | None = None


class MemoryPart(_Part):
    """The packet memory of a switch; how it works: labtests/simlab/network/memory.py."""

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


class EcnPart(_Part):
    """RED and ECN on egress queues; marking.py."""

    queues: list[Priority] = Field(min_length=1)
    low_bytes: Bytes
    high_bytes: Bytes
    probability: Share
    weighting_exponent: Annotated[int, Field(ge=0, le=15)] = 0
    mark: Literal["arriving", "leaving", "never"] = Field(
        default="arriving", description="never: picked packets are dropped, ECN-capable or not."
    )
    poll_period_us: Positive | None = Field(
        default=None, description="The average looks so often; at each arrival unless given."
    )


class QueuePart(_Part):
    """One egress queue in its scheduler."""

    group: Literal["sp", "1", "2"]
    weight: Count = 1


class SchedulePart(_Part):
    """How the eight queues of every port are served; scheduling.py."""

    discipline: Literal["sp", "wrr", "wfq"] = "wrr"
    unit: Literal["weight", "byte-count"] = "byte-count"
    queues: list[QueuePart] | None = Field(default=None, min_length=8, max_length=8)


class RoutePart(_Part):
    """A static route of a switch: used before the shortest path."""

    to: str = Field(description="A host, an IPv4 prefix (10.0.0.0/8), or `any`.")
    via: str | Annotated[list[str], Field(max_length=64)] = Field(
        description="A port, by the device it leads to; of several, the hash chooses; [] drops."
    )


class PausePart(_Part):
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


class LinkPausePart(_Part):
    """802.3x: one pause for all priorities, instead of PFC; link_pausing.py, receiving.py."""

    send: bool = True
    obey: bool = True
    xoff_bytes: Annotated[int, Field(ge=1, le=2**40)] | None = Field(
        default=None, description="Of a switch port: all that came in by it; xon_bytes: half."
    )
    xon_bytes: Bytes | None = None


class ReceivePart(_Part):
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


class RateLimitPart(_Part):
    """The most that each of these egress queues sends, preamble and gap counted; shaping.py."""

    queues: list[Priority] = Field(min_length=1)
    rate_gbit_per_s: GbitPerS
    burst_bytes: Annotated[int, Field(ge=1, le=2**30)] = 16_384


class WatchdogPart(_Part):
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


class DeadlockPart(_Part):
    """Comware's detection of PFC deadlocks; network/watchdog.py."""

    interval_ms: Positive
    delay_ms: Positive | None = Field(default=None, description="recover_mode auto needs it.")
    recover_mode: Literal["auto", "manual"] = "auto"
    action: Literal["forward", "drop"] = "forward"
    precision_ms: Positive = 10.0
    phase_ms: NotNegative | None = None
    priorities: list[Priority] | None = Field(default=None, description="Unless given, all.")


class PauseTimeoutPart(_Part):
    """A pause timeout of FCoE ports; network/watchdog.py."""

    timeout_ms: Positive = 500.0
    poll_ms: Positive = 100.0
    phase_ms: NotNegative | None = None
    priorities: list[Priority] | None = Field(default=None, description="Unless given, all.")


Dscp = Annotated[int, Field(ge=0, le=63)]
_KEY = BeforeValidator(lambda key: int(key) if isinstance(key, str) and key.isdecimal() else key)
DscpKey = Annotated[Dscp, _KEY]
PriorityKey = Annotated[Priority, _KEY]


class PortPart(_Part):
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
        default=None, description="dscp unless given. No packet has a tag: dot1p is then 0."
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


class DcqcnPart(_Part):
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
    cnp_interval_us: Annotated[int, Field(ge=0)] | None = None
    cnp_priority: Priority | None = None
    cnp_pacing: Literal["flow", "port", "none"] = Field(
        default="flow", description="What keeps the CNP interval. none: each mark is answered."
    )
    cnp_polled: bool = Field(default=False, description="CNPs go at the ends of intervals.")
    cnp_in_order: bool = Field(default=False, description="No CNP for packets out of sequence.")


class NicPart(_Part):
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


class LinkPart(_Part):
    """A full-duplex link between two devices; a host has one."""

    between: list[Name] = Field(min_length=2, max_length=2)
    rate_gbit_per_s: GbitPerS
    delay_us: NotNegative | None = Field(default=None, description="One way; or length_m.")
    length_m: NotNegative | None = None
    overhead_bytes: Annotated[int, Field(ge=0, le=255)] = 20
    loss: Share = 0.0


class FlowPart(_Part):
    """Traffic between two hosts."""

    name: Name | None = None
    source: Name
    target: Name
    kind: Literal["rc", "udp", "tcp"] = "rc"
    priority: Priority = 3
    dscp: Dscp | None = Field(default=None, description="Of its packets; 8 x priority.")
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = None
    size_bytes: Annotated[int, Field(ge=1, le=2**50)] | None = Field(
        default=None, description="rc: ends after so many bytes (whole messages)."
    )
    rate_gbit_per_s: GbitPerS | None = Field(default=None, description="udp: payload rate.")
    datagram_bytes: Annotated[int, Field(ge=1, le=65507)] = 65500
    arrivals: Literal["periodic", "poisson"] = Field(
        default="periodic", description="udp: datagrams at equal intervals, or at random ones."
    )
    send_queue_datagrams: Annotated[int, Field(ge=1, le=2**20)] = 4
    ecn: bool | None = Field(
        default=None, description="Packets are ECT(0), or not; unless given, those of rc are."
    )
    streams: Annotated[int, Field(ge=1, le=1024)] = 1
    verb: Literal["send", "write", "read"] = "send"
    message_bytes: Annotated[int, Field(ge=1, le=2**31)] = 65536
    mtu_bytes: Annotated[int, Field(ge=256, le=4096)] = 1024
    header_bytes: Annotated[int, Field(ge=0, le=255)] = 62
    qps: Annotated[int, Field(ge=1, le=2**14)] = 1
    tx_depth: Annotated[int, Field(ge=1, le=2**15)] = 128
    nack_repeat_us: Count = 16_000
    retry_limit: Annotated[int, Field(ge=0, le=2**20)] = 7
    timeout_exponent: Annotated[int, Field(ge=0, le=31)] = Field(
        default=14, description="rc: retransmission after 4.096 us * 2**exponent; 0: never."
    )
    ack_every_packets: Count | None = Field(
        default=None, description="rc: packets of an ACK; one per message unless given."
    )
    control_priority: Priority | None = Field(default=None, description="Of ACKs; else the flow's.")
    go_back: Literal["packet", "message"] = "packet"
    ttl: Annotated[int, Field(ge=1, le=255)] = 64
    source_port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None, description="UDP's or TCP's, of the first queue pair; 49152 and on."
    )


class StormPart(_Part):
    """Fault: a port that sends pauses whatever its memory holds; pause_frames.py."""

    device: Name
    port: Name | None = Field(default=None, description="Of a switch: the device it leads to.")
    priorities: Annotated[list[Priority], Field(min_length=1)] | Literal["all"] = Field(
        description="all: 802.3x frames."
    )
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = Field(default=None, description="Unless given it never ends.")
    quanta: Annotated[int, Field(ge=1, le=65535)] = 65535
    period_us: Period | None = Field(
        default=None, description="Between frames; half of what a pause lasts unless given."
    )


class EventPart(_Part):
    """Something that happens to a link or a route at a time; happenings.py."""

    at_us: NotNegative = 0.0
    device: Name
    port: str | None = Field(default=None, description="By the device it leads to; a host has one.")
    do: Literal["down", "up", "lose", "corrupt", "route"]
    until_us: NotNegative | None = Field(default=None, description="down, lose, corrupt: the end.")
    frames: list[Count] | None = Field(default=None, description="The n-th ones that arrive.")
    every: Count | None = Field(default=None, description="Or each n-th one.")
    of: Literal["any", "data", "control", "pause"] = "any"
    to: str | None = Field(default=None, description="route: as in a switch's `routes`.")
    via: str | list[str] | None = Field(default=None, description="route: none withdraws it.")


class TunnelPart(_Part):
    """A VXLAN tunnel between two switches, for their hosts; labtests/simlab/network/tunnels.py."""

    between: list[Name] = Field(min_length=2, max_length=2)
    copy_dscp: bool = True
    copy_ecn: bool = True
    copy_back: bool = True


class SlowReceiverPart(_Part):
    """Fault: a host takes packets in at this rate for a while; receiving.py."""

    host: Name
    rate_gbit_per_s: HostRate
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = Field(default=None, description="Unless given it never ends.")


class QueueName(_Part):
    """One egress queue of a switch: that of the port towards `port`."""

    switch: Name
    port: Name
    queue: Priority = 3


class SamplingPart(_Part):
    """What is noted while time passes."""

    queue_period_us: Positive | None = Field(
        default=None, description="Between queue lengths; duration / 20000 unless given."
    )
    bin_ms: Positive | None = Field(
        default=None, description="Of series over time; duration / 50 unless given."
    )
    queues: list[QueueName] | None = Field(
        default=None, description="Unless given: those of the ports that lead to a flow's target."
    )


class CaseFile(_Part):
    """The top of a case file."""

    name: Name
    description: str = ""
    duration_ms: Annotated[float, Field(gt=0, le=1e9)]
    warmup_ms: Milliseconds = Field(default=0.0, description="Means and percentiles start here.")
    seed: Annotated[int, Field(ge=0, le=2**31)] = 1
    start_jitter_us: NotNegative = Field(
        default=0.0, description="Flows start within so much behind start_us, at random."
    )
    hosts: dict[Name, NicPart | None] = Field(min_length=1)
    switches: dict[Name, SwitchPart | None] = Field(default_factory=dict)
    links: list[LinkPart] = Field(min_length=1)
    routing: Literal["shortest", "ecmp"] = "shortest"
    nic: NicPart = NicPart()
    switch: SwitchPart = SwitchPart()
    tunnels: list[TunnelPart] = Field(default_factory=list)
    flows: list[FlowPart] = Field(min_length=1)
    storms: list[StormPart] = Field(default_factory=list)
    events: list[EventPart] = Field(default_factory=list)
    slow_receivers: list[SlowReceiverPart] = Field(default_factory=list)
    sampling: SamplingPart = SamplingPart()
