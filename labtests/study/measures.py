"""What is measured of one run, by name. Docs define the three that are goals (docs/studies.md)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labtests.network.cases.figures import Figures
from labtests.network.cases.form import CaseFile
from labtests.network.cases.running import run
from labtests.network.cases.workloads import expanded
from labtests.study.carrying import Carried, carried
from labtests.study.probing import latencies_us, probed

VERSION = 2
"""Of what the figures mean: results of another version are not used again."""
SLICES = 100
"""Slices of time of a pattern, in each of which a port is paused or is not."""


@dataclass(frozen=True)
class Ran:
    """A run and what it was of; `flows`: how many are not probes."""

    case: CaseFile
    figures: Figures
    flows: int

    @cached_property
    def carried(self) -> Carried:
        """What the pattern can carry."""
        return carried(self.case.model_copy(update={"flows": self.case.flows[: self.flows]}))

    @cached_property
    def latencies_us(self) -> list[float]:
        """Of all samples; none where nothing is RC."""
        return latencies_us(self.case, self.figures, self.flows)


def measured(case: CaseFile, seed: int, names: Sequence[str]) -> dict[str, float | None]:
    """These figures of a run; None where there is nothing to measure."""
    case = expanded(case, seed)
    flows = len(case.flows)
    if any(name.startswith("latency") for name in names):
        case = probed(case, seed)
    sampling = case.sampling.model_copy(update={"bin_ms": case.duration_ms / SLICES})
    case = case.model_copy(update={"sampling": sampling})
    ran = Ran(case=case, figures=run(case, seed=seed), flows=flows)
    return {name: _finite(MEASURES[name](ran)) for name in names}


def _finite(value: float) -> float | None:
    return float(f"{value:.9g}") if math.isfinite(value) else None


def _throughput(ran: Ran) -> float:
    """Of the port that is worst off: received / what it can have received. What flows that wait for
    others can carry is not known."""
    if any(flow.after for flow in ran.case.flows):
        return math.nan
    window_s = (ran.figures.duration_ms - ran.figures.warmup_ms) * 1e-3
    got: dict[str, float] = {}
    for part, flow in zip(ran.case.flows[: ran.flows], ran.figures.flows, strict=False):
        got[part.target] = got.get(part.target, 0) + flow.goodput_gbit_per_s * window_s * 1e9 / 8
    can = ran.carried
    if can.busy:
        return min(got[host] / can.bytes_to[host] for host in can.busy)
    total = sum(can.bytes_to.values())
    return sum(got.values()) / total if total else math.nan


def _paused_share(ran: Ran) -> float:
    """Of the port that was paused most often: slices of time, from warm-up on, with a pause."""
    first = math.ceil(SLICES * ran.case.warmup_ms / ran.case.duration_ms)
    series: list[Any] = [np.array(p.paused_series_us[first:]) for p in ran.figures.pauses]
    return max((float((each > 0).mean()) for each in series), default=0.0)


def _pause_frames_per_s(ran: Ran) -> float:
    window_s = (ran.figures.duration_ms - ran.figures.warmup_ms) * 1e-3
    sent = [p.sent_frames - p.sent_frames_before_warmup for p in ran.figures.pauses]
    return max(sent, default=0) / window_s


def _rank(percent: float) -> Callable[[Ran], float]:
    def of(ran: Ran) -> float:
        found = ran.latencies_us
        return float(np.percentile(found, percent)) if found else math.nan

    return of


def _queue(ran: Ran) -> float:
    found = [most for each in ran.figures.memory for most in each.peak_queue_bytes.values()]
    return float(max(found, default=0))


MEASURES: Mapping[str, Callable[[Ran], float]] = {
    "throughput": _throughput,
    "paused_share": _paused_share,
    "pause_frames_per_s": _pause_frames_per_s,
    "latency_us": _rank(100),
    "latency_p99_us": _rank(99),
    "latency_p50_us": _rank(50),
    "goodput_gbit_per_s": lambda ran: sum(
        f.goodput_gbit_per_s for f in ran.figures.flows[: ran.flows]
    ),
    "queue_peak_bytes": _queue,
    "marked_packets": lambda ran: float(sum(m.marked_packets for m in ran.figures.marks)),
    "dropped_frames": lambda ran: float(ran.figures.dropped_frames),
    "retransmitted_packets": lambda ran: float(
        sum(f.retransmitted_packets for f in ran.figures.flows[: ran.flows])
    ),
}
AT_LEAST, AT_MOST = " (>=)", " (<=)"
"""Behind the name of a fact of a lab's verdicts: what it is held to."""


def higher_is_better(name: str) -> bool:
    """Whether more of a measure is better; of all others less is."""
    return name in ("throughput", "goodput_gbit_per_s") or name.endswith(AT_LEAST)
