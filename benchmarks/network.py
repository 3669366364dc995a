"""How fast the packet network is: packets per second of wall time, median of several runs.

    python benchmarks/network.py

Cases: two and eight senders into one receiver, RoCE with PFC, with and without ECN and DCQCN; and
S1's UDP. A forward is one packet (data, ACK or CNP) leaving a switch port. Start-up is
printed too.
"""

import statistics
import time
from dataclasses import dataclass

BEGIN = time.perf_counter()

from labtests.simlab.network import (  # noqa: E402  (the import is part of what is measured)
    Cable,
    HostPort,
    Network,
    RcRequest,
    SwitchPort,
    UdpRequest,
    Wiring,
    WredCurve,
)

RUNS = 5
LOSSLESS = frozenset(range(8))


@dataclass(frozen=True)
class Case:
    name: str
    senders: int
    gigabit: int
    dcqcn: bool
    udp: bool
    simulated_ms: int


CASES = (
    Case("2 -> 1  10G UDP  PFC (S1)", 2, 10, dcqcn=False, udp=True, simulated_ms=500),
    Case("2 -> 1  10G RoCE PFC", 2, 10, dcqcn=False, udp=False, simulated_ms=500),
    Case("2 -> 1  10G RoCE PFC ECN DCQCN", 2, 10, dcqcn=True, udp=False, simulated_ms=500),
    Case("8 -> 1  10G RoCE PFC", 8, 10, dcqcn=False, udp=False, simulated_ms=500),
    Case("8 -> 1 100G RoCE PFC", 8, 100, dcqcn=False, udp=False, simulated_ms=50),
    Case("8 -> 1 100G RoCE PFC ECN DCQCN", 8, 100, dcqcn=True, udp=False, simulated_ms=50),
)


def build(case: Case) -> Network:
    cables = tuple(
        Cable(
            a=HostPort(device=f"host{i}", interface="e0", address=f"10.0.0.{i}"),
            b=SwitchPort(device="switch", interface=f"p{i}"),
            rate_bits_per_s=case.gigabit * 10**9,
            length_m=3,
        )
        for i in range(case.senders + 1)
    )
    network = Network(Wiring(cables=cables), seed=1)
    switch = network.switch("switch")
    for i in range(case.senders + 1):
        network.nic(f"host{i}", "e0").set_trust("dscp")
        network.nic(f"host{i}", "e0").set_pfc(LOSSLESS)
        switch.set_trust(f"p{i}", "dscp")
        switch.set_pfc(f"p{i}", "on", LOSSLESS)
    if case.dcqcn:
        switch.set_wred("p0", 3, WredCurve(ecn=True))
    for i in range(1, case.senders + 1):
        where = {"device": f"host{i}", "interface": "e0", "destination": "10.0.0.0"}
        if case.udp:
            priority = 3 if i % 2 else 5
            rate = 7.8e9 if i % 2 else 5.15e9
            network.start_udp(UdpRequest(**where, tos=priority << 5, rate_bits_per_s=rate))
        else:
            network.start_rc(RcRequest(**where, tos=3 << 5))
    return network


def forwards(network: Network) -> tuple[int, int]:
    """(packets out of all switch ports, packets out of the port to the receiver)."""
    switch = network.switch("switch")
    out = {port: switch.port_counters(port).tx_packets for port in switch.ports}
    return sum(out.values()), out["p0"]


def measure(case: Case) -> tuple[float, float, float]:
    """(forwards/s, delivered packets/s, simulated ms per wall second)."""
    network = build(case)
    network.advance_to(1_000_000)
    before = forwards(network)
    begin = time.perf_counter()
    network.advance_to(1_000_000 + case.simulated_ms * 1_000_000)
    wall_s = time.perf_counter() - begin
    after = forwards(network)
    return (
        (after[0] - before[0]) / wall_s,
        (after[1] - before[1]) / wall_s,
        case.simulated_ms / wall_s,
    )


def main() -> None:
    imported = time.perf_counter()
    network = build(CASES[0])
    built = time.perf_counter()
    network.advance_to(1_000_000)
    ready = time.perf_counter()
    print(
        f"import {imported - BEGIN:.2f} s, build {1e3 * (built - imported):.1f} ms, "
        f"first millisecond (compiled, or from the cache) {ready - built:.2f} s\n"
    )
    print(f"{'case':32} {'M forwards/s':>13} {'M delivered/s':>14} {'sim ms / s':>11}")
    for case in CASES:
        runs = [measure(case) for _ in range(RUNS)]
        total, delivered, speed = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"{case.name:32} {total / 1e6:13.2f} {delivered / 1e6:14.2f} {speed:11.0f}")


if __name__ == "__main__":
    main()
