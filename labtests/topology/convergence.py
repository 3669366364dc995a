"""While routes change: some switches have their new routes, the others still have the old ones.

Each switch changes all its routes at one moment, in any order. What a mixture of old and new routes
can bring is looked for in all mixtures at once (each switch sends on by its old routes and by its
new ones), which finds every cycle and may find more than there are; so for each one a set of
switches is looked for that, updated alone, bring it. What is on a cable that is down is lost.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from labtests.topology.dependencies import Cycle, Routed, Turn, with_hops
from labtests.topology.fabric import NONE_DEAD, Dead, Element, Fabric, NoTiers
from labtests.topology.failures import MOST_SWITCHES, Progress, kinds
from labtests.topology.routing import Hops, Target, hops_to, sources_of, steps_to, targets_of

SAMPLED_KINDS = 12
MOST_TRIED = 2000
"""Choices of routes that are tried for one cycle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteChange:
    """An element fails, or comes back (`repair`)."""

    element: Element
    repair: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """Rounds of updates, one after the other (within each, any order), and whether that keeps all
    cycles away. `sound`: the routes before the change and behind it have none."""

    rounds: tuple[tuple[int, ...], ...]
    rule: str
    free: bool
    sound: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """A cycle while routes change. It is there once the switches of `updated` have their new
    routes and the others have not; None: no such set was found, and none is excluded. `up_down`:
    the same change with up-down routing, where that has no cycle in any order."""

    change: RouteChange
    cycle: Cycle
    updated: frozenset[int] | None
    order: Ordered
    up_down: "Transition | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """`changes` there are, `looked` stand for them (unless `sampled`), `broken` have a cycle in
    some order of updates, `broken_looked` of those that were looked at."""

    sampled: bool
    changes: int
    looked: int = 0
    broken: int = 0
    broken_looked: int = 0
    examples: tuple[Unsettled, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Transition:
    """The routes before a change and behind it, by target; old ones without what is dead."""

    fabric: Fabric
    change: RouteChange
    hops: tuple[tuple[Target, Hops, Hops], ...]

    @classmethod
    def of(cls, fabric: Fabric, change: RouteChange) -> "Transition":
        """Of one change of a network in which nothing else has failed."""
        gone = fabric.dead(change.element)
        before, after = (gone, NONE_DEAD) if change.repair else (NONE_DEAD, gone)
        down = NONE_DEAD if change.repair else gone
        hops = []
        for target in targets_of(fabric):
            old = hops_to(fabric, target, before)
            alive = {v: tuple(c for c in outs if c not in down) for v, outs in old.items()}
            hops.append((target, alive, hops_to(fabric, target, after)))
        return cls(fabric=fabric, change=change, hops=tuple(hops))

    @property
    def updates(self) -> list[int]:
        """The switches whose routes change."""
        found: set[int] = set()
        for _, old, new in self.hops:
            found |= {v for v in {*old, *new} if set(old.get(v, ())) != set(new.get(v, ()))}
        return sorted(found)

    def mixed(self, updated: Collection[int]) -> Routed:
        """The network when these switches have their new routes, and no others."""
        return self._during(updated, ())

    def any_mixture(self) -> Routed:
        """All mixtures at once: more than each of them."""
        return self._during((), range(len(self.fabric.switches)))

    def updated_for(self, cycle: Cycle) -> frozenset[int] | None:
        """Switches that, updated alone, bring this cycle; None: none was found."""
        options = [list(dict.fromkeys(self._needs(turn))) for turn in cycle.turns]
        for tried, chosen in enumerate(_consistent(options, {})):
            if tried == MOST_TRIED:
                return None
            for otherwise in (False, True):
                updated = frozenset(v for v in self.updates if chosen.get(v, otherwise))
                there = self.mixed(updated).dependencies
                if all(there.takes(turn) for turn in cycle.turns):
                    return updated
        return None

    def _needs(self, turn: Turn) -> Iterator[tuple[tuple[int, bool], ...]]:
        """For each target that may take a turn: which switches have to be updated, or not yet."""
        for _, old, new in self.hops:
            needs = []
            for channel in turn:
                switch = self.fabric.tail(channel)
                before, behind = (channel in hops.get(switch, ()) for hops in (old, new))
                if not before and not behind:
                    break
                needs += [] if before and behind else [(switch, behind)]
            else:
                yield tuple(needs)

    def ordered(self) -> Ordered:
        """The farthest switches first when something fails, the nearest first when it comes back
        (RFC 6976): nobody sends to one that sends back."""
        element = self.change.element
        at = (
            [element.number]
            if element.kind == "switch"
            else [self.fabric.heads[2 * element.number + end] for end in (0, 1)]
        )
        far = [steps_to(self.fabric, each, NONE_DEAD) for each in at]
        by_steps: dict[int, list[int]] = {}
        for switch in self.updates:
            by_steps.setdefault(min(steps[switch] for steps in far), []).append(switch)
        steps = sorted(by_steps, reverse=not self.change.repair)
        rounds = tuple(tuple(by_steps[each]) for each in steps)
        what = "nearest to the repair" if self.change.repair else "farthest from the failure"
        rule = f"{what} first"
        ends = (self.mixed(()), self.mixed(range(len(self.fabric.switches))))
        sound = not any(each.dependencies.cycles() for each in ends)
        free = sound and self._is_free(rounds)
        return Ordered(rounds=rounds, rule=rule, free=free, sound=sound)

    def _is_free(self, rounds: tuple[tuple[int, ...], ...]) -> bool:
        """No cycle in any round, whatever the order within it, and of what its beginning and its
        end bring together: what is in the buffers went by the routes before."""
        done: set[int] = set()
        for changing in rounds:
            if self._during(done, changing).dependencies.cycles():
                return False
            done |= {*changing}
        return True

    def _during(self, done: Collection[int], changing: Collection[int]) -> Routed:
        """All mixtures in which `done` are updated, and some of `changing`."""

        def outs(switch: int, old: Hops, new: Hops) -> tuple[int, ...]:
            before, behind = old.get(switch, ()), new.get(switch, ())
            if switch in changing:
                return tuple(dict.fromkeys((*before, *behind)))
            return behind if switch in done else before

        return with_hops(
            self.fabric,
            [(target, {v: outs(v, old, new) for v in {*old, *new}})
             for target, old, new in self.hops],
        )  # fmt: skip


def _consistent(
    options: list[list[tuple[tuple[int, bool], ...]]], chosen: Mapping[int, bool]
) -> Iterator[dict[int, bool]]:
    """One option of each turn, such that no switch has to be updated and not."""
    if not options:
        yield dict(chosen)
        return
    for needs in options[0]:
        wanted = {**chosen, **dict(needs)}
        if all(wanted[v] == updated for v, updated in (*needs, *chosen.items())):
            yield from _consistent(options[1:], wanted)


def settling(fabric: Fabric, progress: Progress = lambda text: None) -> Settling:
    """Every failure of one cable or switch, and its repair, from the whole network on."""
    chosen, sampled = _changes(fabric)
    looked = broken = seen = 0
    examples: list[Unsettled] = []
    for number, (change, alike) in enumerate(chosen.items()):
        if number % 20 == 0:
            progress(f"changes of routes: {number} of {len(chosen)}")
        looked += 1
        transition = Transition.of(fabric, change)
        cycles = transition.any_mixture().dependencies.cycles()
        broken += alike if cycles else 0
        seen += bool(cycles)
        if cycles and _is_new(change, examples):
            examples.append(unsettled(transition, cycles))
    total = 2 * (len(fabric.cables) + len(fabric.switches))
    return Settling(
        sampled=sampled,
        changes=total,
        looked=looked,
        broken=broken,
        broken_looked=seen,
        examples=tuple(examples),
    )


def _is_new(change: RouteChange, examples: list[Unsettled]) -> bool:
    """One example of each kind of change."""
    kind = (change.repair, change.element.kind)
    known = [(each.change.repair, each.change.element.kind) for each in examples]
    return kind not in known


def unsettled(transition: Transition, cycles: list[Cycle]) -> Unsettled:
    """The first cycle that some order of updates is known to bring, else the first."""
    found = ((cycle, transition.updated_for(cycle)) for cycle in cycles)
    cycle, updated = next((each for each in found if each[1] is not None), (cycles[0], None))
    return Unsettled(
        change=transition.change,
        cycle=cycle,
        updated=updated,
        order=transition.ordered(),
        up_down=_up_down(transition.fabric, transition.change),
    )


def _up_down(fabric: Fabric, change: RouteChange) -> Transition | None:
    if fabric.told or fabric.tunnels or fabric.ways == "up-down":
        return None
    tiered = replace(fabric, ways="up-down")
    try:
        tiered.expect_tiers()
    except NoTiers:
        return None
    dead = fabric.dead(change.element)
    if not all(_reaches_as_much(tiered, fabric, each) for each in (NONE_DEAD, dead)):
        return None
    transition = Transition.of(tiered, change)
    return None if transition.any_mixture().dependencies.cycles() else transition


def _reaches_as_much(tiered: Fabric, fabric: Fabric, dead: Dead) -> bool:
    """Whether up-down routing cuts nobody off whom the routes of the network reach."""
    for target in targets_of(fabric):
        ways, hops = (hops_to(each, target, dead) for each in (fabric, tiered))
        if any(ways.get(each) and not hops.get(each) for each in sources_of(fabric, target)):
            return False
    return True


def _changes(fabric: Fabric) -> tuple[dict[RouteChange, int], bool]:
    """The changes to look at, each with how many it stands for; whether they are a sample."""
    sampled = len(fabric.switches) > MOST_SWITCHES
    kind = _likeness(fabric) if sampled else kinds(fabric)
    counts: dict[object, int] = {}
    first: dict[object, Element] = {}
    for element in fabric.elements():
        key = kind((element,))
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, element)
    if sampled:
        counts = dict(list(counts.items())[:SAMPLED_KINDS])
    return {
        RouteChange(element=first[key], repair=repair): count
        for key, count in counts.items()
        for repair in (False, True)
    }, sampled


def _likeness(fabric: Fabric) -> Callable[[tuple[Element, ...]], object]:
    """Elements that look alike by the tiers of their neighbours and their neighbours': a sample,
    for nothing proves that they are."""
    bearing = {fabric.number[name] for name in fabric.hosts.values()}
    colour = [
        hash((number in bearing, fabric.tiers[number])) for number in range(len(fabric.leads))
    ]
    for _ in range(3):
        colour = [
            hash((colour[v], tuple(sorted(colour[fabric.heads[c]] for c in leads))))
            for v, leads in enumerate(fabric.leads)
        ]

    def of(failed: tuple[Element, ...]) -> object:
        each = failed[0]
        if each.kind == "switch":
            return colour[each.number]
        return tuple(sorted(colour[fabric.heads[2 * each.number + end]] for end in (0, 1)))

    return of
