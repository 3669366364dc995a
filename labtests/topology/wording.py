"""What is found, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labtests.topology.answers import Answer, FoundCycle, as_it_is
from labtests.topology.dependencies import Cycle, Turn
from labtests.topology.fabric import Fabric, Priorities
from labtests.topology.failures import Survey

MOST_NAMED = 8
WAYS = {
    "ecmp": "all shortest paths",
    "shortest": "one shortest path, over the cable listed first",
    "up-down": "up-down: never up again after down",
}
UNFILTERED = (
    "provided that every switch knows each host's own way (no summary, no filter) and has changed "
    "to the routes that are left"
)


def around(fabric: Fabric, cycle: Cycle) -> str:
    """A cycle with its ports and priorities."""
    hops = " -> ".join(
        f"{fabric.switches[fabric.tail(c)]}:{fabric.port_out(c)}" for c in cycle.channels
    )
    return f"{priorities(frozenset(cycle.priorities))}: {hops} -> and again"


def priorities(those: Priorities) -> str:
    """`priority 3`, `priorities 3, 4`."""
    plural = "priority" if len(those) == 1 else "priorities"
    return f"{plural} {', '.join(map(str, sorted(those)))}"


def turned(fabric: Fabric, turn: Turn) -> str:
    """A turn for people: `in by s2:eth1, out by s2:eth2`."""
    name = fabric.switches[fabric.heads[turn[0]]]
    return f"in by {name}:{fabric.port_out(turn[0] ^ 1)}, out by {name}:{fabric.port_out(turn[1])}"


def named(names: list[str]) -> str:
    """Some names, and how many more."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def remedies(found: FoundCycle, fabric: Fabric) -> Iterator[str]:
    """What breaks a cycle, a sentence each."""
    if found.other_routes is not None:
        turns = "; ".join(turned(fabric, turn) for turn in found.other_routes.turns)
        yield f"routes around {turns}: all hosts still reach each other, and no cycle is left"
    if found.other_priority is not None:
        moved = found.other_priority
        pairs = named(
            [f"{fabric.switches[one]} to {', '.join(target.hosts)}" for one, target in moved.pairs]
        )
        turns = "; ".join(turned(fabric, turn) for turn in moved.turns)
        yield f"priority {moved.priority}, lossless too, for what turns {turns} (from {pairs})"
    if found.unsettled is not None and found.unsettled.order.free:
        order = found.unsettled.order
        rounds = " | ".join(named([fabric.switches[v] for v in each]) for each in order.rounds)
        yield f"updates {order.rule}: {rounds}"
    elif found.unsettled is not None and not found.unsettled.order.sound:
        yield "first that of the routes before the change, or behind it, which have a cycle, too"
    if found.unsettled is not None and found.unsettled.up_down is not None:
        yield "up-down routing (no switch passes up what came from above): in any order of updates"
    if found.unsettled is None and found.other_routes is None and found.other_priority is None:
        yield "none was found; deadlock detection on these ports releases what locks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """The shortest cycle in words: where it begins (switch, port), all its switches."""

    at: tuple[str, str]
    switches: frozenset[str]
    text: str
    remedy: str


def warned(fabric: Fabric) -> Warned | None:
    """Of a network as it is; None without a cycle."""
    cycles = as_it_is(fabric, ())
    if not cycles:
        return None
    found = cycles[0]
    tails = [fabric.switches[fabric.tail(channel)] for channel in found.cycle.channels]
    return Warned(
        at=(tails[0], fabric.port_out(found.cycle.channels[0])),
        switches=frozenset(tails),
        text=f"PFC can lock a cyclic buffer dependency for good: {around(fabric, found.cycle)}",
        remedy=f"{next(remedies(found, fabric))}; `labtests topology` (docs/topology.md)",
    )


def heading(fabric: Fabric) -> str:
    """What a network is."""
    return (
        f"{fabric.name}: {len(fabric.switches)} switches, {len(fabric.cables)} cables between "
        f"them, {len(fabric.hosts)} hosts; routes: {WAYS[fabric.ways]}"
        f"{', and explicit ones' if fabric.told else ''}"
    )


def lines(answer: Answer) -> Iterator[str]:
    """The whole answer as text."""
    fabric = answer.fabric
    yield heading(fabric)
    lossless = frozenset().union(*(those for those, _ in fabric.planes))
    yield f"PFC: {priorities(lossless) if lossless else 'off: nothing can wait for anything'}"
    yield f"as it is: {len(answer.steady) or 'no'} cycle{'s' * (len(answer.steady) > 1)}"
    for survey in answer.surveys:
        yield f"{_failures(survey.count)}: {_survey(survey)}"
    if answer.settling is not None:
        changes = answer.settling
        looked = f"{changes.changes} failures and repairs of one link or switch"
        how = f"a sample of {changes.looked}, one of each look" if changes.sampled else "all"
        broken = f"{changes.broken} bring a cycle in some order"
        yield f"while routes change: {looked} ({how}): {broken}"
    for number, found in enumerate(answer.found, 1):
        yield ""
        yield from _found(number, found, fabric)
    yield ""
    if answer.free:
        yield f"no cycle{' in what was looked at' if answer.sampled else ''}: {UNFILTERED}"
    else:
        yield f"cycles: {len(answer.found)} shown; with PFC on around one, it can lock"


def _failures(count: int) -> str:
    return "one failure" if count == 1 else f"{count} failures"


def _survey(survey: Survey) -> str:
    sets = f"{survey.sets} of links and switches"
    if survey.how == "proven" and not survey.subsets:
        return f"{sets}: none has a cycle, by the order of tiers"
    if survey.how == "proven":
        return f"{sets}: none has a cycle, for none lengthens a way (three apart between all pairs)"
    how = f"a sample of {survey.looked}" if survey.how == "sampled" else (
        f"{survey.subsets} lengthen no way, {survey.looked} looked at for all others"
    )  # fmt: skip
    return f"{sets} ({how}): {survey.broken} have a cycle"


def when(found: FoundCycle, fabric: Fabric) -> str:
    """In which network a cycle is."""
    names = " and ".join(fabric.named(each) for each in found.failed)
    if found.unsettled is not None:
        event = "comes back" if found.unsettled.change.repair else "fails"
        return f"while routes change: {names} {event}"
    return f"{names} failed" if names else "as it is"


def _found(number: int, found: FoundCycle, fabric: Fabric) -> Iterator[str]:
    yield f"{number}. {when(found, fabric)}"
    yield f"   {around(fabric, found.cycle)}"
    if found.unsettled is not None:
        updated = found.unsettled.updated
        if updated is None:
            yield "   no order of updates that brings it was found; none is excluded"
        else:
            names = named([fabric.switches[v] for v in sorted(updated)])
            yield f"   there while {names or 'no switch'}, and no other one, has new routes"
    for remedy in remedies(found, fabric):
        yield f"   remedy: {remedy}"


def tried(shown: Mapping[str, Any]) -> Iterator[str]:
    """What the packet network has shown."""
    for number, proof in enumerate(shown.get("proofs", ()), 1):
        if proof["locks"] is None:
            yield f"{number}. cannot be tried: no order of updates is known to bring it"
            continue
        locked = "stands still for good" if proof["locks"] else "does NOT lock"
        yield f"{number}. in the packet network: {locked} under a load made for it"
        for name, still in proof["with_remedy"].items():
            end = "STILL locks" if still else "nothing stands still"
            yield f"   with the remedy, {name}: {end}"
    if "random_loads" in shown:
        yield f"random loads: {shown['random_loads']}, of which {shown['random_loads_locked']} lock"


def plain(answer: Answer) -> dict[str, object]:
    """As JSON has it."""
    fabric = answer.fabric
    return {
        "network": fabric.name,
        "switches": len(fabric.switches),
        "cables": len(fabric.cables),
        "routing": fabric.ways,
        "free": answer.free,
        "sampled": answer.sampled,
        "failures": [
            {
                "count": each.count,
                "how": each.how,
                "sets": each.sets,
                "lengthen_no_way": each.subsets,
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
    }
