"""What the page's script draws when a suite is opened: every text once, in one block of JSON."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labtests.capabilities import counters as c
from labtests.core.printable import visible
from labtests.report.runs import Json, entries, number
from labtests.report.series import Series, panels
from labtests.report.suites import Suite
from labtests.report.text import short_ports
from labtests.report.view import counters_of, still_of
from labtests.transport.chronicle import Exchange

LINES_AT_MOST = 12_000
"""Of answers in one page, each different line once: more are in the journal only."""
LONGEST_LINE = 400
Place = tuple[str, ...]
POINTS_AT_MOST = 1200
"""Of one line of a plot; of more, each has the highest of its neighbours."""


class Book:
    """Every text has a number, the same text the same one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: object) -> int:
        """The number of a text."""
        said = "" if text is None else str(text)
        if said not in self._numbers:
            self._numbers[said] = len(self.texts)
            self.texts.append(visible(said))
        return self._numbers[said]


class Answers:
    """Answers as spans of lines: a second answer that repeats the first costs next to nothing."""

    def __init__(self) -> None:
        self.lines = Book()

    @property
    def full(self) -> bool:
        """Whether no more answers are taken in."""
        return len(self.lines.texts) >= LINES_AT_MOST

    def __call__(self, text: str) -> list[int] | None:
        """As spans of numbers of lines; None when the page is full."""
        if self.full:
            return None
        return _spans(self.lines(line[:LONGEST_LINE]) for line in text.splitlines())


def _spans(numbers: Iterable[int]) -> list[int]:
    """The first one and how many follow it, again and again."""
    spans: list[int] = []
    for one in numbers:
        if spans and spans[-2] + spans[-1] == one:
            spans[-1] += 1
        else:
            spans += [one, 1]
    return spans


def details(suites: Iterable[Suite], journal: Iterable[Exchange]) -> str:
    """The block: safe inside <script>, whatever a device printed."""
    book, answers, rows = Book(), Answers(), Book()
    of_test: dict[str, list[Exchange]] = {}
    for one in journal:
        if one.test and one.kind != "output":
            of_test.setdefault(one.test, []).append(one)
    told = {}
    for suite in suites:
        asked = of_test.get(str(suite.test.get("id")), [])
        told[suite.address] = _suite(suite, asked, _Books(book, rows, answers))
    still = [json.loads(row) for row in rows.texts]
    block = {"suites": told, "texts": book.texts, "lines": answers.lines.texts, "still": still}
    text = json.dumps(block, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True, slots=True)
class _Books:
    """What all suites of a page share."""

    texts: Book
    still: Book
    answers: Answers


def _suite(suite: Suite, asked: list[Exchange], books: _Books) -> Json:
    test, book = suite.test, books.texts
    last = {str(p.get("name")): _grown(p) for p in entries((suite.before or {}).get("phases"))}
    phases = entries(test.get("phases"))
    counted = [(counters_of(p), last.get(str(p.get("name")), {})) for p in phases]
    starts = [s for phase in phases if (s := number(phase.get("start_s"))) is not None]
    zero = min(starts, default=0.0)
    times = [number(row.get("time_s")) for row in entries(test.get("changes"))]
    return {
        "phases": [_phase(phase, zero, book) for phase in phases],
        "lanes": _lanes(phases, zero, book),
        "sent": sorted({round(t - zero, 3) for t in times if t is not None}),
        "compared": bool(last),
        "changed": [row for n, each in enumerate(counted) for row in _changed(n, *each, book)],
        "unusable": [row for n, each in enumerate(counted) for row in _unusable(n, each[0], book)],
        "still": [_still(groups, books) for groups, _ in counted],
        "settings": [row for n, phase in enumerate(phases) for row in _settings(n, phase, book)],
        "commands": _commands(asked, book, books.answers),
    }


def _phase(phase: Json, zero: float, book: Book) -> list[Any]:
    start, end = number(phase.get("start_s")), number(phase.get("end_s"))
    lost = [
        number(row.get("increase")) or 0
        for row in entries(phase.get("counters"))
        if row.get("counter") == c.QUEUE_DROPPED_PACKETS and not row.get("unusable")
    ]
    times = [None if t is None else round(t - zero, 3) for t in (start, end)]
    return [book(phase.get("name")), book(phase.get("kind")), *times, int(sum(lost))]


def _lanes(phases: list[Json], zero: float, book: Book) -> list[Json]:
    """Plots of all phases on one axis; a line goes on in the next phase under its name."""
    lanes: dict[str, Json] = {}
    for phase in phases:
        shift = (number(phase.get("start_s")) or 0.0) - zero
        for panel in panels(phase):
            lane = lanes.setdefault(
                panel.title, {"t": panel.title, "u": panel.unit, "l": {}, "s": 0, "m": []}
            )
            lane["s"] = max(lane["s"], panel.silent)
            lane["m"] = sorted({*lane["m"], *map(book, panel.unknown)})
            for line in panel.series:
                _add(lane["l"], line, shift, book)
    for lane in lanes.values():
        lane["l"] = list(lane["l"].values())
    return [lane for lane in lanes.values() if lane["l"] or lane["m"]]


def _add(lines: dict[str, Json], line: Series, shift: float, book: Book) -> None:
    start: Json = {"n": book(short_ports(line.name)), "c": line.hue, "p": []}
    into = lines.setdefault(line.name, start)
    if into["p"]:
        into["p"].append([into["p"][-1][1], round(line.points[0][0] + shift, 3), None])
    into["p"] += [
        [round(a + shift, 3), round(b + shift, 3), None if v is None else float(f"{v:.5g}")]
        for a, b, v in _thinned(line.points)
    ]


def _thinned(
    points: tuple[tuple[float, float, float | None], ...],
) -> Iterator[tuple[float, float, float | None]]:
    """No peak is lost, and no gap."""
    step = -(-len(points) // POINTS_AT_MOST)
    for n in range(0, len(points), max(step, 1)):
        some = points[n : n + step]
        values = [v for _, _, v in some if v is not None]
        gap = len(values) < len(some)
        yield some[0][0], some[-1][1], None if gap or not values else max(values)


def _changed(
    n: int, groups: dict[str, list[Json]], then: dict[Place, int | float], book: Book
) -> Iterator[list[Any]]:
    """What grew, and what grew in the last run: how much it was then stands at the end, null where
    it is not known."""
    stopped = [row for row in groups["still"] if then and then.get(_place(row))]
    for row in groups["changed"] + stopped:
        names = [book(row.get(key)) for key in ("device", "port", "scope", "counter", "unit")]
        figures = [number(row.get(key)) for key in ("index", "before", "after", "increase")]
        yield [n, *names, *figures, book(row.get("source")), then.get(_place(row))]


def _grown(phase: Json) -> dict[Place, int | float]:
    found = ((_place(row), number(row.get("increase"))) for row in entries(phase.get("counters")))
    return {place: grew for place, grew in found if grew is not None}


def _place(row: Json) -> Place:
    return tuple(str(row.get(key)) for key in ("device", "port", "scope", "index", "counter"))


def _unusable(n: int, groups: dict[str, list[Json]], book: Book) -> Iterator[list[Any]]:
    """What has no value, by its reason."""
    found: dict[str, list[int]] = {}
    for row in groups["unusable"]:
        index = number(row.get("index"))
        where = f"{row.get('device') or ''} {row.get('port') or ''}".strip()
        numbered = "" if index is None else f" {row.get('scope')} {index}"
        why = str(row.get("unusable") or "no difference is known")
        found.setdefault(why, []).append(book(f"{where}{numbered} {row.get('counter')}"))
    for why, names in sorted(found.items(), key=lambda pair: -len(pair[1])):
        yield [n, book(why), names]


def _still(groups: dict[str, list[Json]], books: _Books) -> list[Any]:
    """How many, and their rows, which most phases have in common."""
    rows, count, book = [], 0, books.texts
    for row in still_of(groups["still"]):
        values = "; ".join(
            f"{row.get('scope')} {which}: {value}" if which else f"{value}"
            for which, value in row["groups"]
        )
        count += sum(len(numbers) for numbers in row["values"].values())
        names = [book(row.get(key)) for key in ("device", "port", "counter", "unit")]
        rows.append(books.still(json.dumps([*names, book(values)])))
    return [count, _spans(rows)]


def _settings(n: int, phase: Json, book: Book) -> Iterator[list[Any]]:
    for row in entries(phase.get("settings")):
        yield [n, *(book(row.get(key)) for key in ("device", "port", "ability", "value"))]


def _commands(asked: list[Exchange], book: Book, answers: Answers) -> list[list[Any]]:
    """Each command once, with its first answer, its last, and how often it was given. What
    changed the lab, started or failed is told each time."""
    rows: dict[tuple[Any, ...], list[Any]] = {}
    last: dict[tuple[Any, ...], Exchange] = {}
    for one in asked:
        again = one.kind == "run" and not one.failed
        key = (one.device, one.command) if again else (one.order, one.command)
        if key in rows:
            rows[key][6] += 1
            last[key] = one
            continue
        head = [book(one.kind), round(one.time_s, 3), book(one.device), book(one.command)]
        told = [one.status, book(one.problem), 1, answers(one.text), None]
        rows[key] = head + told
    for key, one in last.items():
        rows[key][8] = answers(one.text)
    return list(rows.values())
