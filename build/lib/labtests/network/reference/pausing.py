"""Closed forms of pauses: their length, the response, storms, headroom, slow hosts, 802.3x."""

from collections.abc import Iterator
from typing import Any

from labtests.core.headroom import RESPONSE_QUANTA, HeadroomLink, headroom_bound_cells
from labtests.network import (
    LinkPause,
    Network,
    PauseTiming,
    longest_response_ns,
)
from labtests.network.cases import run
from labtests.network.cases.building import build, start
from labtests.network.reference import formulas
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import star
from labtests.network.tables import MIN_FRAME_BYTES, OVERHEAD_BYTES, PS_PER_NS, PS_PER_US

PRIORITY = frozenset({3})
HIGHEST_QUANTA = 65535
GIGABIT = 1_000_000_000
FRAME_BYTES = 1024 + 62
WIRE_BYTES = FRAME_BYTES + OVERHEAD_BYTES
CELL_BYTES = 208
NS_PER_US = 1000
EXACT = 1e-9


def _pressing(gigabit: int) -> Network:
    """Host h1 sends priority 3 with frames back to back, for 50 us."""
    case = star(gigabit, [{"source": "h1", "tx_depth": 2**12}])
    network = build(case)
    start(network, case, case.flows[0])
    network.advance_to(50 * NS_PER_US)
    return network


def _say_once(network: Network, quanta: int, *, link: bool = False) -> int:
    """The switch sends h1 one pause; when it is wholly there (ps)."""
    port = network.tables.port[network.queue_row("s1", "h1", 0) // 8]
    free_ps = max(network.now_ns * PS_PER_NS, int(port.busy_until))
    control = network.switch("s1").flow_control("h1")
    control.storm(
        None if link else PRIORITY, quanta=quanta, period_us=1e6, stop_ns=network.now_ns + 1
    )
    frame_ps = (MIN_FRAME_BYTES + OVERHEAD_BYTES) * int(port.ps_per_byte)
    return free_ps + frame_ps + int(port.propagation_ps)


def _last_start_ps(network: Network) -> int:
    """When h1 started the last (full) frame that it has started."""
    port = network.tables.port[network.queue_row("s1", "h1", 0) // 8 ^ 1]
    return int(port.busy_until) - WIRE_BYTES * int(port.ps_per_byte)


def _went_on_ps(network: Network, arrival_ps: int, about_ps: int) -> int:
    """When h1 started its first frame about so long behind the arrival of a pause."""
    network.advance_to((arrival_ps + about_ps) // PS_PER_NS + 1)
    return _last_start_ps(network)


def quanta() -> Iterator[ValidationRow]:
    """The longest pause lasts 65535 x 512 bit times and ends by itself."""
    for gigabit in (10, 25, 40, 50, 100, 200, 400):
        network = _pressing(gigabit)
        expected = HIGHEST_QUANTA * formulas.quantum_s(gigabit * GIGABIT) * 1e6
        arrival_ps = _say_once(network, HIGHEST_QUANTA)
        went_on_ps = _went_on_ps(network, arrival_ps, round(expected * PS_PER_US))
        row = check(f"quanta_expiry_{gigabit}g", "pause us until the first frame")
        yield row.near((went_on_ps - arrival_ps) / PS_PER_US, expected, EXACT)


def responses() -> Iterator[ValidationRow]:
    """A pause of q quanta ends q x 512 bit times behind arrival + response; nothing starts then."""
    for gigabit in RESPONSE_QUANTA:
        network = _pressing(gigabit)
        response_ns = longest_response_ns(gigabit * GIGABIT)
        network.nic("h1", "e0").flow_control.set_timing(PauseTiming(response_ns=response_ns))
        arrival_ps = _say_once(network, 5000)
        lasting_ps = round(5000 * formulas.quantum_s(gigabit * GIGABIT) * 1e12)
        response_ps = round(response_ns * PS_PER_NS)
        network.advance_to((arrival_ps + response_ps) // PS_PER_NS + NS_PER_US)
        before_ps = arrival_ps + response_ps - _last_start_ps(network)
        went_on_ps = _went_on_ps(network, arrival_ps, response_ps + lasting_ps)
        frame_ps = WIRE_BYTES * 8000 / gigabit
        took_ns = (went_on_ps - lasting_ps - arrival_ps) / PS_PER_NS
        yield check(f"pfc_response_{gigabit}g", "ns").near(took_ns, response_ns, EXACT)
        row = check(f"pfc_response_{gigabit}g.in_progress", "last start before it, frames")
        yield row.between(before_ps / frame_ps, (1e-9, 1.0), 0.5)


def link_pauses() -> Iterator[ValidationRow]:
    """An 802.3x pause of q quanta: every priority waits for q x 512 bit times."""
    for gigabit in (10, 100):
        network = _pressing(gigabit)
        nic = network.nic("h1", "e0")
        nic.set_pfc(frozenset())
        nic.set_link_pause(LinkPause())
        expected = 5000 * formulas.quantum_s(gigabit * GIGABIT) * 1e6
        arrival_ps = _say_once(network, 5000, link=True)
        went_on_ps = _went_on_ps(network, arrival_ps, round(expected * PS_PER_US))
        row = check(f"pause_8023x_{gigabit}g", "pause us until the first frame")
        yield row.near((went_on_ps - arrival_ps) / PS_PER_US, expected, EXACT)


def storms() -> Iterator[ValidationRow]:
    """N frames of a storm, one a period, hold the peer for (N - 1) periods and one pause."""
    storm = {"device": "receiver", "priorities": [3], "start_us": 100, "stop_us": 2095}
    flows = [{"source": "h1"}]
    for gigabit, of_quanta in ((25, 1000), (100, 4000)):
        case = star(
            gigabit,
            flows,
            duration_ms=4,
            warmup_ms=1,
            storms=[storm | {"quanta": of_quanta, "period_us": 10.0}],
        )
        (held,) = (p for p in run(case).pauses if (p.device, p.port) == ("s1", "receiver"))
        expected = 199 * 10 + of_quanta * formulas.quantum_s(gigabit * GIGABIT) * 1e6
        yield check(f"pause_storm_{gigabit}g", "us held").near(held.paused_us, expected, 1e-4)


def headroom_used() -> Iterator[ValidationRow]:
    """Nothing drains, a frame is ahead of the PFC frame: 2 R d + 2 MTU + R t_r, as bound and used.

    The worst of several phases of the frame ahead; cells of 208 B.
    """
    for gigabit, length_m in ((25, 20.0), (100, 100.0), (400, 40.0)):
        response_s = longest_response_ns(gigabit * GIGABIT) / 1e9
        hop = HeadroomLink(
            rate_bits_per_s=gigabit * GIGABIT, delay_s=length_m / 2e8, response_s=response_s
        )
        bound = headroom_bound_cells(hop, FRAME_BYTES) * CELL_BYTES
        used = max(_headroom_used(gigabit, length_m, phase) for phase in range(6))
        frame = -(-FRAME_BYTES // CELL_BYTES) * CELL_BYTES
        row = check(f"headroom_with_response_{gigabit}g_{length_m:g}m", "peak bytes")
        yield row.between(used, (bound - 2 * frame, bound), bound)


def _headroom_used(gigabit: int, length_m: float, phase: int) -> int:
    hosts = ("receiver", "h1", "h2", "h3")
    case = star(
        gigabit,
        [
            {"source": "h1", "tx_depth": 2**12},
            {
                "source": "h2",
                "target": "h1",
                "kind": "udp",
                "priority": 5,
                "rate_gbit_per_s": float(gigabit),
                "datagram_bytes": 1040,
                "start_us": phase * WIRE_BYTES * 8 / gigabit / 6e3,
            },
        ],
        duration_ms=0.5,
        warmup_ms=0,
        links=[
            {"between": [host, "s1"], "rate_gbit_per_s": float(gigabit), "length_m": length_m}
            for host in hosts
        ],
        nic={"pfc": [3], "pause": {"response_quanta": "longest"}},
        storms=[{"device": "receiver", "priorities": [3], "start_us": 5.0}],
        switch={"pfc": [3], "memory": {"xoff_bytes": 50_000, "headroom_bytes": 2_000_000}},
    )
    return run(case).memory[0].peak_headroom_bytes["h1/3"]


def slow_receivers() -> Iterator[ValidationRow]:
    """A host that takes in r: goodput r x payload / frame; xoffs by the on/off period."""
    for gigabit, slow, delay_us, response_ns in (
        (25, 10, 1, 0),
        (100, 50, 1, 0),
        (100, 30, 2, 2e3),
    ):
        buffer = {"buffer_bytes": 1_000_000, "xoff_bytes": 300_000, "xon_bytes": 200_000}
        case = star(
            gigabit,
            [{"source": "h1", "tx_depth": 2**12}],
            links=[
                {"between": [host, "s1"], "rate_gbit_per_s": float(gigabit), "delay_us": delay_us}
                for host in ("receiver", "h1", "h2", "h3")
            ],
            hosts={
                "receiver": {"receive": {"rate_gbit_per_s": float(slow), **buffer}},
                **dict.fromkeys(("h1", "h2", "h3")),
            },
            switch={"pause": {"response_ns": response_ns}},
        )
        figures = run(case)
        (sent,) = (p for p in figures.pauses if p.device == "receiver")
        xoffs = (sent.sent_frames - sent.sent_frames_before_warmup) / 2 / 15
        rate = gigabit * 1.25e8 * FRAME_BYTES / WIRE_BYTES
        period = formulas.on_off_period_s(
            (rate, slow * 1.25e8), delay_us * 1e-6, 100_000, FRAME_BYTES, response_ns * 1e-9
        )
        name = f"slow_receiver_{slow}g_of_{gigabit}g"
        goodput = slow * 1024 / FRAME_BYTES
        yield check(name, "goodput Gb/s").near(figures.total_goodput_gbit_per_s, goodput, 0.005)
        yield check(f"{name}.xoffs", "xoffs per ms").near(xoffs, 1e-3 / period, 0.025)


def discards() -> list[ValidationRow]:
    """Without PFC, what is offered beyond the host's rate is discarded at its NIC."""
    nic: dict[str, Any] = {"receive": {"rate_gbit_per_s": 10.0}}
    flow = {"source": "h1", "kind": "udp", "rate_gbit_per_s": 20.0, "datagram_bytes": 1040}
    figures = run(star(25, [flow], nic=nic, switch={"pfc": []}))
    offered = 20e9 / 8 / 1040 * 20e-3
    taken = 10e9 / 8 / FRAME_BYTES * 20e-3 + 131_008 / FRAME_BYTES
    measured = next(host.discards for host in figures.hosts if host.host == "receiver")
    row = check("slow_receiver_discards", "frames")
    return [row.near(measured, offered - taken, 1e-3)]


QUICK: tuple[Family, ...] = (
    quanta,
    responses,
    link_pauses,
    storms,
    headroom_used,
    slow_receivers,
    discards,
)
