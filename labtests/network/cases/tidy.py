"""Figures as tidy tables: a row for each thing, a column for each number, the seed in each row.

flows       every flow: size, start, completion, slowdown, goodput
slowdowns   completion times and slowdowns of flows that are done, by size (a row a decade)
delays      how long packets took, one way and round trip, by priority
queues      mean, deviation and percentiles of the sampled queues
series      of flows (goodput, rate and alpha of DCQCN), queues and held ports over time
pauses, drops, hosts, totals
"""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import write_bytes, write_private
from labtests.network.cases.figures import Figures, FlowFigures

Row = Mapping[str, Any]
RANKS = (50, 95, 99)
OF_FLOWS = ("goodput_series_gbit_per_s", "rate_series_gbit_per_s", "alpha_series")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeries:
    """One number for each bin. `device`: a flow's sender, whom a queue leads to, whose port is held
    by pauses."""

    kind: str  # flow rate alpha queue held
    name: str
    device: str
    unit: str
    values: Sequence[float]


def tables(runs: Sequence[Figures]) -> dict[str, list[Row]]:
    """The tables of one or more runs of a case, by name."""
    made: dict[str, list[Row]] = defaultdict(list)
    for figures in runs:
        for name, row in _rows(figures):
            made[name].append({"case": figures.case, "seed": figures.seed, **row})
    return dict(made)


def _rows(figures: Figures) -> Iterator[tuple[str, Row]]:
    yield "totals", totals(figures)
    for flow in figures.flows:
        yield "flows", _without(asdict(flow), *OF_FLOWS) | {"slowdown": flow.slowdown}
    for row in slowdowns(figures):
        yield "slowdowns", row
    for queue in figures.queues:
        told = _without(asdict(queue), "series_bytes")
        yield "queues", _ranked_columns(told, "percentile_bytes", "bytes")
    for name, parts in (("drops", figures.drops), ("hosts", figures.hosts)):
        for part in parts:
            yield name, asdict(part)
    for pause in figures.pauses:
        yield "pauses", _without(asdict(pause), "paused_series_us")
    yield from (("delays", row) for row in delays(figures))
    yield from (("series", row) for row in _bins(figures))


def _bins(figures: Figures) -> Iterator[Row]:
    for one in series(figures):
        told = {"of": f"{one.kind} {one.name}", "unit": one.unit}
        for number, value in enumerate(one.values):
            yield told | {"from_ms": number * figures.bin_ms, "value": value}


def delays(figures: Figures) -> Iterator[Row]:
    """How long packets took, a row for each priority and way."""
    for delay in figures.delays:
        yield _ranked_columns(asdict(delay), "percentile_us", "us")


def _without(told: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in names}


def _ranked_columns(told: dict[str, Any], name: str, unit: str) -> dict[str, Any]:
    """Percentiles in columns of their own."""
    ranks = {f"p{rank}_{unit}": value for rank, value in told[name].items()}
    return _without(told, name) | ranks


def series(figures: Figures) -> Iterator[TimeSeries]:
    """Everything that is known over time; of a flow all three or, where there is none, nothing."""
    flows = [flow for flow in figures.flows if any(getattr(flow, name) for name in OF_FLOWS)]
    for flow in flows:
        yield _of_flow("flow", flow, "gbit_per_s", flow.goodput_series_gbit_per_s)
    for flow in flows:
        yield _of_flow("rate", flow, "gbit_per_s", flow.rate_series_gbit_per_s)
        yield _of_flow("alpha", flow, "share", flow.alpha_series)
    for queue in figures.queues:
        name = f"{queue.switch} {queue.port} {queue.queue}"
        yield TimeSeries(
            kind="queue", name=name, device=queue.port, unit="bytes", values=queue.series_bytes
        )
    for pause in figures.pauses:
        name = f"{pause.device} {pause.port} {pause.priority}"
        yield TimeSeries(
            kind="held", name=name, device=pause.device, unit="us", values=pause.paused_series_us
        )


def _of_flow(kind: str, flow: FlowFigures, unit: str, values: Sequence[float]) -> TimeSeries:
    return TimeSeries(kind=kind, name=flow.name, device=flow.source, unit=unit, values=values)


def totals(figures: Figures) -> dict[str, float]:
    """What one run comes to; completion times and slowdowns are of the flows that are done."""
    done = [flow for flow in figures.flows if flow.slowdown is not None]
    found = {
        "total_goodput_gbit_per_s": figures.total_goodput_gbit_per_s,
        "fairness": figures.fairness,
        "dropped_frames": float(figures.dropped_frames),
        "pause_frames": float(sum(pause.sent_frames for pause in figures.pauses)),
        "flows_done": float(len(done)),
    }
    if figures.queues:
        found["longest_queue_bytes"] = float(max(queue.peak_bytes for queue in figures.queues))
    if done:
        found |= _times(done)
    return found


def slowdowns(*runs: Figures) -> Iterator[dict[str, float]]:
    """Completion times and slowdowns by size, a row for each decade with flows that are done; those
    of several runs together."""
    groups: dict[int, list[FlowFigures]] = defaultdict(list)
    for flow in (flow for figures in runs for flow in figures.flows):
        if flow.slowdown is not None and flow.size_bytes:
            groups[len(str(flow.size_bytes)) - 1].append(flow)
    for decade, flows in sorted(groups.items()):
        size = {"from_bytes": 10**decade, "below_bytes": 10 ** (decade + 1), "flows": len(flows)}
        yield size | _times(flows)


def _times(flows: Sequence[FlowFigures]) -> dict[str, float]:
    times = sorted(flow.completion_us or 0.0 for flow in flows)
    slow = sorted(flow.slowdown or 0.0 for flow in flows)
    found = {"completion_mean_us": sum(times) / len(times), "slowdown_mean": sum(slow) / len(slow)}
    for rank in RANKS:
        found[f"completion_p{rank}_us"] = _ranked(times, rank)
        found[f"slowdown_p{rank}"] = _ranked(slow, rank)
    return found


def _ranked(values: Sequence[float], rank: int) -> float:
    """The smallest value that this share (%) of the sorted values does not exceed."""
    return values[max(0, math.ceil(len(values) * rank / 100) - 1)]


def write_tables(made: Mapping[str, Sequence[Row]], folder: Path, *, parquet: bool) -> list[Path]:
    """A file for each table in the folder. Raises LabError when one cannot be written."""
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in made.items():
            file = folder / f"{name}.{'parquet' if parquet else 'csv'}"
            if parquet:
                _write_parquet(rows, file)
            else:
                write_private(file, _csv(rows))
            files.append(file)
    except OSError as error:
        raise LabError(f"{folder}: a table cannot be written: {error.strerror}") from error
    return files


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write_parquet(rows: Sequence[Row], file: Path) -> None:
    import pandas as pd  # costs 0.3 s; only who asks for it pays

    try:
        write_bytes(file, pd.DataFrame(rows).to_parquet(index=False))
    except ImportError as error:
        remedy = "pip install pyarrow, or leave --parquet out"
        raise LabError(f"{file}: parquet needs the package pyarrow\n  remedy: {remedy}") from error
