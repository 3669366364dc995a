"""Means over seeds as dots, their 95 % intervals as whiskers; a panel for each unit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labtests.core.drawing import (
    BLACK,
    Axis,
    Panel,
    Point,
    fitted_axis,
    log_axis,
)
from labtests.network.cases.drawing.page import (
    LETTER,
    RIGHT,
    Wording,
    fitting,
    heading,
    sheet,
    whisker,
)
from labtests.network.cases.figures import Figures
from labtests.network.cases.replications import ConfidenceInterval, intervals

UNITS = {
    "_gbit_per_s": ("Gbit/s", 1.0),
    "fairness": ("Jain's index", 1.0),
    "_frames": ("frames", 1.0),
    "flows_done": ("flows", 1.0),
    "_bytes": ("kB", 1000.0),
    "_us": ("us", 1.0),
    "": ("times as long as alone", 1.0),
}
"""By the end of a quantity's name: how its axis is called, and what it is divided by."""
NAMES, ROW, BETWEEN, COLUMN = 128.0, 20.0, 58.0, 360.0
"""The least room for names; how high a row is; between panels; how wide a column is at least."""
DECADES_APART = 30.0
RADIUS = 2.5
"""Of a dot: the caps of a short whisker can be seen behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A mean in the unit of its panel, and where its whisker ends."""

    name: str
    mean: float
    low: float
    high: float


def dots(runs: Sequence[Figures]) -> dict[str, list[Dot]]:
    """By unit: what the runs come to."""
    found: dict[str, list[Dot]] = {unit: [] for unit, _ in UNITS.values()}
    for of in intervals(runs):
        end = next(end for end in UNITS if of.name.endswith(end))
        unit, divisor = UNITS[end]
        found[unit].append(_dot(of, end, len(runs), divisor))
    return {unit: of for unit, of in found.items() if of}


def _dot(of: ConfidenceInterval, end: str, runs: int, divisor: float) -> Dot:
    half = of.half_width or 0.0
    name = (of.name.removesuffix(end) if end.startswith("_") else of.name).replace("_", " ")
    return Dot(
        name=name if of.seeds == runs else f"{name}, {of.seeds} of {runs}",
        mean=of.mean / divisor,
        low=(of.mean - half) / divisor,
        high=(of.mean + half) / divisor,
    )


def drawn(panels: Mapping[str, Sequence[Dot]], width: float, words: Wording) -> str:
    """The whole picture: panels in as many columns as there is room for."""
    parts, top = heading(words, width)
    across = max(1, int(width // COLUMN))
    longest = max(len(one.name) for of in panels.values() for one in of)
    left = max(NAMES, min(width / across / 2, LETTER * longest + 14))
    ends = [top] * across
    for unit, of in panels.items():
        column = ends.index(min(ends))
        corner = (column * width / across + left, ends[column])
        panel = _panel(unit, of, corner, (width / across - left - RIGHT - 8, left - 10))
        parts += [*panel.frame(), *_rows(panel, of)]
        ends[column] = panel.bottom + BETWEEN
    return sheet(width, max(ends) - 10, words, parts)


def _panel(unit: str, of: Sequence[Dot], corner: Point, room: tuple[float, float]) -> Panel:
    """`room`: how wide the panel is, and its names may be."""
    ticks = tuple(float(number) for number in range(len(of)))
    names = tuple(fitting(one.name, room[1]) for one in of)
    return Panel(
        left=corner[0],
        top=corner[1],
        width=room[0],
        height=ROW * len(of),
        x=_axis(unit, of),
        y=Axis(label="", low=len(of) - 0.5, high=-0.5, ticks=ticks, names=names),
    )


def _axis(unit: str, of: Sequence[Dot]) -> Axis:
    low, high = min(one.low for one in of), max(one.high for one in of)
    if low > 0 and high / low > DECADES_APART:
        return log_axis(unit, low, high)
    return fitted_axis(unit, low, high)


def _rows(panel: Panel, of: Sequence[Dot]) -> Iterator[str]:
    for number, one in enumerate(of):
        if one.high > one.low:
            yield from whisker(panel.at(one.low, number), panel.at(one.high, number), BLACK)
        x, y = panel.at(one.mean, number)
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:g}" fill="{BLACK}"/>'
