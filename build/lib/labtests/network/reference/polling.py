"""Marking as switches do it, held against what was measured on one (docs/sources.md, S25 and S26).

A 25G server behind a port whose rate is limited so that 2 227 007 frames/s pass (19.7 Gbit/s of
1106 B with preamble and gap), one queue pair, Pmax 1 %, Kmax 1400 cells. The queue's length is
polled and averaged; how often and how much the source does not say: 50 us and 1/2 here, and what
comes out is the same from 10 us to 200 us. With Kmin 1 cell the steady queue stays below Kmax, with
Kmin 800 it crosses it.

The highest useful Pmax: one CE in 50 us counts for each queue pair, so 20 000 QPs / (frames/s).
"""

from collections.abc import Iterator
from typing import Any

from labtests.network.cases import run
from labtests.network.reference.judging import Check, Family, ValidationRow, check
from labtests.network.reference.stars import linked

FRAMES_PER_S = 2_227_007
CELL_BYTES, KMAX_CELLS = 208, 1400
PAYLOAD_BYTES, WIRE_BYTES = 1024, 1106
CNP_INTERVAL_US = 50
CABLE = {"length_m": 15.0}
SEEDS = (1, 2, 3)


def measured(name: str, quantity: str) -> Check:
    """A check against one measurement."""
    return Check(name=name, trust="B", quantity=quantity)


def experiments() -> Iterator[ValidationRow]:
    """S26's two: the longest queue after the start, in cells, and the rate of the stable one."""
    limit = {"queues": [3], "rate_gbit_per_s": round(FRAMES_PER_S * WIRE_BYTES * 8e-9, 3)}
    for kmin_cells in (1, 800):
        curve = {
            "queues": [3],
            "low_bytes": kmin_cells * CELL_BYTES,
            "high_bytes": KMAX_CELLS * CELL_BYTES,
            "probability": 0.01,
            "poll_period_us": 50.0,
            "weighting_exponent": 1,
        }
        case = linked(
            {"h1-s1": 25, "r-s1": 25},
            [{"source": "h1", "target": "r", "tx_depth": 2048}],
            cable=CABLE,
            duration_ms=300,
            warmup_ms=50,
            nic={"pfc": [3], "dcqcn": {"form": "connectx"}},
            switch={"pfc": [3], "ecn": [curve], "ports": {"r": {"rate_limits": [limit]}}},
        )
        runs = [run(case, seed=seed) for seed in SEEDS]
        cells = [figures.queues[0].percentile_bytes["100"] // CELL_BYTES for figures in runs]
        name = f"s26_polled_kmin{kmin_cells}"
        if kmin_cells == 1:
            row = measured(name, "longest queue of 3 seeds, cells (Kmax: not reached)")
            yield row.between(max(cells), (0, KMAX_CELLS - 1), KMAX_CELLS)
            frames = [f.total_goodput_gbit_per_s * 1e9 / 8 / PAYLOAD_BYTES for f in runs]
            yield measured(name, "frames/s, least of 3 seeds").near(
                min(frames), FRAMES_PER_S, 0.005
            )
        else:
            row = measured(name, "longest queue, least of 3 seeds, cells (Kmax: crossed)")
            yield row.between(min(cells), (KMAX_CELLS + 1, 10 * KMAX_CELLS), KMAX_CELLS)


def useful_marking() -> Iterator[ValidationRow]:
    """S26's table: of every packet marked, the share that is answered with a CNP. A queue pair's
    next CNP waits for its first packet behind the interval: up to one packet more."""
    for gigabit in (10, 25, 100):
        for pairs in (1, 2, 4, 8):
            yield _useful(gigabit, pairs)


def _useful(gigabit: int, pairs: int) -> ValidationRow:
    every: dict[str, Any] = {"queues": [3], "low_bytes": 0, "high_bytes": 0, "probability": 1.0}
    case = linked(
        {"h1-s1": gigabit, "r-s1": gigabit},
        [{"source": "h1", "target": "r", "qps": pairs, "tx_depth": 2048}],
        cable=CABLE,
        duration_ms=20,
        nic={"pfc": [3], "dcqcn": {"form": "off", "cnp_interval_us": CNP_INTERVAL_US}},
        switch={"pfc": [3], "ecn": [every]},
    )
    figures = run(case)
    answered = next(host.cnp_sent for host in figures.hosts if host.host == "r")
    share = answered / (figures.flows[0].delivered_bytes / PAYLOAD_BYTES)
    expected = 1e6 / CNP_INTERVAL_US * pairs / (gigabit * 1e9 / 8 / WIRE_BYTES)
    row = check(f"s26_highest_pmax_{gigabit}g_{pairs}qp", "share of packets that is answered")
    return row.between(share, (1 / (1 / expected + 1.05), expected * 1.01), expected)


QUICK: tuple[Family, ...] = (experiments, useful_marking)
