"""How fast the packet network is, beside a bare heap loop measured in the same run.

    python benchmarks/network.py

A forward is one packet (data, ACK or CNP) leaving a switch port. Figures are medians of several
runs; `x heap` is forwards per packet of the bare loop (heap_loop.py), the median of the ratios of
neighbouring runs, so it means the same on a slow or busy machine. Then: growth with hosts, with
rate and with simulated time, and what a process needs in memory.
"""

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

BEGIN = time.perf_counter()

from labtests.network import (  # noqa: E402  (the import is part of what is measured)
    Cable,
    HostPort,
    Network,
    RcRequest,
    Routing,
    SwitchPort,
    UdpRequest,
    Wiring,
    WredCurve,
)

RUNS = 7
ALL = frozenset(range(8))
GIGA = 10**9
NS_PER_MS = 1_000_000
HEAP_PS = 100 * 10**9


@dataclass(frozen=True)
class Case:
    """A network to make anew for each run, how long it starts up, and how long it is timed."""

    name: str
    make: Callable[[], Network]
    simulated_ms: float
    warm_up_ms: float = 1.0


# -- networks --------------------------------------------------------------------------------------


def star(senders: int, gigabit: int, *, dcqcn: bool, udp: bool = False) -> Network:
    """`senders` hosts and one receiver on one switch, everybody sends to the receiver."""
    cables = tuple(
        Cable(
            a=HostPort(device=f"h{i}", interface="e0", address=f"10.0.0.{i + 1}"),
            b=SwitchPort(device="switch", interface=f"h{i}"),
            rate_bits_per_s=gigabit * GIGA,
            length_m=3,
        )
        for i in range(senders + 1)
    )
    network = Network(Wiring(cables=cables), seed=1)
    make_lossless(network, dcqcn=dcqcn)
    for i in range(1, senders + 1):
        ends = {"device": f"h{i}", "interface": "e0", "destination": "10.0.0.1"}
        if udp:
            priority, rate = (3, 7.8e9) if i % 2 else (5, 5.15e9)
            network.start_udp(UdpRequest(**ends, tos=priority << 5, rate_bits_per_s=rate))
        else:
            network.start_rc(RcRequest(**ends, tos=3 << 5))
    return network


def leaf_spine(
    leaves: int,
    spines: int,
    hosts_per_leaf: int,
    *,
    bits_per_s: tuple[int, int],
    length_m: float = 5,
) -> Wiring:
    """A two-tier Clos: every leaf has one cable to every spine. Rates: of hosts, and to spines.

    Hosts are `h0`, `h1`, … (port `e0`, addresses 10.0.0.1 and on), leaf by leaf; switches are
    `leaf0`, … and `spine0`, …; a switch's port has the name of the device that it leads to.
    """
    host_bits_per_s, spine_bits_per_s = bits_per_s
    cables = []
    for leaf in range(leaves):
        for host in range(leaf * hosts_per_leaf, (leaf + 1) * hosts_per_leaf):
            number = host + 1
            address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
            cables.append(
                Cable(
                    a=HostPort(device=f"h{host}", interface="e0", address=address),
                    b=SwitchPort(device=f"leaf{leaf}", interface=f"h{host}"),
                    rate_bits_per_s=host_bits_per_s,
                    length_m=length_m,
                )
            )
        for spine in range(spines):
            cables.append(
                Cable(
                    a=SwitchPort(device=f"leaf{leaf}", interface=f"spine{spine}"),
                    b=SwitchPort(device=f"spine{spine}", interface=f"leaf{leaf}"),
                    rate_bits_per_s=spine_bits_per_s,
                    length_m=length_m,
                )
            )
    return Wiring(cables=tuple(cables))


def clos(target_of: Callable[[int], int]) -> Network:
    """128 hosts at 100G on 8 leaves, 4 spines, 400G between them; DCQCN; one flow a host."""
    wiring = leaf_spine(8, 4, 16, bits_per_s=(100 * GIGA, 400 * GIGA))
    network = Network(wiring, seed=1, routing=Routing(ways="ecmp"))
    make_lossless(network, dcqcn=True)
    hosts = [port for port in wiring.ports() if isinstance(port, HostPort)]
    for number, host in enumerate(hosts):
        target = hosts[target_of(number)]
        if target is not host:
            network.start_rc(
                RcRequest(
                    device=host.device,
                    interface=host.interface,
                    destination=target.address,
                    tos=3 << 5,
                )
            )
    return network


def make_lossless(network: Network, *, dcqcn: bool) -> None:
    """DSCP trusted and PFC on everywhere; with `dcqcn`, ECN on queue 3 of every switch port."""
    for port in network.wiring.ports():
        if isinstance(port, HostPort):
            nic = network.nic(port.device, port.interface)
            nic.set_trust("dscp")
            nic.set_pfc(ALL)
            continue
        switch = network.switch(port.device)
        switch.set_trust(port.interface, "dscp")
        switch.set_pfc(port.interface, "on", ALL)
        if dcqcn:
            switch.set_wred(port.interface, 3, WredCurve(ecn=True))


CASES = (
    Case("2 -> 1  10G UDP  PFC (S1)", lambda: star(2, 10, dcqcn=False, udp=True), 200),
    Case("2 -> 1  10G RoCE PFC ECN DCQCN", lambda: star(2, 10, dcqcn=True), 200),
    Case("8 -> 1 100G RoCE PFC", lambda: star(8, 100, dcqcn=False), 40),
    Case("8 -> 1 100G RoCE PFC ECN DCQCN", lambda: star(8, 100, dcqcn=True), 40),
    Case("64 -> 1 100G RoCE PFC ECN DCQCN", lambda: star(64, 100, dcqcn=True), 10),
    Case("128-host Clos, 16 times 8 -> 1", lambda: clos(lambda i: (i // 8 * 8 + 16) % 128), 2),
    Case("128-host Clos, host i -> i + 16", lambda: clos(lambda i: (i + 16) % 128), 0.5, 0.3),
)
HOSTS = tuple(
    Case(f"{n} -> 1 100G", lambda n=n: star(n, 100, dcqcn=True), 10) for n in (2, 4, 8, 16, 32, 64)
)
RATES = tuple(
    Case(f"8 -> 1 {g}G", lambda g=g: star(8, g, dcqcn=True), 1000 / g)
    for g in (10, 25, 100, 400, 800)
)


# -- measuring -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Speed:
    """One run: forwards per wall second, those over the heap loop's packets, and lab time."""

    forwards_per_s: float
    over_heap: float
    simulated_ms_per_s: float


def forwards(network: Network) -> int:
    """Packets that have left switch ports."""
    names = dict.fromkeys(
        port.device for port in network.wiring.ports() if isinstance(port, SwitchPort)
    )
    return sum(
        network.switch(name).port_counters(port).tx_packets
        for name in names
        for port in network.switch(name).ports
    )


def heap_packets_per_s() -> float:
    """Packets of the bare heap loop per wall second."""
    from heap_loop import delivered_packets

    begin = time.perf_counter()
    packets = delivered_packets(HEAP_PS)
    return float(packets / (time.perf_counter() - begin))


def measure(case: Case) -> Speed:
    """One timed run, and the heap loop just before it."""
    network = case.make()
    network.advance_to(round(case.warm_up_ms * NS_PER_MS))
    before = forwards(network)
    heap = heap_packets_per_s()
    begin = time.perf_counter()
    network.advance_to(round((case.warm_up_ms + case.simulated_ms) * NS_PER_MS))
    wall_s = time.perf_counter() - begin
    rate = (forwards(network) - before) / wall_s
    return Speed(rate, rate / heap, case.simulated_ms / wall_s)


def print_table(title: str, cases: tuple[Case, ...], runs: int) -> None:
    print(f"\n{title:34} {'M forwards/s':>13} {'x heap':>8} {'sim ms / s':>11}")
    for case in cases:
        taken = [measure(case) for _ in range(runs)]
        rate = statistics.median(speed.forwards_per_s for speed in taken)
        ratio = statistics.median(speed.over_heap for speed in taken)
        lab = statistics.median(speed.simulated_ms_per_s for speed in taken)
        print(f"{case.name:34} {rate / 1e6:13.2f} {ratio:8.3f} {lab:11.0f}", flush=True)


def print_memory() -> None:
    """Memory does not grow with simulated time."""
    network = star(8, 100, dcqcn=True)
    print(f"\n{'8 -> 1 100G DCQCN, after':34} {'tables':>13} {'process, most so far':>20}")
    for time_ms in (10, 100, 1000):
        network.advance_to(time_ms * NS_PER_MS)
        tables = sum(table.nbytes for table in network.tables)
        process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{f'{time_ms} ms':34} {tables / 2**20:9.2f} MiB {process / 1024:16.0f} MiB")


def main() -> None:
    imported = time.perf_counter()
    network = star(2, 10, dcqcn=False, udp=True)
    built = time.perf_counter()
    network.advance_to(NS_PER_MS)
    ready = time.perf_counter()
    print(
        f"import {imported - BEGIN:.2f} s, build {1e3 * (built - imported):.0f} ms, "
        f"first millisecond (compiled, or from the cache) {ready - built:.2f} s"
    )
    heap_packets_per_s()
    heap = statistics.median(heap_packets_per_s() for _ in range(RUNS))
    print(f"bare heap loop, 4 events a packet, no model: {heap / 1e6:.1f} M packets/s")
    print_table("case", CASES, RUNS)
    print_table("growth with hosts (DCQCN)", HOSTS, 3)
    print_table("growth with rate (DCQCN)", RATES, 3)
    print_memory()


if __name__ == "__main__":
    main()
