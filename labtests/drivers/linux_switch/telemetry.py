"""What the queues of a Linux switch count.

Forwarded is what left a queue's own qdisc, dropped what that qdisc refused or threw away; of one
burst, sent = forwarded + dropped once nothing is queued any more. With TSO, GSO or GRO on, `tc`
counts the segments of what it forwards and one for what it drops: then this sum does not hold
(Obstacles says so). A reading's `source` names kind, handle and parent, so a queue that was
replaced between two reads, and began again at 0, is noticed.
"""

from collections.abc import Iterable

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, QueueTelemetry
from labtests.capabilities.facts import LiveCounters
from labtests.capabilities.readings import Reading
from labtests.drivers.linux_switch.qdiscs import Qdisc
from labtests.drivers.linux_switch.session import TcPart
from labtests.drivers.linux_switch.tree import Leaf, Tree
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_COUNTERS = (
    (c.QUEUE_FORWARDED_PACKETS, "packets"),
    (c.QUEUE_FORWARDED_BYTES, "bytes"),
    (c.QUEUE_DROPPED_PACKETS, "packets"),
    (c.QUEUE_MARKED_PACKETS, "packets"),
    (c.QUEUE_LENGTH_PACKETS, "packets"),
)


class Counters(TcPart, QueueTelemetry, DropTelemetry, LiveCounters):
    """The counters of one switch, as tc has them: a sum over queues is the only arithmetic."""

    def counts_live(self) -> bool:
        """The kernel answers with its own counters."""
        return True

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Five counters for each queue of the port; None where tc shows no qdisc for it."""
        reply, tree = yield from self.read_tree(port)
        return tuple(reading for leaf in tree.leaves for reading in _of_leaf(reply, port, leaf))

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Sums over the queues of the port: marks and early drops of RED, and all other drops, also
        those above the queues."""
        reply, tree = yield from self.read_tree(port)
        return tuple(_sums(Answered(reply, port), tree))


def _of_leaf(reply: Reply, port: str, leaf: Leaf) -> Iterable[Reading]:
    at = Answered(reply, port, "queue", leaf.queue)
    for counter, value in zip(_COUNTERS, _values(leaf), strict=True):
        missing = "" if value is not None else _why(leaf)
        yield at.reading(counter, value, _source(leaf, counter[0]), missing)


def _values(leaf: Leaf) -> tuple[int | None, ...]:
    top = leaf.qdisc
    if top is None or top.kind == "noqueue":
        return (None,) * len(_COUNTERS)
    counts, marked = top.counts, (leaf.red or top).marked
    return (counts.packets, counts.bytes, counts.drops, marked, counts.backlog_packets)


def _source(leaf: Leaf, counter: str) -> str:
    marks = counter == c.QUEUE_MARKED_PACKETS and leaf.red is not None
    return f"tc {(leaf.red if marks else leaf.qdisc) or f'nothing at {leaf.of}'}"


def _why(leaf: Leaf) -> str:
    if leaf.qdisc is None:
        return f"tc shows no qdisc in {leaf.of}"
    if leaf.qdisc.kind == "noqueue":
        return "the port has no queue (noqueue), so nothing is counted"
    return f"labtests does not know where {leaf.qdisc.kind} counts its marks"


def _sums(at: Answered, tree: Tree) -> tuple[Reading, ...]:
    tops = [leaf.qdisc for leaf in tree.leaves if leaf.qdisc is not None]
    reds = [leaf.red for leaf in tree.leaves if leaf.red is not None]
    marks = [(leaf.red or leaf.qdisc) for leaf in tree.leaves if leaf.qdisc is not None]
    marked = [each.marked for each in marks if each is not None]
    early = sum(red.red.early for red in reds if red.red is not None)
    lost = sum(top.counts.drops for top in tops) + lost_above(tree)
    known = None if None in marked else sum(n for n in marked if n is not None)
    unknown = "a queue's kind may mark, and labtests does not know where it counts that"
    words = f"tc {_all(reds) or 'without red'}"
    return (
        at.reading((c.ECN_MARKED_PACKETS, "packets"), known, f"{words}: marked", unknown),
        at.reading((c.WRED_DROPPED_PACKETS, "packets"), early, f"{words}: early"),
        at.reading(
            (c.BUFFER_DROPPED_OUT_PACKETS, "packets"),
            lost - early if lost >= early else None,
            f"tc {_all((*tree.above, *tops))}: drops - early",
            f"the queues dropped {lost}, and RED {early} of them: a counter has wrapped",
        ),
    )


def lost_above(tree: Tree) -> int:
    """Packets that never came to a queue: lost by a netem above them, or too large for a tbf. What
    the scheduler and its queues dropped is counted once more by all above (net_xmit_drop_count)."""
    if not tree.above or tree.scheduler is None:
        return 0
    return max(tree.root.counts.drops - tree.scheduler.counts.drops, 0)


def _all(qdiscs: Iterable[Qdisc]) -> str:
    return ", ".join(f"{each.kind} {each.handle}" for each in qdiscs)
