"""`labtests history …` and `labtests compare`, without the command line around them: lines."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from labtests.core.errors import LabError
from labtests.history.comparing import RunDifference, broken, compare, facts_of
from labtests.history.records import KeptRun, KeptTest, of_folder
from labtests.history.reds import red_since
from labtests.history.site import write_site
from labtests.history.store import History, KeptSummary
from labtests.history.trends import (
    FEWEST,
    FigureSeries,
    flaky,
    series_of,
    steps_of,
    that_day,
)

_ANY = 1_000_000


def listed(where: str, *, testbed: str, backend: str, most: int) -> list[str]:
    """A line a run, newest first."""
    with History.open(where, makes=False) as history:
        found = history.summaries(testbed=testbed, backend=backend, most=most)
    return [_line(each) for each in found] or [_none(testbed, backend)]


def _none(testbed: str, backend: str) -> str:
    """Nothing is not the same as nothing of this name."""
    of = f"of {testbed}" if testbed else ""
    return " ".join(filter(None, ("no runs", of, f"({backend})" if backend else "")))


def _line(each: KeptSummary) -> str:
    run = each.run
    counted = Counter(test.outcome for test in run.tests)
    counts = ", ".join(f"{count} {word}" for word, count in sorted(counted.items()))
    faults = ", broken on purpose" if run.faults != "[]" else ""
    return (
        f"{each.number:>5}  {run.when}  {run.testbed}  {run.backend}{faults}  "
        f"{run.outcome.upper()}: {counts}  {run.name}"
    )


def shown(where: str, asked: str) -> list[str]:
    """All tests of a run, with what was left of each bound."""
    with History.open(where, makes=False) as history:
        run = _run(history, asked)
        since = _since(history, run)
    lines = [f"{run.testbed}, {run.backend}, {run.when}: {run.outcome.upper()}"]
    told = broken(run)
    purpose = f"broken on purpose: {told}" if told else ""
    more = (run.problem, purpose, run.command_line, run.folder)
    lines += [f"  {line}" for line in filter(None, more)]
    for test in run.tests:
        lines += [f"{test.outcome.upper():<13} {test.name}"]
        lines += [f"    {test.reason}"] if test.outcome != "pass" and test.reason else []
        lines += _margins(test)
        lines += [f"    {line}" for line in since.get(test.name, ())]
    return lines


def _since(history: History, run: KeptRun) -> dict[str, list[str]]:
    """What is told of its red tests, where the history has the run."""
    runs = history.summaries(testbed=run.testbed, backend=run.backend)
    number = next((each.number for each in runs if each.run.identity == run.identity), 0)
    return {each.test: [*each.told(history)] for each in red_since(runs, number)}


def _margins(test: KeptTest) -> Iterator[str]:
    for (_, question, *_), fact in facts_of(test):
        if fact.margin and fact.measured is not None:
            number = f"{fact.measured:g} {fact.unit}".rstrip()
            yield f"    {question} {fact.name}: {number} (bound {fact.bound}, left {fact.margin:g})"


def compared(where: str, old: str, new: str, *, most: int) -> tuple[list[str], bool]:
    """What is different, at most so many lines of a kind (0: all), and whether anything is worse.
    Two folders need no history."""
    if _is_run(old) and _is_run(new):
        before, after = of_folder(Path(old)), of_folder(Path(new))
    else:
        with History.open(where, makes=False) as history:
            before, after = _run(history, old), _run(history, new)
    lines = [] if before.backend == after.backend else [
        f"not comparable: {before.name} is {before.backend}, {after.name} is {after.backend}"
    ]  # fmt: skip
    found = compare(before, after)
    lines += list(_cut(found, most or _ANY)) or ["no difference"]
    return lines, any(each.worse for each in found)


def _cut(found: Sequence[RunDifference], most: int) -> Iterator[str]:
    for kind, group in groupby(found, key=lambda each: each.kind):
        of_kind = list(group)
        yield from map(str, of_kind[:most])
        if len(of_kind) > most:
            yield f"... and {len(of_kind) - most} more of {kind} (--most 0 shows all)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRequest:
    """Of which lab ("": all), suites with which text in their names, whether of figures without a
    margin too, and in how many of the newest runs."""

    testbed: str
    backend: str
    test: str
    every: bool
    most: int


def trends(where: str, asked: TrendRequest) -> list[str]:
    """Figures that became others, shrunken margins first; of each lab and backend."""
    lines: list[str] = []
    with History.open(where, makes=False) as history:
        labs = history.labs(testbed=asked.testbed, backend=asked.backend)
        for lab, of_lab in labs.items():
            newest = [each.number for each in of_lab[: asked.most]]
            rows = history.margins(testbed=lab[0], backend=lab[1], runs=newest)
            figures = [each for each in series_of(rows) if asked.test in each.test]
            some = "" if len(newest) == len(of_lab) else f"the newest {asked.most} of "
            lines += [f"{lab[0]}, {lab[1]}: {some}{len(of_lab)} runs"]
            lines += _moved(history, figures, asked.every)
    return lines or [_none(asked.testbed, asked.backend)]


def _moved(history: History, figures: Sequence[FigureSeries], every: bool) -> Iterator[str]:
    followed = [each for each in figures if every or each.has_margin]
    found = steps_of(followed)
    young = sum(len(each.runs) < FEWEST for each in followed)
    for shift in found:
        yield f"  {'MARGIN SHRINKS: ' if shift.shrunk else ''}{shift}"
        yield from (f"      {line}" for line in that_day(history, shift))
    if not found:
        yield f"  none of {len(followed)} figures moved"
    if young:
        yield f"  {young} figures have less than {FEWEST} runs: their noise is not known"


def flaky_suites(where: str, *, testbed: str, backend: str) -> list[str]:
    """Suites that answered otherwise in the same lab."""
    lines = []
    with History.open(where, makes=False) as history:
        labs = history.labs(testbed=testbed, backend=backend)
        for (name, kind), of_lab in labs.items():
            for each in flaky(of_lab):
                told = "; ".join(f"run {a} {was}, run {b} {now}" for a, was, b, now in each.changes)
                lines.append(f"{name}, {kind}: {each.test}: {told}")
    return lines or (["none"] if labs else [_none(testbed, backend)])


def _is_run(asked: str) -> bool:
    return (Path(asked) / "run.json").is_file()


def _run(history: History, asked: str) -> KeptRun:
    """By number, folder, or the folder's name. Raises LabError."""
    if _is_run(asked):
        return of_folder(Path(asked))
    found = [
        each.number for each in history.summaries() if asked in (str(each.number), each.run.name)
    ]
    if not found:
        raise LabError(
            f"{history.where} has no run {asked!r}\n  remedy: labtests history list, or the "
            "folder of a run"
        )
    return history.whole(found[0])


def site(where: str, folder: Path) -> list[str]:
    """The pages over the history, and where they begin."""
    with History.open(where, makes=False) as history:
        pages = write_site(history, folder)
    return [f"{len(pages)} {'page' if len(pages) == 1 else 'pages'}: {folder / 'index.html'}"]
