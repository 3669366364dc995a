"""A static site over the history: all labs, and for each its suites by nights, what moved, and the
last red of each suite. No script, nothing is fetched: any web server, or none, will do."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from labtests.core.printable import visible
from labtests.core.private_files import safe_folder, write_whole
from labtests.history.records import KeptRun
from labtests.history.reds import RED, red_since
from labtests.history.store import History, KeptSummary
from labtests.history.trends import Shift, moved, that_day

NIGHTS = 60
"""Runs on one page of a lab."""
STRIP = 30
TREND_RUNS = 90
_MOST_WORDS = 400
_READ = 0o644
SIGNS = {"pass": "✓", "fail": "✕", "inconclusive": "?", "error": "!", "skipped": "–", "none": "·"}
Lab = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabNights:
    """One lab's runs, newest first, and what moved in them."""

    testbed: str
    backend: str
    found: tuple[KeptSummary, ...]
    shifts: tuple[Shift, ...]

    @property
    def runs(self) -> int:
        """How many."""
        return len(self.found)

    @property
    def last(self) -> KeptRun:
        """The newest."""
        return self.found[0].run

    @property
    def since(self) -> str:
        """When the outcome of the newest run was first so, without another one in between."""
        same = takewhile(lambda each: each.run.outcome == self.last.outcome, self.found)
        return [*same][-1].run.when

    @property
    def shrinking(self) -> int:
        """Margins that shrank and did not recover."""
        return sum(shift.shrunk for shift in self.shifts)

    @property
    def strip(self) -> list[KeptRun]:
        """The newest runs, oldest first."""
        return [each.run for each in reversed(self.found[:STRIP])]

    @property
    def page(self) -> str:
        """The name of its newest page."""
        return self.page_of(1)

    def page_of(self, number: int) -> str:
        """The name of a page of its nights; 1 has the newest."""
        name = f"{self.testbed}-{self.backend}"
        plain = re.sub(r"[^A-Za-z0-9.-]", "_", name).lstrip(".-")[:80]
        other = "" if plain == name else "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
        return f"lab-{plain}{other}{'' if number == 1 else f'-{number}'}.html"


def write_site(history: History, folder: Path) -> list[str]:
    """All pages, into a folder; who may read that may read them. Their names. Raises LabError,
    OSError."""
    safe_folder(folder)
    mode = folder.stat().st_mode & _READ
    labs = [_lab(history, lab, runs) for lab, runs in history.labs().items()]
    pages = {"index.html": _rendered("index.html.j2", labs=labs, shown=STRIP)}
    for lab in labs:
        pages |= _pages(history, lab, folder)
    for name, text in pages.items():
        write_whole(folder / name, text, mode)
    return list(pages)


def _lab(history: History, lab: Lab, runs: Sequence[KeptSummary]) -> LabNights:
    recent = [each.number for each in runs[:TREND_RUNS]]
    rows = history.margins(testbed=lab[0], backend=lab[1], runs=recent)
    return LabNights(*lab, tuple(runs), tuple(moved(rows)))


def _pages(history: History, lab: LabNights, folder: Path) -> Iterator[tuple[str, str]]:
    parts = [lab.found[first : first + NIGHTS] for first in range(0, lab.runs, NIGHTS)]
    for number, part in enumerate(parts, 1):
        nights = list(reversed(part))
        values: dict[str, Any] = {"moved": [], "red": []}
        if number == 1:
            values = {
                "moved": [_moved(history, each) for each in lab.shifts],
                "red": _red(history, lab),
            }
        yield (
            lab.page_of(number),
            _rendered(
                "lab.html.j2",
                lab=lab,
                number=number,
                newer=lab.page_of(number - 1) if number > 1 else "",
                older=lab.page_of(number + 1) if number < len(parts) else "",
                nights=[_night(each.run, folder) for each in nights],
                suites=_suites([each.run for each in nights]),
                **values,
            ),
        )


def _night(run: KeptRun, folder: Path) -> dict[str, str]:
    page = Path(run.folder) / "report.html"
    link = quote(os.path.relpath(page, folder)) if page.is_file() else ""
    return {"label": run.when, "link": link}


def _suites(runs: Sequence[KeptRun]) -> list[dict[str, Any]]:
    """A row for each test, in the order in which they run."""
    rows = [{test.name: test.outcome for test in run.tests} for run in runs]
    names = dict.fromkeys(name for row in reversed(rows) for name in row)
    known = {name: [row.get(name, "none") for row in rows] for name in names}
    return [
        {"name": short(name), "cells": [c if c in SIGNS else "error" for c in cells]}
        for name, cells in known.items()
    ]


def short(name: str) -> str:
    """A test as words."""
    plain = name.removeprefix("suites/").removeprefix("test_").replace(".py::test_", ": ")
    return plain.replace("_", " ")


def _red(history: History, lab: LabNights) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    since = {each.test: each for each in red_since(lab.found, lab.found[0].number)}
    now = {test.name: test.outcome for test in lab.last.tests}
    for each in lab.found[:NIGHTS]:
        for test in each.run.tests:
            if test.outcome in RED and test.name not in found:
                found[test.name] = {
                    "name": short(test.name),
                    "outcome": test.outcome,
                    "words": " ".join(test.error.split())[:_MOST_WORDS],
                    "when": each.run.when,
                    "now": now.get(test.name, "none"),
                    "since": [*since[test.name].told(history)] if test.name in since else [],
                }
    return list(found.values())


def _moved(history: History, shift: Shift) -> dict[str, Any]:
    return {
        "words": str(shift).replace(shift.series.test, short(shift.series.test)),
        "shrunk": shift.shrunk,
        "why": list(that_day(history, shift)),
        "line": _line(shift),
    }


def _line(shift: Shift) -> Markup:
    """The figure over the runs, with the step marked."""
    values, wide, high = shift.series.followed, 240, 36
    least, most = min(values), max(values)
    span, last = (most - least) or 1.0, max(len(values) - 1, 1)
    points = " ".join(
        f"{wide * at / last:.1f},{2 + (high - 4) * (most - value) / span:.1f}"
        for at, value in enumerate(values)
    )
    step = wide * shift.series.runs.index(shift.run) / last
    return Markup(
        '<svg width="{}" height="{}" role="img" aria-label="{} to {}"><polyline points="{}"/>'
        '<line class="at" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"/></svg>'
    ).format(wide, high, f"{values[0]:g}", f"{values[-1]:g}", points, step, step, high)


def _rendered(template: str, **values: object) -> str:
    return visible(_environment().get_template(template).render(**values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("labtests.history"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    css = resources.files("labtests.history").joinpath("templates/site.css").read_text("utf-8")
    environment.globals |= {"sign": lambda outcome: SIGNS.get(outcome, "!"), "style": Markup(css)}
    return environment
