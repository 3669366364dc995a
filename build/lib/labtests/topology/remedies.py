"""What breaks the cycles of a routed network: other routes around a turn, or another priority."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from labtests.topology.dependencies import Dependencies, Routed, Turn, routed, with_hops
from labtests.topology.fabric import Dead, Fabric
from labtests.topology.routing import Hops, Target, arrivals, sources_of

MOST_TURNS = 12
FAVOURED = (4, 3, 5, 2, 1, 6, 7, 0)
"""Priorities that are proposed, in this order."""

Pair = tuple[int, Target]
"""A switch with hosts that send, and whom they send to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRoutes:
    """No packet takes these turns, all hosts still reach each other, and no cycle is left."""

    turns: tuple[Turn, ...]
    routed: Routed


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPriority:
    """What these pairs send has a lossless priority of its own; then neither one has a cycle.
    These are all pairs that take one of the turns."""

    turns: tuple[Turn, ...]
    pairs: tuple[Pair, ...]
    priority: int


def other_routes(network: Routed, dead: Dead) -> OtherRoutes | None:
    """Routes around one turn after the other, each time that which leaves the fewest channels in
    cycles."""
    turns: list[Turn] = []
    while cycles := network.dependencies.cycles():
        tried = [(_around(network, turn, dead), turn) for turn in cycles[0].turns]
        found = [(each, turn) for each, turn in tried if each is not None]
        if not found or len(turns) == MOST_TURNS:
            return None
        network, turn = min(found, key=lambda each: each[0].dependencies.knotted)
        turns.append(turn)
    return OtherRoutes(turns=tuple(turns), routed=network)


def _around(network: Routed, turn: Turn, dead: Dead) -> Routed | None:
    """Whoever takes a turn does not come to it; None where somebody has no other way."""
    users = {id(target) for target, _ in network.users(turn)}
    targets = [
        _avoiding(network.fabric, target, turn[0]) if id(target) in users else target
        for target, _ in network.hops
    ]
    found = routed(network.fabric, dead, targets)
    for (target, old), (_, new) in zip(network.hops, found.hops, strict=True):
        for source in sources_of(network.fabric, target):
            if old.get(source) and not _arrives(network.fabric, new, source, target):
                return None
    return found


def _avoiding(fabric: Fabric, target: Target, channel: int) -> Target:
    told = dict(target.told)
    if channel in told.get(fabric.tail(channel), ()):
        outs = tuple(out for out in told.pop(fabric.tail(channel)) if out != channel)
        told |= {fabric.tail(channel): outs} if outs else {}
    return replace(target, told=told, avoided=target.avoided | {channel})


def _arrives(fabric: Fabric, hops: Hops, source: int, target: Target) -> bool:
    """At the end of the way, or at a tunnel to it."""
    return not {target.switch, *target.doors}.isdisjoint(arrivals(fabric, hops, [source]))


def other_priority(network: Routed) -> OtherPriority | None:
    """A second priority for whoever takes one of the fewest turns without which there is no
    cycle. None where a link pause holds all priorities, or tunnels hide who sends."""
    fabric = network.fabric
    left = _free(fabric)
    if not left or fabric.link_pause or fabric.tunnels:
        return None
    turns = _breaking(network)
    pairs = _pairs(network, turns)
    moved, rest = Dependencies(fabric), Dependencies(fabric)
    for target, hops in network.hops:
        for source in sources_of(fabric, target):
            (moved if (source, id(target)) in pairs else rest).add(hops, [source])
    if moved.cycles() or rest.cycles():
        return None
    return OtherPriority(turns=turns, pairs=tuple(pairs.values()), priority=left[0])


def _free(fabric: Fabric) -> list[int]:
    """Priorities that are not lossless anywhere, share no queue with one that is, and that
    switches give to packets."""
    taken = frozenset().union(*fabric.held)
    queues = fabric.queues.values()
    return [
        priority
        for priority in FAVOURED
        if priority not in taken
        and all(priority in those for those in fabric.arriving.values())
        and not any(those[priority] == those[each] for those in queues for each in taken)
    ]


def _breaking(network: Routed) -> tuple[Turn, ...]:
    """Turns without which there is no cycle, each from the shortest cycle that is left."""
    left = with_hops(network.fabric, network.hops).dependencies
    turns: list[Turn] = []
    while cycles := left.cycles():
        turn = min(cycles[0].turns, key=lambda each: _knotted_without(left, each))
        left.turns[turn[0]].discard(turn[1])
        turns.append(turn)
    return tuple(turns)


def _knotted_without(dependencies: Dependencies, turn: Turn) -> int:
    dependencies.turns[turn[0]].discard(turn[1])
    knotted = dependencies.knotted
    dependencies.turns[turn[0]].add(turn[1])
    return knotted


def _pairs(network: Routed, turns: Iterable[Turn]) -> dict[tuple[int, int], Pair]:
    """Who takes one of these turns."""
    fabric, found = network.fabric, dict[tuple[int, int], Pair]()
    for turn in turns:
        for target, hops in network.users(turn):
            for source in sources_of(fabric, target):
                if fabric.tail(turn[0]) in arrivals(fabric, hops, [source]):
                    found[source, id(target)] = (source, target)
    return found
