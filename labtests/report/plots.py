"""Plots as inline SVG (core/drawing.py): no script, no file, and the colours of the reader's theme.

All plots of a phase have the same width and margins, so that one moment is on one vertical line.
"""

from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from labtests.core import drawing
from labtests.core.drawing import Axis, Panel
from labtests.report.series import Series, SeriesPlot

WIDTH, LEFT, RIGHT = 900.0, 74.0, 14.0
HEIGHT, TOP, BOTTOM = 128.0, 10.0, 8.0
AXIS_HEIGHT = 34.0  # below the last plot: the time axis
TIME = "seconds since the phase began"
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
    sheet = _sheet(span_s, drawing.ceiling(high, 3) if high > TINY else 1.0, last=last)
    drawn = "".join(_line(sheet, line, n % COLOURS, panel.unit) for n, line in enumerate(lines))
    around = "".join([*sheet.grid(drawing.INHERITED), *(sheet.caption() if last else [])])
    about = escape(f"{panel.title} in {panel.unit} over {span_s:.1f} seconds")
    height = HEIGHT + (AXIS_HEIGHT if last else 0)
    return Markup(
        f'<svg class="lt-plot" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{about}">'
        f'<g class="lt-grid">{around}</g>{drawn}</svg>'
    )


def _sheet(span_s: float, high: float, *, last: bool) -> Panel:
    """Where a value stands in the drawing. Only the last carries the figures of the time axis."""
    times, values = drawing.round_ticks(span_s, 8), drawing.round_ticks(high, 3)
    names = tuple(f"{time_s:g}" if last else "" for time_s in times)
    figures = tuple(_short(value, high) for value in values)
    time = Axis(label=TIME, high=span_s, ticks=tuple(times), names=names, ruled=True)
    return Panel(
        left=LEFT,
        top=TOP,
        width=WIDTH - LEFT - RIGHT,
        height=HEIGHT - TOP - BOTTOM,
        x=time,
        y=Axis(label="", high=high, ticks=tuple(values), names=figures, ruled=True),
    )


def _line(sheet: Panel, line: Series, colour: int, unit: str) -> str:
    dashed, name = " lt-dashed" if line.dashed else "", escape(line.name)
    way = sheet.steps(line.points)
    shape = f'<path class="lt-line lt-c{colour}{dashed}" d="{way}"><title>{name}</title></path>'
    if len(line.points) > POINTS_LIMIT:
        return shape
    return shape + "".join(
        _spot(
            sheet.at((begin + end) / 2, value),
            f"{line.name}\n{begin:.2f} to {end:.2f} s: {value:.4g} {unit}",
        )
        for begin, end, value in line.points
        if value is not None
    )


def _spot(at: drawing.Point, words: str) -> str:
    """Where the pointer rests, a point tells its value."""
    return (
        f'<circle class="lt-spot" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="5">'
        f"<title>{escape(words)}</title></circle>"
    )


def _short(value: float, high: float) -> str:
    """A tick's figure; all ticks of an axis in the same thousands."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value and high >= size * 5:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
