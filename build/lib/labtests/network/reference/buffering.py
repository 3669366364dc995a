"""Checks of the switch's memory against closed forms: egress limits, thresholds, headroom pool."""

from collections.abc import Iterator
from typing import Any

from labtests.core.headroom import HeadroomLink, egress_needed_cells, headroom_bound_cells
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.reference import formulas
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import star

CELL_BYTES = 208
ROCE_FRAME_BYTES = 1024 + 62
GUARANTEED_BYTES = 1664
HOSTS = ("h1", "h2", "h3")


def egress_limits() -> Iterator[ValidationRow]:
    """N lossy queues hold alpha B / (1 + alpha N) each above what they are guaranteed."""
    for alpha, queues in ((0.5, 1), (0.25, 2), (1.0, 3), (2.0, 3)):
        shared = 2_000_000
        memory = {"egress_alpha": alpha, "egress_shared_bytes": shared}
        flows = [
            {"source": host, "kind": "udp", "priority": n, "rate_gbit_per_s": 24 / queues}
            for host in HOSTS
            for n in range(queues)
        ]
        figures = run(star(25, flows, switch={"pfc": [], "memory": memory}))
        total = formulas.threshold_queue_bytes(alpha, shared, queues, GUARANTEED_BYTES)
        measured = sum(queue.percentile_bytes["50"] for queue in figures.queues)
        name = f"egress_dynamic_limit_alpha{alpha:g}_{queues}queues"
        yield check(name, "queues' p50 bytes").near(measured, total, 0.01)


def thresholds_by_priority() -> Iterator[ValidationRow]:
    """Groups with their own alpha hold alpha_i B / (1 + sum of alphas) each."""
    alphas = {3: 0.125, 4: 0.5, 5: 0.25}
    groups = [{"priorities": [n], "alpha": alpha} for n, alpha in alphas.items()]
    flows = [{"source": host, "priority": n} for host in HOSTS[:2] for n in alphas]
    memory = {"total_bytes": 4_000_000, "groups": groups, "xon_offset_bytes": 3120}
    figures = run(star(25, flows, switch={"memory": memory}))
    shared = figures.memory[0].shared_bytes
    for number, (n, alpha) in enumerate(alphas.items()):
        each = alpha * shared / (1 + 2 * sum(alphas.values()))
        measured = figures.queues[number].percentile_bytes["50"]
        row = check(f"threshold_of_priority_{n}_alpha{alpha:g}", "queue p50 bytes")
        yield row.near(measured, 2 * (each + GUARANTEED_BYTES), 0.02)


def long_incast(**memory: Any) -> CaseFile:
    """Two senders in step at 100G over 300 m; lossless priority 3."""
    links = [
        {"between": [host, "s1"], "rate_gbit_per_s": 100.0, "length_m": 300.0}
        for host in ("receiver", *HOSTS)
    ]
    flows = [{"source": host} for host in HOSTS[:2]]
    switch = {"pfc": [3], "memory": {"xon_offset_bytes": 300_000, **memory}}
    return star(100, flows, links=links, duration_ms=5, warmup_ms=1, switch=switch)


def _pooled(pool_bytes: int, limit_bytes: int) -> CaseFile:
    """With a headroom pool of this size beside the same shared pool."""
    return long_incast(
        total_bytes=76_923 * CELL_BYTES + pool_bytes,
        headroom_pool_bytes=pool_bytes,
        headroom_pool_limit_bytes=limit_bytes,
    )


def _headroom_drops(figures: Figures) -> int:
    return sum(drop.headroom for drop in figures.drops)


def headroom_pool() -> list[ValidationRow]:
    """The pool holds what its groups need: between R d and 2 R d + 2 MTU each; less of it drops."""
    hop = HeadroomLink(rate_bits_per_s=10**11, delay_s=1.5e-6)
    most = headroom_bound_cells(hop, ROCE_FRAME_BYTES) * CELL_BYTES
    least = 6 * CELL_BYTES * int(12.5e9 * hop.delay_s / (ROCE_FRAME_BYTES + 20))
    roomy = run(_pooled(4000 * CELL_BYTES, most))
    peak = roomy.memory[0].peak_headroom_pool_bytes
    enough, scant = run(_pooled(peak, most)), run(_pooled(peak // 2, most))
    half = check("headroom_pool_of_half_the_need", "headroom drops")
    full = check("headroom_pool_of_the_need", "headroom drops")
    lost = _headroom_drops(scant)
    return [
        check("headroom_pool_2to1_100g_300m", "peak bytes").between(
            peak, (2 * least, 2 * most), least + most
        ),
        full.near(_headroom_drops(enough), 0, 0.0),
        half.judged(lost, 1, ">= 1", lost >= 1),
    ]


def lossless_egress() -> list[ValidationRow]:
    """A lossless queue holds at most (PG share + guarantee + headroom) x ports (S22)."""
    hop = HeadroomLink(rate_bits_per_s=10**11, delay_s=1.5e-6)
    headroom = headroom_bound_cells(hop, ROCE_FRAME_BYTES)
    figures = run(long_incast(headroom_bytes=headroom * CELL_BYTES, alpha=0.5))
    shared, own = figures.memory[0].shared_bytes / CELL_BYTES, GUARANTEED_BYTES // CELL_BYTES
    needed = egress_needed_cells(shared, own, headroom, alpha=0.5, ports=2)
    least = needed - 2 * headroom
    row = check("lossless_egress_inequality", "queue peak bytes")
    bounds = (least * CELL_BYTES, needed * CELL_BYTES)
    return [row.between(figures.queues[0].peak_bytes, bounds, bounds[1])]


QUICK: tuple[Family, ...] = (
    egress_limits,
    thresholds_by_priority,
    headroom_pool,
    lossless_egress,
)
