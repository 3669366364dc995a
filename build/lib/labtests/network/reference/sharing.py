"""Closed forms of what shares a line or a memory under PFC: ports, lossy classes, weights.

Frames are 1000 B on the wire, without preamble and gap, and a cell is a byte.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labtests.network.cases import CaseFile, run
from labtests.network.reference import formulas
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import linked

PAYLOAD_BYTES, FRAME_BYTES, PAUSE_BYTES = 952, 1000, 64
GUARANTEED_BYTES, HEADROOM_BYTES = 1664, 200_000
ENDLESS = {
    "target": "r",
    "message_bytes": PAYLOAD_BYTES,
    "mtu_bytes": PAYLOAD_BYTES,
    "header_bytes": FRAME_BYTES - PAYLOAD_BYTES,
    "tx_depth": 32768,
    "control_priority": 7,
}


def merged(links: Mapping[str, float], flows: Sequence[Mapping[str, Any]], **more: Any) -> CaseFile:
    """Hosts `r`, `h...` and switches `s...` with links of so many Gbit/s and 1 us."""
    memory: dict[str, Any] = {
        "cell_bytes": 1,
        "xon_offset_bytes": 3072,
        "headroom_bytes": HEADROOM_BYTES,
    }
    memory |= more.pop("memory", {})
    switch: dict[str, Any] = {"pfc": [3], "memory": memory} | more.pop("switch", {})
    return linked(
        links,
        [{**ENDLESS, "start_us": n * 0.37, **flow} for n, flow in enumerate(flows)],
        cable={"delay_us": 1.0, "overhead_bytes": 0},
        **({"warmup_ms": 10, "nic": {"pfc": [3]}, "switch": switch} | more),
    )


def merges() -> Iterator[ValidationRow]:
    """At a merge each paused port has an equal share, which the flows behind it divide."""
    for near, far in ((3, 5), (4, 2)):
        hosts = [f"hn{n}" for n in range(near)] + [f"hf{n}" for n in range(far)]
        links = [f"{host}-s1" if host[1] == "n" else f"{host}-s2" for host in hosts]
        case = merged(
            dict.fromkeys(("r-s1", "s1-s2", *links), 40.0), [{"source": host} for host in hosts]
        )
        figures, each = run(case), 40 * PAYLOAD_BYTES / FRAME_BYTES / (near + 1)
        for host, flow in zip(hosts, figures.flows, strict=True):
            expected = each if host[1] == "n" else each / far
            row = check(f"merge_{near}_ports_and_{far}_behind_one", f"Gb/s of {host}")
            yield row.near(flow.goodput_gbit_per_s, expected, 0.02)
        row = check(f"merge_{near}_ports_and_{far}_behind_one", "frames dropped")
        yield row.near(figures.dropped_frames, 0, 0.0)


def mixed_rates() -> Iterator[ValidationRow]:
    """Ports of other rates: who has less than an equal share sends all, others divide the rest."""
    for line, rates, shares in (
        (25, (100, 100), (12.5, 12.5)),
        (25, (100, 100, 5), (10, 10, 5)),
        (40, (100, 25, 10), (15, 15, 10)),
    ):
        links = {f"h{n}-s1": float(rate) for n, rate in enumerate(rates)}
        flows = [{"source": f"h{n}"} for n in range(len(rates))]
        figures = run(merged({"r-s1": float(line)} | links, flows))
        name = "mixed_rates_" + "_".join(map(str, rates)) + f"_into_{line}"
        for flow, share in zip(figures.flows, shares, strict=True):
            row = check(name, f"Gb/s of {flow.name}")
            expected = share * PAYLOAD_BYTES / FRAME_BYTES
            yield row.near(flow.goodput_gbit_per_s, expected, 0.03)
        yield check(name, "frames dropped").near(figures.dropped_frames, 0, 0.0)


def swing() -> Iterator[ValidationRow]:
    """One sender at 100G into 25G: the queue swings between xoff and xon and what is under way.

    peak = xoff + (R - r) (2 d + pause + half a frame), lowest = xoff - offset - r (2 d + pause + a
    frame); within a frame.
    """
    fast, slow = 100e9 / 8, 25e9 / 8
    for xoff, offset in ((300_000, 100_000), (400_000, 250_000)):
        memory = {"xoff_bytes": xoff, "xon_offset_bytes": offset, "guaranteed_bytes": 0}
        case = merged(
            {"r-s1": 25.0, "h1-s1": 100.0},
            [{"source": "h1"}],
            memory=memory,
            sampling={"queue_period_us": 0.1, "queues": [{"switch": "s1", "port": "r"}]},
        )
        queue, back_s = run(case).queues[0], 2e-6 + PAUSE_BYTES / fast
        peak = xoff + (fast - slow) * (back_s + FRAME_BYTES / 2 / fast)
        lowest = xoff - offset - slow * (back_s + FRAME_BYTES / fast)
        for name, value, expected in (
            ("peak", queue.peak_bytes, peak),
            ("lowest 1 %", queue.percentile_bytes["1"], lowest + 0.01 * (peak - lowest)),
        ):
            bounds = (expected - FRAME_BYTES, expected + FRAME_BYTES)
            row = check(f"xoff_{xoff}_xon_offset_{offset}", f"{name} of the queue, bytes")
            yield row.between(value, bounds, expected)


def lossy_beside_lossless() -> Iterator[ValidationRow]:
    """A full lossy queue of L leaves less to the dynamic threshold: N a (B - L) / (1 + a N)."""
    for lossless, lossy, limit, alpha in ((2, 2, 2_000_000, 0.125), (3, 1, 4_000_000, 0.25)):
        sources = [f"h{n}" for n in range(lossless + lossy)]
        links = {f"{host}-s1": 25.0 for host in ("r", *sources)}
        flood = {"target": "r", "kind": "udp", "rate_gbit_per_s": 24.0, "datagram_bytes": 1000}
        flows: list[Mapping[str, Any]] = [{"source": host} for host in sources[:lossless]]
        case = merged(links, flows, memory={"alpha": alpha, "egress_limit_bytes": limit})
        tree = case.model_dump(exclude_unset=True)
        tree["flows"] += [flood | {"source": h, "priority": 1} for h in sources[lossless:]]
        tree["sampling"] = {"queues": [{"switch": "s1", "port": "r"}]}
        figures = run(CaseFile.model_validate(tree))
        left = figures.memory[0].shared_bytes - (limit - lossy * GUARANTEED_BYTES)
        expected = formulas.threshold_queue_bytes(alpha, left, lossless, GUARANTEED_BYTES)
        name = f"lossless_{lossless}_beside_lossy_{lossy}_alpha{alpha:g}"
        measured = figures.queues[0].percentile_bytes["50"]
        yield check(name, "queue p50 bytes").near(measured, expected, 0.02)
        lost = sum(drop.headroom + drop.input_buffer for drop in figures.drops)
        yield check(name, "lossless frames dropped").near(lost, 0, 0.0)


def paused_weights() -> Iterator[ValidationRow]:
    """Weights 1:2:4; that of weight 4 is paused half of the time: the others share 1:2 then."""
    weights = {1: 1, 2: 2, 3: 4}
    queues = [{"group": "1", "weight": weights.get(i, 1)} for i in range(8)]
    flows = [{"source": f"h{i}", "priority": i} for i in weights]
    case = merged(
        dict.fromkeys(("r-s1", *(f"h{i}-s1" for i in weights)), 25.0),
        flows,
        nic={"pfc": [1, 2, 3]},
        switch={"pfc": [1, 2, 3], "ports": {"r": {"schedule": {"queues": queues}}}},
        storms=[{"device": "r", "priorities": [3], "quanta": 48_828, "period_us": 2000.0}],
        duration_ms=50,
    )
    line = 25 * PAYLOAD_BYTES / FRAME_BYTES
    for flow, weight in zip(run(case).flows, weights.values(), strict=True):
        alone = 0.0 if weight == 4 else weight / 3
        row = check("dwrr_1_2_4_beside_pauses", f"Gb/s of {flow.name}")
        expected = line * (weight / 7 + alone) / 2
        yield row.near(flow.goodput_gbit_per_s, expected, 0.01)


QUICK: tuple[Family, ...] = (
    merges,
    mixed_rates,
    swing,
    lossy_beside_lossless,
    paused_weights,
)
