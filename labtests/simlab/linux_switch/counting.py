"""What qdiscs have counted: the packet network's queues since the qdisc was made.

tc counts frames without their check sequence. A queue's packets are counted where they are once, by
every qdisc that they pass. `overlimits` of a RED are its marks and early drops, as recorded; those
of an htb, which count how often it had to wait, stay 0: not modelled.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from labtests.network import QueueCounters
from labtests.simlab.faults import DeviceFaults
from labtests.simlab.linux_switch.nodes import PortTree, QdiscNode
from labtests.simlab.refreshing import ShownCounters

FCS_BYTES = 4
QUEUES = 8
_DROPS = (
    "dropped_packets",
    "dropped_bytes",
    "tail_dropped_packets",
    "wred_dropped_packets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QdiscCounts:
    """Of one qdisc. `early` and `full`: drops of a RED's curve, and of the fifo below it."""

    packets: int = 0
    bytes: int = 0
    drops: int = 0
    overlimits: int = 0
    backlog_bytes: int = 0
    backlog_packets: int = 0
    marked: int = 0
    early: int = 0
    full: int = 0


class Counting:
    """The counters of a switch's ports."""

    def __init__(self, network: ShownCounters, faults: DeviceFaults) -> None:
        self._network, self._faults = network, faults

    def now(self, port: str) -> tuple[QueueCounters, ...]:
        """The eight queues; drops as they are shown when that counter is dead."""
        live = self._network.queue_counters(port)
        drops = self._faults.reading(
            port,
            "queue-drops",
            lambda: tuple({name: getattr(each, name) for name in _DROPS} for each in live),
        )
        return tuple(replace(each, **shown) for each, shown in zip(live, drops, strict=True))

    def of(self, port: str, tree: PortTree, node: QdiscNode) -> QdiscCounts:
        """One qdisc now."""
        queue = tree.queue_of(node)
        rows = range(QUEUES) if queue is None else (queue,)
        now = self.now(port)
        found = _sum(_since(now[row], node.born[row]) for row in rows)
        if node.kind == "red":
            return replace(found, overlimits=found.marked + found.early)
        above = None if queue is None else next(tree.chain(tree.leaves()[queue].id))
        if above is not node and above is not None:
            return replace(found, drops=found.full)  # what RED or netem drops comes no further
        return found

    def shows(self, port: str, tree: PortTree, node: QdiscNode) -> bool:
        """Whether it is in the output: not when a fault has its queue's counters disappear."""
        queue = tree.queue_of(node)
        return queue is None or not self._faults.missing(port, f"queue-{queue}")


def _since(now: QueueCounters, born: QueueCounters) -> QdiscCounts:
    packets = now.forwarded_packets - born.forwarded_packets
    return QdiscCounts(
        packets=packets,
        bytes=now.forwarded_bytes - born.forwarded_bytes - FCS_BYTES * packets,
        drops=max(0, now.dropped_packets - born.dropped_packets),
        backlog_bytes=now.length_cells - FCS_BYTES * now.length_packets,
        backlog_packets=now.length_packets,
        marked=now.marked_packets - born.marked_packets,
        early=max(0, now.wred_dropped_packets - born.wred_dropped_packets),
        full=max(0, now.tail_dropped_packets - born.tail_dropped_packets),
    )


def _sum(parts: Iterable[QdiscCounts]) -> QdiscCounts:
    found = list(parts)
    return QdiscCounts(
        **{
            each.name: sum(getattr(part, each.name) for part in found)
            for each in fields(QdiscCounts)
        }
    )
