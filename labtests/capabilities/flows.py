"""What a workload saw: flows as their own tools tell of them, and pause storms."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from labtests.core.output import told
from labtests.core.units import BitsPerSecond, Bytes


class FlowStatus(StrEnum):
    """How a flow ended. Only COMPLETE is evidence of traffic."""

    COMPLETE = "complete"
    FAILED = "failed"  # the tool said so, or its figures cannot be true
    INFRASTRUCTURE = "infrastructure"  # the flow never started for a reason outside the fabric


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One report row of a sender (or receiver): goodput between two moments of the lab's clock."""

    start_s: float
    end_s: float
    goodput_bits_per_s: BitsPerSecond


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long messages of one size took, one way, as a tool tells: half of there and back."""

    message_bytes: int
    messages: int
    least_us: float
    typical_us: float
    mean_us: float
    p99_us: float
    p999_us: float
    most_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """One sender's share of a workload, as its own tool reported it."""

    sender: str
    receiver: str
    tool: str
    tos: int
    status: FlowStatus
    because: str  # the tool's own words, or "" when complete
    command: str
    intervals: tuple[Interval, ...] = ()
    goodput_bits_per_s: BitsPerSecond | None = None  # mean over the whole flow; None = not reported
    offered_bits_per_s: BitsPerSecond | None = (
        None  # asked of a paced tool; None = as fast as it can
    )
    sent_bits_per_s: BitsPerSecond | None = None  # what the sender itself counted, over its time
    asked_s: float | None = None  # how long it was to send; None = until it is ended
    ran_s: float | None = None  # how long it sent, as its tool says
    sent_bytes: Bytes | None = None  # payload, as the sender counted
    received_bytes: Bytes | None = None  # payload, as the receiver counted
    sent_datagrams: int | None = None
    receive_buffer_bytes: Bytes | None = None  # of its receiving sockets, all together
    unsure_datagrams: int | None = None  # of those: at most so many did not leave; None = not known
    extra_packets: int | None = None  # packets with `tos` beside those: exactly; None = not known
    received_datagrams: int | None = None
    lost_datagrams: int | None = None
    late_datagrams: int | None = None  # came behind a later one; None = not told
    retransmits: int | None = None  # TCP only
    iterations: int | None = None  # RDMA messages
    latency: Latency | None = None  # of a probe
    retries: tuple[str, ...] = ()  # infrastructure failures before this one worked

    def __post_init__(self) -> None:
        object.__setattr__(self, "because", told(self.because))

    @property
    def is_rdma(self) -> bool:
        """Whether the tool is one of perftest."""
        return self.tool.startswith("ib_")

    @property
    def is_read(self) -> bool:
        """Whether the receiver of the data asked for it: an RDMA read."""
        return self.tool.startswith("ib_read_")


PauseForm = Literal["priority", "link", "no class", "no source"]
"""Of a pause frame: of one priority (802.1Qbb), of the whole link (802.3x), of no priority at all
although it has a time for each, of one priority and from the address 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StormResult:
    """What a host's pause storms came to: `times` of `lasting_ms`, of one priority, together
    `frames` that tell `switch_port` to stop. `because` says what went wrong, "" when they ran.
    `spans_s`: when each was asked for, and when it was seen to have ended, by the lab's clock: its
    first frame came after the one, its last before the other; two storms are the same whenever
    they were."""

    switch: str
    switch_port: str
    priority: int
    lasting_ms: int
    times: int
    frames: int
    because: str = ""
    form: PauseForm = "priority"
    spans_s: tuple[tuple[float, float], ...] = field(default=(), compare=False)
