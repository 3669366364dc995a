"""The figures of a case over time, as one SVG for a paper: goodput, queues, pauses.

Type is 8 pt at the width that is asked for. A device has one colour throughout; lines of a panel
differ in dashes and markers too, for print in grey. More lines than four are small panels of one
scale. What the picture shows stands in `desc`, and in words on it only when asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from textwrap import wrap

from labtests.core.drawing import (
    BLACK,
    COLOURS,
    FONT,
    GREY,
    PAPER,
    Axis,
    Panel,
    Parts,
    Point,
    box,
    ceiling,
    note,
    round_ticks,
    text,
)
from labtests.network.cases.figures import Figures

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


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    device: str
    values: Sequence[float]


def svg(figures: Figures, *, width_mm: float = WIDTH_MM, caption: bool = False) -> str:
    """The whole picture: a panel for goodput, one for queues, and one for pauses if there were any.

    What lies before the end of the warm-up, and so is in no mean, is shaded.
    """
    shown = [(title, series) for title, series in _panels(figures) if series]
    names = dict.fromkeys(one.device for _, series in shown for one in series)
    colours = dict(zip(names, cycle(COLOURS), strict=False))
    page = _Page(figures, width_mm / MM_PER_UNIT, colours)
    top, parts = 8.0, Parts()
    if caption:
        lines = wrap(_subtitle(figures), int(page.width / LETTER))
        parts = [text((4.0, 20.0), _fitting(figures.case, page.width))]
        parts += note((4.0, 36.0), lines, GREY)
        top += 26 + 15 * len(lines)
    for title, series in shown:
        drawn, top = page.panel(title, series, top)
        parts += drawn
    return _sheet(page.width, top, figures, parts)


def _sheet(width: float, height: float, figures: Figures, parts: Parts) -> str:
    size = f'width="{width * MM_PER_UNIT:.1f}mm" height="{height * MM_PER_UNIT:.1f}mm"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.1f} '
            f'{height:.1f}" role="img" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{FONT:g}" fill="{BLACK}">',
            f"<title>{escape(figures.case)}</title>",
            f"<desc>{escape(_subtitle(figures))}</desc>",
            f'<rect width="{width:.1f}" height="{height:.1f}" fill="{PAPER}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _panels(figures: Figures) -> Iterator[tuple[str, list[_Series]]]:
    """Flows have the colour of their sender, queues that of the device that they lead to."""
    flows = [_Series(f.name, f.source, f.goodput_series_gbit_per_s) for f in figures.flows]
    yield "goodput of flows, Gbit/s (payload that arrived)", [one for one in flows if one.values]
    yield (
        "length of egress queues, kB (switch, port, queue)",
        [
            _Series(f"{q.switch} {q.port} {q.queue}", q.port, [v / 1000 for v in q.series_bytes])
            for q in figures.queues
        ],
    )
    yield (
        "held by PFC, % of the time (device, port, priority)",
        [
            _Series(
                f"{p.device} {p.port} {p.priority}",
                p.device,
                [us / figures.bin_ms / 10 for us in p.paused_series_us],
            )
            for p in figures.pauses
            if p.paused_us > 0
        ],
    )


def _subtitle(figures: Figures) -> str:
    total, fairness = figures.total_goodput_gbit_per_s, figures.fairness
    words = f"simulated, seed {figures.seed}; total goodput {total:.4g} Gbit/s, Jain {fairness:.3g}"
    return words + f", {figures.dropped_frames} frames dropped in switches"


@dataclass(frozen=True, slots=True)
class _Page:
    figures: Figures
    width: float
    colours: dict[str, str]

    def panel(self, title: str, series: list[_Series], top: float) -> tuple[Parts, float]:
        """What it looks like, and where the next one begins."""
        highest = ceiling(max(max(one.values, default=0) for one in series))
        if len(series) > MOST_LINES:
            return self._multiples(title, series, highest, top)
        parts, top = self._legend(series, top)
        y = Axis(label=title, high=highest)
        panel = self._panel((LEFT, top + 20), (self.width - LEFT - RIGHT, HEIGHT), y)
        parts += self._frame(panel)
        for number, one in enumerate(series):
            parts.append(self._line(panel, one, number))
            parts += self._markers(panel, one, number) if len(series) > 1 else []
        return parts, panel.bottom + GAP

    def _multiples(
        self, title: str, series: list[_Series], highest: float, top: float
    ) -> tuple[Parts, float]:
        """A small panel for each; of more than fit, those that reach highest."""
        peak = sorted((max(one.values, default=0) for one in series), reverse=True)
        least = peak[MOST_PANELS - 1] if len(series) > MOST_PANELS else 0.0
        kept = [one for one in series if max(one.values, default=0) >= least][:MOST_PANELS]
        parts = [text((4.0, top + 12), title)]
        if len(kept) < len(series):
            parts.append(text((4.0, top + 28), f"and {len(series) - len(kept)} more", GREY))
            top += 16
        across = max(1, int((self.width - RIGHT) // SMALL_WIDTH))
        each = (self.width - RIGHT) / across
        y = Axis(label="", high=highest, ticks=(0.0, highest))
        for number, one in enumerate(kept):
            down, right = divmod(number, across)
            corner = (right * each + LEFT, top + 36 + down * (SMALL_HEIGHT + 38))
            last = number + across >= len(kept)
            panel = self._panel(corner, (each - LEFT, SMALL_HEIGHT), y, "time, ms" if last else "")
            parts += self._frame(panel)
            name = _fitting(one.name, each - 8)
            parts += [text((panel.right, panel.top - 5), name, align="end")]
            parts.append(self._line(panel, one, 0))
        rows = -(-len(kept) // across)
        return parts, top + 36 + rows * (SMALL_HEIGHT + 38) + GAP - 38

    def _panel(self, corner: Point, size: Point, y: Axis, label: str = "time, ms") -> Panel:
        duration_ms = self.figures.duration_ms
        ticks = tuple(round_ticks(duration_ms, max(2, int(size[0] // 90))))
        return Panel(
            left=corner[0],
            top=corner[1],
            width=size[0],
            height=size[1],
            x=Axis(label=label, high=duration_ms, ticks=ticks),
            y=y,
        )

    def _frame(self, panel: Panel) -> Parts:
        warm = panel.at(self.figures.warmup_ms, 0.0)[0] - panel.left
        shade = [box((panel.left, panel.top), (warm, panel.height), SHADE)] if warm else []
        return shade + panel.frame()

    def _line(self, panel: Panel, one: _Series, number: int) -> str:
        colour = self.colours[one.device]
        return panel.line(self._points(one), colour, width=1.4, dashes=DASHES[number])

    def _markers(self, panel: Panel, one: _Series, number: int) -> Parts:
        points = self._points(one)
        every = max(1, len(points) // MARKS)
        marked = points[number * every // MOST_LINES :: every]
        return [_marker(panel.at(*point), self.colours[one.device], number) for point in marked]

    def _points(self, one: _Series) -> list[Point]:
        step = self.figures.duration_ms / max(1, len(one.values))
        return [((n + 0.5) * step, value) for n, value in enumerate(one.values)]

    def _legend(self, series: list[_Series], top: float) -> tuple[Parts, float]:
        """How each line is drawn, in rows above the panel, and where these end."""
        parts, at, y = Parts(), LEFT, top + 12
        for number, one in enumerate(series):
            name = _fitting(one.name, self.width - LEFT - 44)
            needs = 44 + LETTER * len(name)
            if at > LEFT and at + needs > self.width:
                at, y = LEFT, y + 16
            colour = self.colours[one.device]
            parts.append(
                f'<path d="M{at:.1f},{y - 4:.1f}h30" stroke="{colour}" stroke-width="1.4" '
                f'stroke-dasharray="{DASHES[number] or "none"}"/>'
            )
            if len(series) > 1:
                parts.append(_marker((at + 15, y - 4), colour, number))
            parts.append(text((at + 36, y), name))
            at += needs + 8
        return parts, y + 4


def _fitting(name: str, room: float) -> str:
    """A name that is no longer than there is room for."""
    letters = int(room / LETTER)
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _marker(at: Point, colour: str, number: int) -> str:
    return (
        f'<path d="{MARKERS[number]}" transform="translate({at[0]:.1f},{at[1]:.1f})" '
        f'fill="{colour}"/>'
    )
