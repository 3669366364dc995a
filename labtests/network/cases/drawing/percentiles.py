"""What is drawn of distributions: how long packets took by percentile, flows by their size.

Flows of several runs are taken together. Of packets each run has its percentiles and no more: drawn
is their mean over the runs, and whiskers reach from the lowest to the highest.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from labtests.core.drawing import Axis, Point, fitted_axis, log_axis
from labtests.network.cases.drawing.page import Chart, Curve
from labtests.network.cases.figures import Figures
from labtests.network.cases.tidy import Row, delays

COLUMNS = {"p50_us": "50", "p90_us": "90", "p99_us": "99", "p99.9_us": "99.9", "longest_us": "max"}
PLACES = (*(-math.log10(1 - share) for share in (0.5, 0.9, 0.99, 0.999)), 4.2)
"""Each nine is as far from the next; the longest of all stands beyond them."""
RANKS = ("p50", "p99")
THOUSANDS = ("", "k", "M", "G", "T")


def latency(runs: Sequence[Figures]) -> list[Chart]:
    """How long data packets took to their hosts."""
    return _ways(runs, "latency of data packets, us", round_trip=False)


def rtt(runs: Sequence[Figures]) -> list[Chart]:
    """How long it took until an ACK was back."""
    return _ways(runs, "round trip of data packets, us", round_trip=True)


def _ways(runs: Sequence[Figures], label: str, *, round_trip: bool) -> list[Chart]:
    rows: dict[int, list[Row]] = defaultdict(list)
    for figures in runs:
        for row in delays(figures):
            if row["round_trip"] == round_trip:
                rows[row["priority"]].append(row)
    curves = tuple(_percentiles(priority, of) for priority, of in sorted(rows.items()))
    if not curves:
        return []
    names = tuple(COLUMNS.values())
    x = Axis(label="percentile, %", high=PLACES[-1], ticks=PLACES, names=names, ruled=True)
    return [Chart(curves=curves, x=x, y=_spanning(label, curves))]


def _percentiles(priority: int, rows: Sequence[Row]) -> Curve:
    values = [[row[column] for row in rows] for column in COLUMNS]
    return Curve(
        name=f"priority {priority}",
        points=tuple(zip(PLACES, map(fmean, values), strict=True)),
        spread=tuple((min(of), max(of)) for of in values) if len(rows) > 1 else (),
        weight=sum(row["packets"] for row in rows),
    )


def _spanning(label: str, curves: Iterable[Curve]) -> Axis:
    """From 0 on, or logarithmic where values span more than a decade."""
    values = [y for curve in curves for _, y in curve.points]
    values += [y for curve in curves for ends in curve.spread for y in ends]
    low, high = min(values), max(values)
    if low > 0 and high / low > 10:
        return log_axis(label, low, high)
    return fitted_axis(label, 0.0, high)


def completion(rows: Sequence[Row]) -> list[Chart]:
    """How long flows of a size took; a row for each size, as the table has them."""
    return _by_size(rows, "completion_{}_us", "completion time of flows, us")


def slowdown(rows: Sequence[Row]) -> list[Chart]:
    """How many times as long as alone flows of a size took."""
    return _by_size(rows, "slowdown_{}", "slowdown of flows (1: as fast as alone)")


def _by_size(rows: Sequence[Row], column: str, label: str) -> list[Chart]:
    """Each class of sizes at the middle of its decade, and how many flows it has below that."""
    if not rows:
        return []
    middles = [math.sqrt(row["from_bytes"] * row["below_bytes"]) for row in rows]
    curves = tuple(
        Curve(name=rank, points=_points(middles, [row[column.format(rank)] for row in rows]))
        for rank in RANKS
    )
    values = [y for curve in curves for _, y in curve.points]
    return [
        Chart(
            curves=curves,
            x=_sizes(rows[0]["from_bytes"], rows[-1]["below_bytes"]),
            y=log_axis(label, min(values), max(values)),
            below=tuple((x, f"{row['flows']:.0f}") for x, row in zip(middles, rows, strict=True)),
        )
    ]


def _points(xs: Iterable[float], ys: Iterable[float]) -> tuple[Point, ...]:
    return tuple(zip(xs, ys, strict=True))


def _sizes(low: float, high: float) -> Axis:
    powers = range(round(math.log10(low)), round(math.log10(high)) + 1)
    return Axis(
        label="size of flow (grey: flows in the decade)",
        low=low,
        high=high,
        ticks=tuple(10.0**power for power in powers),
        names=tuple(f"{10 ** (power % 3)} {THOUSANDS[power // 3]}B" for power in powers),
        logarithmic=True,
    )
