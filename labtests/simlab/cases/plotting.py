"""The figures of a case over time, as one SVG: goodput of flows above, lengths of queues below."""

from collections.abc import Sequence
from html import escape
from itertools import cycle

from labtests.simlab.cases.figures import Figures

WIDTH, PANEL, LEFT, TOP, GAP = 860, 240, 90, 40, 60
PLOT = WIDTH - LEFT - 190
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
STEPS = (1, 2, 2.5, 5, 10)

Series = tuple[str, Sequence[float]]


def svg(figures: Figures) -> str:
    """The whole picture."""
    goodput = [(flow.name, flow.goodput_series_gbit_per_s) for flow in figures.flows]
    queues = [
        (f"{q.switch} {q.port} {q.queue}", [value / 1000 for value in q.series_bytes])
        for q in figures.queues
    ]
    height = 2 * PANEL + GAP + TOP + 50
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            f'<text x="{LEFT}" y="20" font-size="14">{escape(figures.case)}, seed '
            f"{figures.seed} (simulated)</text>",
            *_panel(goodput, TOP, "goodput, Gbit/s", figures.duration_ms),
            *_panel(queues, TOP + PANEL + GAP, "queue, kB", figures.duration_ms),
            "</svg>",
            "",
        ]
    )


def _panel(series: Sequence[Series], top: int, title: str, duration_ms: float) -> list[str]:
    highest = _round_up(max((max(values, default=0) for _, values in series), default=0))
    bottom = top + PANEL
    parts = [
        f'<path d="M{LEFT},{top}V{bottom}H{LEFT + PLOT}" fill="none" stroke="black"/>',
        f'<text x="{LEFT}" y="{top - 6}">{title}</text>',
        f'<text x="{LEFT + PLOT}" y="{bottom + 32}" text-anchor="end">ms</text>',
    ]
    for number in range(5):
        y, x = bottom - PANEL * number / 4, LEFT + PLOT * number / 4
        parts += [
            f'<path d="M{LEFT},{y:.1f}H{LEFT + PLOT}" stroke="#ddd"/>',
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
            f"{highest * number / 4:g}</text>",
            f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">'
            f"{duration_ms * number / 4:g}</text>",
        ]
    for number, ((name, values), colour) in enumerate(zip(series, cycle(COLOURS), strict=False)):
        points = " ".join(
            f"{LEFT + PLOT * (n + 0.5) / len(values):.1f},{bottom - PANEL * value / highest:.1f}"
            for n, value in enumerate(values)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        y = top + 12 + 15 * number
        if y < bottom:
            parts.append(
                f'<text x="{LEFT + PLOT + 10}" y="{y}" fill="{colour}">{escape(name)}</text>'
            )
    return parts


def _round_up(value: float) -> float:
    """A round number at or above `value`."""
    if value <= 0:
        return 1.0
    magnitude = 10.0 ** (len(f"{value:.0f}") - 1) if value >= 1 else 0.1
    return next((step * magnitude for step in STEPS if step * magnitude >= value), value)
