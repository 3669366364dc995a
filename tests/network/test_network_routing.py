"""Ways through the network: static routes and loops, TTL, ECMP by the five-tuple."""

from collections import Counter

import pytest
from network_wired import NS_PER_MS, rc, udp, wired

from labtests.network import Network, RcFlow, Routing, StaticRoute
from labtests.network.forwarding import mixed
from labtests.network.paths import five_tuple_hash


def ring(switches: int) -> Routing:
    """Packets for h2 go round all switches for ever."""
    names = [f"s{n}" for n in range(switches)]
    routes = [
        StaticRoute(switch=name, to="10.0.0.2", via=(names[(n + 1) % switches],))
        for n, name in enumerate(names)
    ]
    return Routing(static=tuple(routes))


def ring_links(switches: int) -> list[str]:
    around = [f"s{n}-s{(n + 1) % switches}" for n in range(switches)]
    return [*around, "h1-s0", f"h2-s{switches - 1}"]


# -- TTL and loops -------------------------------------------------------------------------------


@pytest.mark.parametrize(("switches", "ttl"), [(3, 64), (4, 16), (4, 3), (5, 255)])
def test_a_packet_in_a_loop_makes_exactly_ttl_hops(switches: int, ttl: int) -> None:
    network = wired(*ring_links(switches), routing=ring(switches))
    flow = udp(network, "h1", "h2", ttl=ttl)
    network.advance_to(NS_PER_MS)
    flow.stop()
    network.advance_to(3 * NS_PER_MS)
    assert network.idle
    sent = flow.sent_datagrams
    assert sent > 100
    hops = sum(
        network.switch(f"s{n}").port_counters(port).rx_packets
        for n in range(switches)
        for port in network.switch(f"s{n}").ports
    )
    assert hops == ttl * sent
    expired = {
        (name, port): drops
        for name in network.memory
        for port in network.switch(name).ports
        if (drops := network.switch(name).drop_counters(port).ttl_drops)
    }
    last = (ttl - 1) % switches  # the switch that the last hop led to
    where = f"s{(last - 1) % switches}" if ttl > 1 else "h1"
    assert expired == {(f"s{last}", where): sent}
    assert flow.received_datagrams == 0


def test_a_path_as_long_as_the_ttl_is_too_long() -> None:
    line = ("h1-s1", "s1-s2", "s2-s3", "s3-h2")
    for ttl, arrives in ((4, True), (3, False)):
        network = wired(*line)
        flow = rc(network, "h1", "h2", ttl=ttl, messages=3)
        network.advance_to(NS_PER_MS)
        assert (flow.messages_completed == 3) is arrives
        assert (network.switch("s3").drop_counters("s2").ttl_drops > 0) is not arrives


def test_rerouting_ends_a_loop() -> None:
    network = wired(*ring_links(4), routing=ring(4))
    flow = udp(network, "h1", "h2")
    network.advance_to(NS_PER_MS)
    assert flow.received_datagrams == 0
    network.reroute(Routing())
    before = flow.sent_datagrams
    network.advance_to(2 * NS_PER_MS)
    assert flow.received_datagrams >= flow.sent_datagrams - before - 1


# -- static routes -------------------------------------------------------------------------------


def test_the_longest_prefix_decides_and_hosts_of_the_switch_are_left_alone() -> None:
    links = ("h1-s1", "h2-s1", "h3-s2", "h5-s2", "s1-s2", "s1-s3", "s3-s2")
    static = (
        StaticRoute(switch="s1", to="10.0.0.3", via=("s2",)),
        StaticRoute(switch="s1", to="0.0.0.0/0", via=("s3",)),
    )
    network = wired(*links, routing=Routing(static=static))
    flows = [udp(network, "h1", target) for target in ("h2", "h3", "h5")]
    network.advance_to(NS_PER_MS)
    sent = [network.switch("s1").port_counters(port).tx_packets for port in ("h2", "s2", "s3")]
    assert sent == [flow.received_datagrams for flow in flows]
    assert min(sent) > 100


def test_a_switch_without_a_way_counts_the_drop() -> None:
    null = StaticRoute(switch="s2", to="10.0.0.2", via=())
    network = wired("h1-s1", "h2-s2", "s1-s2", routing=Routing(static=(null,)))
    flow = udp(network, "h1", "h2")
    network.advance_to(NS_PER_MS)
    assert network.switch("s2").drop_counters("s1").no_route_drops >= flow.sent_datagrams - 1 > 0


@pytest.mark.parametrize(
    ("route", "problem"),
    [
        (StaticRoute(switch="s1", to="10.0.0.2", via=("s9",)), "no port 's9'; it has: h1, s2"),
        (StaticRoute(switch="s1", to="10.0.0.2", via=("h1",)), "behind h1 is host h1"),
        (StaticRoute(switch="s1", to="ten", via=("s2",)), "neither an address nor a prefix"),
        (StaticRoute(switch="s1", to="10.0.0.2", via=("s2",) * 65), "more than 64 ports"),
    ],
)
def test_a_static_route_that_cannot_be_is_refused(route: StaticRoute, problem: str) -> None:
    network = wired("h1-s1", "s1-s2", "h2-s2")
    with pytest.raises(ValueError, match=problem):
        network.reroute(Routing(static=(route,)))
    assert network.routing == Routing()


# -- ECMP ----------------------------------------------------------------------------------------

TIERS = (
    *("h1-a", "h2-z"),
    *(f"a-b{n}" for n in range(4)),
    *(f"b{n}-c{m}" for n in range(4) for m in range(4)),
    *(f"c{m}-z" for m in range(4)),
)
"""One way splits into four, and each of those into four."""


def used(network: Network, device: str, ports: list[str]) -> list[int]:
    return [network.switch(device).port_counters(port).tx_packets for port in ports]


def spread(seeds: dict[str, int] | None = None, qps: int = 256) -> tuple[Network, RcFlow]:
    network = wired(*TIERS, routing=Routing(ways="ecmp", hash_seeds=seeds or {}))
    flow = rc(network, "h1", "h2", qps=qps, message_bytes=1024, messages=4)
    network.advance_to(5 * NS_PER_MS)
    assert flow.messages_completed == 4 * qps
    return network, flow


def test_ecmp_uses_all_paths_and_a_flow_stays_on_one() -> None:
    network, _ = spread()
    first = used(network, "a", [f"b{n}" for n in range(4)])
    assert all(packets % 4 == 0 for packets in first)  # flows of 4 packets, never divided
    assert chi_square([packets // 4 for packets in first]) < 16.3  # 3 degrees: p = 0.001
    second = [used(network, f"b{n}", [f"c{m}" for m in range(4)]) for n in range(4)]
    assert all(min(row) > 0 for row in second)
    assert sum(map(sum, second)) == sum(first)


def chi_square(counts: list[int]) -> float:
    mean = sum(counts) / len(counts)
    return sum((count - mean) ** 2 / mean for count in counts)


def test_equal_seeds_polarise() -> None:
    names = ["a", *(f"b{n}" for n in range(4))]
    network, _ = spread(dict.fromkeys(names, 7))
    for n in range(4):
        row = used(network, f"b{n}", [f"c{m}" for m in range(4)])
        assert [m for m in range(4) if row[m]] == [n]


def test_the_hash_is_a_documented_function_of_the_five_tuple() -> None:
    content = bytes([10, 0, 0, 1, 10, 0, 0, 2, 49152 >> 8, 0, 4791 >> 8, 4791 & 255, 17])
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    assert five_tuple_hash("10.0.0.1", "10.0.0.2", (49152, 4791), 17) == crc
    network, _ = spread(qps=1)
    chosen = mixed(crc, int(network.tables.switch[0].hash_seed)) % 4
    assert used(network, "a", [f"b{n}" for n in range(4)])[chosen] == 4


@pytest.mark.parametrize("seed", range(4))
def test_choices_of_tiers_are_independent(seed: int) -> None:
    """Chi-square of the joint choices of two switches with different seeds, 4 x 4 ways."""
    hashes = [five_tuple_hash("10.0.0.1", "10.0.0.2", (49152 + n, 4791), 17) for n in range(4096)]
    joint = Counter((mixed(h, seed) % 4, mixed(h, seed + 1) % 4) for h in hashes)
    assert chi_square([joint[a, b] for a in range(4) for b in range(4)]) < 37.7  # 15: p = 0.001


def test_a_dead_link_moves_only_its_own_flows() -> None:
    network = wired(*TIERS, routing=Routing(ways="ecmp"))
    flows = [udp(network, "h1", "h2", source_port=5000 + n) for n in range(64)]
    network.advance_to(NS_PER_MS // 10)
    before = used(network, "a", [f"b{n}" for n in range(4)])
    network.cut("a", "b2")
    network.advance_to(NS_PER_MS // 5)
    after = used(network, "a", [f"b{n}" for n in range(4)])
    grown = [b - a for a, b in zip(before, after, strict=True)]
    assert grown[2] == 0
    assert all(grown[n] >= 0.98 * before[n] for n in (0, 1, 3))
    assert sum(grown) >= 0.95 * sum(before)
    assert sum(flow.lost_datagrams for flow in flows) < 64


def test_a_clos_spreads_over_its_spines() -> None:
    names = [f"h{n}" for n in range(1, 9)]
    links = [f"{name}-leaf{n // 2}" for n, name in enumerate(names)]
    links += [f"leaf{leaf}-spine{spine}" for leaf in range(4) for spine in range(3)]
    network = wired(*links, routing=Routing(ways="ecmp"))
    flows = [
        rc(network, a, b, qps=8, message_bytes=1024, messages=1)
        for a in names
        for b in names
        if a != b
    ]
    network.advance_to(NS_PER_MS)
    assert all(flow.messages_completed == 8 for flow in flows)
    for leaf in range(4):
        ways = used(network, f"leaf{leaf}", [f"spine{n}" for n in range(3)])
        assert sum(ways) == 2 * 6 * 8 * 2  # hosts x others x queue pairs x (data, ACK)
        assert min(ways) > 0.2 * sum(ways)
