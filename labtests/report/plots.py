"""Plots as inline SVG, drawn here: no script, no file, and colours that follow the reader's theme.

All plots of a phase have the same width and margins, so that one moment is on one vertical line.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from labtests.report.series import Series, SeriesPlot

WIDTH, LEFT, RIGHT = 900.0, 74.0, 14.0
HEIGHT, TOP, BOTTOM = 128.0, 10.0, 8.0
AXIS_HEIGHT = 30.0  # below the last plot: the time axis
COLOURS = 8
LINES_LIMIT = 12
"""More lines in one plot cannot be told apart; the rest is named below it."""
TINY = 1e-9
"""An axis that would end below this ends at 1."""
POINTS_LIMIT = 400
"""Points with a tooltip of their own; a longer line keeps its shape, without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Legend:
    """One line's colour and name."""

    colour: int
    dashed: bool
    name: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A panel with its drawing and what stands around it."""

    panel: SeriesPlot
    svg: Markup | None
    legend: tuple[Legend, ...]
    left_out: tuple[str, ...]


def draw(panels: tuple[SeriesPlot, ...], span_s: float) -> tuple[Plot, ...]:
    """Every panel on the same time axis; the last drawn one carries the axis' figures."""
    drawn = [panel for panel in panels if panel.series]
    return tuple(_plot(panel, span_s, last=bool(drawn) and panel is drawn[-1]) for panel in panels)


def _plot(panel: SeriesPlot, span_s: float, *, last: bool) -> Plot:
    ordered = sorted(panel.series, key=lambda line: -line.highest)
    kept, rest = ordered[:LINES_LIMIT], ordered[LINES_LIMIT:]
    legend = tuple(
        Legend(colour=n % COLOURS, dashed=line.dashed, name=line.name, note=_note(line))
        for n, line in enumerate(kept)
    )
    svg = _svg(panel, kept, span_s, last=last) if kept else None
    return Plot(panel=panel, svg=svg, legend=legend, left_out=tuple(line.name for line in rest))


def _note(line: Series) -> str:
    if not line.gaps:
        return ""
    return f"{line.gaps} of {len(line.points)} values missing"


def _svg(panel: SeriesPlot, lines: list[Series], span_s: float, *, last: bool) -> Markup:
    high = max(line.highest for line in lines)
    frame = _Frame(span_s=span_s, high=_ceiling(high) if high > TINY else 1.0)
    height = HEIGHT + (AXIS_HEIGHT if last else 0)
    parts = [*_grid(frame, last=last)]
    parts += [_line(frame, line, n % COLOURS, panel.unit) for n, line in enumerate(lines)]
    return Markup(
        '<svg class="lt-plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(
        f"{WIDTH:g}",
        f"{height:g}",
        f"{panel.title} in {panel.unit} over {span_s:.1f} seconds",
        Markup("").join(parts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where a value stands in the drawing."""

    span_s: float
    high: float

    def x(self, time_s: float) -> float:
        share = min(max(time_s / self.span_s, 0.0), 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - value / self.high * (HEIGHT - TOP - BOTTOM)


def _grid(frame: _Frame, *, last: bool) -> Iterator[Markup]:
    for value in _ticks(frame.high, 3):
        y = f"{frame.y(value):.1f}"
        yield Markup('<line class="lt-grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
            LEFT, WIDTH - RIGHT, y, y
        )
        yield Markup('<text class="lt-tick" x="{}" y="{}" text-anchor="end">{}</text>').format(
            LEFT - 7, f"{frame.y(value) + 4:.1f}", _short(value, frame.high)
        )
    for time_s in _ticks(frame.span_s, 8):
        x = f"{frame.x(time_s):.1f}"
        yield Markup('<line class="lt-grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
            x, x, TOP, HEIGHT - BOTTOM
        )
        if last:
            yield Markup(
                '<text class="lt-tick" x="{}" y="{}" text-anchor="middle">{}</text>'
            ).format(x, HEIGHT + 8, f"{time_s:g}")
    if last:
        yield Markup('<text class="lt-tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT + 25, "seconds since the phase began"
        )


def _line(frame: _Frame, line: Series, colour: int, unit: str) -> Markup:
    shape = Markup('<path class="lt-line lt-c{}{}" d="{}"><title>{}</title></path>').format(
        colour, " lt-dashed" if line.dashed else "", _path(frame, line), line.name
    )
    if len(line.points) > POINTS_LIMIT:
        return shape
    spots = [
        Markup('<circle class="lt-spot" cx="{}" cy="{}" r="5"><title>{}</title></circle>').format(
            f"{frame.x((begin + end) / 2):.1f}",
            f"{frame.y(value):.1f}",
            f"{line.name}\n{begin:.2f} to {end:.2f} s: {value:.4g} {unit}",
        )
        for begin, end, value in line.points
        if value is not None
    ]
    return shape + Markup("").join(spots)


def _path(frame: _Frame, line: Series) -> str:
    """Steps; the pen is lifted where a value is missing and where time is."""
    words: list[str] = []
    reached: float | None = None
    for begin, end, value in line.points:
        if value is None:
            reached = None
            continue
        joined = reached is not None and abs(begin - reached) < 0.02 * frame.span_s
        words.append(f"{'L' if joined else 'M'}{frame.x(begin):.1f} {frame.y(value):.1f}")
        words.append(f"H{frame.x(end):.1f}")
        reached = end
    return " ".join(words)


def _ticks(high: float, about: int) -> list[float]:
    """Round values from 0 up to `high`."""
    step = _round_up(high / about)
    return [step * n for n in range(int(high / step + 1e-9) + 1)]


def _ceiling(high: float) -> float:
    step = _round_up(high / 3)
    return step * math.ceil(high / step - 1e-9)


def _round_up(value: float) -> float:
    """The next 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= value * (1 - 1e-9))


def _short(value: float, high: float) -> str:
    """A tick's figure; all ticks of an axis in the same thousands."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value and high >= size * 5:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
