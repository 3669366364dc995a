"""What is found, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labtests.topology.answers import Answer, FoundCycle, as_it_is
from labtests.topology.dependencies import Cycle, Turn
from labtests.topology.fabric import LINK, Fabric, Priorities
from labtests.topology.failures import MOST_SWITCHES, Survey

MOST_NAMED = 8
WAYS = {
    "ecmp": "all shortest paths (ECMP)",
    "shortest": "one shortest path, over the cable listed first",
    "up-down": "up-down (valley-free)",
}
PROVISO = "provided that every switch has a route to each host itself (no summaries, no filters)"
RELEASED = "deadlock detection (a PFC watchdog) on these ports releases a deadlock once it is there"
REMEDIES = {
    "routes": "other routes",
    "priority": "a second priority",
    "order": "the order of updates",
    "up-down": "up-down routing",
}


def around(fabric: Fabric, cycle: Cycle) -> str:
    """A cycle with its ports and priorities."""
    first = fabric.switches[fabric.tail(cycle.channels[0])]
    held = cycle.held if len({*cycle.held}) > 1 else (None,) * len(cycle.channels)
    hops = " -> ".join(
        f"{fabric.switches[fabric.tail(c)]}:{fabric.port_out(c)}"
        f"{'' if priority is None else f' ({_held(priority)})'}"
        for c, priority in zip(cycle.channels, held, strict=True)
    )
    return f"{priorities(frozenset(cycle.priorities))}: {hops} -> back to {first}"


def _held(priority: int) -> str:
    return "link pause" if priority == LINK else str(priority)


def priorities(those: Priorities) -> str:
    """`priority 3`, `priorities 3, 4`, `link pause`."""
    plain = sorted(those - {LINK})
    plural = "priority" if len(plain) == 1 else "priorities"
    words = [f"{plural} {', '.join(map(str, plain))}"] if plain else []
    return " and ".join([*words, *(["link pause (802.3x)"] if LINK in those else [])])


def turned(fabric: Fabric, turn: Turn) -> str:
    """A turn for people: `traffic that enters s2 on port eth1 and leaves on eth2`."""
    name = fabric.switches[fabric.heads[turn[0]]]
    ports = fabric.port_out(turn[0] ^ 1), fabric.port_out(turn[1])
    return f"traffic that enters {name} on port {ports[0]} and leaves on {ports[1]}"


def named(names: list[str]) -> str:
    """Some names, and how many more."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def remedies(found: FoundCycle, fabric: Fabric) -> Iterator[str]:
    """What breaks a cycle, a sentence each."""
    some = [*_of_routes(found, fabric), *_of_updates(found, fabric)]
    yield from some
    if not some and not found.looked_for_remedies:
        yield f"not searched for in networks above {MOST_SWITCHES} switches; {RELEASED}"
    elif not some:
        yield f"none was found; {RELEASED}"


def _of_routes(found: FoundCycle, fabric: Fabric) -> Iterator[str]:
    if found.other_routes is not None and "routes" not in found.refuted:
        turns = "; ".join(turned(fabric, turn) for turn in found.other_routes.turns)
        yield f"other routes for {turns}: all hosts still reach each other, and no cycle is left"
    if found.other_priority is not None and "priority" not in found.refuted:
        moved = found.other_priority
        pairs = named(
            [f"{fabric.switches[one]} to {', '.join(target.hosts)}" for one, target in moved.pairs]
        )
        turns = "; ".join(turned(fabric, turn) for turn in moved.turns)
        yield f"a second lossless priority, {moved.priority}, for {turns} (from {pairs})"


def _of_updates(found: FoundCycle, fabric: Fabric) -> Iterator[str]:
    if found.unsettled is None:
        return
    order = found.unsettled.order
    if order.free and "order" not in found.refuted:
        rounds = ", then ".join(named([fabric.switches[v] for v in each]) for each in order.rounds)
        yield f"update the switches in this order ({order.rule}): {rounds}"
    elif not order.sound:
        yield (
            "break the cycle that the routes before or after the change have themselves; no order "
            "of updates helps against it"
        )
    if found.unsettled.up_down is not None and "up-down" not in found.refuted:
        yield "up-down (valley-free) routing: no cycle in any order of updates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """The shortest cycle in words: where it begins (switch, port), all its switches."""

    at: tuple[str, str]
    switches: frozenset[str]
    text: str
    remedy: str


def warned(fabric: Fabric, beside: frozenset[str] = frozenset()) -> Warned | None:
    """Of a network as it is, the first cycle that is not all on switches of `beside`."""
    cycles = as_it_is(fabric, (), beside)
    if not cycles:
        return None
    found = cycles[0]
    tails = [fabric.switches[fabric.tail(channel)] for channel in found.cycle.channels]
    return Warned(
        at=(tails[0], fabric.port_out(found.cycle.channels[0])),
        switches=frozenset(tails),
        text=f"PFC can deadlock in a cyclic buffer dependency: {around(fabric, found.cycle)}",
        remedy=f"{next(remedies(found, fabric))}; `labtests topology` (docs/topology.md)",
    )


def heading(fabric: Fabric) -> str:
    """What a network is."""
    return (
        f"{fabric.name}: {_count(len(fabric.switches), 'switch', 'switches')}, "
        f"{_count(len(fabric.cables), 'cable')} between them, {_count(len(fabric.hosts), 'host')}; "
        f"routes: {WAYS[fabric.ways]}{', and explicit ones' if fabric.told else ''}"
        f"{', and tunnels' if fabric.tunnels else ''}"
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def lines(answer: Answer) -> Iterator[str]:
    """The whole answer as text."""
    fabric = answer.fabric
    yield heading(fabric)
    yield from _beside(fabric)
    held = frozenset().union(*fabric.held)
    nothing = "no cable between switches has PFC or link pause at both ends"
    yield f"lossless between switches: {priorities(held) or nothing}"
    cycles = _count(len(answer.steady), "cyclic buffer dependency", "cyclic buffer dependencies")
    yield f"steady state: {cycles if answer.steady else 'no cyclic buffer dependency'}"
    if fabric.later:
        of = [each for each in answer.found if each.since_us is not None]
        times = _count(len(fabric.later), "time", "times")
        yield f"after routes changed by `events` ({times}): {_cycles(len(of))}"
    for survey in answer.surveys:
        yield f"{_failures(survey.count)}: {_survey(survey, fabric)}"
    if answer.settling is not None:
        yield f"during convergence: {_settling(answer)}"
    for number, found in enumerate(answer.found, 1):
        yield ""
        yield from _found(number, found, fabric)
    yield ""
    if answer.free:
        yield f"no cycle{' in what was checked' if answer.sampled else ''}, {PROVISO}"
    else:
        yield f"{_cycles(len(answer.found))} shown: each can deadlock once its buffers are full"


def _beside(fabric: Fabric) -> Iterator[str]:
    """What is not part of one network of switches."""
    if fabric.unplugged:
        yield f"not checked, for there is no switch: {named(list(fabric.unplugged))}"
    if len(fabric.parts) > 1:
        parts = " | ".join(named(part) for part in fabric.parts[:MOST_NAMED])
        more = " | ..." if len(fabric.parts) > MOST_NAMED else ""
        yield f"{len(fabric.parts)} networks that no cable joins, each by itself: {parts}{more}"


def _cycles(number: int) -> str:
    return "no cycle" if not number else _count(number, "cycle")


def _settling(answer: Answer) -> str:
    changes = answer.settling
    if changes is None:
        return "not checked"
    what = "failures and repairs of one link or switch"
    lasting = answer.steady or not answer.surveys or answer.surveys[0].broken
    can = f"can form a cycle{'' if lasting else ' temporarily'}"
    order = ", depending on which switch updates first" if changes.broken else ""
    if changes.sampled:
        of = f"{changes.changes} {what}, a sample of {changes.looked} checked"
        return f"{of}: {changes.broken_looked} of {changes.looked} {can}{order}"
    return f"{what}: {changes.broken} of {changes.changes} {can}{order}"


def _failures(count: int) -> str:
    return "one failure" if count == 1 else f"{count} failures at once"


def _survey(survey: Survey, fabric: Fabric) -> str:
    sets = f"{survey.sets} of links and switches"
    if not survey.sets:
        return f"{sets}: nothing to look at"
    if survey.how == "proven" and not _crossed(fabric):
        return f"{sets}: no cycle, proven: no packet crosses from one switch to another"
    if survey.how == "proven" and not survey.subsets:
        return f"{sets}: no cycle, proven: no packet goes up a tier again after it went down"
    if survey.how == "proven":
        return f"{sets}: no cycle, proven: between all there are three disjoint shortest paths"
    if survey.how == "sampled":
        of = f"{survey.broken} of them with a cycle" if survey.broken else "none with a cycle"
        return f"{sets}, a random sample of {survey.looked} checked, the others not: {of}"
    rest = survey.sets - survey.subsets - survey.kept
    if survey.sets == survey.subsets:
        return f"{sets}: no cycle, proven: none lengthens a shortest path"
    each = f" on {survey.looked} that stand for all by symmetry" if survey.looked < rest else ""
    shorter = f"{survey.subsets} lengthen no path and so bring no cycle, " if survey.subsets else ""
    if survey.kept:
        shorter += f"{survey.kept} leave a cycle as it was, "
    return f"{sets} ({shorter}{rest} checked{each}): {survey.broken} with a cycle"


def _crossed(fabric: Fabric) -> bool:
    """Whether hosts hang on different switches of one network."""
    with_hosts = set(fabric.hosts.values())
    return any(len(with_hosts.intersection(part)) > 1 for part in fabric.parts)


def when(found: FoundCycle, fabric: Fabric) -> str:
    """In which network a cycle is."""
    names = " and ".join(fabric.named(each) for each in found.failed)
    if found.unsettled is not None:
        event = "is repaired" if found.unsettled.change.repair else "fails"
        return f"during convergence after {names} {event}"
    if found.since_us is not None:
        return f"steady state, with the routes from {found.since_us:g} us on (`events`)"
    have = "has" if len(found.failed) == 1 else "have"
    return f"after {names} {have} failed" if names else "steady state"


def _found(number: int, found: FoundCycle, fabric: Fabric) -> Iterator[str]:
    yield f"{number}. {when(found, fabric)}"
    yield f"   {around(fabric, found.cycle)}"
    if found.unsettled is not None:
        yield f"   {_updated(found, fabric)}"
    for each in found.refuted:
        yield f"   withdrawn: {REMEDIES[each]}: still deadlocks in the packet network"
    for remedy in remedies(found, fabric):
        yield f"   remedy: {remedy}"


def _updated(found: FoundCycle, fabric: Fabric) -> str:
    updated = found.unsettled.updated if found.unsettled else None
    if updated is None or found.transition is None:
        return "no order of updates that forms it was found, and none was ruled out"
    rest = {*found.transition.updates} - updated
    if not updated:
        return "before any switch has updated"
    if not rest:
        return "once all switches have updated (permanent)"
    done, wait = (named([fabric.switches[v] for v in sorted(each)]) for each in (updated, rest))
    return f"while {done} {'has' if len(updated) == 1 else 'have'} updated and {wait} not yet"


def tried(shown: Mapping[str, Any]) -> Iterator[str]:
    """What the packet network has shown."""
    for number, proof in enumerate(shown.get("proofs", ()), 1):
        if proof["locks"] is None:
            yield f"{number}. packet network: not tried, no load is known that takes all its turns"
            continue
        locked = "deadlocks" if proof["locks"] else "does NOT deadlock"
        yield f"{number}. packet network: {locked} under a load constructed for it"
        for name, still in proof["with_remedy"].items():
            end = "STILL deadlocks, remedy withdrawn" if still else "all packets drain"
            yield f"   with {REMEDIES[name]}: {end}"
    if "random_loads" in shown:
        count = shown["random_loads"]
        yield f"random loads: {count}, of which {shown['random_loads_locked']} deadlock"
    elif "no_random_loads" in shown:
        yield f"random loads: none tried: {shown['no_random_loads']}"


def plain(answer: Answer) -> dict[str, object]:
    """As JSON has it."""
    fabric = answer.fabric
    return {
        "network": fabric.name,
        "switches": len(fabric.switches),
        "cables": len(fabric.cables),
        "routing": fabric.ways,
        "not_checked": list(fabric.unplugged),
        "parts": len(fabric.parts),
        "free": answer.free,
        "sampled": answer.sampled,
        "failures": [
            {
                "count": each.count,
                "how": each.how,
                "sets": each.sets,
                "lengthen_no_way": each.subsets,
                "leave_a_cycle": each.kept,
                "looked_at": each.looked,
                "with_cycle": each.broken,
            }
            for each in answer.surveys
        ],
        "changes": None
        if answer.settling is None
        else {
            "sampled": answer.settling.sampled,
            "changes": answer.settling.changes,
            "looked_at": answer.settling.looked,
            "with_cycle": answer.settling.broken,
        },
        "cycles": [_plain(found, fabric) for found in answer.found],
    }


def _plain(found: FoundCycle, fabric: Fabric) -> dict[str, object]:
    unsettled = found.unsettled
    return {
        "when": when(found, fabric),
        "priorities": list(found.cycle.priorities),
        "channels": [fabric.spelled(channel) for channel in found.cycle.channels],
        "updated": None
        if unsettled is None or unsettled.updated is None
        else [fabric.switches[v] for v in sorted(unsettled.updated)],
        "remedies": list(remedies(found, fabric)),
        "withdrawn": [REMEDIES[each] for each in found.refuted],
    }
