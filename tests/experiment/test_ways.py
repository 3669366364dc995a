"""Which switch ports lie on the way of an incast, by the links of a testbed."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

from labtests.experiment.roles import apart, roles_of, ways_in, ways_out
from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed, load
from labtests.lab import paths
from labtests.lab.paths import transit_ports

TESTBEDS = Path(__file__).parents[2] / "testbeds"


def lab(*cables: str, hosts: str = "", addressed: str = "") -> Testbed:
    """Cables as "A1-B1": device A's port 1 to device B's. What is no host is a switch; the ports of
    `addressed` devices have an address."""
    ports: dict[str, list[str]] = {}
    links = []
    for cable in cables:
        ends = [Endpoint(device=end[0], interface=end[1:]) for end in cable.split("-")]
        for end in ends:
            ports.setdefault(end.device, []).append(end.interface)
        links.append(Link(a=ends[0], b=ends[1], speed_bits_per_s=10**9, length_m=1.0))
    devices = tuple(
        Device(
            name=name,
            platform="linux" if name in hosts else "linux-switch",
            management=Management(host=name),
            ports=tuple(
                Port(device=name, interface=p, address="10.0.0.1" if name in addressed else None)
                for p in of_device
            ),
        )
        for name, of_device in ports.items()
    )
    return Testbed(name="toys", file=Path("toys.yaml"), devices=devices, links=tuple(links))


def way(testbed: Testbed, *sources: str, to: str) -> list[str]:
    return [str(end).replace(":", "") for end in transit_ports(testbed, sources, to)]


def test_on_one_switch_nothing_is_between():
    assert roles_of(load(TESTBEDS / "incast-5to1.yaml")).transit == ()


def test_both_ends_of_the_cable_between_two_leaves_and_none_for_senders_beside_the_receiver():
    testbed = load(TESTBEDS / "two-leaves.yaml")
    trunk = ["leaf1:HundredGigE1/0/25", "leaf2:HundredGigE1/0/25"]
    assert [str(end) for end in roles_of(testbed).transit] == trunk
    beside = replace(testbed, roles=testbed.roles | {"senders": testbed.roles["receiver"] * 2})
    assert roles_of(beside).transit == ()


def test_a_trunk_knows_who_sends_through_it_and_parallel_cables_are_none():
    (trunk,) = roles_of(load(TESTBEDS / "two-leaves.yaml")).trunks
    assert (trunk.bits_per_s, trunk.senders) == (100 * 10**9, {"srv1", "srv2"})
    assert roles_of(load(TESTBEDS / "incast-5to1.yaml")).trunks == ()
    testbed = load(TESTBEDS / "two-leaves.yaml")
    (cable,) = [link for link in testbed.links if link.speed_bits_per_s == 100 * 10**9]
    other = replace(cable, a=replace(cable.a, interface="x"), b=replace(cable.b, interface="x"))
    assert roles_of(replace(testbed, links=(*testbed.links, other))).trunks == ()


def test_every_shortest_way_counts_and_no_longer_one():
    leaf_spine = lab("A1-S1", "A2-T1", "B1-S2", "B2-T2", "A3-C1", "C2-D1", "D2-B3")
    assert way(leaf_spine, "A", to="B") == ["A1", "S1", "A2", "T1", "B1", "S2", "B2", "T2"]
    assert way(leaf_spine, "A", "D", to="B")[-2:] == ["D2", "B3"]


def test_a_host_with_two_cables_is_no_way():
    assert way(lab("A1-H1", "H2-B1", hosts="H"), "A", to="B") == []
    assert way(lab("A1-H1", "H2-B1", "A2-S1", "S2-C1", "C2-B2", hosts="H"), "A", to="B") == [
        "A2", "S1", "S2", "C1", "C2", "B2",
    ]  # fmt: skip


def test_switches_that_route_are_switches():
    assert way(lab("A1-B1", addressed="AB"), "A", to="B") == ["A1", "B1"]


def test_where_the_links_lead_nowhere_nothing_is_invented():
    assert way(lab("A1-S1", "B1-T1"), "A", to="B") == []


def test_each_device_of_a_large_mesh_is_looked_at_once(monkeypatch):
    """A testbed file of 700 kB took 10 s before anything was asked: all devices for every cable."""
    looked = []
    monkeypatch.setattr(paths, "_is_switch", lambda device: looked.append(device) or True)
    names = [chr(0x4E00 + n) for n in range(60)]  # a letter each
    mesh = lab(*(f"{a}{b}-{b}{a}" for a, b in combinations(names, 2)))
    assert len(mesh.links) == 1770
    assert way(mesh, names[0], to=names[-1]) == [names[0] + names[-1], names[-1] + names[0]]
    assert len(looked) == 60


def test_a_switch_with_several_equally_short_ways_to_the_receiver_is_told():
    testbed = load(TESTBEDS / "two-spines.yaml")
    ports = ("leaf1", "Ethernet1/6"), ("leaf1", "Ethernet1/7")
    assert ways_out(testbed, roles_of(testbed)) == {"leaf1": ports}
    entries = [str(end) for end in ways_in(testbed, roles_of(testbed))]
    assert entries == ["spine1:Ethernet1/2", "spine2:Ethernet1/2"]
    one_way = load(TESTBEDS / "two-leaves.yaml")
    assert ways_out(one_way, roles_of(one_way)) == {}


def test_hosts_apart_send_by_the_ways_what_one_of_them_carries():
    testbed = load(TESTBEDS / "two-spines.yaml")
    roles = roles_of(testbed)
    found = [(a.name, b.name) for a, b in apart(testbed, roles)]
    assert found == [("h1", "h6"), ("h2", "h7"), ("h3", "h8"), ("h4", "h9")]  # 4 of 25 by 100
    slower = tuple(replace(link, speed_bits_per_s=60e9) for link in testbed.links)
    assert len(apart(replace(testbed, links=slower), roles)) == 2
    one_way = load(TESTBEDS / "two-leaves.yaml")
    assert apart(one_way, roles_of(one_way)) == ()
