"""A case judged again with other evidence: by the same functions, as its suite asked them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from capturing import Answer, Asked, Case

import labtests.verdicts as verdicts
from labtests.capabilities.readings import Reading
from labtests.experiment.judging import Judged
from labtests.measure.evidence import Difference, Evidence, Key
from labtests.verdicts import Verdict


def phases(case: Case) -> list[Evidence]:
    """Each phase that the case asks of, once."""
    found: dict[int, Evidence] = {}
    for call in case.calls:
        for each in _evidence_in((*call.args, *call.named.values())):
            found[id(each)] = each
    return list(found.values())


def _evidence_in(value: Any) -> Iterator[Evidence]:
    if isinstance(value, Evidence):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _evidence_in(each)


def _with_known_changes(was: Evidence, now: Evidence) -> None:
    """What was read as before has the differences that it had: most of each mutation."""
    if (was.start_s, was.end_s) != (now.start_s, now.end_s):
        return
    idle, first, last = (
        _others(getattr(was, name), getattr(now, name))
        for name in ("quiet_before", "before", "after")
    )
    now.__dict__["changes"] = _anew(was, now, first | last, "changes")
    now.__dict__["noise"] = _anew(was, now, idle | first, "noise")


def _others(olds: tuple[Reading, ...], news: tuple[Reading, ...]) -> frozenset[Key]:
    """The counters of which one has another reading than the other."""
    if olds is news:
        return frozenset()
    before, after = {id(each) for each in olds}, {id(each) for each in news}
    apart = [r.key for r in olds if id(r) not in after] + [
        r.key for r in news if id(r) not in before
    ]
    return frozenset(apart)


def _anew(was: Evidence, now: Evidence, others: frozenset[Key], name: str) -> dict[Key, Difference]:
    known: dict[Key, Difference] = getattr(was, name)
    if not others:
        return known
    parts = {
        each: tuple(r for r in getattr(now, each) if r.key in others)
        for each in ("quiet_before", "before", "after")
    }
    found: dict[Key, Difference] = getattr(replace(now, **parts), name)
    return {key: each for key, each in known.items() if key not in others} | found


def _of_controls(case: Case) -> Iterator[Asked]:
    """Whether a control's traffic ran is asked, too, and kept by a run only where it did not."""
    known = {asked.call for asked in case.asked}
    for number, call in enumerate(case.calls):
        if (
            call.function in ("sound", "sound_among", "sound_in_a_cycle", "ran_on")
            and number not in known
        ):
            verdict = getattr(verdicts, call.function)(*call.args, **call.named)
            yield Asked(number, Judged(verdict=verdict, control=False))


@dataclass
class Judge:
    """Asks what was asked, the question that was red most often first: one red one is enough."""

    case: Case
    reds: dict[int, int] = field(default_factory=dict)
    touched: dict[int, set[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.asked = [*self.case.asked, *_of_controls(self.case)]

    def green(self, was: Evidence, now: Evidence) -> bool:
        """Whether all is as the suite expects it, with this evidence in place of that."""
        _with_known_changes(was, now)
        return self._all_as_expected(was, now)

    def _all_as_expected(self, was: Evidence, now: Evidence) -> bool:
        self._answers: dict[int, Verdict] = {}
        order = [n for n, asked in enumerate(self.asked) if self._is_of(asked.call, was)]
        for n in sorted(order, key=lambda n: -self.reds.get(n, 0)):
            if not self._as_expected(self.asked[n], was, now):
                self.reds[n] = self.reds.get(n, 0) + 1
                return False
        return True

    def said(self, was: Evidence, now: Evidence) -> list[tuple[str, bool]]:
        """All answers, and whether each is as expected."""
        self._answers = {}
        return [
            (f"{self.case.calls[asked.call].function}: {self._answer(asked.call, was, now)}",
             self._as_expected(asked, was, now))
            for asked in self.asked
        ]  # fmt: skip

    def _is_of(self, number: int, was: Evidence) -> bool:
        if number not in self.touched:
            self.touched[number] = self._all_of(number)
        return id(was) in self.touched[number]

    def _all_of(self, number: int) -> set[int]:
        call = self.case.calls[number]
        given = (*call.args, *call.named.values())
        found = {id(each) for each in _evidence_in(given)}
        for each in given:
            for part in each if isinstance(each, tuple) else (each,):
                if isinstance(part, Answer):
                    found |= self._all_of(part.call)
        return found

    def _as_expected(self, asked: Asked, was: Evidence, now: Evidence) -> bool:
        return replace(asked.judged, verdict=self._answer(asked.call, was, now)).as_expected

    def _answer(self, number: int, was: Evidence, now: Evidence) -> Verdict:
        if number not in self._answers:
            call = self.case.calls[number]
            args = [self._put(each, was, now) for each in call.args]
            named = {key: self._put(each, was, now) for key, each in call.named.items()}
            self._answers[number] = getattr(verdicts, call.function)(*args, **named)
        return self._answers[number]

    def _put(self, value: Any, was: Evidence, now: Evidence) -> Any:
        if value is was:
            return now
        if isinstance(value, Answer):
            return self._answer(value.call, was, now)
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            return tuple(self._put(each, was, now) for each in value)
        return value
