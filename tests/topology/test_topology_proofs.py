"""In the packet network: cycles lock, with their remedies they do not, and nothing else does."""

from types import MappingProxyType

import pytest
from networks import clos, leaf_spine, ring
from test_topology_cycles import TWO_DOWN

from labtests.network.cases import run
from labtests.topology.answers import Answer, answer, as_it_is
from labtests.topology.dependencies import routed
from labtests.topology.loads import case_of, demands, random_load, steady
from labtests.topology.proving import locked_by_random, proof, stands_still

LOCKING_SEED = 1_000_047
"""Of seeds 1 000 000 to 1 000 079, two lock it: this one and ...31."""


def unlooked(network):
    return Answer(fabric=network, steady=(), surveys=(), settling=None, found=())


@pytest.mark.parametrize(
    ("network", "failed"), [(ring(5), ()), (leaf_spine(4, 2), TWO_DOWN)], ids=["ring", "valley"]
)
def test_a_cycle_locks_and_with_other_routes_or_another_priority_it_does_not(network, failed):
    shown = proof(as_it_is(network, failed)[0])
    assert shown.locks
    assert shown.with_remedy == {"routes": False, "priority": False}
    flows = run(shown.cases["routes"]).flows
    assert all(flow.goodput_all_gbit_per_s > 0.5 for flow in flows)


def test_a_micro_loop_locks_and_in_the_order_or_up_down_it_does_not():
    found = answer(leaf_spine(4, 2), failures=0).found
    assert len(found) == 2
    for each in found:
        shown = proof(each)
        assert shown.locks
        assert shown.with_remedy == {"order": False, "up-down": False}
        for case in shown.cases.values():
            ends = {(event.device, event.port) for event in case.events if event.do == "down"}
            assert ends == {("leaf0", "spine0"), ("spine0", "leaf0")}


def test_without_a_cycle_the_same_load_does_not_lock():
    found = as_it_is(ring(5), ())[0]
    wanted = demands(found.network, found.cycle)
    assert stands_still(case_of(steady(ring(5), wanted, frozenset())))
    assert not stands_still(case_of(steady(ring(5), wanted[1:], frozenset())))


def test_settings_of_a_case_hold_for_its_load_and_guards_do_not():
    found = as_it_is(ring(5), ())[0]
    load = steady(ring(5), demands(found.network, found.cycle), frozenset())
    base = {
        "switch": {"pfc": [3], "memory": {"xoff_bytes": 100_000}, "deadlock": {"interval_ms": 1}}
    }
    case = case_of(load, base)
    assert case.switch.memory.xoff_bytes == 100_000
    assert case.switch.deadlock is None
    assert stands_still(case)


def test_a_port_without_pfc_has_none_in_a_load():
    off = MappingProxyType({("s0", "s1"): frozenset[int](), ("s1", "s0"): frozenset({3})})
    assert as_it_is(ring(5, lossless=off), ()) == []
    found = as_it_is(ring(5), ())[0]
    wanted = demands(found.network, found.cycle)
    case = case_of(steady(ring(5, lossless=off), wanted, frozenset()))
    assert case.switches["s0"].ports["s1"].pfc == []
    assert case.switches["s1"].ports["s0"].pfc == [3]
    assert not stands_still(case)


@pytest.mark.parametrize("network", [clos(4), leaf_spine(4, 3)], ids=["clos", "leaf-spine"])
def test_random_loads_do_not_lock_a_network_without_a_cycle(network):
    tried, locked = locked_by_random(unlooked(network), 1)
    assert (tried, locked) == (1, ())


def test_random_loads_can_lock_a_ring():
    load = random_load(routed(ring(5)), LOCKING_SEED)
    assert stands_still(case_of(load))
