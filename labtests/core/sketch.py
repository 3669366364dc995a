"""Who is wired to whom, drawn small beside a plot."""

import math
from collections.abc import Iterable, Mapping, Sequence

from labtests.core.drawing import BLACK, GREY, PAPER, Parts, Point, box, rule, text

BOX = (34.0, 24.0)
LETTER, MARGIN = 6.8, 6.0
"""Of a name: about how wide a letter is, and what is beside them."""
LINK = "#888888"


def box_of(name: str) -> Point:
    """The size of a box that holds a name."""
    return max(BOX[0], LETTER * len(name) + MARGIN), BOX[1]


def sketch(
    places: Mapping[str, Point],
    links: Iterable[tuple[str, str]],
    colours: Mapping[str, str],
    *,
    fitted: bool = False,
) -> Parts:
    """Devices at their places, joined by links; those with a colour are hosts of that colour.
    `fitted`: each box is as wide as its name."""
    parts = [rule(places[one], places[other], LINK, width=1.5) for one, other in links]
    for name, (x, y) in places.items():
        size = box_of(name) if fitted else BOX
        corner = (x - size[0] / 2, y - size[1] / 2)
        if name in colours:
            parts.append(box(corner, size, PAPER, outline=PAPER))
            parts.append(text((x, y + 4), name, colours[name], "middle", bold=True))
        else:
            parts.append(box(corner, size, "#f0f0f0", outline=GREY))
            parts.append(text((x, y + 4), name, BLACK, "middle"))
    return parts


def way(points: Sequence[Point], colour: str) -> Parts:
    """The way of a flow: a line with a head, from its first point to its last."""
    (x0, y0), (x1, y1) = points[-2:]
    length = math.hypot(x1 - x0, y1 - y0)
    along = ((x1 - x0) / length, (y1 - y0) / length)
    base = (x1 - 8 * along[0], y1 - 8 * along[1])
    wings = [(base[0] + s * 4.5 * along[1], base[1] - s * 4.5 * along[0]) for s in (1, -1)]
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in [(x1, y1), *wings])
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*points[:-1], base])
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        f'<polygon points="{head}" fill="{colour}"/>',
    ]
