"""The sawtooth between xoff and xon, as only a simulated lab's exact state has it: drawn beside the
plots, on their time, and never evidence."""

from collections.abc import Iterator

from labtests.core.drawing import (
    BLUE,
    GREY,
    VERMILION,
    Axis,
    Panel,
    Parts,
    beside,
    ceiling,
    rule,
    sheet,
)
from labtests.report.runs import Json, entries, number

HEIGHT = 300.0
KB = 1000.0


def sawteeth(phases: list[Json]) -> Iterator[str]:
    """A figure for each priority that was seen to be paused and to go on again."""
    starts = [s for phase in phases if (s := number(phase.get("start_s"))) is not None]
    zero_s = min(starts, default=0.0)
    for phase in phases:
        places: dict[tuple[str, ...], list[Json]] = {}
        for row in entries(phase.get("exact_state")):
            place = tuple(str(row.get(name)) for name in ("device", "port", "priority"))
            places.setdefault(place, []).append(row)
        for place, rows in places.items():
            if {number(row.get("paused")) for row in rows} == {0, 1}:
                yield _figure(f"{phase.get('name')}: {' '.join(place[:2])}", place[2], rows, zero_s)


def _figure(where: str, priority: str, rows: list[Json], zero_s: float) -> str:
    times = [(number(row.get("time_s")) or 0.0) - zero_s for row in rows]
    shared, headroom = (
        [(number(row.get(name)) or 0.0) / KB for row in rows]
        for name in ("shared_bytes", "headroom_bytes")
    )
    high = ceiling(max(*shared, *headroom) * 1.05)
    marks = tuple(times[0] + (times[-1] - times[0]) * n / 4 for n in range(5))
    panel = Panel(
        left=60,
        top=90,
        width=640,
        height=HEIGHT - 145,
        x=Axis(
            label="s since the first phase, as in the plots",
            low=times[0],
            high=times[-1],
            ticks=marks,
            names=tuple(f"{mark:.4f}" for mark in marks),
        ),
        y=Axis(label="kB held on the way in", high=high),
    )
    told = str(rows[0].get("source"))
    names = ((shared[-1], "shared", BLUE), (headroom[-1], "headroom", VERMILION))
    return sheet(
        HEIGHT,
        f"{where}, priority {priority}: between xoff and xon",
        f"{told}: no switch shows this, and no verdict rests on it. Grey: it pauses its sender",
        [
            *panel.frame(),
            *_pauses(panel, times, rows),
            panel.line(zip(times, shared, strict=True), BLUE),
            panel.line(zip(times, headroom, strict=True), VERMILION),
            *beside(panel, names),
        ],
    )


def _pauses(panel: Panel, times: list[float], rows: list[Json]) -> Parts:
    """A bar along the bottom while it pauses."""
    since: float | None = None
    found: Parts = []
    for time, row in zip([*times, times[-1]], [*rows, {}], strict=True):
        paused = number(row.get("paused")) == 1
        if paused and since is None:
            since = time
        elif not paused and since is not None:
            found.append(rule(panel.at(since, 0), panel.at(time, 0), GREY, width=5))
            since = None
    return found
