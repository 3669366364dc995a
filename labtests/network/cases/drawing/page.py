"""A page for a paper: curves in panels, and what tells them apart in grey print.

Type is 8 pt at the width that is asked for. Curves of a panel differ in dashes and markers; more
than four are small panels of one scale. What the page shows stands in `desc`, and in words on it
only when asked for.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from textwrap import wrap

from labtests.core.drawing import (
    BLACK,
    FONT,
    GREY,
    LINE_HEIGHT,
    PAPER,
    Axis,
    Panel,
    Parts,
    Point,
    box,
    note,
    round_ticks,
    rule,
    text,
)

TYPE_PT = 8.0
MM_PER_UNIT = TYPE_PT / FONT * 25.4 / 72
WIDTH_MM = 180.0
"""Both columns of a page; one is some 88 mm."""
LEFT, RIGHT, GAP = 52.0, 14.0, 52.0
HEIGHT, SMALL_HEIGHT, SMALL_WIDTH = 170.0, 66.0, 150.0
MOST_LINES, MOST_PANELS = 4, 24
SHADE = "#f2f2f2"
DASHES = ("", "7 3", "2 2", "9 3 2 3")
MARKERS = (
    "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
    "M-3,-3h6v6h-6z",
    "M0,-4l4,7h-8z",
    "M0,-4l4,4l-4,4l-4,-4z",
)
LETTER = 0.55 * FONT
"""As wide as a letter is, or less."""
MARKS = 8
"""So many markers are on a line."""
CAP, APART = 4.0, 10.0
"""Half as wide as the end of a whisker is; between whiskers of the same place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Values over something. It has the colour of a device, or is black: of none."""

    name: str
    points: tuple[Point, ...]
    device: str | None = None
    spread: tuple[Point, ...] = ()  # at each point: from where to where its whisker reaches
    weight: float = 0.0  # of more than fit, the heaviest are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Curves over the same axes. An `x` without ticks has them by its width."""

    curves: tuple[Curve, ...]
    x: Axis
    y: Axis
    shaded: float = 0.0  # up to there: what is in no mean
    below: tuple[tuple[float, str], ...] = ()  # grey words between the ticks and the axis' name


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a page is called, and what it shows."""

    title: str
    about: str
    caption: bool


def sheet(width: float, height: float, words: Wording, parts: Parts) -> str:
    """The whole picture as SVG."""
    size = f'width="{width * MM_PER_UNIT:.1f}mm" height="{height * MM_PER_UNIT:.1f}mm"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.1f} '
            f'{height:.1f}" role="img" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{FONT:g}" fill="{BLACK}">',
            f"<title>{escape(words.title)}</title>",
            f"<desc>{escape(words.about)}</desc>",
            f'<rect width="{width:.1f}" height="{height:.1f}" fill="{PAPER}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def heading(words: Wording, width: float) -> tuple[Parts, float]:
    """The words on a page, if any were asked for, and where its first panel begins."""
    if not words.caption:
        return [], 8.0
    lines = wrap(words.about, int(width / LETTER))
    parts = [text((4.0, 20.0), fitting(words.title, width))]
    return parts + note((4.0, 36.0), lines, GREY), 34.0 + 15 * len(lines)


def fitting(name: str, room: float) -> str:
    """A name that is no longer than there is room for."""
    letters = int(room / LETTER)
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _brief(label: str, room: float) -> str:
    """What an axis is called, without what stands in brackets where that has no room."""
    return label if len(label) * FONT / 2 <= room else label.partition(" (")[0]


def whisker(start: Point, end: Point, colour: str) -> Parts:
    """A line between two points with a cap at each end."""
    along = (0.0, CAP) if start[1] == end[1] else (CAP, 0.0)
    ends = [((x - along[0], y - along[1]), (x + along[0], y + along[1])) for x, y in (start, end)]
    return [rule(one, other, colour, width=1.2) for one, other in [(start, end), *ends]]


@dataclass(frozen=True, slots=True)
class Page:
    """Charts below each other; the colours of devices are those of all pages of a case."""

    width: float
    colours: Mapping[str, str]

    def drawn(self, charts: Sequence[Chart], words: Wording) -> str:
        """The whole picture."""
        parts, top = heading(words, self.width)
        for chart in charts:
            drawn, top = self._chart(chart, top)
            parts += drawn
        return sheet(self.width, top, words, parts)

    def _chart(self, chart: Chart, top: float) -> tuple[Parts, float]:
        """What it looks like, and where the next one begins."""
        if len(chart.curves) > MOST_LINES:
            return self._multiples(chart, top)
        parts, top = self._legend(chart.curves, top)
        wide = self.width - LEFT - _beside(chart.x)
        panel = self._panel(chart, (LEFT, top + 20), (wide, HEIGHT))
        parts += self._frame(panel, chart)
        for number, one in enumerate(chart.curves):
            aside = APART * (number - (len(chart.curves) - 1) / 2) if one.spread else 0.0
            moved = replace(panel, left=panel.left + aside)
            parts += self._curve(moved, one, number)
            parts += self._markers(moved, one, number) if _is_marked(one, chart.curves) else []
        return parts, panel.bottom + GAP + (LINE_HEIGHT if chart.below else 0.0)

    def _multiples(self, chart: Chart, top: float) -> tuple[Parts, float]:
        """A small panel for each; of more than fit, the heaviest."""
        kept, y = _heaviest(chart.curves), chart.y
        parts = [text((4.0, top + 12), _brief(y.label, self.width - 4))]
        if len(kept) < len(chart.curves):
            parts.append(text((4.0, top + 28), f"and {len(chart.curves) - len(kept)} more", GREY))
            top += 16
        across = max(1, int((self.width - RIGHT) // SMALL_WIDTH))
        each = (self.width - RIGHT) / across
        ticks = y.ticks if y.logarithmic and 1 < len(y.ticks) < 5 else (y.low, y.high)
        small = replace(chart, y=replace(y, label="", ticks=ticks))
        unnamed = replace(small, x=replace(chart.x, label=""))
        for number, one in enumerate(kept):
            down, right = divmod(number, across)
            corner = (right * each + LEFT, top + 36 + down * (SMALL_HEIGHT + 38))
            of = small if number + across >= len(kept) else unnamed
            panel = self._panel(of, corner, (each - LEFT, SMALL_HEIGHT))
            parts += self._frame(panel, of)
            name = fitting(one.name, each - 8)
            parts += [text((panel.right, panel.top - 5), name, align="end")]
            parts += self._curve(panel, one, 0)
            parts += self._markers(panel, one, 0) if one.device is None else []
        rows = -(-len(kept) // across)
        return parts, top + 36 + rows * (SMALL_HEIGHT + 38) + GAP - 38

    def _panel(self, chart: Chart, corner: Point, size: Point) -> Panel:
        x = chart.x
        if not x.ticks:
            x = replace(x, ticks=tuple(round_ticks(x.high, max(2, int(size[0] // 90)))))
        elif x.names and x.logarithmic:
            x = replace(x, names=_spaced(x.names, size[0]))
        left, top = corner
        y = replace(chart.y, label=_brief(chart.y.label, self.width - left))
        return Panel(left=left, top=top, width=size[0], height=size[1], x=x, y=y)

    def _frame(self, panel: Panel, chart: Chart) -> Parts:
        wide = panel.at(chart.shaded, panel.y.low)[0] - panel.left if chart.shaded else 0.0
        shade = [box((panel.left, panel.top), (wide, panel.height), SHADE)] if wide else []
        if not chart.below:
            return shade + panel.frame()
        unnamed = replace(panel, x=replace(panel.x, label=""))
        y = panel.bottom + 17 + LINE_HEIGHT
        below = [
            text((panel.at(x, panel.y.low)[0], y), words, GREY, "middle")
            for x, words in chart.below
        ]
        lower = replace(panel, top=panel.top + LINE_HEIGHT)
        return shade + unnamed.frame() + below + lower.caption()

    def _curve(self, panel: Panel, one: Curve, number: int) -> Parts:
        colour = self._colour(one)
        parts = [panel.line(one.points, colour, width=1.4, dashes=DASHES[number])]
        for (x, _), (low, high) in zip(one.points, one.spread, strict=False):
            parts += whisker(panel.at(x, low), panel.at(x, high), colour)
        return parts

    def _markers(self, panel: Panel, one: Curve, number: int) -> Parts:
        every = max(1, len(one.points) // MARKS)
        marked = one.points[number * every // MOST_LINES :: every]
        return [_marker(panel.at(*point), self._colour(one), number) for point in marked]

    def _colour(self, one: Curve) -> str:
        return BLACK if one.device is None else self.colours[one.device]

    def _legend(self, curves: Sequence[Curve], top: float) -> tuple[Parts, float]:
        """How each line is drawn, in rows above the panel, and where these end."""
        parts, at, y = Parts(), LEFT, top + 12
        for number, one in enumerate(curves):
            name = fitting(one.name, self.width - LEFT - 44)
            needs = 44 + LETTER * len(name)
            if at > LEFT and at + needs > self.width:
                at, y = LEFT, y + 16
            colour = self._colour(one)
            parts.append(
                f'<path d="M{at:.1f},{y - 4:.1f}h30" stroke="{colour}" stroke-width="1.4" '
                f'stroke-dasharray="{DASHES[number] or "none"}"/>'
            )
            if _is_marked(one, curves):
                parts.append(_marker((at + 15, y - 4), colour, number))
            parts.append(text((at + 36, y), name))
            at += needs + 8
        return parts, y + 4


def _heaviest(curves: Sequence[Curve]) -> list[Curve]:
    """Those that there are panels for, in their order."""
    weights = sorted((one.weight for one in curves), reverse=True)
    least = weights[MOST_PANELS - 1] if len(curves) > MOST_PANELS else 0.0
    return [one for one in curves if one.weight >= least][:MOST_PANELS]


def _is_marked(one: Curve, curves: Sequence[Curve]) -> bool:
    """Among others each line is; and where its points are few, and no device's colour helps."""
    return len(curves) > 1 or one.device is None


def _beside(x: Axis) -> float:
    """The room to the right of a panel: for half of the name that stands at its end."""
    return max(RIGHT, LETTER * len(x.names[-1]) / 2 + 4) if x.names else RIGHT


def _spaced(names: Sequence[str], width: float) -> tuple[str, ...]:
    """Of names equally far from each other those that there is room for; always the last."""
    needs = LETTER * max(map(len, names)) + 6
    every = math.ceil(needs * max(1, len(names) - 1) / width)
    last = len(names) - 1
    return tuple(name if (last - n) % every == 0 else "" for n, name in enumerate(names))


def _marker(at: Point, colour: str, number: int) -> str:
    return (
        f'<path d="{MARKERS[number]}" transform="translate({at[0]:.1f},{at[1]:.1f})" '
        f'fill="{colour}"/>'
    )
