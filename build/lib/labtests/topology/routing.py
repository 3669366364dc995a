"""Which way to each host: shortest paths (one, or all of them), up-down, explicit routes.

The same ways as in the packet network (labtests/network/paths.py), without the packets; up-down is
what it has explicit routes for. Routes are those of a network that has converged: each switch knows
every host's own way, around all that has failed.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from labtests.topology.fabric import NONE_DEAD, Dead, Fabric, Ways

Hops = Mapping[int, tuple[int, ...]]
"""Of each switch, the channels that lead on to a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Hosts that all switches send to alike: plugged into one switch, with the same explicit
    routes. `avoided`: channels that routes to them may not use (a remedy). `doors`: switches at
    which packets enter a tunnel; inside one they are a target of their own, `entered` there."""

    switch: int
    hosts: tuple[str, ...]
    told: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    avoided: Dead = NONE_DEAD
    doors: frozenset[int] = frozenset()
    entered: int | None = None

    @property
    def name(self) -> tuple[tuple[str, ...], int | None]:
        """Tells it from all others of a network, with whatever routes."""
        return self.hosts, self.entered


def targets_of(fabric: Fabric) -> tuple[Target, ...]:
    """All hosts, as few targets."""
    told: dict[str, dict[int, tuple[int, ...]]] = {name: {} for name in fabric.hosts}
    for route in fabric.told:
        switch = fabric.number[route.switch]
        outs = tuple(c for c in fabric.leads[switch] if fabric.port_out(c) in route.via)
        for host in route.hosts:
            told[host][switch] = outs
    alike: dict[tuple[int, tuple[tuple[int, tuple[int, ...]], ...]], list[str]] = {}
    for host, name in fabric.hosts.items():
        key = (fabric.number[name], tuple(sorted(told[host].items())))
        alike.setdefault(key, []).append(host)
    found = []
    for (switch, routes), hosts in alike.items():
        doors = frozenset(
            fabric.number[one]
            for pair in fabric.tunnels
            for one, other in (pair, pair[::-1])
            if fabric.number[other] == switch
        )
        found.append(Target(switch=switch, hosts=tuple(hosts), told=dict(routes), doors=doors))
        found += [Target(switch=switch, hosts=tuple(hosts), entered=door) for door in sorted(doors)]
    return tuple(found)


def hops_to(
    fabric: Fabric, target: Target, dead: Dead = NONE_DEAD, ways: Ways | None = None
) -> Hops:
    """The channels by which each switch sends on to a target; its own switch delivers. Routes to
    hosts do not count inside a tunnel, whose packets go to its end."""
    ways = ways or fabric.ways
    gone = dead | target.avoided
    if target.entered is not None and ways == "shortest":
        equal = _all_shortest(fabric, target.switch, gone)
        return {switch: outs[:1] for switch, outs in equal.items()}
    found = _WAYS[ways](fabric, target.switch, gone)
    for switch, outs in target.told.items():
        found[switch] = tuple(out for out in outs if out not in dead)
    for switch in target.doors:
        found.pop(switch, None)
    return found


def steps_to(fabric: Fabric, root: int, dead: Dead) -> list[int]:
    """How many cables each switch is from this one; -1: no way."""
    steps = [-1] * len(fabric.switches)
    steps[root] = 0
    waiting = deque([root])
    while waiting:
        here = waiting.popleft()
        for channel in fabric.leads[here]:
            other = fabric.heads[channel]
            if steps[other] < 0 and channel ^ 1 not in dead:
                steps[other] = steps[here] + 1
                waiting.append(other)
    return steps


def _all_shortest(fabric: Fabric, root: int, dead: Dead) -> dict[int, tuple[int, ...]]:
    steps, heads = steps_to(fabric, root, dead), fabric.heads
    return {
        switch: tuple(
            [c for c in fabric.leads[switch] if steps[heads[c]] == step - 1 and c not in dead]
        )
        for switch, step in enumerate(steps)
        if step > 0
    }


def _one_shortest(fabric: Fabric, root: int, dead: Dead) -> dict[int, tuple[int, ...]]:
    """Each switch by where it was first reached from, cables in their order."""
    found: dict[int, tuple[int, ...]] = {}
    waiting = deque([root])
    while waiting:
        for channel in fabric.leads[waiting.popleft()]:
            other = fabric.heads[channel]
            if other != root and other not in found and channel ^ 1 not in dead:
                found[other] = (channel ^ 1,)
                waiting.append(other)
    return found


def _up_down(fabric: Fabric, root: int, dead: Dead) -> dict[int, tuple[int, ...]]:
    """Down where the target is below, else up towards a switch that has it below: a switch offers
    to others of its own tier and above only what is below it."""
    tiers, heads = fabric.tiers, fabric.heads
    steps = {root: 0}
    waiting = deque([root])
    while waiting:
        here = waiting.popleft()
        for channel in fabric.leads[here]:
            other = heads[channel]
            up = tiers[other] > tiers[here] and channel ^ 1 not in dead
            if up and other not in steps:
                steps[other] = steps[here] + 1
                waiting.append(other)
    found = {
        switch: tuple(
            c
            for c in fabric.leads[switch]
            if c not in dead and tiers[heads[c]] < tiers[switch] and steps.get(heads[c]) == step - 1
        )
        for switch, step in steps.items()
        if step
    }
    for switch in sorted(range(len(tiers)), key=lambda each: -tiers[each]):
        ups = [
            (steps[heads[c]], c)
            for c in fabric.leads[switch]
            if c not in dead and tiers[heads[c]] > tiers[switch] and heads[c] in steps
        ]
        if switch not in steps and ups:
            least = min(ups)[0]
            steps[switch] = least + 1
            found[switch] = tuple(c for step, c in ups if step == least)
    return found


_WAYS = {"shortest": _one_shortest, "ecmp": _all_shortest, "up-down": _up_down}


def sources_of(fabric: Fabric, target: Target) -> list[int]:
    """The switches whose hosts send to a target by a channel; its own one where a route leads
    away from it."""
    found = {fabric.number[name] for host, name in fabric.hosts.items() if host not in target.hosts}
    found |= {target.switch} if len(target.hosts) > 1 else set()
    if target.entered is not None:
        return sorted(found & {target.entered})
    if target.switch not in target.told:
        found.discard(target.switch)
    return sorted(found - target.doors)


def arrivals(fabric: Fabric, hops: Hops, sources: Iterable[int]) -> dict[int, list[int]]:
    """The channels by which packets for a target come into each switch that they reach."""
    found: dict[int, list[int]] = {switch: [] for switch in sources}
    waiting = list(found)
    while waiting:
        for channel in hops.get(waiting.pop(), ()):
            head = fabric.heads[channel]
            if head not in found:
                found[head] = []
                waiting.append(head)
            found[head].append(channel)
    return found


def path(fabric: Fabric, hops: Hops, start: int, through: Collection[int] = ()) -> list[int]:
    """Channels from a switch towards a target, by those of `through` where there is a choice; ends
    where it would come to a switch again, or there is no way on."""
    found: list[int] = []
    seen = set[int]()
    while start not in seen and (outs := hops.get(start, ())):
        seen.add(start)
        found.append(next((out for out in outs if out in through), outs[0]))
        start = fabric.heads[found[-1]]
    return found


def towards(fabric: Fabric, hops: Hops, sources: Sequence[int], end: int) -> list[int]:
    """Channels from the nearest of some switches to another one."""
    ways: dict[int, list[int]] = {source: [] for source in sources}
    waiting = list(ways)
    for here in waiting:
        if here == end:
            return ways[here]
        for channel in hops.get(here, ()):
            head = fabric.heads[channel]
            if head not in ways:
                ways[head] = [*ways[here], channel]
                waiting.append(head)
    return []
