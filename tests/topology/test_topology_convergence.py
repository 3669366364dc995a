"""While routes change: every order of updates, against all of them one by one."""

from itertools import chain, combinations

import pytest
from networks import clos, drawn, leaf_spine, ring

from labtests.topology.convergence import RouteChange, Transition, settling, unsettled
from labtests.topology.fabric import Element

LINK, SWITCH = Element(kind="link", number=0), Element(kind="switch", number=0)


def subsets(numbers):
    return chain.from_iterable(combinations(numbers, count) for count in range(len(numbers) + 1))


@pytest.mark.parametrize("seed", [n for n in range(24) if len(drawn(n).switches) <= 5])
def test_all_mixtures_at_once_are_all_mixtures(seed):
    network = drawn(seed)
    for element in network.elements():
        for repair in (False, True):
            transition = Transition.of(network, RouteChange(element=element, repair=repair))
            real = any(
                transition.mixed(some).dependencies.cycles() for some in subsets(transition.updates)
            )
            cycles = transition.any_mixture().dependencies.cycles()
            assert bool(cycles) == real
            if cycles:
                found = unsettled(transition, cycles)
                assert found.updated is not None
                there = transition.mixed(found.updated).dependencies
                assert all(there.takes(turn) for turn in found.cycle.turns)


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("element", [LINK, SWITCH], ids=["link", "switch"])
@pytest.mark.parametrize(
    "network", [clos(4), leaf_spine(4, 2), ring(3)], ids=["clos", "leaf-spine", "ring of 3"]
)
def test_the_order_keeps_cycles_away_after_every_update(network, element, repair):
    transition = Transition.of(network, RouteChange(element=element, repair=repair))
    order = transition.ordered()
    assert order.free
    done = set()
    for switch in chain.from_iterable(order.rounds):
        done.add(switch)
        assert transition.mixed(done).dependencies.cycles() == []
    assert done == set(transition.updates)


def test_the_other_way_round_the_order_brings_a_cycle():
    transition = Transition.of(leaf_spine(4, 2), RouteChange(element=LINK, repair=False))
    rounds = transition.ordered().rounds
    assert transition._is_free(rounds)
    assert not transition._is_free(rounds[::-1])


def test_no_order_helps_where_the_routes_themselves_have_a_cycle():
    order = Transition.of(ring(5), RouteChange(element=LINK, repair=True)).ordered()
    assert not order.sound
    assert not order.free


@pytest.mark.parametrize(
    ("network", "broken"),
    [
        (clos(4), 80),
        (clos(4, ways="up-down"), 0),
        (leaf_spine(4, 2), 16),
        (leaf_spine(4, 2, ways="up-down"), 0),
    ],
    ids=["clos", "clos up-down", "leaf-spine", "leaf-spine up-down"],
)
def test_micro_loops_are_found_with_shortest_paths_and_not_with_up_down(network, broken):
    found = settling(network)
    assert found.broken == broken
    assert found.changes == 2 * len(list(network.elements()))
    assert not found.sampled
    if broken:
        loop = found.examples[0]
        assert len(loop.cycle.channels) == 2
        assert loop.up_down is not None
