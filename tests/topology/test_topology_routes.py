"""Routes are those of the packet network; up-down never goes up again."""

from dataclasses import replace
from pathlib import Path

import pytest
from networks import clos, drawn, leaf_spine, ring

from labtests.network import Cable, HostPort, SwitchPort, Wiring
from labtests.network.cases import load
from labtests.network.cases.building import wiring_of
from labtests.network.cases.pathways import routing_of
from labtests.network.paths import all_ways, next_hops
from labtests.topology.fabric import Element, NoTiers
from labtests.topology.of_case import fabric_of_case
from labtests.topology.routing import hops_to, path, sources_of, targets_of

CASES = Path(__file__).parents[2] / "docs/cases"
SEEDS = range(25)


def wiring_of_fabric(fabric):
    cables = [
        Cable(
            a=SwitchPort(device=each.switches[0], interface=each.ports[0]),
            b=SwitchPort(device=each.switches[1], interface=each.ports[1]),
            rate_bits_per_s=each.bits_per_s,
            length_m=each.length_m,
        )
        for each in fabric.cables
    ]
    for number, (host, switch) in enumerate(fabric.hosts.items(), 1):
        end = HostPort(device=host, interface="e0", address=f"10.0.0.{number}")
        port = SwitchPort(device=switch, interface=host)
        cables.append(Cable(a=end, b=port, rate_bits_per_s=10**10, length_m=1))
    return Wiring(cables=tuple(cables))


def by_name(ways, wiring):
    """Of each switch and host, the ports to it, without a host's own switch."""
    ends = tuple(wiring.ports())
    return {
        (switch, ends[host].device): {ends[port].interface for port in ports}
        for (switch, host), ports in ways.items()
        if ports and switch != ends[host ^ 1].device
    }


def told_by(fabric):
    return {
        (fabric.switches[switch], host): {fabric.port_out(channel) for channel in outs}
        for target in targets_of(fabric)
        for host in target.hosts
        for switch, outs in hops_to(fabric, target).items()
        if outs and switch != target.switch
    }


@pytest.mark.parametrize("ways", ["shortest", "ecmp"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_ways_are_those_of_the_packet_network(seed, ways):
    fabric = drawn(seed, ways=ways)
    wiring = wiring_of_fabric(fabric)
    assert told_by(fabric) == by_name(next_hops(wiring, equal=ways == "ecmp"), wiring)


def test_one_way_and_all_ways_are_not_the_same():
    fabric = leaf_spine(3, 2)
    assert told_by(fabric) != told_by(replace(fabric, ways="shortest"))


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_explicit_routes_of_cases_are_those_of_the_packet_network(name):
    case = load(CASES / f"{name}.yaml")
    wiring = wiring_of(case)
    fabric = fabric_of_case(case, name)
    assert told_by(fabric) == by_name(all_ways(wiring, routing_of(case)), wiring)


@pytest.mark.parametrize("failed", [(), (0, 5), (1, 2), (7, 20)], ids=str)
def test_up_down_never_goes_up_again_whatever_fails(failed):
    fabric = clos(4, ways="up-down")
    dead = fabric.dead(*(Element(kind="link", number=number) for number in failed))
    gone = 0
    for target in targets_of(fabric):
        hops = hops_to(fabric, target, dead)
        for source in sources_of(fabric, target):
            tiers = [fabric.tiers[source]]
            tiers += [fabric.tiers[fabric.heads[c]] for c in path(fabric, hops, source)]
            turned = tiers.index(max(tiers))
            assert tiers[:turned] == sorted(tiers[:turned])
            assert tiers[turned:] == sorted(tiers[turned:], reverse=True)
            gone += tiers[-1] != 0 or len(tiers) == 1
    assert gone == 0 or failed


def test_up_down_needs_tiers():
    with pytest.raises(NoTiers, match=r"s0 - s1 joins two switches of tier 0"):
        ring(5, ways="up-down").expect_tiers()
