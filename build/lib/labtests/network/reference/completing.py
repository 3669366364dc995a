"""Completion times of flows, held against closed forms.

Alone: the formula of cases/ideal.py, exact. Two flows that begin together share a port until the
shorter one is done: 2 S1 / C and (S1 + S2) / C (processor sharing). Single packets that come at
random wait for a NIC as Lindley's recursion says of these arrivals (1952: W' = max(0, W + s - gap))
and on average as in M/D/1; long flows, which a NIC serves in turn, are there in s / (1 - load) on
average whatever their sizes (M/G/1 with processor sharing: Kleinrock, Queueing Systems II, 4.4).
"""

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any

from labtests.network.cases import CaseFile, run
from labtests.network.cases.figures import FlowFigures
from labtests.network.reference import formulas
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import linked

CABLE = {"length_m": 3.0}
PAYLOAD_BYTES, WIRE_BYTES = 1024, 1106


def alone() -> Iterator[ValidationRow]:
    """One flow, through links of different rates and lengths."""
    for size in (1, 1000, 1025, 70_000, 1_000_001):
        case = linked(
            {"h1-s1": 100, "s1-s2": 40, "s2-r": 25},
            [{"source": "h1", "target": "r", "size_bytes": size}],
            cable={"length_m": 30.0},
        )
        flow = run(case).flows[0]
        expected = (flow.ideal_us or 0.0) * 1000
        row = check(f"completion_alone_{size}B", "ns until the last ACK")
        yield row.near((flow.completion_us or 0.0) * 1000, expected, 1e-6)


def sharing() -> Iterator[ValidationRow]:
    """Two flows of one size and twice that, together into one port."""
    for gigabit, size in ((25, 2_000_000), (100, 10_000_000)):
        case = linked(
            {f"{host}-s1": gigabit for host in ("h1", "h2", "r")},
            [
                {"source": "h1", "target": "r", "size_bytes": size},
                {"source": "h2", "target": "r", "size_bytes": 2 * size, "start_us": 0.05},
            ],
            cable=CABLE,
            nic={"pfc": [3]},
            switch={"pfc": [3], "memory": {"xoff_bytes": 60_000, "xon_offset_bytes": 3_000}},
        )
        wire_us = size / PAYLOAD_BYTES * WIRE_BYTES * 8 / (gigabit * 1000)
        for flow, shares in zip(run(case).flows, (2, 3), strict=True):
            row = check(f"completion_shared_{gigabit}g_{flow.source}", "us until the last ACK")
            yield row.near(flow.completion_us or 0.0, shares * wire_us, 0.02)


def waiting() -> Iterator[ValidationRow]:
    """Flows of one packet at random times: how much longer than alone."""
    for load in (0.5, 0.8):
        flows = _random_flows(load, size_bytes=1000, flows=20_000)
        excess = [(f.completion_us or 0.0) - (f.ideal_us or 0.0) for f in flows]
        service_us = (1000 + 62 + 20) * 8 / 10e3
        waits = [0.0]
        for before, after in pairwise(flow.start_us or 0.0 for flow in flows):
            waits.append(max(0.0, waits[-1] + service_us - (after - before)))
        row = check(f"completion_lindley_load{load:g}", "mean ns more than alone, these arrivals")
        yield row.near(fmean(excess) * 1000, fmean(waits) * 1000, 0.002)
        expected_ns = formulas.md1_wait_s(load, service_us * 1e-6) * 1e9
        row = check(f"completion_md1_load{load:g}", "mean ns more than alone")
        yield row.near(fmean(excess) * 1000, expected_ns, 0.1)


def turns() -> Iterator[ValidationRow]:
    """Flows of many packets at random times: their mean slowdown."""
    for load, size in ((0.3, 65536), (0.5, 65536), (0.5, 200_000)):
        flows = _random_flows(load, size_bytes=size, flows=8_000)
        slowdown = fmean(flow.slowdown or 0.0 for flow in flows)
        row = check(f"slowdown_processor_sharing_load{load:g}_{size}B", "mean slowdown")
        yield row.near(slowdown, 1 / (1 - load), 0.05)


def _random_flows(load: float, *, size_bytes: int, flows: int) -> list[FlowFigures]:
    """What becomes of flows from one host at 10G that start at random at this load."""
    random = Random(f"{load} {size_bytes}")
    wire_bytes = size_bytes + -(-size_bytes // PAYLOAD_BYTES) * (WIRE_BYTES - PAYLOAD_BYTES)
    mean_us = wire_bytes * 8 / 10e3 / load
    tree: list[dict[str, Any]] = []
    time_us = 0.0
    for _ in range(flows):
        time_us += random.expovariate(1 / mean_us)
        flow = {"source": "h1", "target": "r", "size_bytes": size_bytes, "start_us": time_us}
        tree.append(flow)
    links = {"h1-s1": 10, "r-s1": 10}
    case: CaseFile = linked(links, tree, cable=CABLE, duration_ms=(time_us + 5000) / 1000)
    return list(run(case).flows)


QUICK: tuple[Family, ...] = (alone, sharing)
SLOW: tuple[Family, ...] = (waiting, turns)
