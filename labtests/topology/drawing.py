"""Cycles drawn into the picture of their network, as SVG."""

import math
from collections.abc import Iterator, Mapping

from labtests.core.drawing import (
    GREY,
    VERMILION,
    WIDTH,
    Parts,
    Point,
    note,
    sheet,
    text,
)
from labtests.core.sketch import box_of, sketch, way
from labtests.topology.answers import Answer, FoundCycle
from labtests.topology.fabric import NONE_DEAD, Fabric
from labtests.topology.wording import around, remedies, when

MOST_DRAWN = 24
"""Switches; of a larger network, or one whose names have no room, only those of a cycle."""
MOST_CYCLES = 6
ROW, TOP, SIDE = 78.0, 86.0, 70.0
APART, GAP = 5.0, 6.0
LETTERS, BOLD_LETTERS = 130, 115


def svg(answer: Answer) -> str:
    """All cycles that are shown, a picture each, or the network without any."""
    parts, y = Parts(), TOP
    for found in answer.found[:MOST_CYCLES]:
        some, y = _picture(answer.fabric, found, y)
        parts += some
    if not answer.found:
        some, y = _network(answer.fabric, None, y)
        parts += some
    verdict = "no cyclic buffer dependency" if answer.free else "cyclic buffer dependencies"
    of = f"{len(answer.fabric.switches)} switches, {len(answer.fabric.cables)} cables between them"
    return sheet(y, f"{answer.fabric.name}: {verdict}", of, parts)


def _picture(fabric: Fabric, found: FoundCycle, y: float) -> tuple[Parts, float]:
    words = [around(fabric, found.cycle), *(f"remedy: {each}" for each in remedies(found, fabric))]
    told = [line for each in words for line in _folded(each, LETTERS)]
    parts = Parts()
    for line in _folded(when(found, fabric), BOLD_LETTERS):
        parts.append(text((20, y), line, bold=True))
        y += 15
    parts += note((20, y + 3), told, GREY)
    some, end = _network(fabric, found, y + 3 + 15 * len(told) + 30)
    return [*parts, *some], end


def _folded(words: str, letters: int) -> Iterator[str]:
    line = ""
    for word in words.split():
        if line and len(line) + len(word) > letters:
            yield line
            line = ""
        line += f"{word} "
    yield line


def _network(fabric: Fabric, found: FoundCycle | None, y: float) -> tuple[Parts, float]:
    """Tiers above each other; each channel of the cycle is an arrow beside its cable."""
    channels = found.cycle.channels if found else ()
    drawn = set(range(len(fabric.switches)))
    if len(drawn) > MOST_DRAWN or not _have_room(fabric, drawn):
        drawn = {fabric.tail(channel) for channel in channels}
    places, height = _places(fabric, drawn, y)
    repaired = found and found.unsettled and found.unsettled.change.repair
    gone = fabric.dead(*found.failed) if found and not repaired else NONE_DEAD
    links = [
        (each.switches[0], each.switches[1])
        for number, each in enumerate(fabric.cables)
        if set(each.switches) <= set(places) and 2 * number not in gone
    ]
    parts = sketch(places, links, {}, fitted=True)
    for channel in channels:
        ends = [fabric.switches[v] for v in (fabric.tail(channel), fabric.heads[channel])]
        parts += way(_beside(places, *ends), VERMILION)
    return parts, y + height


def _rows(fabric: Fabric, drawn: set[int]) -> dict[int, list[int]]:
    """Switches by their tier."""
    rows: dict[int, list[int]] = {}
    for switch in sorted(drawn):
        rows.setdefault(fabric.tiers[switch], []).append(switch)
    return rows


def _have_room(fabric: Fabric, drawn: set[int]) -> bool:
    """Whether no name lies on another one."""
    rows = _rows(fabric, drawn).values()
    if len(rows) == 1:
        return True
    return all(
        max(box_of(fabric.switches[v])[0] for v in row) < (WIDTH - 2 * SIDE) / len(row)
        for row in rows
    )


def _places(fabric: Fabric, drawn: set[int], y: float) -> tuple[dict[str, Point], float]:
    """In rows by tier, or round a circle where there is one tier."""
    rows = _rows(fabric, drawn)
    if len(rows) == 1 and len(drawn) > 2:
        radius = max(70.0, 12.0 * len(drawn))
        angles = {v: 2 * math.pi * n / len(drawn) for n, v in enumerate(sorted(drawn))}
        middle = (WIDTH / 2, y + radius)
        return {
            fabric.switches[v]: (
                middle[0] + radius * math.sin(angle),
                middle[1] - radius * math.cos(angle),
            )
            for v, angle in angles.items()
        }, 2 * radius + ROW
    places = {}
    for row, tier in enumerate(sorted(rows, reverse=True)):
        for n, v in enumerate(rows[tier]):
            x = SIDE + (WIDTH - 2 * SIDE) * (n + 0.5) / len(rows[tier])
            places[fabric.switches[v]] = (x, y + ROW * row)
    return places, ROW * len(rows) + ROW / 2


def _beside(places: Mapping[str, Point], tail: str, head: str) -> tuple[Point, Point]:
    """An arrow a little to the right of a cable, between the boxes of its ends."""
    (x0, y0), (x1, y1) = places[tail], places[head]
    length = math.hypot(x1 - x0, y1 - y0)
    along = ((x1 - x0) / length, (y1 - y0) / length)
    aside = (-along[1] * APART, along[0] * APART)
    near, far = (min(_to_edge(name, along) + GAP, length / 3) for name in (tail, head))
    return (
        (x0 + along[0] * near + aside[0], y0 + along[1] * near + aside[1]),
        (x1 - along[0] * far + aside[0], y1 - along[1] * far + aside[1]),
    )


def _to_edge(name: str, along: Point) -> float:
    """From the middle of a box to its edge, in a direction."""
    halves = zip(box_of(name), along, strict=True)
    return min(size / 2 / abs(part) for size, part in halves if abs(part) > 1e-9)
