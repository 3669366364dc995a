"""What waits for what: the dependencies of a routed network's buffers, and cycles of them.

What has come in by channel a waits for channel b when a packet takes b after a. Where both are
lossless, a full buffer behind b fills the one behind a. A cycle of such turns can lock for good
(Dally and Seitz 1987; for PFC: Hu et al., HotNets 2016); without a cycle nothing can.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import networkx as nx

from labtests.topology.fabric import NONE_DEAD, Dead, Fabric
from labtests.topology.routing import (
    Hops,
    Target,
    arrivals,
    hops_to,
    sources_of,
    targets_of,
)

Turn = tuple[int, int]
"""In by a channel, out by the next."""
MOST_STARTS = 400
"""Channels of a knot from which its shortest cycle is looked for; a larger knot has it from some,
and then it may not be the shortest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Channels of which each waits for the next, and the last for the first."""

    priorities: tuple[int, ...]
    channels: tuple[int, ...]

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

    def add(self, hops: Hops, sources: Iterable[int]) -> None:
        """The turns of packets from these switches to a target."""
        for switch, ins in arrivals(self.fabric, hops, sources).items():
            outs = hops.get(switch, ())
            key = (tuple(ins), outs)
            if ins and outs and key not in self._known:
                self._known.add(key)
                for channel in ins:
                    self.turns.setdefault(channel, set()).update(outs)

    def takes(self, turn: Turn) -> bool:
        """Whether packets take a turn."""
        return turn[1] in self.turns.get(turn[0], ())

    @property
    def knotted(self) -> int:
        """How many channels are part of some cycle."""
        return sum(len(knot) for _, held in self.fabric.planes for knot in _knots(self.turns, held))

    def cycles(self) -> list[Cycle]:
        """The shortest cycle of each knot, of each group of priorities; the shortest first."""
        found = [
            Cycle(priorities=tuple(sorted(priorities)), channels=channels)
            for priorities, held in self.fabric.planes
            for channels in map(_shortest, _knots(self.turns, held))
        ]
        return sorted(found, key=lambda cycle: (len(cycle.channels), cycle.channels))


def _knots(turns: Mapping[int, set[int]], held: frozenset[int]) -> Iterator[nx.DiGraph]:
    """Lossless channels of which each waits, through others, for each."""
    graph = nx.DiGraph()
    graph.add_edges_from(
        (one, other) for one, outs in turns.items() if one in held for other in outs & held
    )
    for knot in nx.strongly_connected_components(graph):
        if len(knot) > 1:
            yield graph.subgraph(knot)


def _shortest(knot: nx.DiGraph) -> tuple[int, ...]:
    """A shortest cycle of a knot, from its lowest channel on: breadth first from each channel."""
    best: list[int] = []
    for start in sorted(knot)[:MOST_STARTS]:
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


def routed(
    fabric: Fabric, dead: Dead = NONE_DEAD, targets: Iterable[Target] | None = None
) -> Routed:
    """The network with what is dead routed around."""
    targets = targets_of(fabric) if targets is None else targets
    return with_hops(fabric, [(target, hops_to(fabric, target, dead)) for target in targets])


def with_hops(fabric: Fabric, hops: Iterable[tuple[Target, Hops]]) -> Routed:
    """The network with these routes."""
    made = Routed(fabric=fabric, hops=tuple(hops), dependencies=Dependencies(fabric))
    for target, outs in made.hops:
        made.dependencies.add(outs, sources_of(fabric, target))
    return made
