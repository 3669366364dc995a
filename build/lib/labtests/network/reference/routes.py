"""Closed forms of links and routes: exact frame times, TTL in a loop, balance of ECMP, tunnels."""

from collections.abc import Iterator
from typing import Any

from labtests.network import Network
from labtests.network.cases import CaseFile, run
from labtests.network.cases.building import build, start
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import linked
from labtests.network.tables import OVERHEAD_BYTES
from labtests.network.traffic import UdpFlow

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
LARGEST_FRAME_BYTES = 1518
LARGEST_DATAGRAM_BYTES = 1472
CHI_SQUARE_BOUND = {3: 16.27, 7: 24.32, 9: 27.88, 15: 37.70}
"""Degrees of freedom -> what chance exceeds once in 1000 times (chi-square distribution)."""


def wired(links: dict[str, float], flows: list[dict[str, Any]], **more: Any) -> CaseFile:
    """A case of links `a-b`: Gbit/s, of 1 m, and flows from h1 to h2."""
    between = [{"source": "h1", "target": "h2", **flow} for flow in flows]
    return linked(links, between, cable={"length_m": 1.0}, **({"duration_ms": 2} | more))


def begun(case: CaseFile) -> tuple[Network, UdpFlow]:
    """The network of a case whose only flow, of datagrams, has begun at time 0."""
    network = build(case)
    flow = start(network, case, case.flows[0])
    assert isinstance(flow, UdpFlow)
    return network, flow


def frame_counts() -> list[ValidationRow]:
    """Frames back to back that begin within a time: the exact number, whatever the rate."""
    rates = (1, 2.5, 5, 10, 25, 30, 40, 50, 56, 100, 200, 400, 800)
    return [frame_count(gigabit, NS_PER_S // round(100 * gigabit)) for gigabit in rates]


def whole_seconds() -> list[ValidationRow]:
    """The same over a second."""
    return [frame_count(gigabit, NS_PER_S) for gigabit in (1, 2.5, 5, 10, 25, 40, 100)]


def frame_count(gigabit: float, time_ns: int) -> ValidationRow:
    """The frames that begin within a time at one rate."""
    flow = {"kind": "udp", "rate_gbit_per_s": 2.0 * gigabit}
    case = wired({"h1-h2": gigabit}, [{**flow, "datagram_bytes": LARGEST_DATAGRAM_BYTES}])
    network, _ = begun(case)
    network.advance_to(time_ns)
    bits = 8 * (LARGEST_FRAME_BYTES + OVERHEAD_BYTES)
    expected = time_ns * round(gigabit * NS_PER_S) // (bits * NS_PER_S) + 1
    sent = sum(network.nic("h1", "e0").counters().tx_packets)
    name = f"frames_in_{time_ns / NS_PER_MS:g}_ms_{gigabit:g}g"
    return check(name, "frames begun").near(sent, expected, 0.0)


def loops() -> Iterator[ValidationRow]:
    """A packet in a loop of n switches makes TTL hops: (TTL - 1)/n on each link of the loop."""
    for switches, ttl in ((2, 16), (3, 64), (4, 64), (5, 255)):
        names = [f"s{n}" for n in range(switches)]
        around = [(name, names[(n + 1) % switches]) for n, name in enumerate(names)]
        links = {f"{a}-{b}": 100.0 for a, b in around[: switches if switches > 2 else 1]}
        case = wired(
            {**links, "h1-s0": 100.0, f"h2-{names[-1]}": 100.0},
            [{"kind": "udp", "rate_gbit_per_s": 0.1, "datagram_bytes": 1000, "ttl": ttl}],
            switches={a: {"routes": [{"to": "h2", "via": b}]} for a, b in around},
        )
        network, flow = begun(case)
        network.advance_to(NS_PER_MS)
        flow.stop()
        network.advance_to(10 * NS_PER_MS)
        frames = sum(network.switch(a).port_counters(b).tx_packets for a, b in around)
        measured = frames / switches / flow.sent_datagrams
        row = check(f"loop_of_{switches}_ttl{ttl}", "frames a link and packet")
        yield row.near(measured, (ttl - 1) / switches, 1e-12)
        expired = sum(
            network.switch(name).drop_counters(port).ttl_drops
            for name in names
            for port in network.switch(name).ports
        )
        row = check(f"loop_of_{switches}_ttl{ttl}_drops", "TTL drops")
        yield row.near(expired, flow.sent_datagrams, 0.0)


def balance() -> Iterator[ValidationRow]:
    """1024 queue pairs over equal paths: chi-square of flows a path is what chance makes it."""
    for ways in (4, 8, 16):
        spines = [f"b{n}" for n in range(ways)]
        links = {"h1-a": 100.0, "h2-z": 100.0}
        links |= {link: 100.0 for b in spines for link in (f"a-{b}", f"{b}-z")}
        flow = {"qps": 1024, "message_bytes": 1024, "size_bytes": 1024 * 1024}
        case = wired(links, [flow], routing="ecmp")
        network = build(case)
        start(network, case, case.flows[0])
        network.advance_to(5 * NS_PER_MS)
        counts = [network.switch("a").port_counters(b).tx_packets for b in spines]
        row = check(f"ecmp_{ways}_ways", "chi-square of flows a path")
        bound = CHI_SQUARE_BOUND[ways - 1]
        yield row.between(chi_square(counts), (0.0, bound), ways - 1.0)


def chi_square(counts: list[int]) -> float:
    """Of counts that are expected to be equal."""
    mean = sum(counts) / len(counts)
    return sum((count - mean) ** 2 / mean for count in counts)


def tunnels() -> Iterator[ValidationRow]:
    """A VXLAN header costs 50 B a frame where it is carried."""
    for tunnel, header in ((False, 0), (True, 50)):
        case = wired(
            {"h1-s1": 25.0, "s1-s2": 25.0, "h2-s2": 25.0},
            [{"tx_depth": 2**12}],
            nic={"pfc": [3]},
            switch={"pfc": [3]},
            duration_ms=10,
            warmup_ms=2,
            tunnels=[{"between": ["s1", "s2"]}] if tunnel else [],
        )
        expected = 25 * 1024 / (1024 + 62 + header + OVERHEAD_BYTES)
        name = "vxlan_goodput" if tunnel else "no_vxlan_goodput"
        goodput = run(case).total_goodput_gbit_per_s
        yield check(name, "goodput Gb/s").near(goodput, expected, 0.002)


def scripted_loss() -> Iterator[ValidationRow]:
    """Each n-th frame lost or corrupted: so many, exactly."""
    for do in ("lose", "corrupt"):
        case = wired(
            {"h1-s1": 25.0, "h2-s1": 25.0},
            [{"kind": "udp", "rate_gbit_per_s": 1.0, "datagram_bytes": 1000, "stop_us": 1500.0}],
            events=[{"do": do, "device": "h1", "every": 10}],
        )
        figures = run(case)
        sent = 1500e3 // 8000 + 1
        lost = [d.lost_on_wire + d.crc for d in figures.drops if d.switch == "s1"]
        yield check(f"{do}_each_10th", "frames").near(sum(lost), sent // 10, 0.0)


QUICK: tuple[Family, ...] = (
    frame_counts,
    loops,
    balance,
    tunnels,
    scripted_loss,
)
SLOW: tuple[Family, ...] = (whole_seconds,)
