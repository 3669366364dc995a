"""Cyclic buffer dependencies: where there are some, where there are none, with failures too."""

from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

import pytest
from networks import clos, drawn, fabric, leaf_spine, ring, torus

from labtests.topology import answers, failures
from labtests.topology.answers import answer
from labtests.topology.dependencies import routed
from labtests.topology.fabric import Element
from labtests.topology.failures import Surveyor, lengthening, redundant
from labtests.topology.remedies import other_priority, other_routes
from labtests.topology.wording import lines, remedies

TWO_DOWN = (Element(kind="link", number=0), Element(kind="link", number=3))
"""leaf0 without spine0, leaf1 without spine1: of two spines, none has both."""


def cycles_of(network, *failed):
    return routed(network, network.dead(*failed)).dependencies.cycles()


def brute(network, count):
    return sum(
        bool(cycles_of(network, *failed))
        for failed in combinations(list(network.elements()), count)
    )


@pytest.mark.parametrize("count", [4, 5, 8])
def test_a_ring_waits_for_itself_both_ways_round(count):
    found = cycles_of(ring(count))
    assert [len(cycle.channels) for cycle in found] == [count, count]
    assert {cycle.priorities for cycle in found} == {(3,)}
    ways = [{ring(count).spelled(c) for c in cycle.channels} for cycle in found]
    assert ways[0].isdisjoint(ways[1])
    assert "s0:s1 -> s1:s0" in ways[0]


@pytest.mark.parametrize(
    "network",
    [ring(3), clos(4), clos(6), leaf_spine(6, 2), fabric("one", ["s"], [], {"h": "s"})],
    ids=["ring of 3", "clos 4", "clos 6", "leaf-spine", "one switch"],
)
def test_others_have_no_cycle(network):
    assert cycles_of(network) == []


def test_a_leaf_that_passes_up_what_came_from_above_is_found():
    network = leaf_spine(4, 2)
    found = cycles_of(network, *TWO_DOWN)
    assert len(found) == 2  # one each way round
    for cycle in found:
        tiers = [network.tiers[network.heads[channel]] for channel in cycle.channels]
        assert sorted(tiers) == [0, 0, 1, 1]
    assert cycles_of(leaf_spine(3, 2), *TWO_DOWN) == []  # one leaf alone is no cycle
    assert cycles_of(leaf_spine(4, 2, ways="up-down"), *TWO_DOWN) == []


def test_pfc_off_at_one_end_of_one_cable_opens_a_ring():
    off = MappingProxyType({("s0", "s1"): frozenset[int]()})
    assert cycles_of(ring(5, lossless=off)) == []
    on = MappingProxyType({("s0", "s1"): frozenset({3})})
    assert len(cycles_of(ring(5, lossless=on))) == 2
    assert cycles_of(ring(5, everywhere=frozenset[int]())) == []


def test_priorities_of_one_queue_wait_for_each_other():
    half = MappingProxyType(
        {(f"s{n}", f"s{(n + step) % 5}"): frozenset({3 if n in (0, 1) else 4})
         for n in range(5) for step in (1, 4)}
    )  # fmt: skip
    mixed = ring(5, lossless=half)
    assert cycles_of(mixed) == []
    alike = {end: frozenset({3, 4}) for end in half}
    assert len(cycles_of(replace(mixed, lossless=alike))) == 2
    crossing = {**alike, ("s0", "s1"): frozenset({3}), ("s2", "s3"): frozenset({4})}
    crossing |= {("s1", "s0"): frozenset({3}), ("s3", "s2"): frozenset({4})}
    assert cycles_of(replace(mixed, lossless=crossing)) == []
    shared = dict.fromkeys(("s0", "s1", "s2", "s3"), (0, 1, 2, 3, 3, 5, 6, 7))
    found = cycles_of(replace(mixed, lossless=crossing, queues=shared))
    assert [set(cycle.priorities) for cycle in found] == [{3, 4}, {3, 4}]
    elsewhere = {"s4": (0, 1, 2, 3, 3, 5, 6, 7)}  # nobody there has one waiting for the other
    assert cycles_of(replace(mixed, lossless=crossing, queues=elsewhere)) == []


# -- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ways", ["ecmp", "shortest"])
@pytest.mark.parametrize("seed", range(30))
def test_what_is_not_looked_at_has_no_cycle(seed, ways):
    network = drawn(seed, ways=ways)
    for count in (1, 2):
        survey = Surveyor(fabric=network).survey(count)
        assert survey.broken == brute(network, count)
        assert survey.how != "sampled"


@pytest.mark.parametrize(
    ("network", "broken"),
    [(leaf_spine(4, 2), 12), (leaf_spine(3, 3), 0), (leaf_spine(5, 2), 20)],
    ids=["two spines", "three spines", "five leaves"],
)
def test_failures_are_counted_as_if_all_had_been_looked_at(network, broken):
    survey = Surveyor(fabric=network).survey(2)
    assert survey.broken == broken == brute(network, 2)
    assert survey.sets == len(list(combinations(network.elements(), 2)))


def test_failures_that_leave_a_cycle_as_it_was_need_no_look():
    for count in (1, 2):
        survey = Surveyor(fabric=torus(3)).survey(count)
        assert survey.broken == brute(torus(3), count) == survey.sets
        assert survey.kept + survey.looked == survey.sets
        assert survey.kept > survey.looked


def test_two_ways_up_are_too_few_for_two_failures_in_a_clos():
    assert Surveyor(fabric=clos(4)).survey(1).broken == 0
    assert Surveyor(fabric=clos(4)).survey(2).broken == 68


def test_three_ways_are_proof_against_two_failures_and_two_are_not():
    assert redundant(leaf_spine(4, 3))
    assert redundant(clos(6))
    assert not redundant(leaf_spine(4, 2))
    assert lengthening(leaf_spine(4, 2), frozenset()) == frozenset()
    gone = leaf_spine(4, 2).dead(TWO_DOWN[0])
    assert TWO_DOWN[1] in lengthening(leaf_spine(4, 2), gone)
    survey = Surveyor(fabric=clos(6)).survey(2)
    assert (survey.how, survey.broken) == ("proven", 0)


@pytest.mark.timeout(20)
def test_two_ways_that_meet_again_in_one_core_switch_end():
    names = ["leaf0", "agg0", "agg1", "core", "agg2", "agg3", "leaf1"]
    ends = [("leaf0", "agg0"), ("leaf0", "agg1"), ("leaf1", "agg2"), ("leaf1", "agg3")]
    ends += [(agg, "core") for agg in names if agg.startswith("agg")]
    narrow = fabric("narrow", names, ends, {"h0": "leaf0", "h1": "leaf1"})
    assert not redundant(narrow)
    assert answer(narrow, failures=2, convergence=False).free


def test_up_down_is_proven_whatever_fails():
    survey = Surveyor(fabric=clos(4, ways="up-down")).survey(2)
    assert (survey.how, survey.broken) == ("proven", 0)
    assert brute(leaf_spine(4, 2, ways="up-down"), 2) == 0


def test_of_a_large_network_that_is_not_proven_it_is_said_that_some_were_looked_at(monkeypatch):
    monkeypatch.setattr(failures, "MOST_SWITCHES", 16)
    large = ring(17)
    survey = Surveyor(fabric=large).survey(1)
    assert (survey.how, survey.looked) == ("sampled", failures.SAMPLED)
    assert answer(large, failures=1, convergence=False).sampled
    leaves = leaf_spine(16, 2)  # alike ones stand for each other
    survey = Surveyor(fabric=leaves).survey(2)
    assert (survey.how, survey.looked) == ("all", 4)
    assert survey.sets == 50 * 49 // 2


def test_above_100_switches_nobody_says_that_no_remedy_was_found(monkeypatch):
    monkeypatch.setattr(answers, "MOST_SWITCHES", 4)
    found = answer(ring(5), failures=0, convergence=False).found[0]
    (said,) = remedies(found, ring(5))
    assert said.startswith("not searched for in networks above 100 switches")


def test_what_was_done_is_said_of_each_survey(monkeypatch):
    def said(network, count=2):
        asked = answer(network, failures=count, convergence=False)
        return next(each for each in lines(asked) if each.startswith(f"{count} failures"))

    assert "proven: between all there are three disjoint" in said(leaf_spine(4, 3))
    assert "proven: no packet goes up a tier again" in said(leaf_spine(4, 2, ways="up-down"))
    assert "lengthen no path and so bring no cycle, 25 checked on 4 that stand" in said(
        leaf_spine(4, 2)
    )
    monkeypatch.setattr(failures, "MOST_SWITCHES", 4)
    assert "45 of links and switches, a random sample of 30 checked, the others not" in said(
        ring(5)
    )


# -- remedies ----------------------------------------------------------------------------------

BROKEN = [(ring(5), ()), (ring(8), ()), (leaf_spine(4, 2), TWO_DOWN), (leaf_spine(6, 2), TWO_DOWN)]
NAMES = ["ring of 5", "ring of 8", "four leaves", "six leaves"]


@pytest.mark.parametrize(("network", "failed"), BROKEN, ids=NAMES)
def test_other_routes_leave_no_cycle_and_reach_everybody(network, failed):
    dead = network.dead(*failed)
    found = other_routes(routed(network, dead), dead)
    assert found is not None
    assert found.routed.dependencies.cycles() == []
    before = routed(network, dead)
    for (target, old), (_, new) in zip(before.hops, found.routed.hops, strict=True):
        for switch, outs in old.items():
            assert bool(outs) == bool(new.get(switch)), (switch, target)
    for turn in found.turns:
        assert not found.routed.dependencies.takes(turn)


@pytest.mark.parametrize(("network", "failed"), BROKEN, ids=NAMES)
def test_another_priority_is_a_free_one_for_all_who_take_a_turn(network, failed):
    found = other_priority(routed(network, network.dead(*failed)))
    if len(network.switches) == 8 and network.name == "ring":
        assert found is None  # who takes the turns has a cycle of his own
        return
    assert found is not None
    assert found.priority == 4
    assert found.pairs


def test_without_a_free_priority_none_is_proposed():
    assert other_priority(routed(ring(5, everywhere=frozenset(range(8))))) is None
    assert other_priority(routed(ring(5, everywhere=frozenset(range(7))))).priority == 7
