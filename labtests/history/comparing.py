"""Two runs side by side: what is different, what matters most first."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labtests.history.records import CABLE, KeptFact, KeptRun, KeptTest, Place

ORDER = ("outcome", "lab", "margin", "setting", "counter")
_SEVERITY = {"pass": 0, "skipped": 1, "inconclusive": 2, "error": 3, "fail": 4}
LEFT_AT_LEAST = 2 / 3
"""Of a margin; less is worse."""
_NOT_THERE = "not there"
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """One thing that is not the same. `kind` is one of ORDER: the outcome of a test, the lab as it
    was found, what was left of a bound, a setting under test, a counter's increase. `share` is by
    how much, of what it was; `worse`: the new run answers for less than the old one."""

    kind: str
    where: str
    before: str
    after: str
    share: float = 0.0
    worse: bool = False

    def __str__(self) -> str:
        worse = "worse: " if self.worse else ""
        return f"{worse}{self.kind} {self.where}: {self.before} -> {self.after}"


def compare(old: KeptRun, new: KeptRun) -> tuple[RunDifference, ...]:
    """Everything that differs: outcomes, then the lab, margins, settings, counters; in each what is
    worse first, then what moved most."""
    found = [
        *_outcomes(old, new),
        *found_otherwise(old, new),
        *_common(old, new),
    ]
    found.sort(key=lambda each: (ORDER.index(each.kind), not each.worse, -each.share, each.where))
    return tuple(found)


def _outcomes(old: KeptRun, new: KeptRun) -> Iterator[RunDifference]:
    before, after = ({test.name: test.outcome for test in run.tests} for run in (old, new))
    reasons = {test.name: test.reason for test in new.tests if test.outcome != "pass"}
    for name in {**before, **after}:
        was, now = before.get(name, _NOT_THERE), after.get(name, _NOT_THERE)
        if was == now or _left_out(was, old) or _left_out(now, new):
            continue
        worse = _severity(now, new.whole) > _severity(was, whole=False)
        told = f"{now}: {reasons[name]}" if worse and reasons.get(name) else now
        yield RunDifference(kind="outcome", where=name, before=was, after=told, worse=worse)
    yield from _parts(before, after, old, new)


def _left_out(outcome: str, run: KeptRun) -> bool:
    """A run that was asked for a part (`-k`) says nothing of the rest."""
    return outcome == _NOT_THERE and not run.whole


def _parts(
    before: Mapping[str, str], after: Mapping[str, str], old: KeptRun, new: KeptRun
) -> Iterator[RunDifference]:
    """All tests that one run left out, in one line."""
    gone = [before[name] for name in before if name not in after and not new.whole]
    come = [after[name] for name in after if name not in before and not old.whole]
    for outcomes in filter(None, (gone, come)):
        told, tests = _counts(outcomes), "test" if len(outcomes) == 1 else "tests"
        was, now = (told, "not run") if outcomes is gone else ("not run", told)
        where = f"of {len(outcomes)} {tests} that only one run was asked for"
        yield RunDifference(kind="outcome", where=where, before=was, after=now)


def _counts(outcomes: list[str]) -> str:
    counted = Counter(outcomes)
    return ", ".join(f"{counted[word]} {word}" for word in sorted(counted))


def _severity(outcome: str, whole: bool) -> int:
    """A test that a whole run no longer has answers for as little as one that was skipped."""
    if outcome == _NOT_THERE:
        return _SEVERITY["skipped"] if whole else 0
    return _SEVERITY.get(outcome, _SEVERITY["error"])


def found_otherwise(old: KeptRun, new: KeptRun) -> tuple[RunDifference, ...]:
    """What was different about the lab itself, as both runs found it, and about what asked it."""
    asking = (
        ("commit of the suites", old.commit_of_suites, new.commit_of_suites),
        ("labtests", old.labtests_version, new.labtests_version),
        ("broken on purpose", broken(old) or "no", broken(new) or "no"),
    )
    return (
        *_lab(old.state, new.state),
        *(
            RunDifference(kind="lab", where=what, before=was or "?", after=now or "?")
            for what, was, now in asking
            if was != now
        ),
    )


def broken(run: KeptRun) -> str:
    """What `--fault` put into it; "" for nothing."""
    try:
        return "; ".join(map(str, json.loads(run.faults)))
    except (ValueError, TypeError):  # a row of somebody else
        return run.faults


def _lab(old: Mapping[Place, str] | None, new: Mapping[Place, str] | None) -> Iterator[Any]:
    if old is None or new is None:
        if old is not new:
            yield RunDifference(
                kind="lab", where="as found", before=_known(old), after=_known(new), worse=False
            )
        return
    for place in {**old, **new}:
        was, now = old.get(place, _NOT_THERE), new.get(place, _NOT_THERE)
        silent = place[-1] == CABLE and _NOT_THERE in (was, now)  # who hears nothing knows nothing
        if was != now and not silent:
            yield RunDifference(kind="lab", where=_where(place), before=was, after=now)


def _known(state: Mapping[Place, str] | None) -> str:
    return "not known" if state is None else "known"


def _common(old: KeptRun, new: KeptRun) -> Iterator[RunDifference]:
    tests = {test.name: test for test in old.tests}
    for test in new.tests:
        if (before := tests.get(test.name)) is not None and before.verdicts and test.verdicts:
            yield from _margins(before, test)
            yield from _phases(before, test)


def _margins(old: KeptTest, new: KeptTest) -> Iterator[RunDifference]:
    """What was red and passes is no worse by any: a bound may have grown with what was lost."""
    facts = dict(facts_of(old))
    mended = new.outcome == "pass" and old.outcome != "pass"
    for key, fact in facts_of(new):
        before = facts.get(key)
        if before is None or None in (before.margin, fact.margin) or before.margin == fact.margin:
            continue
        was, now = float(before.margin or 0), float(fact.margin or 0)
        yield RunDifference(
            kind="margin",
            where=f"{new.name}: {key[-2]}",
            before=f"{was:g} {fact.unit}".rstrip(),
            after=f"{now:g} {fact.unit} (bound {fact.bound})",
            share=_share(was, now),
            worse=not mended and was > 0 and now < was * LEFT_AT_LEAST,
        )


def facts_of(test: KeptTest) -> Iterator[tuple[Key, KeptFact]]:
    """Facts of main verdicts by phase, question, name and how often that name was there before."""
    seen: Counter[Key] = Counter()
    for verdict in test.verdicts:
        if verdict.role != "main":
            continue
        for fact in verdict.facts:
            key = (verdict.phase, verdict.question, fact.name)
            yield (*key, str(seen[key])), fact
            seen[key] += 1


def _phases(old: KeptTest, new: KeptTest) -> Iterator[RunDifference]:
    phases = {phase.name: phase for phase in old.phases}
    for phase in new.phases:
        before = phases.get(phase.name)
        if before is None:
            continue
        where = f"{new.name}, {phase.name}: "
        for place, value in phase.settings.items():
            was = before.settings.get(place, _NOT_THERE)
            if was != value:
                yield RunDifference(
                    kind="setting", where=where + _where(place), before=was, after=value
                )
        yield from _counters(where, before.counters, phase.counters)


def _counters(
    where: str, old: Mapping[Place, int | None], new: Mapping[Place, int | None]
) -> Iterator[RunDifference]:
    for place, now in new.items():
        was = old.get(place, now)
        if was != now:
            share = 0.0 if None in (was, now) else _share(float(was or 0), float(now or 0))
            yield RunDifference(
                kind="counter",
                where=where + _where(place),
                before=_number(was),
                after=_number(now),
                share=share,
            )


def _number(value: int | None) -> str:
    return "no difference" if value is None else f"{value:,}"


def _share(was: float, now: float) -> float:
    return abs(now - was) / max(abs(was), abs(now), 1e-12)


def _where(place: Place) -> str:
    return " ".join(part for part in place if part)
