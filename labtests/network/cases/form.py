"""The form of a case file, as pydantic models. They know forms, not what names refer to.

Devices: device_form.py.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from labtests.inventory.mistakes import Path
from labtests.inventory.names import Name, PortName
from labtests.network.cases.device_form import (
    CasePart,
    Count,
    Dscp,
    GbitPerS,
    HostRate,
    Milliseconds,
    NicPart,
    NotNegative,
    Period,
    PortPart,
    Positive,
    Priority,
    Share,
    SwitchPart,
)
from labtests.network.cases.host_ports import with_host_ports
from labtests.network.cases.workload_form import WorkloadPart


class LinkPart(CasePart):
    """A full-duplex link between two devices."""

    between: list[PortName] = Field(min_length=2, max_length=2)
    rate_gbit_per_s: Annotated[float, Field(ge=0.001, le=8000)]
    delay_us: NotNegative | None = Field(default=None, description="One way; or length_m.")
    length_m: NotNegative | None = None
    overhead_bytes: Annotated[int, Field(ge=0, le=255)] = 20
    loss: Share = 0.0


class FlowPart(CasePart):
    """Traffic between two hosts."""

    name: Name | None = None
    source: PortName
    target: PortName
    kind: Literal["rc", "udp", "tcp"] = "rc"
    priority: Priority = 3
    dscp: Dscp | None = Field(default=None, description="Of its packets; 8 x priority.")
    pcp: Priority | None = Field(default=None, description="In an 802.1Q tag; unless given, none.")
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = None
    after: list[Name] | None = Field(
        default=None,
        description="rc: starts when these flows (above it) are delivered, start_us later.",
    )
    size_bytes: Annotated[int, Field(ge=1, le=2**50)] | None = Field(
        default=None,
        description="rc: ends after so many bytes; the last message is as short as it must be.",
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
    recovery: Literal["go-back-n", "selective"] = "go-back-n"
    reorder_packets: Annotated[int, Field(ge=0, le=4000)] = Field(
        default=0, description="selective: so many may overtake one before it is asked for."
    )
    ttl: Annotated[int, Field(ge=1, le=255)] = 64
    source_port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None, description="UDP's or TCP's, of the first queue pair; 49152 and on."
    )


class StormPart(CasePart):
    """Fault: a port that sends pauses whatever its memory holds; pause_frames.py."""

    device: PortName
    port: str | None = Field(default=None, description="Of a switch: the device it leads to.")
    priorities: Annotated[list[Priority], Field(min_length=1)] | Literal["all"] = Field(
        description="all: 802.3x frames."
    )
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = Field(default=None, description="Unless given it never ends.")
    quanta: Annotated[int, Field(ge=1, le=65535)] = 65535
    period_us: Period | None = Field(
        default=None, description="Between frames; half of what a pause lasts unless given."
    )


class EventPart(CasePart):
    """Something that happens to a link or a route at a time; happenings.py."""

    at_us: NotNegative = 0.0
    device: PortName
    port: str | None = Field(default=None, description="By the device it leads to; a host has one.")
    do: Literal["down", "up", "lose", "corrupt", "route"]
    until_us: NotNegative | None = Field(default=None, description="down, lose, corrupt: the end.")
    frames: list[Count] | None = Field(default=None, description="The n-th ones that arrive.")
    every: Count | None = Field(default=None, description="Or each n-th one.")
    of: Literal["any", "data", "control", "pause"] = "any"
    to: str | None = Field(default=None, description="route: as in a switch's `routes`.")
    via: str | list[str] | None = Field(default=None, description="route: none withdraws it.")


class TunnelPart(CasePart):
    """A VXLAN tunnel between two switches, for their hosts; labtests/network/tunnels.py."""

    between: list[Name] = Field(min_length=2, max_length=2)
    copy_dscp: bool = True
    copy_ecn: bool = True
    copy_back: bool = True


class SlowReceiverPart(CasePart):
    """Fault: a host takes packets in at this rate for a while; receiving.py."""

    host: PortName
    rate_gbit_per_s: HostRate
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = Field(default=None, description="Unless given it never ends.")


class QueueName(CasePart):
    """One egress queue of a switch: that of the port to `port` (`s2#2`: the second link)."""

    switch: Name
    port: str
    queue: Priority = 3


class SamplingPart(CasePart):
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


class CaseFile(CasePart):
    """The top of a case file."""

    name: Name
    description: str = ""
    duration_ms: Annotated[float, Field(gt=0, le=1e9)]
    warmup_ms: Milliseconds = Field(default=0.0, description="Means and percentiles start here.")
    seed: Annotated[int, Field(ge=0, le=2**31)] = 1
    start_jitter_us: NotNegative = Field(
        default=0.0, description="Flows start within so much behind start_us, at random."
    )
    hosts: dict[PortName, NicPart | None] = Field(min_length=1)
    switches: dict[Name, SwitchPart | None] = Field(default_factory=dict)
    links: list[LinkPart] = Field(min_length=1)
    routing: Literal["shortest", "ecmp", "spray"] = "shortest"
    nic: NicPart = NicPart()
    switch: SwitchPart = SwitchPart()
    tunnels: list[TunnelPart] = Field(default_factory=list)
    flows: list[FlowPart] = Field(default_factory=list)
    flows_from: str | None = Field(
        default=None, description="A CSV or parquet file with more flows, beside this file."
    )
    workloads: list[WorkloadPart] = Field(default_factory=list)
    storms: list[StormPart] = Field(default_factory=list)
    events: list[EventPart] = Field(default_factory=list)
    slow_receivers: list[SlowReceiverPart] = Field(default_factory=list)
    sampling: SamplingPart = SamplingPart()

    @model_validator(mode="before")
    @classmethod
    def _each_host_port_by_itself(cls, tree: Any) -> Any:
        return with_host_ports(tree)


def switch_parts(case: CaseFile) -> list[tuple[Path, SwitchPart]]:
    """What is said about all switches, and about single ones, each with its place in the file."""
    own = [(("switches", name), part) for name, part in case.switches.items() if part is not None]
    return [(("switch",), case.switch), *own]


def port_parts(case: CaseFile) -> list[tuple[Path, PortPart]]:
    """The same, and what is said about their ports."""
    switches = switch_parts(case)
    ports = [
        ((*path, "ports", name), own)
        for path, part in switches
        for name, own in (part.ports or {}).items()
    ]
    return [*switches, *ports]
