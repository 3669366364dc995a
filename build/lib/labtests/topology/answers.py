"""Everything about one network: cycles as it is, with failures, while routes change; remedies."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from labtests.topology.convergence import Settling, Transition, Unsettled, settling
from labtests.topology.dependencies import Cycle, Routed, routed
from labtests.topology.fabric import NONE_DEAD, Dead, Element, Fabric
from labtests.topology.failures import MOST_SWITCHES, Progress, Survey, Surveyor
from labtests.topology.remedies import OtherPriority, OtherRoutes, other_priority, other_routes


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCycle:
    """One cycle. `failed` has what is gone, or what changes; `network` the routes with which the
    cycle is there (None: not known to be there at any moment). `since_us`: from when on `events`
    of a case bring it. `looked_for_remedies`: not in large networks. `refuted`: remedies with which
    it has locked in the packet network all the same."""

    cycle: Cycle
    failed: tuple[Element, ...] = ()
    dead: Dead = NONE_DEAD
    network: Routed | None = None
    other_routes: OtherRoutes | None = None
    other_priority: OtherPriority | None = None
    unsettled: Unsettled | None = None
    transition: Transition | None = None
    since_us: float | None = None
    looked_for_remedies: bool = True
    refuted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`surveys` are of one failure, then of two; None and empty: not asked."""

    fabric: Fabric
    steady: tuple[FoundCycle, ...]
    surveys: tuple[Survey, ...]
    settling: Settling | None
    found: tuple[FoundCycle, ...]
    """All cycles that are shown: as it is, with failures, while routes change."""

    @property
    def free(self) -> bool:
        """No cycle in all that was looked at."""
        broken = any(each.broken for each in self.surveys)
        return not (self.found or broken or (self.settling and self.settling.broken))

    @property
    def sampled(self) -> bool:
        """Not everything was looked at."""
        surveys = any(each.how == "sampled" for each in self.surveys)
        return surveys or bool(self.settling and self.settling.sampled)


def answer(
    fabric: Fabric,
    *,
    failures: int = 2,
    convergence: bool = True,
    progress: Progress = lambda text: None,
) -> Answer:
    """Look at a network. Raises NoTiers for up-down routing without tiers."""
    if fabric.ways == "up-down":
        fabric.expect_tiers()
    steady = tuple(as_it_is(fabric, ()))
    surveyor = Surveyor(fabric=fabric, progress=progress)
    surveys = tuple(surveyor.survey(count) for count in range(1, failures + 1))
    changes = settling(fabric, progress) if convergence else None
    found = [*steady, *_with_later_routes(fabric)]
    if not steady:  # else failures have the same cycles, but for what they take away
        found += [one for each in surveys for broken in each.examples[:1]
                  for one in as_it_is(fabric, broken.failed)[:1]]  # fmt: skip
    if changes is not None:
        found += [_while_changing(fabric, each) for each in changes.examples]
    return Answer(
        fabric=fabric, steady=steady, surveys=surveys, settling=changes, found=tuple(found)
    )


def _with_later_routes(fabric: Fabric) -> Iterator[FoundCycle]:
    """Cycles that come with routes which `events` change, each when it comes."""
    known = {cycle.channels for cycle in routed(fabric).dependencies.cycles()}
    for at_us, told in fabric.later:
        for found in as_it_is(replace(fabric, told=told, later=()), ()):
            if found.cycle.channels not in known:
                yield replace(found, since_us=at_us)
            known.add(found.cycle.channels)


def as_it_is(
    fabric: Fabric, failed: tuple[Element, ...], beside: frozenset[str] = frozenset()
) -> list[FoundCycle]:
    """The cycles of a network in which this has failed, and what breaks them; but for those that
    are all on switches of `beside`."""
    dead = fabric.dead(*failed)
    network = routed(fabric, dead)
    cycles = network.dependencies.cycles({fabric.number[each] for each in beside})
    if not cycles:
        return []
    small = len(fabric.switches) <= MOST_SWITCHES
    routes = other_routes(network, dead) if small else None
    priority = other_priority(network) if small else None
    return [
        FoundCycle(
            cycle=cycle,
            failed=failed,
            dead=dead,
            network=network,
            other_routes=routes,
            other_priority=priority,
            looked_for_remedies=small,
        )
        for cycle in cycles
    ]


def _while_changing(fabric: Fabric, unsettled: Unsettled) -> FoundCycle:
    transition = Transition.of(fabric, unsettled.change)
    updated = unsettled.updated
    return FoundCycle(
        cycle=unsettled.cycle,
        failed=(unsettled.change.element,),
        network=None if updated is None else transition.mixed(updated),
        unsettled=unsettled,
        transition=transition,
    )
