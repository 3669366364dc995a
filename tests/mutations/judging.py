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


SNAPSHOTS = ("quiet_before", "before", "after")


class _Snapshot:
    """One of a mutation's snapshots, beside that from which it was made."""

    def __init__(self, was: Evidence, now: Evidence, name: str) -> None:
        self._name, self._was = name, was
        self._come: list[Reading] = []
        self._gone: list[Reading] = []
        if (news := getattr(now, name)) is not getattr(was, name):
            before, after = _by_identity(was, name), {id(each) for each in news}
            self._come = [each for each in news if id(each) not in before]
            self._gone = [each for number, each in before.items() if number not in after]
        self.others = frozenset(each.key for each in (*self._come, *self._gone))
        """The counters of which one has another reading than the other."""

    def of(self, keys: frozenset[Key]) -> tuple[Reading, ...]:
        """The readings of these counters in the mutation."""
        gone = {id(each) for each in self._gone}
        known = _by_key(self._was, self._name)
        kept = (each for key in keys for each in known.get(key, ()) if id(each) not in gone)
        return (*kept, *(each for each in self._come if each.key in keys))


def _by_identity(was: Evidence, name: str) -> dict[int, Reading]:
    found: dict[int, Reading] = was.derived.setdefault(f"{name} by identity", {})
    if not found:
        found |= {id(each): each for each in getattr(was, name)}
    return found


def _by_key(was: Evidence, name: str) -> dict[Key, list[Reading]]:
    found: dict[Key, list[Reading]] = was.derived.setdefault(f"{name} by counter", {})
    if not found:
        for each in getattr(was, name):
            found.setdefault(each.key, []).append(each)
    return found


def with_known_changes(was: Evidence, now: Evidence) -> None:
    """What was read as before has the differences that it had: most of each mutation."""
    if (was.start_s, was.end_s) != (now.start_s, now.end_s):
        return
    parts = {name: _Snapshot(was, now, name) for name in SNAPSHOTS}
    idle, first, last = (parts[name].others for name in SNAPSHOTS)
    now.__dict__["changes"] = _anew(was, now, parts, first | last, "changes")
    now.__dict__["noise"] = _anew(was, now, parts, idle | first, "noise")
    if was.samples is now.samples:
        now.__dict__["samples_of"] = was.samples_of
    if was.shown == now.shown:
        if now.changes.keys() == was.changes.keys():
            now.__dict__["keys_of"] = was.keys_of
        others = first | last
        reads = (*parts["before"].of(others), *parts["after"].of(others))
        told = {each.key for each in reads if each.value is not None}
        now.__dict__["numbers"] = was.numbers - (others - was.shown) | told


def _anew(
    was: Evidence,
    now: Evidence,
    parts: dict[str, _Snapshot],
    others: frozenset[Key],
    name: str,
) -> dict[Key, Difference]:
    known: dict[Key, Difference] = getattr(was, name)
    if not others:
        return known
    smaller = replace(now, **{each: part.of(others) for each, part in parts.items()})
    found: dict[Key, Difference] = getattr(smaller, name)
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
        with_known_changes(was, now)
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
