"""What came out of a case."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFigures:
    """One flow. Goodput: payload that arrived (in order), in Gbit/s."""

    name: str
    source: str
    target: str
    size_bytes: int | None
    start_us: float | None  # None: the flows that it waits for were never delivered
    ideal_us: float | None  # of a flow with a size, alone: ideal.py
    goodput_gbit_per_s: float  # between warm-up and end
    goodput_all_gbit_per_s: float  # between the flow's start and its stop (or the end)
    delivered_bytes: int
    retransmitted_packets: int
    error_status: int | None
    completion_us: float | None  # of a flow with a size that is done: until its last ACK is back
    goodput_series_gbit_per_s: tuple[float, ...]  # one a bin
    rate_series_gbit_per_s: tuple[float, ...]  # that DCQCN lets it send at the end of each bin
    alpha_series: tuple[float, ...]

    @property
    def slowdown(self) -> float | None:
        """How many times as long as alone it took; ideal_us is a sum of floats, and no better than
        nine digits."""
        if self.completion_us is None or self.ideal_us is None:
            return None
        return round(self.completion_us / self.ideal_us, 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """One egress queue; lengths in bytes of its cells, sampled between warm-up and end."""

    switch: str
    port: str
    queue: int
    mean_bytes: float
    deviation_bytes: float
    percentile_bytes: dict[str, int]  # 1 10 50 90 99 100
    peak_bytes: int  # the longest it ever was, start-up included
    series_bytes: tuple[float, ...]  # mean of each bin
    forwarded_packets: int
    forwarded_bytes: int
    marked_packets: int
    dropped_packets: int  # bound for this queue, wherever; of them:
    tail_dropped_packets: int  # at its limit
    wred_dropped_packets: int  # picked by RED


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkFigures:
    """What RED did in one egress queue, sampled or not."""

    switch: str
    port: str
    queue: int
    marked_packets: int
    wred_dropped_packets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseFigures:
    """One port and priority that sent, or received, pauses; None: the port, by 802.3x frames."""

    device: str
    port: str
    priority: int | None
    sent_frames: int
    received_frames: int
    paused_us: float  # how long received frames held it
    pausing_us: float  # how long pauses that it sent were in force
    sent_frames_before_warmup: int
    paused_series_us: tuple[float, ...]  # how long it was held in each bin


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFigures:
    """Drops of one switch port, each in one place; and frames its link lost on their way to it.

    At the port that they arrived by: `input_buffer` (no shared buffer), `headroom` (overrun). At
    the port that they were bound for: `output_buffer` (queue limit), `wred`, `link_down`.
    """

    switch: str
    port: str
    input_buffer: int
    headroom: int
    output_buffer: int
    wred: int
    link_down: int
    lost_on_wire: int
    ttl: int = 0  # came in by this port, and had used up its TTL
    no_route: int = 0
    watchdog: int = 0  # a guard has shut the queue, or what comes in
    crc: int = 0  # came in by this port with a bad checksum


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFigures:
    """A port and priority that a pause watchdog or a deadlock detection has shut.

    Packets: `drained`, `dropped` and `ingress_dropped` of the last shutdown, aggregates of all.
    """

    switch: str
    port: str
    priority: int
    shutdowns: int
    restored: int
    drained: int
    dropped: int
    aggregate_dropped: int
    ingress_dropped: int
    aggregate_ingress_dropped: int
    last_shut_ms: float | None
    last_restored_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFigures:
    """One host's NIC."""

    host: str
    ecn_marked: int
    cnp_sent: int
    cnp_handled: int
    cnp_ignored: int
    out_of_sequence: int
    nacks: int
    timeouts: int
    discards: int = 0  # frames that the NIC's receive buffers had no room for


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayFigures:
    """Data packets of rc flows of a priority, between warm-up and end: their first bit sent until
    their last is at the host; or, `round_trip`, until an ACK is back. Percentiles to 1 %."""

    priority: int
    round_trip: bool
    packets: int
    mean_us: float
    percentile_us: dict[str, float]  # 50 90 99 99.9
    longest_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """One port and priority on the way in, with its watermarks in bytes of cells and its drops."""

    switch: str
    port: str
    priority: int
    peak_shared_bytes: int
    peak_headroom_bytes: int
    headroom_drops: int
    input_buffer_drops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFigures:
    """One switch's memory: watermarks (the most that was ever used) in bytes of its cells."""

    switch: str
    total_bytes: int
    shared_bytes: int
    peak_used_bytes: int
    headroom_pool_bytes: int
    peak_headroom_pool_bytes: int
    peak_headroom_bytes: dict[str, int]  # "port/priority"; own and pool
    peak_queue_bytes: dict[str, int]  # "port/queue"
    groups: tuple[GroupFigures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Everything that came out of one run of a case."""

    case: str
    seed: int
    duration_ms: float  # less than planned when it was ended early
    planned_ms: float
    warmup_ms: float
    bin_ms: float
    flows: tuple[FlowFigures, ...]
    queues: tuple[QueueFigures, ...]
    marks: tuple[MarkFigures, ...]
    pauses: tuple[PauseFigures, ...]
    drops: tuple[DropFigures, ...]
    guards: tuple[GuardFigures, ...]
    hosts: tuple[HostFigures, ...]
    memory: tuple[MemoryFigures, ...]
    delays: tuple[DelayFigures, ...] = ()
    notes: tuple[str, ...] = ()  # what these figures hang on without saying so

    @property
    def total_goodput_gbit_per_s(self) -> float:
        """Of all flows, between warm-up and end."""
        return sum(flow.goodput_gbit_per_s for flow in self.flows)

    @property
    def fairness(self) -> float:
        """Jain's index of the flows' goodput: 1 when all are equal, 1/n when one has all."""
        rates = [flow.goodput_gbit_per_s for flow in self.flows]
        squares = sum(rate * rate for rate in rates)
        return sum(rates) ** 2 / (len(rates) * squares) if squares else 0.0

    @property
    def dropped_frames(self) -> int:
        """Frames dropped in switches."""
        arriving = sum(d.input_buffer + d.headroom + d.ttl + d.no_route for d in self.drops)
        return arriving + sum(
            d.output_buffer + d.wred + d.link_down + d.watchdog for d in self.drops
        )

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            **asdict(self),
            "total_goodput_gbit_per_s": self.total_goodput_gbit_per_s,
            "fairness": self.fairness,
            "dropped_frames": self.dropped_frames,
            "flows": [{**asdict(flow), "slowdown": flow.slowdown} for flow in self.flows],
        }
