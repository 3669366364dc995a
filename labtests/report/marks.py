"""What the picture writes beside boxes and cables to say why a suite is red: the broken facts of
its verdicts, at the device, port or cable that they name."""

import re
import textwrap
from dataclasses import dataclass

from labtests.capabilities import counters as c
from labtests.report.runs import Json, entries, number
from labtests.report.suites import Spot, Suite, after_place, broken, place_in
from labtests.report.text import grouped, short_port

BROKEN_AT_MOST, LETTERS = 2, 30
"""Facts at a device, all of which stand in its suite; letters in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnWords:
    """A text beside a link or in a box. `hue` is the priority it speaks of."""

    text: str
    hue: int | None = None
    bad: bool = False


def broken_at(suite: Suite, phase: Json, ports: list[Spot]) -> dict[str, tuple[DrawnWords, ...]]:
    """Why the suite is red, at the devices that its facts name; what a queue dropped is written
    there in any case."""
    found: dict[str, dict[str, None]] = {}
    known = [*ports, *(Spot(device=name) for name in {port.device for port in ports})]
    for fact in _broken_facts(suite, phase):
        name = str(fact.get("name"))
        place = place_in(name, known)
        if place and _of_one_place(name, place, known):
            found.setdefault(place.device, {})[_told(fact, place)] = None
    return {
        device: tuple(
            DrawnWords(text=line, bad=True)
            for text in list(facts)[:BROKEN_AT_MOST]
            for line in textwrap.wrap(text, LETTERS)
        )
        for device, facts in found.items()
    }


def lost_between(suite: Suite, phase: Json, ends: tuple[Spot, Spot]) -> tuple[DrawnWords, ...]:
    """What left one end of a cable and did not come to the other."""
    names = {f"{end.device} {end.port}" for end in ends}
    found: dict[DrawnWords, None] = {}
    for fact in _broken_facts(suite, phase):
        said = re.fullmatch(r"sent by (.+) - received by (.+)", str(fact.get("name")))
        measured = number(fact.get("measured"))
        if said and measured is not None and {said[1], said[2]} == names:
            what = "missing" if measured > 0 else "too many"
            found[DrawnWords(text=f"\u2715 {grouped(abs(int(measured)))} {what}", bad=True)] = None
    return tuple(found)


def _broken_facts(suite: Suite, phase: Json) -> list[Json]:
    """Why it is red there."""
    return [
        fact
        for verdict in (entries(suite.test.get("verdicts")) if suite.red else [])
        if verdict.get("role") != "control" and verdict.get("phase") == phase.get("name")
        for fact in filter(broken, entries(verdict.get("facts")))
    ]


def _of_one_place(name: str, place: Spot, known: list[Spot]) -> bool:
    rest = after_place(name, place)
    shown = rest != name and not name.endswith(f" {c.QUEUE_DROPPED_PACKETS}")
    return shown and place_in(rest, known) is None


def _told(fact: Json, place: Spot) -> str:
    name = after_place(str(fact.get("name")), place).replace("_", " ")
    name = name.replace("priority ", "p").replace("queue ", "q")
    measured = number(fact.get("measured"))
    at = f"{short_port(place.port)} " if place.port != short_port(place.port) else ""
    if measured is None:
        return f"? {at}{name}: no value"
    figure = grouped(measured) if isinstance(measured, int) else f"{measured:.4g}"
    return f"\u2715 {at}{name} {figure}"
