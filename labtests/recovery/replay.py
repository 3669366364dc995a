"""Undo what a dead run has left: its change journal, replayed by the same drivers.

Reads each setting, undoes what is not as it was (the last change first), reads back, and marks it
in the same journal: who dies here can be recovered again.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.core.redaction import Redaction
from labtests.core.signals import Noted, noted
from labtests.drivers import driver_module
from labtests.inventory import Device, Testbed
from labtests.journal import (
    FILE_NAME,
    ChangeJournal,
    Entry,
    Story,
    Unfinished,
    read_changes,
    unfinished_runs,
)
from labtests.journal.known import whole_before
from labtests.lab.changes import PutBack
from labtests.lab.lab import Lab
from labtests.lease.held import Gone
from labtests.lease.holding import Terms, holding, lease_host
from labtests.measure.evidence import Backend
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.connecting import AT_ONCE, SHELL, connect
from labtests.transport.ssh.passwords import passwords_of
from labtests.transport.ssh.unbroken import UnbrokenTransport
from labtests.transport.transcribing import TranscribedTransport
from labtests.transport.transcript import Transcript
from labtests.workloads.leftovers import sweep

How = Literal["restored", "already as it was", "cannot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOutcome:
    """What became of one change. `by_hand` are the commands that undo it where that failed."""

    device: str
    port: str
    setting: str
    how: How
    because: str = ""
    by_hand: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """For a person."""
        yield f"{self.how:<17} {self.device}:{self.port} {self.setting}"
        if self.how == "cannot":
            yield from (f"    {line}" for line in self.because.splitlines())
            yield f"    type these commands by hand on {self.device}:"
            yield from (f"        {line}" for line in self.by_hand)


@dataclass(slots=True)
class Recovered:
    """What became of a run's changes and of its processes."""

    run: str
    rows: list[UndoOutcome] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stopped_by: str = ""  # a signal

    @property
    def complete(self) -> bool:
        """Whether nothing is left."""
        return not self.problems and all(row.how != "cannot" for row in self.rows)

    def lines(self) -> list[str]:
        """For a person."""
        counts = {row.how: 0 for row in self.rows}
        for row in self.rows:
            counts[row.how] += 1
        told = ", ".join(f"{count} {how}" for how, count in counts.items()) or "no change was left"
        lines = [line for row in self.rows for line in row.lines()]
        return [f"run {self.run}: {told}", *lines, *self.notes, *self.problems]


def find(text: str) -> Unfinished:
    """The run that a person means: its id, its folder, or the change journal itself."""
    known = unfinished_runs()
    path = Path(text)
    journal = path / FILE_NAME if path.is_dir() else path
    for run in known:
        if run.run == text or run.journal == journal.resolve():
            return run
    if not journal.is_file():
        there = ", ".join(run.run for run in known) or "none"
        raise LabError(
            f"{text} is neither an unfinished run nor a run folder; unfinished runs: {there}"
        )
    return Unfinished.of(journal, read_changes(journal).begun, file=None)


def forget(run: Unfinished) -> list[str]:
    """Give up: the lab counts as free. Returns the commands that would have undone what is left."""
    lines: list[str] = []
    with suppress(LabError):
        story = read_changes(run.journal)
        for entry in reversed(story.entries):
            lines += [f"{entry.intent.at.device}: {line}" for line in entry.intent.undo]
        ChangeJournal.resume(run.journal, story, Redaction()).end("given up on request")
    run.remove()
    return lines


def recover(
    run: Unfinished,
    *,
    testbed: Testbed | None = None,
    kept: bool = False,
    without_lease: bool = False,
) -> Recovered:
    """Put back what is left of a run whose runner is dead; the caller has seen to that.

    `kept`: of a run that left nothing, also what was meant to stay (`labtests apply`).

    `testbed` says how its devices are reached today, where it names them. Raises LabError when the
    journal cannot be read, InUse when somebody else recovers it at this moment, and LeaseBusy when
    somebody else has the lab. SIGTERM, SIGHUP and Ctrl-C end it behind the change under way.
    """
    story = read_changes(run.journal)
    done = Recovered(run.run)
    done.notes += [f"line {torn.number} of {run.journal} was cut off" for torn in story.torn]
    if kept and not story.entries:
        story.entries = story.kept
    secret = Redaction(passwords_of(story.begun.devices))
    ahead = ChangeJournal.resume(run.journal, story, secret)
    ahead.registered = run
    finished = False
    with noted() as stop:
        try:
            whole = whole_of(story, testbed)
            whole = replace(whole, lease=None) if without_lease else whole
            _replay(_Scene(story, ahead, run, WallClock(), whole, stop), done, testbed)
            finished = not done.problems
        finally:
            ahead.end(finished=finished)
    return done


@dataclass(slots=True)
class _Scene:
    story: Story
    ahead: ChangeJournal
    run: Unfinished
    clock: Clock
    whole: Testbed  # whose lease it is
    stop: Noted

    def dialled(self, devices: tuple[Device, ...]) -> tuple[Device, ...]:
        """These, and the host that keeps the lease."""
        keeper = lease_host(self.whole)
        known = keeper is None or keeper.name in [device.name for device in devices]
        return devices if known or keeper is None else (*devices, keeper)


def _replay(scene: _Scene, done: Recovered, testbed: Testbed | None) -> None:
    devices = devices_of(scene.story, testbed)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    place = scene.run.journal.with_name(f"recovery-{stamp}.jsonl")
    secrets = passwords_of(scene.dialled(devices))
    with Transcript(place, secrets=secrets, clock=scene.clock) as transcript:
        _put_back(scene, done, devices, transcript)
    done.stopped_by = scene.stop.name
    if left := scene.ahead.pending:
        done.problems.append(f"stopped by {scene.stop.name}; still to be put back: {len(left)}")
        done.problems += [f"    {e.intent.at} {e.intent.setting}" for e in reversed(left)]


def _put_back(
    scene: _Scene, done: Recovered, devices: tuple[Device, ...], transcript: Transcript
) -> None:
    opened, failed = _connect(scene.dialled(devices), scene.clock, transcript)
    try:
        own = {device.name for device in devices}
        _leave_unreachable(scene, done, {n: e for n, e in failed.items() if n in own})
        lab = _lab(scene, tuple(d for d in devices if d.name in opened), opened)
        ended = scene.story.ended  # then it gave its lease back, and left no process
        gone = None if ended else Gone(run=done.run, runner=scene.story.begun.runner)
        terms = Terms(run=done.run, instead_of=gone, testbed=scene.whole, handed=True)
        with holding(lab, why=f"put back run {done.run}", terms=terms, say=done.notes.append):
            put_back = lab.put_back(lambda: bool(scene.stop))
            done.rows += [_row(lab, each) for each in put_back]
            if scene.ahead.pending:  # stopped on the way: whoever goes on needs the lease
                lab.abandon()
                return
            if not ended:
                _sweep(scene, devices, opened, done)
    finally:
        for transport in opened.values():
            transport.close()


def _sweep(
    scene: _Scene, devices: tuple[Device, ...], opened: Mapping[str, Transport], done: Recovered
) -> None:
    """Processes of the run end with it by themselves; what did not is ended here."""
    for device in devices:
        if device.name not in opened or driver_module(device.platform).SESSION != SHELL:
            continue
        try:
            for process in sweep(opened[device.name], done.run, stop=lambda: bool(scene.stop)):
                done.notes.append(f"ended on {process.host}: {process.pid} {process.command}")
        except Exception as error:  # noqa: BLE001 - whatever it is, the other hosts are swept
            told = error if isinstance(error, LabError) else f"{device.name}: {error!r}"
            done.problems.append(str(told))


def whole_of(story: Story, testbed: Testbed | None) -> Testbed:
    """The testbed whose lease keeps others away: the one that was named, now or for the run that
    had a part of it (--limit), else the run's own."""
    begun = story.begun
    return (
        testbed
        or whole_before(begun.file, begun.devices, begun.lease)
        or Testbed(
            name=begun.testbed, file=Path(begun.file), devices=begun.devices, lease=begun.lease
        )
    )


def devices_of(story: Story, testbed: Testbed | None) -> tuple[Device, ...]:
    """Those that were changed, and every host: a process of the run may be left on it."""
    changed = {entry.intent.at.device for entry in story.entries}
    today = {} if testbed is None else {device.name: device for device in testbed.devices}
    return tuple(
        today.get(device.name, device)
        for device in story.begun.devices
        if device.name in changed or driver_module(device.platform).SESSION == SHELL
    )


def _connect(
    devices: tuple[Device, ...], clock: Clock, transcript: Transcript
) -> tuple[dict[str, Transport], dict[str, LabError]]:
    """Every device by itself: one that is gone does not keep the others from being put back."""
    opened: dict[str, Transport] = {}
    failed: dict[str, LabError] = {}

    def attempt(device: Device) -> None:
        try:
            plain = connect(device, driver_module(device.platform).SESSION, clock=clock)
        except LabError as error:
            failed[device.name] = error
            return
        opened[device.name] = UnbrokenTransport(TranscribedTransport(plain, transcript))

    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        list(pool.map(attempt, devices))
    return opened, failed


def _leave_unreachable(scene: _Scene, done: Recovered, failed: Mapping[str, LabError]) -> None:
    for entry in reversed(scene.ahead.pending):
        if (error := failed.get(entry.intent.at.device)) is not None:
            scene.ahead.leave(entry, str(error))
            done.rows.append(_cannot(entry, error, entry.intent.undo))
    touched = {row.device for row in done.rows}
    done.problems += [
        f"{name}: it cannot be determined whether processes of the run are left: {error}"
        for name, error in failed.items()
        if name not in touched
    ]


def _lab(scene: _Scene, devices: tuple[Device, ...], opened: Mapping[str, Transport]) -> Lab:
    begun = scene.story.begun
    backend: Backend = "simulated" if begun.backend == "simulated" else "hardware"
    lease = scene.whole.lease
    testbed = Testbed(name=begun.testbed, file=Path(begun.file), devices=devices, lease=lease)
    counted = {name: Exchanges(transport) for name, transport in opened.items()}
    lab = Lab(testbed, counted, clock=scene.clock, backend=backend)
    lab.unrecorded = opened  # the lease: what was seen of it once is never taken for news
    lab.ahead = scene.ahead
    return lab


def _row(lab: Lab, done: PutBack) -> UndoOutcome:
    if done.error is not None:
        return _cannot(done.entry, done.error, _by_hand(lab, done.entry))
    want = done.entry.intent
    return UndoOutcome(
        device=want.at.device,
        port=want.at.interface,
        setting=want.setting,
        how="already as it was" if done.found_so else "restored",
    )


def _by_hand(lab: Lab, entry: Entry) -> tuple[str, ...]:
    """From what it is now, where that can be read; else from what it was to become."""
    want = entry.intent
    try:
        return lab.by_hand(want.at, want.setting, want.earlier)
    except Exception:  # noqa: BLE001 - whatever it is, the other devices' outcomes are told
        return want.undo


def _cannot(entry: Entry, error: LabError, commands: tuple[str, ...]) -> UndoOutcome:
    want = entry.intent
    return UndoOutcome(
        device=want.at.device,
        port=want.at.interface,
        setting=want.setting,
        how="cannot",
        because=str(error),
        by_hand=commands or want.undo,
    )
