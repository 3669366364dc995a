"""Who sends to whom in each pattern, and what a flow of each way is asked."""

from dataclasses import replace
from pathlib import Path

import pytest
from hosts_of import roles

from labtests.experiment import HARDWARE, SIMULATED, NotHere, Roles, patterns
from labtests.experiment.roles import roles_of, with_bystanders
from labtests.experiment.traffic import Traffic
from labtests.inventory import load
from labtests.workloads import Iperf3, Perftest

TESTBEDS = Path(__file__).parents[2] / "testbeds"


def lab(*gbit: float, receiver: float = 10, bystanders: int = 0) -> Roles:
    """Senders h1, h2 ...; then the receiver, then bystanders."""
    every = roles(*gbit, receiver, *[10] * bystanders)
    senders, (there, *others) = every[: len(gbit)], every[len(gbit) :]
    line = there.link_bits_per_s
    return Roles(senders=senders, receiver=there, line_bits_per_s=line, bystanders=tuple(others))


def ways(pattern: patterns.Pattern, places: Roles) -> list[str]:
    return [f"{a.name}>{b.name}" for a, b in pattern(places)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (patterns.incast, ["h1>h3", "h2>h3"]),
        (patterns.two_to_one, ["h1>h3", "h2>h3"]),
        (patterns.outcast, ["h3>h1", "h3>h2"]),
        (patterns.pairs, ["h1>h2", "h3>h4"]),
        (patterns.ring, ["h1>h2", "h2>h3", "h3>h4", "h4>h1"]),
        (patterns.victim, ["h1>h4"]),
    ],
)
def test_a_pattern_says_who_sends_to_whom(pattern, expected):
    assert ways(pattern, lab(10, 10, bystanders=1)) == expected


@pytest.mark.parametrize(
    ("gbit", "expected"),
    [
        ((10, 10), ["h1>h3", "h2>h3"]),
        ((10, 10, 10), ["h1>h4", "h3>h4"]),
        ((25, 10, 40), ["h2>h4", "h3>h4"]),
        ((40, 1, 10), ["h3>h4", "h1>h4"]),
    ],
)
def test_who_is_pressed_makes_no_queue_alone(gbit, expected):
    assert ways(patterns.pressed, lab(*gbit)) == expected


@pytest.mark.parametrize("gbit", [(25, 40), (25, 1)])
def test_nobody_is_pressed_where_each_one_is_marked_alone_or_too_slow(gbit):
    with pytest.raises(NotHere, match=r"queue up|cannot overload"):
        ways(patterns.pressed, lab(*gbit))


def test_without_a_bystander_the_victim_s_flow_goes_to_another_sender():
    assert ways(patterns.victim, lab(10, 10, 10)) == ["h1>h3"]


@pytest.mark.parametrize("hosts", [3, 4, 7, 64])
def test_all_to_all_is_every_way_once(hosts):
    found = ways(patterns.all_to_all, lab(*[10] * (hosts - 1)))
    assert len(found) == len(set(found)) == hosts * (hosts - 1)
    assert all(len(set(way.split(">"))) == 2 for way in found)


@pytest.mark.parametrize(("hosts", "turns"), [(3, 3), (4, 3), (6, 3), (7, 3), (64, 3)])
def test_each_host_is_overloaded_in_one_turn_and_in_a_turn_nobody_sends_twice(hosts, turns):
    groups = list(patterns.turns(lab(*[10] * (hosts - 1))))
    assert len(groups) == turns
    served = [there.name for group in groups for there in dict.fromkeys(b for _, b in group)]
    assert sorted(served) == sorted({f"h{n}" for n in range(1, hosts + 1)})
    for group in groups:
        for there in {b for _, b in group}:
            offered = sum(a.link_bits_per_s for a, b in group if b == there)
            assert offered >= 1.5 * there.link_bits_per_s
        senders = [a.name for a, _ in group]
        assert len(senders) == len(set(senders))


def test_a_host_that_all_others_cannot_overload_is_said():
    with pytest.raises(NotHere, match="overload h3"):
        list(patterns.turns(lab(10, 10, receiver=100)))


def test_flows_of_a_pattern_have_ports_of_their_own_and_last_alike():
    places = lab(10, 10, 10)
    traffic = Traffic(roles=places, pace=SIMULATED, own_mtu_bytes={})
    ways = tuple(patterns.all_to_all(places))
    both = (Perftest(tos=96, verb="write"), Perftest(tos=64, verb="read"))
    parts = traffic.flows(ways, both, (), 2)
    assert [(s.role, s.to) for s in parts] == list(ways)
    assert [s.tool.tos for s in parts[:3]] == [96, 64, 96]
    beside = traffic.flows(ways[:1], (Iperf3(protocol="tcp", tos=0, offered_bits_per_s=None),),
                           parts, 2)  # fmt: skip
    ports = [s.tool.port for s in beside]
    assert len(ports) == len(set(ports)) == len(ways) + 1
    assert {s.lasts_s for s in beside} == {2.2}
    assert beside[-1].tool.duration_s == 2
    assert traffic.flows(ways, both, (), 2)[0].lasts_s == 2.2
    assert replace(traffic, pace=HARDWARE).flows(ways, both, (), 2)[0].lasts_s == 8.2


def test_bystanders_have_a_part_only_where_a_suite_asks_for_them():
    testbed = load(TESTBEDS / "two-leaves.yaml")
    incast = roles_of(testbed)
    assert [role.name for role in incast.hosts] == ["srv1", "srv2", "srv4"]
    everybody = with_bystanders(testbed, incast)
    assert [role.name for role in everybody.hosts] == ["srv1", "srv2", "srv4", "srv3"]
    assert {end.device for end in everybody.transit} == {"leaf1", "leaf2"}
    assert len(everybody.transit) == 2


def test_any_to_any_is_not_asked_where_links_differ_or_cables_between_switches_are_slow():
    def asked(places, *between):
        Traffic(roles=places, pace=SIMULATED, own_mtu_bytes={}).expect_equal_links(between)

    asked(lab(10, 10), 20e9)
    with pytest.raises(NotHere, match="of one speed; there are 1, 10 Gb/s"):
        asked(lab(10, 1))
    with pytest.raises(NotHere, match="carries 10 Gb/s, and hosts may send 20 Gb/s"):
        asked(lab(10, 10), 40e9, 10e9)


@pytest.mark.parametrize(
    ("senders", "expected"),
    [(1, ["h1>h9"]), (3, ["h1>h9", "h3>h9", "h6>h9"]), (8, [f"h{n}>h9" for n in range(1, 9)])],
)
def test_a_fan_is_of_senders_from_all_over_the_lab(senders, expected):
    assert ways(patterns.fan(senders), lab(*[10] * 8)) == expected
