"""The figures of a case over time, as one SVG: goodput of flows above, lengths of queues below."""

from collections.abc import Sequence
from itertools import cycle

from labtests.simlab.cases.drawing import COLOURS, Axis, Panel, Parts, beside, ceiling, sheet
from labtests.simlab.cases.figures import Figures

LEFT, TOP, PLOT, HEIGHT, GAP = 70.0, 90.0, 600.0, 230.0, 70.0
NAMES = int(HEIGHT // 15)
"""More names than these do not fit beside a plot."""

Series = tuple[str, Sequence[float]]


def svg(figures: Figures) -> str:
    """The whole picture."""
    goodput = [(flow.name, flow.goodput_series_gbit_per_s) for flow in figures.flows]
    queues = [
        (f"{q.switch} {q.port} {q.queue}", [value / 1000 for value in q.series_bytes])
        for q in figures.queues
    ]
    height = TOP + 2 * HEIGHT + GAP + 50
    parts = _panel(goodput, TOP, "goodput, Gbit/s", figures.duration_ms)
    parts += _panel(queues, TOP + HEIGHT + GAP, "queue, kB", figures.duration_ms)
    return sheet(height, figures.case, f"simulated, seed {figures.seed}", parts)


def _panel(series: Sequence[Series], top: float, title: str, duration_ms: float) -> Parts:
    highest = ceiling(max((max(values, default=0) for _, values in series), default=0))
    time = Axis(label="ms", high=duration_ms)
    panel = Panel(
        left=LEFT, top=top, width=PLOT, height=HEIGHT, x=time, y=Axis(label=title, high=highest)
    )
    parts, names = panel.frame(), []
    for (name, values), colour in zip(series, cycle(COLOURS), strict=False):
        step = duration_ms / max(1, len(values))
        points = [((n + 0.5) * step, value) for n, value in enumerate(values)]
        parts.append(panel.line(points, colour, width=1.4))
        names.append((values[-1] if values else 0.0, name, colour))
    return parts + beside(panel, names[:NAMES])
