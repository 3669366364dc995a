"""Drawings as SVG: a sheet with a title, panels with axes, and what is drawn in them.

Same input, same bytes. Lengths are in SVG units (pixels at 100 %). The colours are those of Okabe
and Ito (Color Universal Design, 2008), which colour-blind readers can tell apart.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 860.0
BLUE, VERMILION, GREEN, ORANGE = "#0072b2", "#d55e00", "#009e73", "#e69f00"
PURPLE, SKY, BLACK, GREY = "#aa4499", "#56b4e9", "#222222", "#666666"
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
GRID, PAPER = "#e4e4e4", "#ffffff"
FONT = 12.0
LINE_HEIGHT = 15.0
STEPS = (1, 2, 2.5, 5, 10)

Point = tuple[float, float]
Parts = list[str]


UNTITLED_TOP = 34
"""Where a picture without its title begins."""


def sheet(
    height: float, title: str, subtitle: str, parts: Iterable[str], *, titled: bool = True
) -> str:
    """The whole picture: what it shows as its title, how it was made below that; for a paper, whose
    text says both, without them (`titled` False)."""
    top = 0 if titled else UNTITLED_TOP
    paper = f'width="{WIDTH:g}" height="{height - top:g}" fill="{PAPER}"/>'
    paper = f"<rect {paper}" if titled else f'<rect y="{top}" {paper}'
    heading = f'<text x="20.0" y="30.0" font-size="17" font-weight="bold">{escape(title)}</text>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {WIDTH:g} {height - top:g}" '
            f'role="img" aria-label="{escape(title)}" font-family="sans-serif" '
            f'font-size="{FONT:g}" fill="{BLACK}">',
            paper,
            *((heading, text((20, 50), subtitle, GREY)) if titled else ()),
            *parts,
            "</svg>",
            "",
        ]
    )


def text(
    at: Point, words: str, colour: str = BLACK, align: str = "start", *, bold: bool = False
) -> str:
    """Words whose baseline starts (`start`), has its middle or ends (`end`) at a point."""
    anchor = "" if align == "start" else f' text-anchor="{align}"'
    fill = "" if colour == BLACK else f' fill="{colour}"'
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}"{anchor}{fill}{weight}>{escape(words)}</text>'


def note(at: Point, words: Sequence[str], colour: str = BLACK, align: str = "start") -> Parts:
    """Words on several lines; `at` is the baseline of the first."""
    return [
        text((at[0], at[1] + LINE_HEIGHT * n), line, colour, align) for n, line in enumerate(words)
    ]


def rule(start: Point, end: Point, colour: str, *, width: float = 1, dashed: bool = False) -> str:
    """A straight line between two points."""
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    return (
        f'<path d="M{start[0]:.1f},{start[1]:.1f}L{end[0]:.1f},{end[1]:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dash}/>'
    )


def box(corner: Point, size: Point, colour: str, *, outline: str = "none") -> str:
    """A filled rectangle; its upper left corner and size."""
    return (
        f'<rect x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{max(0.0, size[0]):.1f}" '
        f'height="{size[1]:.1f}" fill="{colour}" stroke="{outline}"/>'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is measured along one side of a panel; `names` replace the figures at the ticks, and the
    lines across the panel, unless it is `ruled`."""

    label: str
    high: float
    low: float = 0.0
    ticks: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    logarithmic: bool = False
    ruled: bool = False

    @property
    def crossed(self) -> bool:
        """Whether a line crosses the panel at each tick."""
        return self.ruled or self.logarithmic or not self.names

    def share(self, value: float) -> float:
        """Where a value stands between the ends, 0..1; what is beyond them is at them. An axis of
        no length has one place."""
        if self.logarithmic:
            low, high = math.log(self.low), math.log(self.high)
            value = math.log(max(value, self.low))
        else:
            low, high = self.low, self.high
        return min(max((value - low) / (high - low), 0.0), 1.0) if high != low else 0.0

    def marks(self) -> tuple[tuple[float, str], ...]:
        """The ticks and what stands at them."""
        ticks = self.ticks or tuple(round_ticks(self.high, 5))
        names = self.names or tuple(f"{tick:g}" for tick in ticks)
        return tuple(zip(ticks, names, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A plot: its place on the sheet and its axes. Points given to it are values on the axes."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis
    title: str = ""

    @property
    def right(self) -> float:
        """Where the plot ends, left to right."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Where the plot ends, top to bottom."""
        return self.top + self.height

    def at(self, x: float, y: float) -> Point:
        """A point of the sheet."""
        return (
            self.left + self.width * self.x.share(x),
            self.bottom - self.height * self.y.share(y),
        )

    def grid(self) -> Parts:
        """Lines across the panel at the ticks, and what stands at these."""
        parts = []
        for value, name in self.y.marks():
            y = self.at(self.x.low, value)[1]
            if self.y.crossed:
                parts.append(rule((self.left, y), (self.right, y), GRID))
            parts.append(text((self.left - 7, y + 4), name, align="end"))
        for value, name in self.x.marks():
            x = self.at(value, self.y.low)[0]
            if self.x.crossed:
                parts.append(rule((x, self.top), (x, self.bottom), GRID))
            parts.append(text((x, self.bottom + 17), name, align="middle"))
        return [part for part in parts if "></text>" not in part]

    def frame(self) -> Parts:
        """Grid, axes and what they are called."""
        parts, corner = self.grid(), (self.left, self.bottom)
        parts.append(rule((self.left, self.top), corner, BLACK))
        parts.append(rule(corner, (self.right, self.bottom), BLACK))
        parts += self.caption()
        if self.y.label:
            parts.append(text((self.left, self.top - 8), self.y.label))
        if self.title:
            parts.append(text((self.left, self.top - 26), self.title, bold=True))
        return parts

    def caption(self) -> Parts:
        """What is measured along the bottom."""
        middle = (self.left + self.width / 2, self.bottom + 36)
        return [text(middle, self.x.label, align="middle")] if self.x.label else []

    def line(
        self, points: Iterable[Point], colour: str, *, width: float = 1.8, dashes: str = ""
    ) -> str:
        """A line through values; `dashes`: lengths of strokes and gaps."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*point) for point in points))
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        return (
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dash}/>'
        )

    def dots(self, points: Iterable[Point], colour: str) -> Parts:
        """A dot at each value."""
        return [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" stroke="{colour}" '
            'stroke-width="1.8"/>'
            for x, y in (self.at(*point) for point in points)
        ]

    def level(self, y: float, words: str) -> Parts:
        """A closed form or a threshold: a thin dashed line across, its name at its right end."""
        at = self.at(self.x.high, y)
        return [
            rule(self.at(self.x.low, y), at, GREY, dashed=True),
            text((at[0] + 6, at[1] + 4), words, GREY),
        ]

    def upright(self, x: float, words: str) -> Parts:
        """A closed form of what is along the bottom: a thin dashed line, its name above it."""
        at = self.at(x, self.y.high)
        return [
            rule(self.at(x, self.y.low), (at[0], at[1] - 4), GREY, dashed=True),
            text((at[0], at[1] - 8), words, GREY, "middle"),
        ]


def beside(panel: Panel, names: Sequence[tuple[float, str, str]]) -> Parts:
    """Names at the right end of lines, (value, name, colour) each, moved apart where they touch."""
    ordered = sorted(names, key=lambda item: -item[0])
    places = [panel.at(panel.x.high, value)[1] for value, _, _ in ordered]
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + LINE_HEIGHT)
    limit = panel.bottom
    for n in reversed(range(len(places))):
        places[n] = limit = min(places[n], limit)
        limit -= LINE_HEIGHT
    return [
        text((panel.right + 8, y + 4), name, colour)
        for y, (_, name, colour) in zip(places, ordered, strict=True)
    ]


def round_up(value: float) -> float:
    """The next 1, 2, 2.5 or 5 times a power of ten; 1 above nothing."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in STEPS if step * power >= value * (1 - 1e-9))


def round_ticks(high: float, about: int) -> list[float]:
    """Round values from 0 up to `high`."""
    step = round_up(high / about)
    return [float(f"{step * n:.9g}") for n in range(math.floor(high / step + 1e-9) + 1)]


def ceiling(value: float) -> float:
    """A round end of an axis that holds `value`."""
    step = round_up(value / 4)
    return step * max(1, math.ceil(value / step - 1e-9))


def log_axis(label: str, low: float, high: float) -> Axis:
    """A logarithmic axis that holds both, between 1, 2 and 5 times powers of ten: its ticks at
    these; of more than two decades at the powers alone. Both are above 0."""
    first, last = (math.floor(math.log10(value) + 1e-9) for value in (low, high))
    powers = range(first, last + 2)
    steps = [float(f"{step * 10.0**power:.9g}") for power in powers for step in (1, 2, 5)]
    begin = max(n for n, step in enumerate(steps) if step <= low * (1 + 1e-9))
    end = min(n for n, step in enumerate(steps) if step >= high * (1 - 1e-9))
    kept = steps[begin : max(end, begin + 1) + 1]
    wide = kept[-1] > 100 * kept[0]
    ticks = tuple(step for n, step in enumerate(steps) if step in kept and (n % 3 == 0 or not wide))
    return Axis(label=label, low=kept[0], high=kept[-1], ticks=ticks, logarithmic=True)


def fitted_axis(label: str, low: float, high: float) -> Axis:
    """An axis that holds both with round ends: from 0 on unless they are far from it."""
    if 0 <= low < high / 2:
        low = 0.0
    span = max(high - low, abs(high) * 1e-3)
    step = round_up(span / 3) if span else 1.0
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(float(f"{step * n:.9g}") for n in range(first, max(last, first + 1) + 1))
    return Axis(label=label, low=ticks[0], high=ticks[-1], ticks=ticks)
