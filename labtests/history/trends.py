"""What moves over the nights: margins that shrink, and suites whose verdict changes by itself."""

import importlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from statistics import fmean, median
from typing import Any

from labtests.core.errors import LabError
from labtests.history.comparing import found_otherwise
from labtests.history.records import KeptRun
from labtests.history.reds import changes
from labtests.history.store import History, KeptSummary

FEWEST = 5
"""Runs from which the noise of a figure can be told."""
_CERTAIN = 4.5  # noises: a step that is larger is a change
_LEAST_NOISE = 0.005  # of the figure itself: the same seed gives the same figures
_TO_SIGMA = 1 / (0.6745 * math.sqrt(2))  # of the median of differences of neighbours
_SHRUNK = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSeries:
    """One figure of one suite over the runs that have it, oldest first."""

    test: str
    phase: str
    question: str
    fact: str
    unit: str
    runs: tuple[int, ...]
    measured: tuple[float, ...]
    margins: tuple[float | None, ...]

    @property
    def followed(self) -> tuple[float, ...]:
        """The margins, where there always was one; else what was measured."""
        known = [margin for margin in self.margins if margin is not None]
        return tuple(known) if len(known) == len(self.margins) else self.measured

    @property
    def has_margin(self) -> bool:
        """Whether what is followed is what was left of a bound that leaves anything."""
        return None not in self.margins and any(self.margins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A figure has been another one since a run. `shrunk`: of its margin less is left."""

    series: FigureSeries
    run: int
    before_run: int
    before: float
    after: float
    shrunk: bool

    def __str__(self) -> str:
        return f"{self.series.test}: {self.words}"

    @property
    def words(self) -> str:
        """What became what."""
        what = "margin" if self.series.has_margin else "figure"
        return (
            f"{what} of {self.series.fact!r} ({self.series.question}) "
            f"{self.before:.4g} -> {self.after:.4g} {self.series.unit}".rstrip()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakySuite:
    """A suite that answered otherwise without a change in the lab."""

    test: str
    changes: tuple[tuple[int, str, int, str], ...]  # run, outcome, next run, outcome


def series_of(facts: Iterable[Mapping[str, Any]]) -> list[FigureSeries]:
    """Of rows as History.margins has them."""
    points: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    seen: dict[tuple[Any, ...], int] = {}
    for row in facts:
        key = (row["test"], row["phase"], row["question"], row["fact"], row["unit"])
        again = seen[(row["run"], key)] = seen.get((row["run"], key), -1) + 1
        points.setdefault((*key, again), []).append(row)
    return [
        FigureSeries(
            test=key[0],
            phase=key[1],
            question=key[2],
            fact=key[3],
            unit=key[4],
            runs=tuple(row["run"] for row in rows),
            measured=tuple(row["measured"] for row in rows),
            margins=tuple(row["margin"] for row in rows),
        )
        for key, rows in points.items()
    ]


def noise(values: Sequence[float]) -> float:
    """Standard deviation of a figure between neighbouring runs, which no single step moves."""
    steps = [abs(b - a) for a, b in pairwise(values)]
    floor = _LEAST_NOISE * abs(median(values))
    return max(median(steps) * _TO_SIGMA, floor, 1e-12)


def shifts(series: FigureSeries) -> Iterator[Shift]:
    """Where a figure became another one (Killick et al. 2012, PELT, on the mean). None where there
    are too few runs to know its noise. Raises LabError without the package ruptures."""
    values = series.followed
    if len(values) < FEWEST or min(values) == max(values):
        return
    numpy = importlib.import_module("numpy")  # only who asks for trends waits for it
    signal = numpy.array(values, dtype=float).reshape(-1, 1) / noise(values)
    cost = _squares_about_means()()
    search = _ruptures().Pelt(custom_cost=cost, min_size=1, jump=1).fit(signal)
    ends = search.predict(pen=_CERTAIN**2 * math.log(len(values)) / 2)
    bounds = [0, *ends]
    parts = [slice(first, last) for first, last in pairwise(bounds)]
    for old, new in pairwise(parts):
        before, after = fmean(values[old]), fmean(values[new])
        shrunk = series.has_margin and after < min(before, before * _SHRUNK)
        yield Shift(series=series, run=series.runs[new.start], shrunk=shrunk,
                   before_run=series.runs[new.start - 1], before=before, after=after)  # fmt: skip


@cache
def _squares_about_means() -> Any:
    """The cost `l2` of ruptures, by running sums: a year of nights has a million parts to look at,
    and numpy's variance of each takes twenty times as long."""
    _ruptures()

    class Squares(importlib.import_module("ruptures.base").BaseCost):  # type: ignore[misc]
        """See ruptures."""

        model = "l2 by running sums"
        min_size = 1

        def fit(self, signal: Any) -> Any:
            """See ruptures."""
            values = [float(value) for value in (signal - signal.mean()).ravel()]
            self.signal = signal
            self._sums = [0.0, *accumulate(values)]
            self._squares = [0.0, *accumulate(value * value for value in values)]
            return self

        def error(self, start: int, end: int) -> float:
            """See ruptures."""
            about = self._sums[end] - self._sums[start]
            return self._squares[end] - self._squares[start] - about * about / (end - start)

    return Squares


def _ruptures() -> Any:
    try:
        return importlib.import_module("ruptures")
    except ImportError as error:
        raise LabError(
            "trends need the package ruptures\n  remedy: pip install 'labtests[trends]'"
        ) from error


def flaky(runs: Sequence[KeptSummary]) -> list[FlakySuite]:
    """Suites whose outcome changed between neighbouring runs (newest first) that found the same lab
    and had the same suites; a run with faults, or whose lab is not known, says nothing, nor does an
    error of one that was cut off."""
    found: dict[str, list[tuple[int, str, int, str]]] = {}
    for old, new in pairwise(each for each in reversed(runs) if each.run.faults == "[]"):
        if not _same_lab(old.run, new.run):
            continue
        before = old.run.answers
        for name, outcome in new.run.answers.items():
            if (was := before.get(name, outcome)) != outcome:
                found.setdefault(name, []).append((old.number, was, new.number, outcome))
    return [FlakySuite(test=name, changes=tuple(changes)) for name, changes in found.items()]


def _same_lab(old: KeptRun, new: KeptRun) -> bool:
    known = old.state is not None and new.state is not None
    return known and not found_otherwise(old, new)


def steps_of(figures: Iterable[FigureSeries]) -> list[Shift]:
    """Of all of them: margins that shrank first, then by run."""
    found = [shift for each in figures for shift in shifts(each)]
    return sorted(found, key=lambda each: (not each.shrunk, each.run))


def moved(facts: Iterable[Mapping[str, Any]]) -> list[Shift]:
    """The steps of all figures that have a margin."""
    return steps_of(each for each in series_of(facts) if each.has_margin)


def that_day(history: History, shift: Shift) -> Iterator[str]:
    """When it was, and what else was different in the first run that has it."""
    new = history.whole(shift.run)
    yield f"since run {shift.run} ({new.when}, {new.name})"
    yield from changes(history, shift.before_run, shift.run)
