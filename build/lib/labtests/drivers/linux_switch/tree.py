"""The tree of a port's qdiscs, and which of its leaves is which queue.

From the root down, shapers (tbf, or an htb with one class) and netem are passed through, one above
the other, until the first qdisc that divides: there a queue is a band of prio or ets as tc numbers
it from 0 (band 0 is served first), or a leaf class of htb, numbered from 0 in ascending order of
the class's minor number. A port that nothing divides has one queue, 0: its root.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from labtests.drivers.linux_switch.handles import Handle
from labtests.drivers.linux_switch.qdiscs import HOOKS, Qdisc
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

_DIVIDES = frozenset({"htb", "prio", "ets"})
_UNKNOWN = frozenset({"hfsc", "drr", "qfq", "cbq", "sfb", "choke", "dsmark", "atm", "taprio"})
_MOST = 2048  # qdiscs of a port: a NIC has one for each of some hundred queues
_DEEPEST = 16
_HAND = "give the port a tree that docs/testbeds.md describes (htb, prio or ets with fifo or red)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One queue: its class (None where the root is the queue) and the qdiscs in it from above (a
    shaper, RED, a fifo); none where tc shows none."""

    queue: int
    of: Handle | None
    chain: tuple[Qdisc, ...]

    @property
    def qdisc(self) -> Qdisc | None:
        """The uppermost: what it lets out has left the queue."""
        return self.chain[0] if self.chain else None

    @property
    def red(self) -> Qdisc | None:
        """The RED of this queue."""
        return next((each for each in self.chain if each.red is not None), None)

    @property
    def fifo(self) -> Qdisc | None:
        """The fifo that holds its packets, where labtests knows the kind."""
        last = self.chain[-1] if self.chain else None
        return last if last is not None and last.limit is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """All of a port. `scheduler` divides it into queues; None where nothing does."""

    root: Qdisc
    above: tuple[Qdisc, ...]  # what everything passes before the scheduler
    scheduler: Qdisc | None
    leaves: tuple[Leaf, ...]
    hooks: frozenset[str]  # ingress, clsact
    handles: frozenset[int]  # the major numbers that are taken

    def leaf_of(self, queue: int) -> Leaf | None:
        """The leaf of a queue; None where the port has no such queue."""
        return next((leaf for leaf in self.leaves if leaf.queue == queue), None)


def at_place(node: Qdisc) -> tuple[str, ...]:
    """Where it hangs, as tc wants to be told."""
    return ("root",) if node.parent is None else ("parent", str(node.parent))


def tree_of(reply: Reply, qdiscs: Sequence[Qdisc]) -> Tree:
    """Put them together. Refuses what would leave a packet in a queue that is not read."""
    hooks = frozenset(each.kind for each in qdiscs) & HOOKS
    qdiscs = [each for each in qdiscs if each.kind not in HOOKS]
    _expect_a_tree(reply, qdiscs)
    roots = [each for each in qdiscs if each.parent is None]
    if len(roots) != 1:
        refuse(reply, f"{len(roots)} root qdiscs, not one")
    node, above = roots[0], list[Qdisc]()
    while (inner := _inner(reply, qdiscs, node)) is not None:
        above.append(node)
        node = inner
    if node.kind in _UNKNOWN:
        refuse(reply, f"labtests does not know how {node} divides the port", _HAND)
    divided = node.kind in _DIVIDES
    leaves = _leaves(reply, qdiscs, node) if divided else (_whole(qdiscs, [*above, node]),)
    return Tree(
        root=roots[0],
        above=tuple(above),
        scheduler=node if divided else None,
        leaves=leaves,
        hooks=hooks,
        handles=frozenset(each.handle.major for each in qdiscs),
    )


def _expect_a_tree(reply: Reply, qdiscs: Sequence[Qdisc]) -> None:
    """A host says what it likes: what hangs in itself has no end, and each look at what is below
    something takes as long as there are qdiscs."""
    if len(qdiscs) > _MOST:
        refuse(reply, f"there are {len(qdiscs)} qdiscs, more than {_MOST}")
    named = {each.handle.major: each for each in qdiscs if each.handle.major}
    if len(named) != sum(each.handle.major != 0 for each in qdiscs):
        refuse(reply, "two qdiscs have the same handle")
    for each in qdiscs:
        depth, above = 1, each
        while above.parent is not None and above.parent.major in named:
            depth, above = depth + 1, named[above.parent.major]
            if depth > _DEEPEST:
                refuse(reply, f"{each} hangs under {_DEEPEST} others")


def _below(qdiscs: Sequence[Qdisc], node: Qdisc) -> list[Qdisc]:
    """What hangs in the classes of this qdisc, by class. An unnamed qdisc (0:) has no classes."""
    found = [
        each
        for each in qdiscs
        if each.parent is not None and node.handle.major and each.parent.major == node.handle.major
    ]
    return sorted(found, key=lambda each: each.parent or Handle(0))


def _inner(reply: Reply, qdiscs: Sequence[Qdisc], node: Qdisc) -> Qdisc | None:
    """What is the only thing below this one, where that or something below it divides."""
    below = _below(qdiscs, node)
    deeper = [each for top in below for each in _chain(qdiscs, top)]
    if not any(each.kind in _DIVIDES | _UNKNOWN for each in deeper):
        return None
    if len(below) == 1 and (node.kind not in _DIVIDES or below[0].kind in _DIVIDES | _UNKNOWN):
        return below[0]
    if node.kind not in _DIVIDES:
        refuse(reply, f"{node} has {len(below)} divided queues", _HAND)
    return None


def _leaves(reply: Reply, qdiscs: Sequence[Qdisc], node: Qdisc) -> tuple[Leaf, ...]:
    below = {each.parent: each for each in _below(qdiscs, node)}
    if len(below) != len(_below(qdiscs, node)):
        refuse(reply, f"a class of {node} has two qdiscs")
    classes = [parent for parent in below if parent is not None]
    if node.bands is not None:
        bands = [Handle(node.handle.major, band + 1) for band in range(node.bands.number)]
        if strange := set(classes) - set(bands):
            refuse(reply, f"{node} has no band for {min(strange)}")
        classes = bands
    found = tuple(_leaf(qdiscs, n, of, below.get(of)) for n, of in enumerate(classes))
    for leaf in found:
        if leaf.qdisc is not None:
            _expect_undivided(reply, qdiscs, leaf.queue, leaf.qdisc)
    return found


def _leaf(qdiscs: Sequence[Qdisc], queue: int, of: Handle, top: Qdisc | None) -> Leaf:
    return Leaf(queue=queue, of=of, chain=() if top is None else tuple(_chain(qdiscs, top)))


def _whole(qdiscs: Sequence[Qdisc], down: Sequence[Qdisc]) -> Leaf:
    return Leaf(queue=0, of=None, chain=tuple(_chain(qdiscs, down[0])))


def _chain(qdiscs: Sequence[Qdisc], top: Qdisc) -> list[Qdisc]:
    """This one and what is below it, as long as there is one below each."""
    chain = [top]
    while len(below := _below(qdiscs, chain[-1])) == 1:
        chain.append(below[0])
    return chain


def _expect_undivided(reply: Reply, qdiscs: Sequence[Qdisc], queue: int, top: Qdisc) -> None:
    for each in _chain(qdiscs, top):
        if each.kind in _DIVIDES | _UNKNOWN:
            refuse(reply, f"queue {queue} is divided again by {each}", _HAND)
