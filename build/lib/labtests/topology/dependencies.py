"""What waits for what: the dependencies of a routed network's buffers, and cycles of them.

What has come in by channel a waits for channel b when a packet takes b after a. Where both are
lossless, a full buffer behind b fills the one behind a. A cycle of such turns can lock for good
(Dally and Seitz 1987; for PFC: Hu et al., HotNets 2016); without a cycle nothing can.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

import networkx as nx

from labtests.topology.fabric import NONE_DEAD, Dead, Fabric, Priorities
from labtests.topology.routing import (
    Hops,
    Target,
    arrivals,
    hops_to,
    path,
    sources_of,
    targets_of,
    towards,
)

Turn = tuple[int, int]
"""In by a channel, out by the next."""
NOTHING: Mapping[int, Collection[int]] = MappingProxyType({})
MOST_STARTS = 400
"""Channels of a knot from which its shortest cycle is looked for; a larger knot has it from some,
and then it may not be the shortest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Channels of which each waits for the next, and the last for the first. `held`: the priority
    that waits behind each of them, where these are not the same all the way round."""

    priorities: tuple[int, ...]
    channels: tuple[int, ...]
    held: tuple[int, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """In by one channel, out by the next."""
        return tuple(zip(self.channels, (*self.channels[1:], self.channels[0]), strict=True))


@dataclass(slots=True)
class Dependencies:
    """Which turns packets take."""

    fabric: Fabric
    turns: dict[int, set[int]] = field(default_factory=dict)
    _known: set[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=set)

    def add(
        self, hops: Hops, sources: Iterable[int], entering: Mapping[int, Collection[int]] = NOTHING
    ) -> dict[int, list[int]]:
        """The turns of packets from these switches to a target, and where they come in.
        `entering`: channels by which more of them come, to be sent on as all others."""
        come = arrivals(self.fabric, hops, {*sources, *entering})
        for switch, channels in entering.items():
            come[switch] = [*dict.fromkeys((*come[switch], *channels))]
        for switch, ins in come.items():
            outs = hops.get(switch, ())
            key = (tuple(ins), outs)
            if ins and outs and key not in self._known:
                self._known.add(key)
                for channel in ins:
                    self.turns.setdefault(channel, set()).update(outs)
        return come

    def takes(self, turn: Turn) -> bool:
        """Whether packets take a turn."""
        return turn[1] in self.turns.get(turn[0], ())

    @property
    def knotted(self) -> int:
        """How many channels are part of some cycle."""
        return sum(len(knot) for _, knot in self._knots())

    def cycles(self, beside: Collection[int] = ()) -> list[Cycle]:
        """The shortest cycle of each knot, of each group of priorities; the shortest first.
        `beside`: only cycles through some switch that is not one of these."""
        found = []
        for priorities, knot in self._knots():
            starts = [one for one in knot if self.fabric.tail(self._channel(one)) not in beside]
            if starts:
                found.append(self._cycle(priorities, _shortest(knot, starts)))
        return sorted(found, key=lambda cycle: (len(cycle.channels), cycle.channels))

    def _cycle(self, priorities: Priorities, nodes: tuple[int, ...]) -> Cycle:
        channels = tuple(map(self._channel, nodes))
        if not self.fabric.entangled:
            return Cycle(priorities=tuple(sorted(priorities)), channels=channels)
        held = tuple(node // len(self.fabric.heads) for node in nodes)
        return Cycle(priorities=tuple(sorted({*held})), channels=channels, held=held)

    def _channel(self, node: int) -> int:
        return node % len(self.fabric.heads)

    def _knots(self) -> Iterator[tuple[Priorities, nx.DiGraph]]:
        """Nodes are channels; where priorities wait for each other, channels with a priority."""
        if self.fabric.entangled:
            yield from ((frozenset[int](), knot) for knot in _knots(self._entangled()))
            return
        for priorities, held in self.fabric.planes:
            edges = (
                (one, other)
                for one, outs in self.turns.items()
                if one in held
                for other in outs & held
            )
            yield from ((priorities, knot) for knot in _knots(edges))

    def _entangled(self) -> Iterator[tuple[int, int]]:
        fabric, count = self.fabric, len(self.fabric.heads)
        for one, outs in self.turns.items():
            for other in outs:
                for p, q in product(fabric.held[one], fabric.held[other]):
                    if fabric.passed_on(fabric.heads[one], p, q):
                        yield one + count * p, other + count * q


def _knots(edges: Iterable[tuple[int, int]]) -> Iterator[nx.DiGraph]:
    """Of which each waits, through others, for each."""
    graph = nx.DiGraph()
    graph.add_edges_from(edges)
    for knot in nx.strongly_connected_components(graph):
        if len(knot) > 1:
            yield graph.subgraph(knot)


def _shortest(knot: nx.DiGraph, starts: Collection[int]) -> tuple[int, ...]:
    """A shortest cycle of a knot through one of these: breadth first from each; from its lowest
    node on."""
    best: list[int] = []
    for start in sorted(starts)[:MOST_STARTS]:
        ways = nx.single_source_shortest_path(knot, start, cutoff=len(best) - 2 if best else None)
        back = [ways[before] for before in knot.predecessors(start) if before in ways]
        best = min([*back, *([best] if best else [])], key=len)
        if len(best) == 2:
            break
    lowest = best.index(min(best))
    return tuple(best[lowest:] + best[:lowest])


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """A network with routes to every target, and the turns that packets take."""

    fabric: Fabric
    hops: tuple[tuple[Target, Hops], ...]
    dependencies: Dependencies

    def users(self, turn: Turn) -> Iterator[tuple[Target, Hops]]:
        """Targets whose packets take a turn."""
        for target, hops in self.hops:
            first, second = (self.fabric.tail(channel) for channel in turn)
            if turn[0] in hops.get(first, ()) and turn[1] in hops.get(second, ()):
                reached = arrivals(self.fabric, hops, sources_of(self.fabric, target))
                if first in reached:
                    yield target, hops

    def way(self, turn: Turn) -> tuple[Target, int, tuple[int, ...]] | None:
        """Somebody who takes a turn: the target, where they begin, all their channels; None where
        that is not known (into a tunnel)."""
        for target, hops in self.users(turn):
            tail = self.fabric.tail(turn[0])
            before = towards(self.fabric, hops, sources_of(self.fabric, target), tail)
            start = self.fabric.tail(before[0]) if before else tail
            return target, start, tuple(path(self.fabric, hops, start, (*before, *turn)))
        return None


def routed(
    fabric: Fabric, dead: Dead = NONE_DEAD, targets: Iterable[Target] | None = None
) -> Routed:
    """The network with what is dead routed around."""
    targets = targets_of(fabric) if targets is None else targets
    return with_hops(fabric, [(target, hops_to(fabric, target, dead)) for target in targets])


def with_hops(fabric: Fabric, hops: Iterable[tuple[Target, Hops]]) -> Routed:
    """The network with these routes."""
    made = Routed(fabric=fabric, hops=tuple(hops), dependencies=Dependencies(fabric))
    come: dict[tuple[str, ...], dict[int, list[int]]] = {}
    for target, outs in made.hops:
        if target.entered is None:
            found = made.dependencies.add(outs, sources_of(fabric, target))
            come[target.hosts] = found if target.doors else {}
        elif door := come[target.hosts].get(target.entered):
            made.dependencies.add(outs, sources_of(fabric, target), {target.entered: door})
        else:
            made.dependencies.add(outs, sources_of(fabric, target))
    return made
