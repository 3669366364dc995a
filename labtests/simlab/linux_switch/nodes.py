"""The queues of one port as the kernel keeps them: qdiscs, htb classes, u32 filters.

What is listed comes in the kernel's own order, that of its hash tables (include/linux/hash.h,
net/sched/sch_api.c): the root, then by hash of the handle, the newest first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from labtests.network import QueueCounters
from labtests.simlab.linux_switch.quantities import Id

UNNAMED = 0
FIRST_OWN_HANDLE = 0x8001  # what the kernel calls a qdisc that nobody named
DEFAULT_PACKETS = 1000  # txqueuelen
HOLDING = frozenset({"red", "netem"})
"""Kinds with one class, in which another qdisc may hang."""
_GOLDEN_RATIO = 0x61C88647
_QDISC_BITS = 4
_LEAST_CLASS_BUCKETS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RedOptions:
    """RED as tc gives it to the kernel; sizes in bytes. `ewma` is the exponent of the weight."""

    limit: int
    min: int
    max: int
    ewma: int
    probability: float
    cell_log: int
    ecn: bool


@dataclass(slots=True, kw_only=True, eq=False)
class QdiscNode:
    """One qdisc. `born` are the counters of the port's queues when it was made: it counts since.

    `limit`: bytes of a bfifo, packets of a pfifo. `default_minor`: of an htb. The kernel lists all
    but the fifo that it puts in the place of a deleted qdisc, not even with `invisible`.
    """

    kind: str
    handle: int
    parent: Id | None
    made: int  # how many were made on this port before
    born: tuple[QueueCounters, ...]
    limit: int = 0
    red: RedOptions | None = None
    default_minor: int = 0
    loss: int = 0  # of a netem, in parts of 2**32 - 1, as the kernel keeps it
    listed: bool = True


@dataclass(slots=True, kw_only=True, eq=False)
class ClassNode:
    """A class of an htb; a quantum of 0 means: by rate, not yet counted."""

    id: Id
    parent: Id | None
    made: int
    rate: int
    ceil: int
    burst: int
    cburst: int
    prio: int
    quantum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterNode:
    """A u32 filter: IP packets whose first word & mask is value go to this class."""

    parent: int
    protocol: str
    pref: int
    value: int
    mask: int
    to: Id


@dataclass(slots=True, eq=False)
class PortTree:
    """All of one port."""

    qdiscs: list[QdiscNode] = field(default_factory=list)
    classes: dict[Id, ClassNode] = field(default_factory=dict)
    filters: list[FilterNode] = field(default_factory=list)
    made: int = 0
    named: int = FIRST_OWN_HANDLE

    def copy(self) -> "PortTree":
        """One that can be changed without this one."""
        return PortTree(
            qdiscs=[replace(each) for each in self.qdiscs],
            classes=dict(self.classes),
            filters=list(self.filters),
            made=self.made,
            named=self.named,
        )

    def count(self) -> int:
        """The number of what is made now."""
        self.made += 1
        return self.made

    def own_handle(self) -> int:
        """A name that the kernel gives."""
        self.named += 1
        return self.named - 1

    @property
    def root(self) -> QdiscNode | None:
        """The root qdisc."""
        return next((each for each in self.qdiscs if each.parent is None), None)

    def named_as(self, handle: int) -> QdiscNode | None:
        """The qdisc with this handle."""
        return next((each for each in self.qdiscs if handle and each.handle == handle), None)

    def below(self, parent: Id) -> QdiscNode | None:
        """The qdisc in this class."""
        return next((each for each in self.qdiscs if each.parent == parent), None)

    def has_class(self, which: Id) -> bool:
        """Whether something can hang there: a leaf class of htb, or the one class of a RED or a
        netem."""
        over = self.named_as(which.major)
        if over is not None and over.kind in HOLDING:
            return which.minor == 1
        return which in self.classes

    def is_inner(self, which: Id) -> bool:
        """Whether classes hang below this one, so that it holds no packets itself."""
        return any(each.parent == which for each in self.classes.values())

    def leaves(self) -> list[ClassNode]:
        """The classes that hold packets, by number: queue 0 is the first."""
        return sorted(
            (each for each in self.classes.values() if not self.is_inner(each.id)),
            key=lambda each: each.id,
        )

    def chain(self, which: Id) -> Iterator[QdiscNode]:
        """What is in a class, from above."""
        node = self.below(which)
        while node is not None:
            yield node
            node = self.below(Id(node.handle, 1)) if node.kind in HOLDING else None

    def queue_of(self, node: QdiscNode) -> int | None:
        """Which queue a qdisc belongs to; None for one that all pass."""
        for queue, leaf in enumerate(self.leaves()):
            if any(each is node for each in self.chain(leaf.id)):
                return queue
        return None

    def remove(self, node: QdiscNode) -> None:
        """The qdisc is gone, and what hangs below it."""
        for each in [each for each in self.qdiscs if each.parent == Id(node.handle, 1)]:
            if node.kind in HOLDING:
                self.remove(each)
        self.qdiscs = [each for each in self.qdiscs if each is not node]


def listed(qdiscs: Iterable[QdiscNode]) -> list[QdiscNode]:
    """In the order in which the kernel tells them."""
    return sorted(
        qdiscs, key=lambda each: (each.parent is not None, _bucket(each.handle), -each.made)
    )


def listed_classes(classes: Iterable[ClassNode]) -> list[ClassNode]:
    """In the order in which the kernel tells those of one htb (include/net/sch_generic.h)."""
    found = list(classes)
    buckets = _LEAST_CLASS_BUCKETS
    while len(found) * 4 > buckets * 3:
        buckets *= 2
    return sorted(found, key=lambda each: (_class_hash(each.id) & (buckets - 1), -each.made))


def _bucket(handle: int) -> int:
    return (handle << 16) * _GOLDEN_RATIO % 2**32 >> (32 - _QDISC_BITS)


def _class_hash(which: Id) -> int:
    number = which.major << 16 | which.minor
    number ^= number >> 8
    return number ^ number >> 4
