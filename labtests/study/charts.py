"""Charts of studies as SVG: heat maps, a Pareto front, a figure over one key, ranks of patterns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from labtests.core.drawing import (
    BLACK,
    BLUE,
    GREY,
    PAPER,
    VERMILION,
    Axis,
    Panel,
    Parts,
    Point,
    box,
    ceiling,
    note,
    rule,
    sheet,
    text,
)

LEFT, TOP, WIDE, HIGH = 200.0, 80.0, 500.0, 300.0
MOST_SLICES, MOST_WRITTEN_OUT, MOST_DOTS = 10, 1e9, 2000
PALE, DARK = (0xF7, 0xFB, 0xFF), (0x08, 0x45, 0x94)


def heat_map(points: pd.DataFrame, keys: tuple[str, str], name: str, *, titled: bool = True) -> str:
    """The mean of a measure over two keys, each cut into slices where it has many values."""
    xs, ys = (_labelled(points[key]) for key in keys)
    cells = points[name].astype(float).groupby([ys.to_numpy(), xs.to_numpy()]).mean().dropna()
    columns, rows = (list(dict.fromkeys(each.sort_values())) for each in (xs, ys))
    low, high = float(cells.min()), float(cells.max())
    wide, tall = WIDE / len(columns), HIGH / len(rows)
    parts: Parts = []
    for row, y in enumerate(rows):
        top = TOP + HIGH - tall * (row + 1)
        parts.append(text((LEFT - 8, top + tall / 2 + 4), _named(points[keys[1]], y), align="end"))
        for column, x in enumerate(columns):
            corner = (LEFT + wide * column, top)
            if (y, x) not in cells.index:
                continue
            value = float(cells[y, x])
            share = (value - low) / (high - low) if high > low else 0.0
            parts.append(box(corner, (wide - 1, tall - 1), _shade(share)))
            ink = PAPER if share > 0.55 else BLACK
            middle = (corner[0] + wide / 2, top + tall / 2 + 4)
            parts.append(text(middle, figure(value, 3), ink, "middle"))
    for column, x in enumerate(columns):
        at = (LEFT + wide * (column + 0.5), TOP + HIGH + 17)
        parts.append(text(at, _named(points[keys[0]], x), align="middle"))
    parts.append(text((LEFT + WIDE / 2, TOP + HIGH + 38), keys[0], align="middle"))
    parts.append(text((20, TOP - 10), keys[1]))
    if not titled:
        parts.append(text((LEFT + WIDE, TOP - 10), name, align="end"))
    return sheet(TOP + HIGH + 50, name, "means; darker is more", parts, titled=titled)


def _labelled(column: Any) -> Any:
    """Numbers that stand for the values or slices of a key, in order."""
    if column.nunique() <= MOST_SLICES or not pd.api.types.is_numeric_dtype(column):
        return column.rank(method="dense").astype(int)
    return pd.qcut(column, MOST_SLICES // 2, labels=False, duplicates="drop")


def _named(column: Any, number: int) -> str:
    """The middle of the values that a slice has."""
    mine = column[_labelled(column) == number]
    if pd.api.types.is_numeric_dtype(column) and mine.dtype != bool:
        return figure(float(mine.median()), 4)
    return str(mine.iloc[0])[:24]


def figure(value: float, digits: int) -> str:
    """With so many digits, and whole where it has more of them: bytes are read, not powers."""
    whole = 10**digits <= abs(value) < MOST_WRITTEN_OUT
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"


def _shade(share: float) -> str:
    mixed = (round(p + (d - p) * share) for p, d in zip(PALE, DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def front(
    points: pd.DataFrame, best: pd.DataFrame, names: tuple[str, str], *, titled: bool = True
) -> str:
    """All points by two measures; those that no other one beats have a sign of their own, also in
    grey print."""
    axes = []
    for name in names:
        low, high = float(points[name].min()), float(points[name].max())
        axes.append(_axis(name, low, high))
    panel = Panel(left=90, top=TOP, width=640, height=HIGH, x=axes[0], y=axes[1])
    others = points.drop(best.index)
    some = others.iloc[:: max(1, len(others) // MOST_DOTS)]
    parts = panel.frame()
    for of, sign in ((some, _ring), (best, _diamond)):
        for point in of[list(names)].itertuples(index=False, name=None):
            parts.append(sign(panel.at(*point)))
    many = f"{len(others)} other point{'s' if len(others) != 1 else ''}"
    keys = ((_diamond, f"{len(best)} that no other one beats"), (_ring, many))
    for place, (sign, words) in enumerate(keys):
        at = (26 + 220 * place, 46)
        parts += [sign(at), text((at[0] + 10, at[1] + 4), words, GREY)]
    title = f"{names[1]} against {names[0]}"
    return sheet(TOP + HIGH + 50, title, "", parts, titled=titled)


def _ring(at: Point) -> str:
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4" fill="none" stroke="{BLUE}" '
        'stroke-width="1.2"/>'
    )


def _diamond(at: Point) -> str:
    x, y = at
    corners = ((x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y))
    path = " ".join(f"{one:.1f},{other:.1f}" for one, other in corners)
    return f'<polygon points="{path}" fill="{VERMILION}"/>'


def _axis(name: str, low: float, high: float) -> Axis:
    if high > low and low >= 0 and low > 0.5 * high:
        ticks = tuple(float(f"{tick:.3g}") for tick in np.linspace(low, high, 5))
        return Axis(label=name, low=low, high=high, ticks=ticks)
    return Axis(label=name, low=min(0.0, low), high=ceiling(high) if high > 0 else 1.0)


def ranks(figures: Sequence[tuple[str, float]], bound: float, title: str, *, high: bool) -> str:
    """A figure of each pattern as a bar, the worst first, and its bound; `high`: at least it."""
    ordered = sorted(figures, key=lambda each: each[1], reverse=not high)
    top = max([bound * 1.1, *(min(value, 5 * bound) for _, value in ordered)])
    row, start = 15.0, 70.0
    parts: Parts = []
    for number, (name, value) in enumerate(ordered):
        y = start + row * number
        missed = value < bound if high else value > bound
        colour = VERMILION if missed else BLUE
        parts.append(text((LEFT - 8, y + 11), name, align="end"))
        length = WIDE * min(value, top) / top
        parts.append(box((LEFT, y + 2), (max(length, 1.0), row - 4), colour))
        told = f"{value:.4g} missed" if missed else f"{value:.4g}"
        parts.append(text((LEFT + WIDE + 12, y + 11), told, colour))
    end = start + row * len(ordered)
    at = LEFT + WIDE * bound / top
    parts.append(rule((at, start - 4), (at, end), GREY, dashed=True))
    parts += note((at + 4, start - 8), [f"{bound:g}"], GREY)
    many = sum(v < bound if high else v > bound for _, v in ordered)
    return sheet(end + 20, title, f"{many} of {len(ordered)} patterns miss it (red)", parts)
