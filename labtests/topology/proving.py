"""A cycle is made to lock in the packet network, and with its remedy it does not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labtests.network.cases import CaseFile, run
from labtests.topology.answers import Answer, FoundCycle
from labtests.topology.dependencies import routed
from labtests.topology.loads import (
    Demand,
    Load,
    again,
    case_of,
    changing,
    demands,
    random_load,
    steady,
)

SENDERS = (1, 2, 4)
"""For each turn; more where fewer do not lock it."""

Base = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockingProof:
    """Whether the load locks the network for good, by itself (None: there is none) and with each
    remedy; the cases by name."""

    locks: bool | None
    with_remedy: Mapping[str, bool]
    cases: Mapping[str, CaseFile]


def stands_still(case: CaseFile) -> bool:
    """Whether packets are left in queues between switches, and do not move, long after the last
    sender has stopped."""
    queues = run(case).queues
    return any(each.series_bytes[-1] > 0 for each in queues) and all(
        len(set(each.series_bytes[-2:])) == 1 for each in queues
    )


def proof(found: FoundCycle, base: Base = None) -> LockingProof:
    """Of one cycle. Not tried: one for which no order of updates was found, or whose turns lead
    into tunnels. A remedy by which nobody takes a cable between switches needs no try."""
    loads = _loads(found)
    if not loads:
        return LockingProof(locks=None, with_remedy={}, cases={})
    for senders in SENDERS:
        cases = {
            name: case_of(replace(load, demands=load.demands * senders), base)
            for name, load in loads.items()
            if load.demands
        }
        locks = stands_still(cases["load"])
        if locks:
            break
    seen = {name: name in cases and stands_still(cases[name]) for name in loads if name != "load"}
    return LockingProof(locks=locks, with_remedy=seen, cases=cases)


def without_refuted(found: FoundCycle, shown: LockingProof) -> FoundCycle:
    """The cycle without the remedies with which it has locked all the same."""
    return replace(found, refuted=tuple(each for each, locks in shown.with_remedy.items() if locks))


def _loads(found: FoundCycle) -> dict[str, Load]:
    if found.network is None:
        return {}
    fabric, dead = found.network.fabric, found.dead
    wanted = demands(found.network, found.cycle)
    if not wanted:
        return {}
    if found.unsettled is not None and found.transition is not None:
        transition, unsettled = found.transition, found.unsettled
        updated = unsettled.updated or frozenset()
        rest = [each for each in transition.updates if each not in updated]
        loads = {"load": changing(transition, wanted, (updated, rest))}
        if unsettled.order.free:
            loads["order"] = changing(transition, wanted, unsettled.order.rounds)
        if unsettled.up_down is not None:
            other = unsettled.up_down
            there = [each for each in again(other.mixed(()), wanted) if each.channels]
            loads["up-down"] = changing(other, there, (updated, rest))
        return loads
    loads = {"load": steady(fabric, wanted, dead)}
    if found.other_routes is not None:
        loads["routes"] = steady(fabric, again(found.other_routes.routed, wanted), dead)
    if found.other_priority is not None:
        moved = {(source, target.hosts) for source, target in found.other_priority.pairs}
        priority = found.other_priority.priority
        loads["priority"] = steady(fabric, [_moved(each, moved, priority) for each in wanted], dead)
    return loads


def _moved(demand: Demand, moved: set[tuple[int, tuple[str, ...]]], priority: int) -> Demand:
    if (demand.source, demand.target.hosts) in moved:
        return replace(demand, priority=priority)
    return demand


def locked_by_random(
    answer: Answer, count: int, *, seed: int = 1, base: Base = None
) -> tuple[int, tuple[CaseFile, ...]]:
    """How many random loads were tried, and those that locked the network."""
    network = routed(answer.fabric)
    tried, locked = 0, list[CaseFile]()
    for number in range(count):
        load = random_load(network, seed * 1_000_000 + number)
        if load is not None:
            tried += 1
            case = case_of(load, base)
            locked += [case] if stands_still(case) else []
    return tried, tuple(locked)
