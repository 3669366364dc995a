"""What the history says to a run that is about to be shown: the last run, the last green one, and
of each red test since when, and what was different in the lab then. Runs in simulation, in
namespaces and on hardware are never held against one another."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.history.comparing import found_otherwise
from labtests.history.records import KeptRun, KeptTest, Place, state_of
from labtests.history.reds import RED, last_pass
from labtests.history.store import History, KeptSummary
from labtests.history.trends import FEWEST, moved
from labtests.report.past import LabChange, LabChanges, Past, RedTest
from labtests.report.runs import entries, lab_of, number, texts
from labtests.report.view import standing_of, verdicts_of

Json = dict[str, Any]
MOST_RUNS = 400
"""That are looked through, newest first."""
TREND_RUNS = 60
_NOW = 0  # no run of a history has this number


def background(where: str | None, run: Json, folder: Path) -> Past:
    """Of the run in this folder. Nothing where there is no history; one that cannot be read is
    told, and nothing is raised: no run fails of its history."""
    if where is None or ("://" not in where and not Path(where).expanduser().is_file()):
        return Past()
    try:
        with History.open(where) as history:
            return _Earlier(history, run, state_of(folder)).past()
    except Exception as error:  # noqa: BLE001 a driver's, too
        told = isinstance(error, LabError | OSError)
        return Past(problem=str(error) if told else type(error).__name__)


class _Earlier:
    """Runs before one."""

    def __init__(self, history: History, run: Json, state: Mapping[Place, str] | None) -> None:
        self._run, self._history, self._whole = run, history, cache(history.whole)
        self._now = _now(run, state)
        found = history.summaries(
            testbed=str(lab_of(run).get("name")), backend=str(run.get("backend")), most=MOST_RUNS
        )
        began = str(run.get("started") or "")
        self._runs = [
            each
            for each in found
            if each.run.whole and each.run.faults == "[]" and each.run.started < began
        ]

    def past(self) -> Past:
        """All of it."""
        last = self._runs[0] if self._runs else None
        green = next((each for each in self._runs if each.run.outcome == "pass"), None)
        return Past(
            known=True,
            last=None if last is None else self._told(last),
            last_changes=None if last is None else self._changes(last, None),
            green=None if green is None else self._told(green),
            green_changes=None if green is None else self._changes(green, None),
            tests={str(test["id"]): found for test in self._red() if (found := self._of(test))},
            shrunk=self._shrunk(),
        )

    def _shrunk(self) -> tuple[tuple[str, str], ...]:
        """Nothing where there are too few runs to know the noise, or where the trends are not
        installed."""
        before = [each.number for each in self._runs[:TREND_RUNS]]
        if len(before) < FEWEST - 1 or texts(self._run.get("faults")):
            return ()
        lab = {"testbed": str(lab_of(self._run).get("name")), "backend": self._run["backend"]}
        rows = [*self._history.margins(**lab, runs=before), *_figures(self._run)]
        try:
            steps = [step for step in moved(rows) if step.shrunk and step.run == _NOW]
        except LabError:
            return ()
        return tuple((step.series.test, step.words) for step in steps)

    def _red(self) -> list[Json]:
        return [t for t in entries(self._run.get("tests")) if standing_of(t) in RED]

    def _of(self, test: Json) -> RedTest | None:
        """Back to where it passed; None where it never did."""
        first_bad, passed_in = last_pass(str(test["id"]), self._runs)
        if passed_in is None:
            return None
        told = self._told(passed_in)
        return RedTest(
            passed=next(t for t in told["tests"] if t["id"] == test["id"]),
            run=told,
            since=None if first_bad is None else _head(first_bad.run),
            changed=self._changes(passed_in, first_bad),
        )

    def _told(self, each: KeptSummary) -> Json:
        return _as_told(self._whole(each.number))

    def _changes(self, old: KeptSummary, new: KeptSummary | None) -> LabChanges:
        """Between two runs, or until this one."""
        before = old.run
        after = self._now if new is None else new.run
        if before.state is None or after.state is None:
            return None
        return tuple(
            LabChange(where=each.where, before=each.before, after=each.after)
            for each in found_otherwise(before, after)
        )


def _figures(run: Json) -> Iterator[Json]:
    """The run's own, as History.margins has those of others."""
    for test in entries(run.get("tests")):
        for verdict in verdicts_of(test, "main"):
            asked = {key: str(verdict.get(key) or "") for key in ("question", "phase")}
            for fact in entries(verdict.get("facts")):
                if (measured := number(fact.get("measured"))) is not None:
                    named = {"fact": str(fact.get("name") or ""), "test": str(test.get("id"))}
                    figures = {"measured": measured, "margin": number(fact.get("margin"))}
                    unit = str(fact.get("unit") or "")
                    yield {"run": _NOW, **named, **asked, **figures, "unit": unit}


def _now(run: Json, state: Mapping[Place, str] | None) -> KeptRun:
    """This one, as far as it is compared."""
    return KeptRun(
        identity="",
        testbed="",
        backend="",
        started="",
        ended="",
        exit_code=0,
        problem="",
        seed=None,
        faults="[]",
        whole=True,
        commit_of_suites=str(run.get("commit_of_suites") or ""),
        labtests_version=str(run.get("labtests_version") or ""),
        command_line="",
        folder="",
        state=state,
    )


def _head(run: KeptRun) -> Json:
    return {"started": run.started, "exit_code": run.exit_code, "folder": run.name}


def _as_told(run: KeptRun) -> Json:
    """As run.json has it."""
    return {**_head(run), "tests": [_test(test) for test in run.tests]}


def _test(test: KeptTest) -> Json:
    verdicts = [
        {**asdict(verdict), "expected": verdict.outcome if verdict.as_expected else ""}
        for verdict in test.verdicts
    ]
    phases = [
        {
            "name": phase.name,
            "settings": [_setting(place, value) for place, value in phase.settings.items()],
            "counters": [_counter(place, value) for place, value in phase.counters.items()],
        }
        for phase in test.phases
    ]
    return {"id": test.name, "outcome": test.outcome, "verdicts": verdicts, "phases": phases}


def _setting(place: Place, value: str) -> Json:
    return {**dict(zip(("device", "port", "ability"), place, strict=False)), "value": value}


def _counter(place: Place, increase: int | None) -> Json:
    named = dict(zip(("device", "port", "scope", "index", "counter"), place, strict=False))
    index = named.get("index")
    return {**named, "index": int(index) if index else None, "increase": increase}
