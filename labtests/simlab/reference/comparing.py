"""The checks against runs of public simulators: each check's runs as cases, measured, judged.

The rules of comparison are those that came with the data: trust A must be within its tolerance, B
within its own, C is shown. Deterministic runs (PFC alone) are made once; with random marking or
loss, the mean over several seeds is taken. Go-back-N and go-back-0 are held against their closed
forms, since a reference run is one sample of a random loss.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from labtests.simlab.cases import Figures, run
from labtests.simlab.reference import formulas
from labtests.simlab.reference.judging import Check, Judged
from labtests.simlab.reference.translation import (
    PAYLOAD_BYTES,
    WIRE_BYTES,
    Run,
    case_of,
    fat_tree_case,
    gbit_per_s,
    headroom_bytes,
    microseconds,
    paper_case,
)

PART = re.compile(r"\.(jain|queue|pauses|peak)$")
GBIT_TO_BYTES = 1e9 / 8
SEED = re.compile(r"_s(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The data files of this package."""

    checks: tuple[Mapping[str, Any], ...]
    runs: Mapping[str, Run]

    def runs_of(self, case: str) -> tuple[str, ...]:
        """The runs of a case: itself, or one per seed."""
        if case in self.runs:
            return (case,)
        return tuple(name for name in self.runs if SEED.sub("", name) == case)


def reference() -> Reference:
    """The reference data, read from the package."""
    here = files("labtests.simlab.reference")
    checks = json.loads((here / "checks.json").read_text(encoding="utf-8"))
    runs = json.loads((here / "runs.json").read_text(encoding="utf-8"))
    return Reference(checks=tuple(checks["checks"]), runs=runs)


class Comparison:
    """Runs cases at most once each and judges checks by them."""

    def __init__(self, data: Reference) -> None:
        self.data = data
        self._measured = cache(self._measure)

    def judge(self, row: Mapping[str, Any]) -> Judged:
        """One check of checks.json."""
        name = str(row["id"])
        check = Check(name=name, trust=row["trust"], quantity=row["quantity"])
        case = PART.sub("", name.removeprefix("PFC."))
        part = PART.search(name)
        rule = _RULES[name.removeprefix("PFC.").split("_")[0]]
        return rule(_Row(self, row, check, case, part[1] if part else ""))

    def figures(self, case: str, seeds: int) -> list[Figures]:
        """The figures of a case with as many seeds."""
        names = self.data.runs_of(case)
        first = int(self.data.runs[names[0]].get("seed", 1))
        return [self._measured(names[0], first + number) for number in range(seeds)]

    def beginning(self, case: str, duration_ms: float) -> Figures:
        """The first milliseconds of a case, with its first seed."""
        name = self.data.runs_of(case)[0]
        return run(case_of(name, self.data.runs[name], duration_ms=duration_ms))

    def _measure(self, name: str, seed: int) -> Figures:
        parameters = self.data.runs[name]
        build: Callable[[str, Run], Any] = case_of
        if name.startswith("zhu"):
            build = paper_case
        elif name.startswith("htsim"):
            build = fat_tree_case
        return run(build(name, parameters), seed=seed)


@dataclass(frozen=True, slots=True)
class _Row:
    """One check on its way to its verdict."""

    comparison: Comparison
    row: Mapping[str, Any]
    check: Check
    case: str
    part: str

    @property
    def expected(self) -> Any:
        return self.row["expected"]

    @property
    def parameters(self) -> Run:
        data = self.comparison.data
        return data.runs[data.runs_of(self.case)[0]]

    @property
    def rate(self) -> float:
        """Of the first link, in bytes/s."""
        return gbit_per_s(self.parameters["topology"]["links"][0][2]) * GBIT_TO_BYTES

    @property
    def delay_s(self) -> float:
        return microseconds(self.parameters["topology"]["links"][0][3]) * 1e-6

    def farther(self, measured: float) -> float:
        """Of the reference's value and its closed form, the one farther from what was measured."""
        closed = self.row.get("closed_form")
        known = [float(self.expected)]
        if closed is not None and self.check.trust == "A":
            known.append(float(closed))
        return max(known, key=lambda value: abs(measured / value - 1))

    def figures(self, seeds: int) -> list[Figures]:
        return self.comparison.figures(self.case, seeds)

    def mean(self, seeds: int, value: Callable[[Figures], float]) -> float:
        return fmean(value(figures) for figures in self.figures(seeds))


def _total(figures: Figures) -> float:
    return figures.total_goodput_gbit_per_s


def _queue_mean(figures: Figures) -> float:
    return figures.queues[0].mean_bytes


def _senders(row: _Row) -> int:
    return len(row.parameters["flows"])


def _shared_bytes(run_: Run) -> float:
    ports = len(run_["topology"]["links"])
    held = headroom_bytes(run_) + run_["reserve_bytes_per_port"]
    return float(run_["buffer_bytes"] - ports * held)


def _threshold(row: _Row) -> float:
    parameters = row.parameters
    return formulas.threshold_queue_bytes(
        float(parameters["alpha"]),
        _shared_bytes(parameters),
        _senders(row),
        parameters["reserve_bytes_per_port"],
    )


def pfc_only(row: _Row) -> Judged:
    """i: everything is carried, shares are equal, the queue stands at the dynamic threshold."""
    (figures,) = row.figures(1)
    if row.part == "jain":
        return row.check.between(figures.fairness, (0.9999, 1.0 + 1e-9), row.expected)
    if row.part == "queue":
        closed = _threshold(row)
        slack = _senders(row) * formulas.headroom_bound_bytes(row.rate, row.delay_s, WIRE_BYTES)
        bounds = (0.998 * closed, closed + slack)
        return row.check.between(_median(figures), bounds, row.expected)
    if row.part == "pauses":
        senders = {f"n{flow[0]}" for flow in row.parameters["flows"]}
        sent = [p.sent_frames for p in figures.pauses if p.port in senders]
        per_ms = fmean(sent) / 2 / figures.duration_ms if sent else 0.0  # xoff, not xon
        return row.check.near(per_ms, row.expected, 0.15)
    return row.check.near(_total(figures), row.rate * 8e-9 * PAYLOAD_BYTES / WIRE_BYTES, 0.001)


def _median(figures: Figures) -> float:
    return figures.queues[0].percentile_bytes["50"]


def dcqcn(row: _Row) -> Judged:
    """ii, ii_b: means over seeds within what the reference's seeds span, widened."""
    runs = row.figures(5 if row.case.startswith("ii_dcqcn") else 3)
    expected = row.expected
    vendor = row.case.startswith("ii_b")
    if row.part == "jain":
        return row.check.between(min(f.fairness for f in runs), (0.99, 1.0), expected)
    if row.part == "peak":
        peak = fmean(f.queues[0].peak_bytes for f in runs)
        bounds = (0.85 * expected[0], 1.15 * expected[1])
        return row.check.between(peak, bounds, fmean(expected))
    if row.part == "queue":
        return row.check.near(fmean(_queue_mean(f) for f in runs), expected[0], 0.15)
    return row.check.near(fmean(_total(f) for f in runs), expected[0], 0.02 if vendor else 0.03)


def small_buffer(row: _Row) -> Judged:
    """iii_b: drops when the start overshoots, none later than 2 ms.

    2:1: what the peak of an unlimited queue has above the limit, in frames, and that peak within
    15 % of the reference's. 8:1: within a factor of 2.
    """
    figures = row.figures(3)
    drops = fmean(f.dropped_frames for f in figures)
    expected = float(row.expected[0])
    early = row.comparison.beginning(row.case, 2.0)
    if early.dropped_frames != figures[0].dropped_frames:
        late = figures[0].dropped_frames - early.dropped_frames
        return row.check.between(late, (0, 0), 0.0)
    if "8to1" in row.case:
        return row.check.between(drops, (expected / 2, expected * 2), expected)
    limit = row.parameters["egress_tail_drop_bytes"]
    whole = "400k" if "25g" in row.case else "1600k"
    unlimited = row.comparison.figures(re.sub(r"[0-9]+k$", whole, row.case), 3)
    peak = fmean(f.queues[0].peak_bytes for f in unlimited)
    above = max(0.0, peak - limit) / WIRE_BYTES
    if expected and abs(peak / (limit + expected * WIRE_BYTES) - 1) > 0.15:
        return row.check.near(peak, limit + expected * WIRE_BYTES, 0.15)
    frames = max(1.0, 0.15 * above)
    return row.check.between(drops, (above - frames, above + frames), expected)


def mixed(row: _Row) -> Judged:
    """iv: the flow that obeys sits at exactly its smallest rate."""
    (figures,) = row.figures(1)
    closed = gbit_per_s(row.parameters["rp"]["MIN_RATE"]) * PAYLOAD_BYTES / WIRE_BYTES
    frame = PAYLOAD_BYTES * 8e-6 / (figures.duration_ms - figures.warmup_ms)
    return row.check.near(figures.flows[1].goodput_gbit_per_s, closed, frame / closed)


def sharing(row: _Row) -> Judged:
    """v: shares of every flow; the one farthest from what is expected is shown."""
    seeds, share = (5, 0.20) if "dcqcn" in row.case else (1, 0.01)
    figures = row.figures(seeds)
    rates = [
        fmean(f.flows[number].goodput_gbit_per_s for f in figures)
        for number in range(len(row.expected))
    ]
    worst = max(zip(rates, row.expected, strict=True), key=lambda pair: abs(pair[0] / pair[1] - 1))
    judged = row.check.near(worst[0], worst[1], share)
    if "parkinglot" in row.case and seeds > 1 and judged.verdict == "pass":
        fairness = _jain(rates)
        if fairness < 0.98:
            return row.check.between(fairness, (0.98, 1.0), 1.0)
    return judged


def _jain(rates: Sequence[float]) -> float:
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def threshold(row: _Row) -> Judged:
    """vi: the queue stands at N (T + r)."""
    (figures,) = row.figures(1)
    return row.check.near(_median(figures) / _threshold(row), float(row.expected), 0.02)


def headroom(row: _Row) -> Judged:
    """vii: never more than the bound; two senders in step: R d + 0.5 .. 2 frames."""
    (figures,) = row.figures(1)
    used = max(max(m.peak_headroom_bytes.values(), default=0) for m in figures.memory)
    high = formulas.headroom_bound_bytes(row.rate, row.delay_s, WIRE_BYTES)
    low = row.rate * row.delay_s + 0.5 * WIRE_BYTES if _senders(row) == 2 else 0.0
    return row.check.between(used, (low, round(high)), float(row.expected))


def fixed_point(row: _Row) -> Judged:
    """viii, zhu: the mean queue, over as many seeds as the reference took.

    Trust A: against the run and the fluid model's fixed point, whichever is farther.
    """
    measured = row.mean(3 if row.case.startswith("viii") else 1, _queue_mean)
    return row.check.near(measured, row.farther(measured), 0.15)


def go_back_n(row: _Row) -> Judged:
    """ix: the mean over seeds against the closed form with lost NACKs and retransmissions.

    Trust A: against the reference run too, whichever is farther.
    """
    parameters = row.parameters
    p = max(link[4] for link in parameters["topology"]["links"])
    k = formulas.frames_per_loss(row.rate, row.delay_s, WIRE_BYTES, 60)
    line_rate = row.rate * 8e-9 * PAYLOAD_BYTES / WIRE_BYTES
    if parameters["go_back_zero"]:
        frames = parameters["chunk_bytes"] // PAYLOAD_BYTES
        closed, share, seeds = formulas.go_back_0_efficiency(p, k, frames), 0.05, 10
        if closed < 0.01:
            return _rare(row, closed, frames)
    else:
        repeat = parameters["nack_interval_us"] * 1e-6 * row.rate / WIRE_BYTES
        closed = formulas.go_back_n_efficiency(p, k, repeat)
        share, seeds = (0.03, 3) if row.check.trust == "A" else (0.06, 5)
    measured = row.mean(seeds, _total) / line_rate
    expected = row.farther(measured) if row.check.trust == "A" else closed
    return row.check.near(measured, expected, share)


def _rare(row: _Row, closed: float, frames: int) -> Judged:
    """So few messages arrive that chance exceeds 5 %: within three standard errors of a count."""
    runs = row.figures(60)
    each = row.rate * runs[0].duration_ms / 1e3 / WIRE_BYTES / frames
    expected = closed * each * len(runs)
    arrived = sum(f.flows[0].delivered_bytes for f in runs) / PAYLOAD_BYTES / frames
    return row.check.near(arrived / each / len(runs), closed, 3 / expected**0.5)


def fat_tree(row: _Row) -> Judged:
    """x: an equal share per ingress port; no ingress holds more than xoff + 2 R d + 2 frames."""
    (figures,) = row.figures(1)
    parameters = row.parameters
    rate, packet = parameters["rate_mbps"] * 1e6 / 8, 1064
    bound = formulas.headroom_bound_bytes(rate, 1e-6 * parameters["hop_latency_us"], packet)
    used = max(max(m.peak_headroom_bytes.values(), default=0) for m in figures.memory)
    if used > bound:
        return row.check.between(200 * packet + used, (0, 200 * packet + bound), row.expected[1])
    rates = [flow.goodput_gbit_per_s for flow in figures.flows]
    worst = max(zip(rates, row.expected[0], strict=True), key=lambda p: abs(p[0] / p[1] - 1))
    return row.check.near(worst[0], worst[1], 0.02)


_RULES: Mapping[str, Callable[[_Row], Judged]] = {
    "i": pfc_only,
    "ii": dcqcn,
    "iii": small_buffer,
    "iv": mixed,
    "v": sharing,
    "vi": threshold,
    "vii": headroom,
    "viii": fixed_point,
    "ix": go_back_n,
    "zhu": fixed_point,
    "htsim": fat_tree,
}
