"""Undoing: every change of a lab goes back, the last one first, whatever happens meanwhile.

What is known of an order: what was changed in a mode that says what defaults are goes back in that
mode; what is of another setting, thresholds of PFC, goes back where that one has made it.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import Any

from labtests.capabilities.settings import ROCE_MODE, Setting, T, kind_of
from labtests.core.errors import LabError, LabErrors
from labtests.inventory import Endpoint
from labtests.journal import ChangeJournal, Entry, Intent
from labtests.journal.values import in_one_line, readable
from labtests.lab.changes import PutBack, Step, Wanted, first_changes
from labtests.lab.devices import Devices
from labtests.lab.sending import Sending
from labtests.transport.asking import Asking, outcomes


class Undoing(Devices):
    """What a lab (lab.py) does to put back what it has changed."""

    ahead: ChangeJournal
    in_force: dict[tuple[Endpoint, str], object]
    overridden: list[str]
    _abandoned: bool
    _undoing: frozenset[tuple[Endpoint, str]] = frozenset()
    """What was to be undone when this undoing began."""

    @abstractmethod
    def expect_lease(self, *, undoing: bool = False) -> None:
        """The lab is still ours, if it ever was. Raises LeaseLost."""

    @abstractmethod
    def joins(self, device: str) -> bool:
        """Whether changes of this device can be sent together."""

    @abstractmethod
    def _sending(
        self, steps: Sequence[Step], then: Asking[T] | None, *, undo: bool = False
    ) -> Sending[T]:
        """How these steps of one device are sent."""

    @abstractmethod
    def _pretend(
        self, steps: Sequence[Step], entries: Sequence[Entry], *, undo: bool = False
    ) -> None:
        """The same in a plan, where nothing is sent."""

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Whatever is changed inside is undone at the end, last first, and read back."""
        mark, earlier = len(self.ahead.pending), dict(self.in_force)
        try:
            yield
        finally:
            self.in_force = earlier
            self._restore_to(mark)

    def restore(self) -> None:
        """Undo everything that is still to be undone. Raises LabErrors with what could not be."""
        self._restore_to(0)

    def put_back(self, stop: Callable[[], bool] = lambda: False) -> tuple[PutBack, ...]:
        """Undo everything that is still to be undone, last first; what became of each. The rest is
        left as it is, and `pending`, when `stop` says so between two of them."""
        done: list[PutBack] = []
        self._undo_to(0, done.append, stop)
        return tuple(done)

    def _restore_to(self, mark: int) -> None:
        errors: list[LabError] = []

        def collect(done: PutBack) -> None:
            errors.extend([_not_undone(done)] if done.error is not None else [])

        self._undo_to(mark, collect)
        if errors:
            raise LabErrors("the lab could not be restored", errors)

    def _undo_to(
        self, mark: int, tell: Callable[[PutBack], None], stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Undo every change after the mark. One that fails does not stop the others; one that is
        interrupted is still there for the next call."""
        self._undoing = frozenset((e.intent.at, e.intent.setting) for e in self.ahead.pending)
        waiting: list[Entry] = []
        while len(pending := self._in_turn(mark, waiting)) > mark and not (
            self._abandoned or stop()
        ):
            entry, firsts = pending[-1], first_changes(pending[mark:])
            if (first := firsts[entry.intent.at, entry.intent.setting]) is not entry:
                gone = self._is_gone(entry)
                if gone:
                    self._put_back_what_is_there(entry)
                if self._frames(entry, pending[pending.index(first) : -1]) and not gone:
                    tell(self._put_back(entry))
                else:
                    self.ahead.fold(entry, first)  # changed before, too: that value comes back
                continue
            if len(several := self._last_together(pending[mark:], firsts)) == 1:
                tell(self._put_back(entry))
                continue
            with suppress(Exception):  # each by itself tells what is wrong
                self._put_back_together(several, tell)
            for each in several:
                each.together = 0  # what is left of them is tried one by one

    def _in_turn(self, mark: int, waiting: list[Entry]) -> list[Entry]:
        """What is to be undone, the last one first. Of what went with another setting, thresholds
        with PFC, it is known only behind that one whether they are to come back: they wait, for
        an outer block where only that one knows. What is folded does not wait."""
        pending = self.ahead.pending
        others = [entry for entry in pending[mark:] if entry not in waiting]
        while others and _is_first(others[-1], pending[mark:]) and self._is_gone(others[-1]):
            self._put_back_what_is_there(others[-1])
            waiting.append(others.pop())
        late = [e for e in pending[mark:] if e in waiting and (others or not self._is_gone(e))]
        return [*pending[:mark], *late, *others]

    def _is_gone(self, entry: Entry) -> bool:
        """Whether it went with what is still to be undone."""
        want = entry.intent
        with suppress(Exception):  # it is told when it is put back
            setting = self.setting(want.at, kind_of(want.setting))
            if _within(want, setting) in first_changes(self.ahead.pending):
                now = self.ask(want.at.device, self._now(want.at, setting))
                return bool(setting.there(want.earlier, now) != want.earlier)
        return False

    def _frames(self, entry: Entry, since: Sequence[Entry]) -> bool:
        """Whether something was changed since that this one makes, or is of, or, of its switch, in
        a mode that says what defaults are: that is put back in what there is before the change."""
        mode = entry.intent
        others = [each.intent for each in since if each.intent.setting != mode.setting]
        if mode.setting == ROCE_MODE.name:
            return any(want.at.device == mode.at.device for want in others)
        return any(self._makes(want, mode) or self._makes(mode, want) for want in others)

    def _makes(self, one: Intent, other: Intent) -> bool:
        with suppress(Exception):  # it is told when it is put back
            place = _within(other, self.setting(other.at, kind_of(other.setting)))
            return place == (one.at, one.setting)
        return False

    def _went_within(self, want: Intent, setting: Setting[Any]) -> bool:
        """Whether what it is of has been put back."""
        place = _within(want, setting)
        return place in self._undoing and place not in first_changes(self.ahead.entries)

    def _put_back_what_is_there(self, entry: Entry) -> None:
        """Else what is kept of it stays behind the other one, too. The rest tells what is wrong."""
        with suppress(Exception):
            step = self.ask(entry.intent.at.device, self._way_back(entry, whole=False))
            if step is not None:
                self.expect_lease(undoing=True)
                self.ahead.undoing([entry])
                list(self._undone([step]))

    def _put_back(self, entry: Entry) -> PutBack:
        """The setting is as it was, and nothing else of an interrupted change is left; or why."""
        try:
            step = self._way_back_of(entry)
            if step is not None:
                self.expect_lease(undoing=True)  # else it stays for `labtests restore`
                self.ahead.undoing([entry])
                (error,) = self._undone([step])
                if error is not None:
                    raise error
        except Exception as failed:  # noqa: BLE001 - whatever it is, others are put back
            error = failed if isinstance(failed, LabError) else _unforeseen(failed)
            self.ahead.leave(entry, str(error))
            return PutBack(entry=entry, error=error)
        self.ahead.undone([entry], "already as it was" if step is None else "restored")
        return PutBack(entry=entry, found_so=step is None)

    def _way_back_of(self, entry: Entry) -> Step | None:
        return self.ask(entry.intent.at.device, self._way_back(entry))

    def _undone(self, steps: Sequence[Step]) -> Iterator[LabError | None]:
        """Of each, in order: None, or why it is not proved to be back."""
        if self.planned is not None:
            self._pretend(steps, (), undo=True)
            return iter([None] * len(steps))
        return self._sending(steps, None, undo=True).outcomes()

    def _way_back(self, entry: Entry, *, whole: bool = True) -> Asking[Step | None]:
        """From what it is now; None when it is back, and nothing of the change is left. A change
        that was cut off may have left more than its setting shows."""
        want = entry.intent
        setting = self.setting(want.at, kind_of(want.setting))
        now = yield from self._now(want.at, setting)
        earlier = want.earlier
        if not whole or self._went_within(want, setting):
            earlier = setting.there(earlier, now)
        step = yield from self._step(setting, want.at, now, earlier, (want.wanted, *entry.touched))
        if step is not None and entry.whole and _is_foreign(step, entry):
            self.overridden.append(
                f"{want.at}: {want.setting} was changed by somebody else to {readable(now)}; "
                f"restored to {readable(want.earlier)}, as labtests found it"
            )
        return step

    def by_hand(self, at: Endpoint, setting: str, wanted: object) -> tuple[str, ...]:
        """What a person would type to have it so, from what it is now. Raises LabError."""
        step = self.ask(at.device, self.step(Wanted(at, kind_of(setting), wanted)))
        return () if step is None else step.commands

    # -- undoing what was made together --------------------------------------------------------

    def _last_together(self, pending: Sequence[Entry], firsts: Mapping[Any, Entry]) -> list[Entry]:
        """The last change, and those before it that were made together with it and can go back
        together: the last one first."""
        last = pending[-1]
        if not (last.together and self.joins(last.intent.at.device)):
            return [last]

        def goes_with_it(entry: Entry) -> bool:
            first = firsts[entry.intent.at, entry.intent.setting]
            return entry.together == last.together and first is entry

        return list(takewhile(goes_with_it, reversed(pending)))

    def _put_back_together(self, entries: Sequence[Entry], tell: Callable[[PutBack], None]) -> None:
        """Read all, and undo them as one block that stops at the first failure and at the end reads
        everything back. What could not be proved is still `pending` then, to be tried by itself:
        only that tells what is wrong with it."""
        device = entries[0].intent.at.device
        ways = dict(
            zip(entries, self.ask(device, outcomes(map(self._way_back, entries))), strict=True)
        )
        self._say_undone([e for e, way in ways.items() if way is None], tell, found_so=True)
        sent = {entry: way for entry, way in ways.items() if isinstance(way, Step)}
        if not sent:
            return
        self.expect_lease(undoing=True)
        self.ahead.undoing(list(sent))
        proved: list[Entry] = []
        try:
            for error, entry in zip(self._undone(list(sent.values())), sent, strict=True):
                proved += [entry] if error is None else []
        finally:
            self._say_undone(proved, tell)

    def _say_undone(
        self, entries: Sequence[Entry], tell: Callable[[PutBack], None], *, found_so: bool = False
    ) -> None:
        self.ahead.undone(entries, "already as it was" if found_so else "restored")
        for entry in entries:
            tell(PutBack(entry=entry, found_so=found_so))


def _is_first(entry: Entry, entries: Sequence[Entry]) -> bool:
    return first_changes(entries)[entry.intent.at, entry.intent.setting] is entry


def _within(want: Intent, setting: Setting[Any]) -> tuple[Endpoint, str]:
    """What makes what this is of; nothing that there is where nothing does."""
    return want.at, "" if setting.within is None else setting.within.name


def _unforeseen(error: Exception) -> LabError:
    return LabError(
        f"{type(error).__name__}: {str(error) or '(no message)'} (a defect of labtests)"
    )


def _not_undone(done: PutBack) -> LabError:
    want = done.entry.intent
    return LabError(
        f"{want.at}: {want.setting} was {in_one_line(want.earlier)} and could not be restored: "
        f"{done.error}"
    )


def _is_foreign(step: Step, entry: Entry) -> bool:
    """Whether it is nothing that this lab has made or found there, as its setting judges."""
    want = entry.intent
    ours = (want.earlier, want.wanted, *entry.touched)
    return step.setting.is_foreign(step.intent.earlier, ours, step.around)
