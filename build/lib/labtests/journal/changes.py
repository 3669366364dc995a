"""What was changed and how to undo it: in memory, and ahead of every change on the disk.

The file (`changes.jsonl`, format `labtests-changes/1`) has one JSON object a line, each on the disk
(fsync) before anything else happens:

    begun     run, format, runner, testbed, file, backend, dry_run, devices, lease: first line
    change    number, device, port, setting, earlier, wanted (values.py), commands, undo (commands
              to type by hand), together (the number of the first of several that are sent at once;
              else 0): before anything of it is sent
    made      number: it was read back
    undoing   number: before anything that undoes it is sent
    undone    number, how ("restored" or "already as it was"): it was read back
    folded    number, into: an earlier change of the same setting undoes this one, too
    left      number, because: it could not be undone; it still is to be
    kept      the changes so far are meant to stay (they can still be undone on request)
    recovery  runner: somebody else takes over
    ended     nothing is left to undo, or only what was given up (because)

A line that is not whole was being written when the runner died: what it announces was not sent.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from labtests.core.errors import LabError
from labtests.core.redaction import Redaction
from labtests.inventory import Device, Endpoint, LeasePlace, plain_host
from labtests.journal.append_only import NotWritten, Pages
from labtests.journal.runner import Runner, this_runner
from labtests.journal.values import NotStorable, pack, pack_setting

FORMAT = "labtests-changes/1"
FILE_NAME = "changes.jsonl"

How = Literal["restored", "already as it was"]


LONGEST_COMMANDS = 2**17
"""Characters of what one change sends, there and back: Linux takes no longer argument of a program
(MAX_ARG_STRLEN), and what reads the journal has a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A change that is about to be made, and the commands either way."""

    at: Endpoint
    setting: str
    earlier: object
    wanted: object
    commands: tuple[str, ...]
    undo: tuple[str, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class Entry:
    """A change that is to be undone.

    `whole` is false while a change of it, either way, is under way or was cut off. `touched` are
    all values that it may have had in between. `left` says why it could not be undone. Those with
    the same `together`, unless it is 0, have no effect on each other: they go back together, too.
    """

    number: int
    intent: Intent
    together: int = 0
    whole: bool = False
    touched: tuple[object, ...] = ()
    left: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """Whose changes these are, and of which lab: enough to undo them without the testbed file.

    `devices` hold the addresses that were used, never a secret. `dry_run` means that the lab was
    the run's own and died with it.
    """

    run: str
    runner: Runner
    testbed: str
    file: str
    backend: str
    dry_run: bool
    devices: tuple[Device, ...]
    lease: LeasePlace | None = field(default_factory=LeasePlace)


class Registered(Protocol):
    """The place where the next run looks for unfinished journals."""

    def remove(self) -> None:
        """This one is finished."""
        ...


class DeadJournal(Protocol):
    """What the journal of a dead run tells (history.py)."""

    entries: list[Entry]
    last_number: int


@dataclass(slots=True)
class ChangeJournal:
    """The changes that are still to be undone, the last one last. Without `pages` only in memory.

    Whatever announces a change raises LabError when it cannot be written, and then nothing may be
    sent. What only reports never stops an undo: a full disk is remembered in `problem`.
    """

    pages: Pages | None = None
    redaction: Redaction = field(default_factory=Redaction)
    registered: Registered | None = None
    entries: list[Entry] = field(default_factory=list)
    problem: str = ""
    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: bool = False

    @classmethod
    def begin(cls, path: Path, begun: Begun, redaction: Redaction) -> "ChangeJournal":
        """A new file. Raises LabError when it cannot be written, or is there already."""
        journal = cls(Pages(path, fresh=True), redaction)
        journal._write({"kind": "begun", "format": FORMAT, **_begun_facts(begun)})
        return journal

    @classmethod
    def resume(cls, path: Path, story: DeadJournal, redaction: Redaction) -> "ChangeJournal":
        """The file of a run that has died, to be undone by this process. Raises InUse when its
        runner, or somebody else who recovers it, still lives."""
        journal = cls(Pages(path, fresh=False), redaction)
        journal.entries, journal._number = list(story.entries), story.last_number
        journal._write({"kind": "recovery", "runner": pack(this_runner())})
        return journal

    # -- a change ------------------------------------------------------------------------------

    def ahead(self, intents: Sequence[Intent]) -> list[Entry]:
        """The changes are on the disk and remembered; they may be sent now. Raises LabError."""
        with self._lock:
            facts = [{} if self.pages is None else self._facts(intent) for intent in intents]
            first = self._number + 1
            together = first if len(intents) > 1 else 0
            entries = [
                Entry(number=number, intent=intent, together=together)
                for number, intent in enumerate(intents, first)
            ]
            self._number += len(entries)
            self.entries += entries  # first: who is interrupted here undoes one change too many
        known = zip(entries, facts, strict=True)
        try:
            self._write(*(_announced(entry) | more for entry, more in known))
        except LabError:
            for entry in entries:
                self._forget(entry)
            raise
        return entries

    def made(self, entries: Sequence[Entry]) -> None:
        """They were read back."""
        for entry in entries:
            entry.whole = True
        self._note("made", *entries)

    # -- undoing -------------------------------------------------------------------------------

    def undoing(self, entries: Sequence[Entry]) -> None:
        """What undoes them is about to be sent."""
        for entry in entries:
            entry.whole = False
        self._note("undoing", *entries)

    def undone(self, entries: Sequence[Entry], how: How) -> None:
        """They were read back, or did not have to be undone."""
        self._note("undone", *entries, how=how)
        for entry in entries:
            self._forget(entry)

    def fold(self, entry: Entry, into: Entry) -> None:
        """An earlier change of the same setting knows the value that is to come back."""
        into.whole = into.whole and entry.whole
        into.touched = (*into.touched, entry.intent.wanted, *entry.touched)
        self._note("folded", entry, into=into.number)
        self._forget(entry)

    def leave(self, entry: Entry, because: str) -> None:
        """It could not be undone now. It is for the next start to try again."""
        entry.left = because
        self._note("left", entry, because=self.redaction.text(because))

    @property
    def pending(self) -> list[Entry]:
        """What is to be undone and was not tried in vain."""
        return [entry for entry in self.entries if not entry.left]

    def keep(self) -> None:
        """The changes so far are meant to stay."""
        self.entries.clear()
        self._report({"kind": "kept"})

    def end(self, because: str = "", *, finished: bool = True) -> None:
        """Nothing is left to undo (or it is given up, `because`); else, or when it is not
        `finished`, the next start will find it. Ending twice is allowed."""
        if because:
            self.entries.clear()
        if self._ended or self.pages is None:
            return
        self._ended = True
        if finished and not self.entries:
            self._report({"kind": "ended"} | ({"because": because} if because else {}))
            if self.registered is not None:
                self.registered.remove()
        self.pages.close()

    # -- the file ------------------------------------------------------------------------------

    def _facts(self, intent: Intent) -> dict[str, Any]:
        if self.problem:
            raise NotWritten(f"nothing more is changed: {self.problem}")
        try:
            values = {name: pack_setting(getattr(intent, name)) for name in ("earlier", "wanted")}
        except NotStorable as error:
            raise NotStorable(f"{intent.at}: {intent.setting} is not changed: {error}") from None
        if (length := sum(map(len, (*intent.commands, *intent.undo)))) > LONGEST_COMMANDS:
            raise NotStorable(
                f"{intent.at}: {intent.setting} is not changed: the device shows so much beside it "
                f"that its commands have {length} characters\n"
                "  remedy: look at what is configured there, and remove what nothing uses"
            )
        return {
            "device": intent.at.device,
            "port": intent.at.interface,
            "setting": intent.setting,
            **values,
            "commands": self.redaction.value(intent.commands),
            "undo": self.redaction.value(intent.undo),
        }

    def _write(self, *lines: Mapping[str, Any]) -> None:
        if self.pages is not None and lines:
            try:
                self.pages.write(*lines)
            except NotWritten as error:
                raise NotWritten(
                    f"the change journal cannot be written, so nothing is changed: {error}\n"
                    "  remedy: make room on that disk, or give another --run-dir"
                ) from error

    def _note(self, kind: str, *entries: Entry, **facts: object) -> None:
        self._report(*({"kind": kind, "number": entry.number, **facts} for entry in entries))

    def _report(self, *lines: Mapping[str, Any]) -> None:
        try:
            self._write(*lines)
        except NotWritten as error:
            self.problem = self.problem or str(error)

    def _forget(self, entry: Entry) -> None:
        with self._lock:
            if entry in self.entries:
                self.entries.remove(entry)


def _announced(entry: Entry) -> dict[str, Any]:
    return {"kind": "change", "number": entry.number, "together": entry.together}


def _begun_facts(begun: Begun) -> dict[str, Any]:
    return {
        "run": begun.run,
        "runner": pack(begun.runner),
        "testbed": begun.testbed,
        "file": begun.file,
        "backend": begun.backend,
        "dry_run": begun.dry_run,
        "devices": [pack(device) for device in begun.devices],
        "lease": pack(begun.lease),
    }


def addresses(devices: tuple[Device, ...]) -> Iterator[str]:
    """Where the devices are reached: what makes two labs the same."""
    for device in devices:
        yield f"{plain_host(device.management.host)}:{device.management.port}"
