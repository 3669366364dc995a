"""The figures of a case over time, as one SVG: goodput of flows, lengths of queues, pauses."""

from collections.abc import Sequence
from itertools import cycle

from labtests.core.drawing import (
    COLOURS,
    GREY,
    Axis,
    Panel,
    Parts,
    beside,
    box,
    ceiling,
    sheet,
)
from labtests.network.cases.figures import Figures

LEFT, TOP, PLOT, HEIGHT, GAP = 70.0, 90.0, 600.0, 230.0, 70.0
SHADE = "#f2f2f2"
NAMES = int(HEIGHT // 15)
"""More names than these do not fit beside a plot."""

Series = tuple[str, Sequence[float]]


def svg(figures: Figures) -> str:
    """The whole picture: a panel for goodput, one for queues, and one for pauses if there were any.

    What lies before the end of the warm-up, and so is in no mean, is shaded.
    """
    goodput: list[Series] = [(flow.name, flow.goodput_series_gbit_per_s) for flow in figures.flows]
    queues: list[Series] = [
        (f"{q.switch} {q.port} {q.queue}", [value / 1000 for value in q.series_bytes])
        for q in figures.queues
    ]
    held: list[Series] = [
        (
            f"{p.device} {p.port} {p.priority}",
            [us / figures.bin_ms / 10 for us in p.paused_series_us],
        )
        for p in figures.pauses
        if p.paused_us > 0
    ]
    panels: list[tuple[str, list[Series]]] = [
        ("goodput of flows, Gbit/s (payload that arrived)", goodput),
        ("length of egress queues, kB (switch, port, queue)", queues),
        ("held by PFC, % of the time (device, port, priority)", held),
    ]
    parts: Parts = []
    top = TOP
    for title, series in panels:
        if series:
            parts += _panel(series, top, title, figures)
            top += HEIGHT + GAP
    return sheet(top, figures.case, _subtitle(figures), parts)


def _subtitle(figures: Figures) -> str:
    total, fairness = figures.total_goodput_gbit_per_s, figures.fairness
    text = f"simulated, seed {figures.seed}; total goodput {total:.4g} Gbit/s, Jain {fairness:.3g}"
    return text + f", {figures.dropped_frames} frames dropped in switches"


def _panel(series: Sequence[Series], top: float, title: str, figures: Figures) -> Parts:
    duration_ms = figures.duration_ms
    highest = ceiling(max((max(values, default=0) for _, values in series), default=0))
    time = Axis(label="time, ms", high=duration_ms)
    panel = Panel(
        left=LEFT, top=top, width=PLOT, height=HEIGHT, x=time, y=Axis(label=title, high=highest)
    )
    warm = panel.at(figures.warmup_ms, 0.0)[0] - LEFT
    parts = [box((LEFT, top), (warm, HEIGHT), SHADE)] if warm else []
    parts += panel.frame()
    names = []
    for (name, values), colour in zip(series, cycle(COLOURS), strict=False):
        step = duration_ms / max(1, len(values))
        points = [((n + 0.5) * step, value) for n, value in enumerate(values)]
        parts.append(panel.line(points, colour, width=1.4))
        names.append((values[-1] if values else 0.0, name, colour))
    if len(names) > NAMES:
        words = f"and {len(names) - NAMES + 1} more"
        names = [*names[: NAMES - 1], (0.0, words, GREY)]
    return parts + beside(panel, names)
