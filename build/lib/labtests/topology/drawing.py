"""Cycles drawn into the picture of their network, as SVG."""

import math
from collections.abc import Iterator

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
from labtests.core.sketch import sketch, way
from labtests.topology.answers import Answer, FoundCycle
from labtests.topology.fabric import NONE_DEAD, Fabric
from labtests.topology.wording import around, remedies, when

MOST_DRAWN = 24
"""Switches; of a larger network only those of a cycle."""
MOST_CYCLES = 6
ROW, TOP, SIDE = 78.0, 86.0, 70.0
APART = 5.0
LETTERS = 130


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
    told = [line for each in words for line in _folded(each)]
    parts = [text((20, y), when(found, fabric), bold=True), *note((20, y + 18), told, GREY)]
    some, end = _network(fabric, found, y + 18 + 15 * len(told) + 30)
    return [*parts, *some], end


def _folded(words: str) -> Iterator[str]:
    line = ""
    for word in words.split():
        if len(line) + len(word) > LETTERS:
            yield line
            line = ""
        line += f"{word} "
    yield line


def _network(fabric: Fabric, found: FoundCycle | None, y: float) -> tuple[Parts, float]:
    """Tiers above each other; each channel of the cycle is an arrow beside its cable."""
    channels = found.cycle.channels if found else ()
    drawn = set(range(len(fabric.switches)))
    if len(drawn) > MOST_DRAWN:
        drawn = {fabric.tail(channel) for channel in channels}
    places, height = _places(fabric, drawn, y)
    repaired = found and found.unsettled and found.unsettled.change.repair
    gone = fabric.dead(*found.failed) if found and not repaired else NONE_DEAD
    links = [
        (each.switches[0], each.switches[1])
        for number, each in enumerate(fabric.cables)
        if set(each.switches) <= set(places) and 2 * number not in gone
    ]
    parts = sketch(places, links, {})
    for channel in channels:
        ends = [places[fabric.switches[v]] for v in (fabric.tail(channel), fabric.heads[channel])]
        parts += way(_beside(*ends), VERMILION)
    return parts, y + height


def _places(fabric: Fabric, drawn: set[int], y: float) -> tuple[dict[str, Point], float]:
    """In rows by tier, or round a circle where there is one tier."""
    rows: dict[int, list[int]] = {}
    for switch in sorted(drawn):
        rows.setdefault(fabric.tiers[switch], []).append(switch)
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


def _beside(start: Point, end: Point) -> tuple[Point, Point]:
    """An arrow a little to the right of a cable, between the boxes of its ends."""
    (x0, y0), (x1, y1) = start, end
    length = math.hypot(x1 - x0, y1 - y0)
    along = ((x1 - x0) / length, (y1 - y0) / length)
    aside = (-along[1] * APART, along[0] * APART)
    short = min(22.0, length / 4)
    return (
        (x0 + along[0] * short + aside[0], y0 + along[1] * short + aside[1]),
        (x1 - along[0] * short + aside[0], y1 - along[1] * short + aside[1]),
    )
