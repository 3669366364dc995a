"""What a case says decides: link pause, maps, tunnels, changed routes, parallel cables, who is cut
off."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from networks import leaf_spine, ring

from labtests.__main__ import main
from labtests.network.cases import load
from labtests.topology import proving
from labtests.topology.answers import as_it_is
from labtests.topology.convergence import RouteChange, Transition, unsettled
from labtests.topology.dependencies import routed
from labtests.topology.fabric import Element
from labtests.topology.of_case import fabric_of_case
from labtests.topology.proving import without_refuted
from labtests.topology.remedies import other_priority
from labtests.topology.routing import sources_of, targets_of

LINK_PAUSE = {"send": True, "obey": True}
NO_PFC = {"switch": {"pfc": [], "link_pause": LINK_PAUSE}, "nic": {"pfc": []}}
CLOCKWISE = {
    f"s{n}": {"routes": [{"to": f"h{to}", "via": f"s{(n + 1) % 4}"} for to in range(4) if to != n]}
    for n in range(4)
}


def ring_case(count, *, own=None, cables=(), **more):
    switches = [f"s{n}" for n in range(count)]
    ends = [(f"h{n}", name) for n, name in enumerate(switches)]
    ends += [(name, switches[(n + 1) % count]) for n, name in enumerate(switches)]
    return {
        "name": "ring",
        "duration_ms": 1,
        "routing": "ecmp",
        "nic": {"pfc": [3]},
        "switch": {"pfc": [3]},
        "hosts": {f"h{n}": None for n in range(count)},
        "switches": {name: (own or {}).get(name) for name in switches},
        "links": [
            {"between": [*each], "rate_gbit_per_s": 10, "length_m": 2} for each in (*ends, *cables)
        ],
        "flows": [{"source": "h0", "target": "h1"}],
        **more,
    }


@pytest.fixture
def told(tmp_path):
    def told(case, *options):
        file = tmp_path / "case.yaml"
        file.write_text(json.dumps(case))
        arguments = ["topology", str(file), "--failures", "0", "--no-convergence", *options]
        return CliRunner().invoke(main, arguments, prog_name="labtests")

    return told


@pytest.fixture
def fabric(tmp_path):
    def fabric(case):
        file = tmp_path / "case.yaml"
        file.write_text(json.dumps(case))
        return fabric_of_case(load(file), str(file))

    return fabric


def cycles_of(network):
    return routed(network).dependencies.cycles()


# -- what pauses hold --------------------------------------------------------------------------


def test_ports_with_link_pause_wait_for_each_other(told):
    shown = told(ring_case(5, **NO_PFC), "--prove")
    assert shown.exit_code == 1
    assert "link pause (802.3x): s0:s1 -> s1:s2 -> s2:s3" in shown.stdout
    assert "1. packet network: deadlocks" in shown.stdout
    assert "with other routes: all packets drain" in shown.stdout
    assert "second lossless priority" not in shown.stdout  # a link pause would hold it too


@pytest.mark.parametrize(("key", "cycles"), [("send", 0), ("obey", 0), ("other", 2)])
def test_a_switch_that_sends_or_obeys_no_link_pause_opens_the_ring(fabric, key, cycles):
    case = ring_case(5, own={"s2": {"link_pause": {**LINK_PAUSE, key: False}}}, **NO_PFC)
    if key == "other":
        case["switches"] = dict.fromkeys(case["switches"])
    assert len(cycles_of(fabric(case))) == cycles


def test_a_link_pause_joins_what_pfc_keeps_apart(fabric):
    def pfc(*priorities):
        return {"pfc": [*priorities]}

    own = {
        f"s{n}": {"ports": {f"s{(n + 1) % 5}": pfc(3 if n < 3 else 4),
                            f"s{(n - 1) % 5}": pfc(3 if (n - 1) % 5 < 3 else 4)}}
        for n in range(5)
    }  # fmt: skip
    assert cycles_of(fabric(ring_case(5, own=own))) == []
    link = {"pfc": [], "link_pause": LINK_PAUSE}
    for one, other in (("s0", "s4"), ("s2", "s3")):
        own[one]["ports"][other] = own[other]["ports"][one] = link
    network = fabric(ring_case(5, own=own))
    assert [cycle.priorities for cycle in cycles_of(network)] == [(3, 4, 8), (3, 4, 8)]
    shown = proving.proof(as_it_is(network, ())[0])
    assert shown.locks
    assert shown.with_remedy == {"routes": False}


def test_a_switch_that_gives_no_packet_the_priority_pauses_none_of_it(fabric):
    away = {"s2": {"dscp_dot1p": dict.fromkeys(range(24, 32), 4)}}
    assert cycles_of(fabric(ring_case(5, own=away))) == []
    assert cycles_of(fabric(ring_case(5, own={"s2": {"trust": "none"}}))) == []
    some = {"s2": {"dscp_dot1p": {26: 4}}}
    assert len(cycles_of(fabric(ring_case(5, own=some)))) == 2


def test_a_second_priority_has_a_queue_of_its_own(fabric):
    shared = {"pfc": [3], "dot1p_lp": {4: 3}}
    assert other_priority(routed(fabric(ring_case(5, switch=shared)))).priority == 5
    taken = {"pfc": [3], "dot1p_lp": dict.fromkeys(range(8), 3)}
    assert other_priority(routed(fabric(ring_case(5, switch=taken)))) is None


# -- which way packets go ----------------------------------------------------------------------


def test_inside_a_tunnel_routes_to_hosts_do_not_count(fabric):
    network = fabric(ring_case(4, own=CLOCKWISE))
    assert len(cycles_of(network)) == 1
    between = [{"between": [f"s{n}", f"s{(n + 1) % 4}"]} for n in range(4)]
    between += [{"between": ["s0", "s2"]}, {"between": ["s1", "s3"]}]
    network = fabric(ring_case(4, own=CLOCKWISE, tunnels=between))
    assert len(cycles_of(network)) == 2  # all shortest paths, both ways round
    back = {"s1": {"routes": [{"to": "h2", "via": "s0"}]}}
    network = fabric(ring_case(4, own=back, tunnels=[{"between": ["s0", "s2"]}]))
    there = {network.spelled(c) for c in (0, 2)}
    assert there == {"s0:s1 -> s1:s0", "s1:s2 -> s2:s1"}
    assert routed(network).dependencies.takes((0, 2))


def test_what_tunnels_carry_goes_into_them_from_elsewhere_too(fabric):
    network = fabric(ring_case(4, tunnels=[{"between": ["s1", "s2"]}], own=CLOCKWISE))
    assert routed(network).dependencies.takes((0, 2))  # from s0 by s1, there into the tunnel


def test_routes_that_events_change_are_looked_at_too(told):
    flips = [
        {"at_us": 100, "device": switch, "do": "route", **route}
        for switch, part in CLOCKWISE.items()
        for route in part["routes"]
    ]
    line = ring_case(4, events=flips)
    line["switches"]["s0"] = {"routes": [{"to": "h2", "via": "s1"}, {"to": "h3", "via": "s3"}]}
    line["switches"]["s1"] = {"routes": [{"to": "h3", "via": "s2"}]}
    line["switches"]["s2"] = {"routes": [{"to": "h0", "via": "s1"}]}
    line["switches"]["s3"] = {"routes": [{"to": "h1", "via": "s2"}]}
    shown = told(line, "--check")
    assert "steady state: no cyclic buffer dependency" in shown.stdout
    assert "after routes changed by `events` (1 time): 1 cycle" in shown.stdout
    assert "1. steady state, with the routes from 100 us on (`events`)" in shown.stdout
    assert shown.exit_code == 1
    del line["events"]
    assert told(line, "--check").exit_code == 0


def test_hosts_of_one_switch_count_where_routes_lead_away_from_it(fabric):
    loop = {f"s{n}": {"routes": [{"to": f"h{host}", "via": f"s{(n + 1) % 4}"} for host in (0, 9)]}
            for n in range(4)}  # fmt: skip
    case = ring_case(4, own=loop)
    case["hosts"] = {"h0": None, "h9": None}
    case["links"] = [each for each in case["links"] if each["between"][0] not in ("h1", "h2", "h3")]
    case["links"].append({"between": ["h9", "s0"], "rate_gbit_per_s": 10, "length_m": 2})
    case["flows"] = [{"source": "h9", "target": "h0"}]
    network = fabric(case)
    (target,) = targets_of(network)
    assert target.hosts == ("h0", "h9")
    assert sources_of(network, target) == [0]
    assert len(cycles_of(network)) == 1


def test_up_down_is_no_remedy_where_it_cuts_hosts_off():
    link = Element(kind="link", number=0)
    wide = Transition.of(leaf_spine(4, 2), RouteChange(element=link, repair=False))
    assert unsettled(wide, wide.any_mixture().dependencies.cycles()).up_down is not None
    # two spines, joined only by leaf1 and leaf2: without a spine up-down cuts leaf0 from leaf3
    chain = leaf_spine(4, 2)
    cables = tuple(each for n, each in enumerate(chain.cables) if n not in (1, 6))
    network = replace(chain, cables=cables)
    change = RouteChange(element=Element(kind="link", number=0), repair=True)
    narrow = Transition.of(network, change)
    found = unsettled(narrow, narrow.any_mixture().dependencies.cycles() or cycles_of(ring(5)))
    assert found.up_down is None


# -- in the packet network ---------------------------------------------------------------------

TRIED = {
    "parallel cables": ring_case(4, cables=[("s0", "s1"), ("s1", "s2")]),
    "explicit routes": ring_case(4, own=CLOCKWISE),
    "a loop": ring_case(
        4,
        own={f"s{n}": {"routes": [{"to": "h0", "via": f"s{(n + 1) % 4}"}]} for n in range(4)},
    ),
}


@pytest.mark.parametrize("case", TRIED.values(), ids=TRIED)
def test_prove_tries_each_cycle_and_implies_the_check(told, case):
    shown = told(case, "--prove")
    assert shown.exception is None or isinstance(shown.exception, SystemExit)
    assert shown.exit_code == 1
    assert "1. packet network: deadlocks under a load constructed for it" in shown.stdout
    assert "STILL" not in shown.stdout


def test_a_micro_loop_over_parallel_cables_is_tried(told):
    case = ring_case(4, cables=[("s0", "s1"), ("s1", "s2")])
    shown = told(case, "--prove", "--convergence")
    assert shown.exit_code == 1
    assert "during convergence after" in shown.stdout
    assert "does NOT deadlock" not in shown.stdout


def test_a_remedy_that_the_packet_network_refutes_is_withdrawn(told, monkeypatch):
    shown = told(ring_case(5), "--prove")
    assert "remedy: a second lossless priority, 4," in shown.stdout
    monkeypatch.setattr(proving, "_moved", lambda demand, moved, priority: demand)
    shown = told(ring_case(5), "--prove")
    assert "remedy: a second lossless priority" not in shown.stdout
    assert "withdrawn: a second priority: still deadlocks in the packet network" in shown.stdout
    assert "with a second priority: STILL deadlocks, remedy withdrawn" in shown.stdout


def test_what_is_left_without_a_remedy_says_so():
    found = as_it_is(ring(5), ())[0]
    shown = proving.LockingProof(locks=True, with_remedy={"routes": True}, cases={})
    assert without_refuted(found, shown).refuted == ("routes",)


# -- what is not looked at ---------------------------------------------------------------------


def test_hosts_beside_a_switch_are_named(told):
    case = ring_case(3)
    case["hosts"] |= {"a": None, "b": None}
    case["links"].append({"between": ["a", "b"], "rate_gbit_per_s": 10, "length_m": 2})
    shown = told(case, "--check")
    assert shown.exit_code == 0
    assert "not checked, for there is no switch: a - b" in shown.stdout


def test_networks_that_no_cable_joins_are_named(told):
    case = ring_case(3)
    case["switches"] |= {"alone": None}
    shown = told(case, "--check")
    assert "2 networks that no cable joins, each by itself: s0, s1, s2 | alone" in shown.stdout
