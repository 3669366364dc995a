"""The same network with one or two links or switches gone, routed around.

Not every failure has to be looked at. While each pair of switches with hosts keeps a way as short
as before, what is left of all shortest paths is a part of what there was, and so are the turns: no
new cycle can come. Only failures that lengthen a way can bring one (`lengthening`), and where all
pairs have three ways without a cable or switch in common, no two failures do (`redundant`).
Switches with the same neighbours may be exchanged, so of failures that differ only by such an
exchange one is looked at. Up-down routing has no cycle whatever fails: channels up, in the order
of the tiers, then channels down are an order in which every packet takes its channels.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

from labtests.topology.dependencies import Cycle, Routed, routed
from labtests.topology.fabric import NONE_DEAD, Dead, Element, Fabric
from labtests.topology.routing import Hops, hops_to, sources_of, targets_of

MOST_SWITCHES = 100
"""Up to so many, all failures are looked at."""
SAMPLED = 30
MOST_SETS = 5_000_000
"""Sets of failures that are sorted by what may be exchanged."""
EXAMPLES = 3
APART = 3

How = Literal["proven", "all", "sampled"]
Failed = tuple[Element, ...]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Cycles of the network that is left, or while it changes."""

    failed: Failed
    cycles: tuple[Cycle, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Failures of `count` at once. `sets` there are; of these `subsets` need no look, for no way is
    lengthened; `kept` need none either, for a cycle is there already whose packets they are not in
    the way of; `looked` were looked at, which stand for all others (unless `sampled`); `broken`
    have a cycle, with those of `kept`."""

    count: int
    how: How
    sets: int
    subsets: int = 0
    kept: int = 0
    looked: int = 0
    broken: int = 0
    examples: tuple[Broken, ...] = ()


def kinds(fabric: Fabric) -> Callable[[Failed], tuple[object, ...]]:
    """What failures are when switches with the same neighbours are exchanged; each its own kind
    where routes, PFC or the order of cables tell switches apart."""
    if not fabric.alike:
        return lambda failed: failed
    bearing = {fabric.number[name] for name in fabric.hosts.values()}
    classes = [
        (number in bearing, tuple(sorted(fabric.heads[c] for c in leads)))
        for number, leads in enumerate(fabric.leads)
    ]
    numbers = {each: number for number, each in enumerate(dict.fromkeys(classes))}
    kind = [numbers[each] for each in classes]

    def of(failed: Failed) -> tuple[object, ...]:
        return min(_spelled(fabric, kind, order) for order in (failed, failed[::-1]))

    return of


def _spelled(
    fabric: Fabric, kind: list[int], failed: Failed
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Switches by their kind and the order in which they come up."""
    met: dict[int, tuple[int, int]] = {}
    counts = Counter[int]()

    def label(switch: int) -> tuple[int, int]:
        if switch not in met:
            met[switch] = (kind[switch], counts[kind[switch]])
            counts[kind[switch]] += 1
        return met[switch]

    found: list[tuple[tuple[int, int], ...]] = []
    for each in failed:
        if each.kind == "switch":
            found.append((label(each.number),))
        else:
            found.append(tuple(sorted(label(fabric.heads[2 * each.number + e]) for e in (0, 1))))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Surveyor:
    """Looks at failures of one network."""

    fabric: Fabric
    progress: Progress = lambda text: None

    @cached_property
    def _free(self) -> bool:
        """All shortest paths of the whole network are without a cycle, and decide alone."""
        if self.fabric.told or self.fabric.tunnels:
            return False
        return not routed(replace(self.fabric, ways="ecmp")).dependencies.cycles()

    def survey(self, count: int) -> Survey:
        """All failures of so many at once, or as many as there is time for."""
        fabric = self.fabric
        elements = list(fabric.elements())
        sets = len(list(combinations(range(len(elements)), count))) if count == 1 else (
            len(elements) * (len(elements) - 1) // 2
        )  # fmt: skip
        if fabric.ways == "up-down" and not (fabric.told or fabric.tunnels):
            return Survey(count=count, how="proven", sets=sets)
        if self._free and redundant(fabric):
            return Survey(count=count, how="proven", sets=sets, subsets=sets)
        kind, alike = kinds(fabric), Counter[object]()
        chosen: dict[object, Failed] = {}
        how: How = "all"
        if sets > MOST_SETS:
            how = "sampled"
        else:
            for failed in combinations(elements, count):
                alike[kind(failed)] += 1
                chosen.setdefault(kind(failed), failed)
        if len(fabric.switches) > MOST_SWITCHES and (not chosen or len(chosen) > SAMPLED):
            how = "sampled"
            drawn = random.Random(count)
            chosen = {n: tuple(drawn.sample(elements, count)) for n in range(SAMPLED)}
            alike = Counter(dict.fromkeys(chosen, 1))
        return self._looked(chosen, alike, Survey(count=count, how=how, sets=sets))

    def _looked(
        self, chosen: dict[object, Failed], alike: Counter[object], start: Survey
    ) -> Survey:
        subsets = kept = looked = broken = 0
        examples: list[Broken] = []
        for number, (kind, failed) in enumerate(chosen.items()):
            if number % 1000 == 0:
                self.progress(f"failures of {start.count}: {number} of {len(chosen)}")
            if start.how != "sampled" and self._needs_no_look(failed):
                subsets += alike[kind]
                continue
            if start.how != "sampled" and self._keeps_a_cycle(failed):
                kept += alike[kind]
                broken += alike[kind]
                continue
            looked += 1
            cycles = routed(self.fabric, self.fabric.dead(*failed)).dependencies.cycles()
            if cycles:
                broken += alike[kind]
                examples.append(Broken(failed=failed, cycles=tuple(cycles)))
                examples = sorted(examples, key=lambda each: len(each.cycles[0].channels))
                examples = examples[:EXAMPLES]
        return replace(
            start,
            subsets=subsets,
            kept=kept,
            looked=looked,
            broken=broken,
            examples=tuple(examples),
        )

    def _needs_no_look(self, failed: Failed) -> bool:
        """No way is lengthened by any of them, one after the other. (Nor has a cycle come with the
        first ones: they would have to lengthen a way.)"""
        return self._free and all(
            each not in self._lengthening(failed[:before]) for before, each in enumerate(failed)
        )

    def _keeps_a_cycle(self, failed: Failed) -> bool:
        """A cycle that is there without some of them stays with these: the ways of its packets are
        whole, and as no other way becomes shorter, they are shortest ways still."""
        if self.fabric.ways != "ecmp" or self.fabric.told or self.fabric.tunnels:
            return False
        firsts = [(), *((each,) for each in failed if len(failed) > 1)]
        return any(
            crossed is not None and crossed.isdisjoint({*failed} - {*first})
            for first in firsts
            for crossed in [self._crossed(first)]
        )

    @cached_property
    def _ways(self) -> dict[Failed, frozenset[Element] | None]:
        return {}

    def _crossed(self, failed: Failed) -> frozenset[Element] | None:
        """What the packets of a cycle use; None where these failures leave none."""
        if failed not in self._ways:
            network = routed(self.fabric, self.fabric.dead(*failed))
            cycles = network.dependencies.cycles()
            self._ways[failed] = self._used(network, cycles[0]) if cycles else None
        return self._ways[failed]

    def _used(self, network: Routed, cycle: Cycle) -> frozenset[Element] | None:
        fabric = self.fabric
        ways = [way for turn in cycle.turns if (way := network.way(turn)) is not None]
        channels = {channel for _, _, those in ways for channel in those}
        if not channels.issuperset(cycle.channels):
            return None
        switches = {fabric.heads[end] for channel in channels for end in (channel, channel ^ 1)}
        links = {Element(kind="link", number=channel >> 1) for channel in channels}
        return frozenset(links | {Element(kind="switch", number=each) for each in switches})

    @cached_property
    def _known(self) -> dict[Failed, frozenset[Element]]:
        return {}

    def _lengthening(self, failed: Failed) -> frozenset[Element]:
        if failed not in self._known:
            self._known[failed] = lengthening(self.fabric, self.fabric.dead(*failed))
        return self._known[failed]


def lengthening(fabric: Fabric, dead: Dead) -> frozenset[Element]:
    """What lies on all shortest paths between two switches with hosts, beside these two."""
    found: set[Element] = set()
    for target in targets_of(fabric):
        hops = hops_to(fabric, target, dead, "ecmp")
        common: dict[int, frozenset[Element]] = {target.switch: frozenset()}
        for source in sources_of(fabric, target):
            if source in hops:
                here = Element(kind="switch", number=source)
                root = Element(kind="switch", number=target.switch)
                found |= _common(fabric, hops, source, common) - {here, root}
    return frozenset(found)


def _common(
    fabric: Fabric, hops: Hops, switch: int, known: dict[int, frozenset[Element]]
) -> frozenset[Element]:
    """What all ways from a switch have in common."""
    if switch not in known:
        each = [
            _common(fabric, hops, fabric.heads[c], known)
            | {
                Element(kind="link", number=c >> 1),
                Element(kind="switch", number=fabric.heads[c]),
            }
            for c in hops[switch]
        ]
        known[switch] = frozenset.intersection(*each)
    return known[switch]


def redundant(fabric: Fabric) -> bool:
    """Whether all switches with hosts have three shortest ways to each other that have nothing in
    common, so that no two failures lengthen one."""
    for target in targets_of(fabric):
        hops = hops_to(fabric, target, NONE_DEAD, "ecmp")
        for source in sources_of(fabric, target):
            if source in hops and not _apart(fabric, hops, source, target.switch):
                return False
    return True


def _apart(fabric: Fabric, hops: Hops, source: int, root: int) -> bool:
    """Found by going straight ahead: three ways are proof, fewer are none."""
    used: set[int] = set()
    found = 0
    for out in hops.get(source, ()):
        way = list(_straight(fabric, hops, out, (root, used)))
        if not way or way[-1] != root:
            continue
        used.update(way[:-1])
        found += 1
        if found == APART:
            return True
    return False


def _straight(fabric: Fabric, hops: Hops, out: int, end: tuple[int, set[int]]) -> Iterator[int]:
    """The switches of a way that begins with a channel, around used ones."""
    root, used = end
    here: int | None = fabric.heads[out]
    if here in used:
        return
    while here is not None:
        yield here
        if here == root:
            return
        further = (fabric.heads[c] for c in hops[here])
        here = next((each for each in further if each not in used), None)
