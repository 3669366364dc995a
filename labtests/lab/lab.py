"""An open lab: devices by ability, changes that are undone, and what was sent.

The only room that joins inventory, transport and drivers. Every change goes through `Lab.change`,
which reads the earlier value, journals it, makes and proves the new one, and remembers how to undo.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from labtests.capabilities.device import Resuming
from labtests.capabilities.values import expect_value
from labtests.core.errors import LabError, LabErrors
from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint, Testbed
from labtests.journal import ChangeJournal, Entry, Intent, NotWritten
from labtests.journal.known import remember
from labtests.journal.values import readable
from labtests.lab.changes import Change, Leased, Planned, PutBack, Wanted, first_changes
from labtests.lab.devices import Devices
from labtests.measure.evidence import Backend
from labtests.transport.commands import as_shell
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.connecting import connect_all, emulated, lines_of
from labtests.transport.ssh.unbroken import UnbrokenTransport
from labtests.transport.transcribing import JournalledTransport
from labtests.transport.transcript import Journal

if TYPE_CHECKING:
    from labtests.lab.connection import HostConnection
    from labtests.transport.ssh.line import Line


def _session_of(device: Device) -> str:
    return driver_module(device.platform).SESSION


class Lab(Devices):
    """Open devices of one testbed. Leaving the `with` undoes every change, gives the lease back
    and closes."""

    def __init__(
        self,
        testbed: Testbed,
        transports: Mapping[str, Transport],
        *,
        clock: Clock,
        backend: Backend,
        journal: Journal | None = None,
    ) -> None:
        self.testbed, self.clock = testbed, clock
        self.backend: Backend = backend
        if backend == "hardware" and testbed.linux_lab is not None:
            self.backend = "namespaces"
        self.transports = dict(transports)
        self.changes: list[Change] = []
        self.planned: Planned | None = None
        self.overridden: list[str] = []
        """A sentence for each setting that was neither what labtests had made nor what it had found
        when it was put back: somebody else had changed it meanwhile."""
        self.journal = journal
        self.lease: Leased | None = None  # set by lease.holding; without, nobody is asked
        self.unrecorded: Mapping[str, Transport] = self.transports  # beside the journal
        self.lines: Mapping[str, Line] = {}  # of the sessions; a recording has none
        self._connections: dict[str, HostConnection] = {}
        self._abandoned = False
        self.ahead = ChangeJournal()  # in memory, until somebody gives it pages on a disk
        self._drivers: dict[str, Any] = {
            device.name: driver_module(device.platform).Driver(self.transports[device.name])
            for device in testbed.devices
        }

    @classmethod
    def open(
        cls,
        testbed: Testbed,
        *,
        clock: Clock,
        backend: Backend,
        journal: Journal,
        run: str = "",
    ) -> "Lab":
        """Connect to every device at once. Raises LabErrors with every device that fails.

        `run` is the id by which processes that are left on a host are found again."""
        journal.clock = clock  # notes and what processes print carry the lab's time
        if backend != "simulated":
            remember(testbed)
        plain = connect_all(testbed.devices, _session_of, clock=clock, run=run)
        if emulated(plain):
            backend = "simulated"  # one emulated device is enough to spoil a hardware result
        whole = {n: UnbrokenTransport(JournalledTransport(t, journal)) for n, t in plain.items()}
        counted = {name: Exchanges(transport) for name, transport in whole.items()}
        lab = cls(testbed, counted, clock=clock, backend=backend, journal=journal)
        lab.unrecorded = {n: UnbrokenTransport(t) for n, t in plain.items()}
        lab.lines = lines_of(plain)
        return lab

    def connection(self, device: str) -> "HostConnection":
        """A host as Fabric's users know it, over the session that is open; see connection.py.
        Raises DeviceError for a switch with a CLI."""
        if device not in self._connections:
            from labtests.lab.connection import connection_to  # Fabric takes its time to load

            self._connections[device] = connection_to(self, self.testbed.device(device))
        return self._connections[device]

    # -- changes -----------------------------------------------------------------------------

    def change(self, at: Endpoint, setting: str, wanted: object) -> None:
        """Make one setting so, and remember to put it back. Nothing is sent when it is so already.

        `setting` names the triple of an ability: "pfc", "trust", "ecn", "reaction_point", ...
        Raises LeaseLost, before anything is sent, when somebody else has the lab by now.
        """
        with self.remembered(at.device):
            self._change([Wanted(at=at, setting=setting, value=wanted)])

    def change_together(self, device: str, wanted: Sequence[Wanted]) -> None:
        """The same for several settings of a device that `joins`, none of which has an effect on
        another: all are read, written ahead by one fsync, and sent in one exchange that stops at
        the first failure, and at the end reads everything back."""
        with self.foreseen(device):
            self._change(wanted, together=self.joins(device))

    def _change(self, wanted: Sequence[Wanted], *, together: bool = False) -> None:
        intents = [i for want in wanted if (i := self._intent(want)) is not None]
        if not intents:
            return
        if self.journal is not None and self.journal.problem:
            raise NotWritten(f"nothing is changed that is not written down: {self.journal.problem}")
        self.expect_lease()
        entries = self.ahead.ahead(intents)  # first: what fails half-way is undone too
        done: list[Entry] = []
        try:
            with self._sent_together(intents) if together else nullcontext(nullcontext) as each:
                for entry in entries:
                    with each():
                        self._make(entry.intent)
                    done.append(entry)
        finally:
            self.ahead.made(done)

    def _intent(self, want: Wanted) -> Intent | None:
        at, earlier = want.at, self._now(want.at, want.setting)
        if earlier == want.value:
            return None
        return Intent(
            at=at,
            setting=want.setting,
            earlier=earlier,
            wanted=want.value,
            commands=self.commands(at, want.setting, earlier, want.value),
            undo=self.commands(at, want.setting, want.value, earlier),
        )

    @contextmanager
    def _sent_together(self, intents: Sequence[Intent]) -> Iterator[Callable[[], Any]]:
        """The changes of one device are sent and read back at once; whoever makes one of them
        inside what is yielded finds the answers."""
        device = intents[0].at.device
        transport = self.transports[device]
        assert isinstance(transport, Exchanges)
        self._expect_fresh()
        changes = [tuple(map(as_shell, intent.commands)) for intent in intents]
        batch = transport.change_ahead(changes, self._questions(device))
        yield partial(transport.made_ahead, batch)

    def expect_lease(self, *, undoing: bool = False) -> None:
        """The lab is still ours, if it ever was. Raises LeaseLost."""
        if self.lease is not None and self.planned is None:
            self.lease.expect_held(undoing=undoing)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Whatever is changed inside is undone at the end, last first, and read back."""
        mark = len(self.ahead.pending)
        try:
            yield
        finally:
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
            raise LabErrors("the lab could not be put back as it was found", errors)

    def _undo_to(
        self, mark: int, tell: Callable[[PutBack], None], stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Undo every change after the mark. One that fails does not stop the others; one that is
        interrupted is still there for the next call."""
        while len(pending := self.ahead.pending) > mark and not (self._abandoned or stop()):
            entry, firsts = pending[-1], first_changes(pending[mark:])
            if (first := firsts[entry.intent.at, entry.intent.setting]) is not entry:
                self.ahead.fold(entry, first)  # changed before, too: that value is to come back
                continue
            if len(several := self._last_together(pending[mark:], firsts)) == 1:
                tell(self._put_back(entry))
                continue
            self._put_back_together(several, tell)
            for each in several:
                each.together = 0  # what is left of them is tried one by one

    def _put_back(self, entry: Entry) -> PutBack:
        """The setting is as it was, and nothing else of an interrupted change is left; or why."""
        with self.remembered(entry.intent.at.device):
            return self._undo(entry)

    def _undo(self, entry: Entry) -> PutBack:
        try:
            intent = self._way_back(entry)
            if intent is not None:
                self.expect_lease(undoing=True)  # else it stays for `labtests restore`
                self.ahead.undoing([entry])
                self._make(intent, True)
        except LabError as error:
            self.ahead.leave(entry, str(error))
            return PutBack(entry=entry, error=error)
        found_so = intent is None or intent.earlier == intent.wanted
        self.ahead.undone([entry], "already as it was" if found_so else "restored")
        return PutBack(entry=entry, found_so=found_so)

    def _way_back(self, entry: Entry) -> Intent | None:
        """From what it is now; None when it is back, and nothing of the change can be left: not cut
        off, nor undone by somebody else who knew only a part of it."""
        want = entry.intent
        now = self._now(want.at, want.setting)
        leaves_more = isinstance(self._drivers[want.at.device], Resuming)
        if now == want.earlier and entry.whole and not leaves_more:
            return None
        if entry.whole and self._is_foreign(entry, now):
            self.overridden.append(
                f"{want.at}: {want.setting} had been changed by somebody else to {readable(now)}; "
                f"it is {readable(want.earlier)} again, as labtests had found it"
            )
        self._resume(entry)
        commands = self.commands(want.at, want.setting, now, want.earlier)
        return replace(want, earlier=now, wanted=want.earlier, commands=commands)

    def _is_foreign(self, entry: Entry, now: object) -> bool:
        """Whether it is nothing that this lab has made or found there, as the driver judges: by
        whether anything had to be sent to come from one to the other."""
        want = entry.intent
        ours = (want.earlier, want.wanted, *entry.touched)
        return all(
            now != each and bool(self.commands(want.at, want.setting, now, each)) for each in ours
        )

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
        with suppress(LabError), self.foreseen(entries[0].intent.at.device):
            ways = {}
            for entry in entries:
                with suppress(LabError):
                    ways[entry.number] = self._way_back(entry)
            back = [e for e in entries if e.number in ways and ways[e.number] is None]
            self._say_undone(back, tell, found_so=True)
            sent = [(e, way) for e in entries if (way := ways.get(e.number)) and way.commands]
            if not sent:
                return
            self.expect_lease(undoing=True)
            self.ahead.undoing([entry for entry, _ in sent])
            self._prove_undone(sent, tell)

    def _prove_undone(
        self, sent: Sequence[tuple[Entry, Intent]], tell: Callable[[PutBack], None]
    ) -> None:
        proved: list[Entry] = []
        try:
            with self._sent_together([way for _, way in sent]) as each:
                for entry, way in sent:
                    with suppress(LabError), each():
                        self._make(way, True)
                        proved.append(entry)
        finally:
            self._say_undone(proved, tell)

    def _say_undone(
        self, entries: Sequence[Entry], tell: Callable[[PutBack], None], *, found_so: bool = False
    ) -> None:
        self.ahead.undone(entries, "already as it was" if found_so else "restored")
        for entry in entries:
            tell(PutBack(entry=entry, found_so=found_so))

    def _resume(self, entry: Entry) -> None:
        """A session that has not made the change itself learns what may be left of it."""
        want = entry.intent
        driver = self._drivers[want.at.device]
        if isinstance(driver, Resuming):
            values = (want.earlier, want.wanted, *entry.touched)
            for value in values:
                expect_value(want.setting, value)
            driver.resume(want.setting, values)

    def _make(self, want: Intent, undo: bool = False) -> None:
        at = want.at
        change = Change(
            time_s=self.clock.now_s(),
            device=at.device,
            port=at.interface,
            setting=want.setting,
            earlier=want.earlier,
            wanted=want.wanted,
            commands=want.commands,
            undo=undo,
        )
        self.changes.append(change)
        if self.planned is not None:
            self.planned.values[at.device, at.interface, want.setting] = want.wanted
            return
        if self.journal is not None:
            self.journal.note(
                at.device,
                f"{'undo' if undo else 'change'} {want.setting} of {at.interface}: "
                f"from {want.earlier!r} to {want.wanted!r}",
            )
        self._expect_fresh()
        getattr(self._drivers[at.device], f"set_{want.setting}")(at.interface, want.wanted)

    def _expect_fresh(self) -> None:
        if self.lease is not None:
            self.lease.expect_fresh()

    # -- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Undo what is left, remove what was sent to hosts, give the lease back, end every session.
        Closing twice is allowed."""
        with ExitStack() as ending:  # from below; what fails does not stop the others
            ending.callback(self.abandon)
            for connection in self._connections.values():
                ending.callback(connection.clean_up)
            ending.callback(self.restore)

    def abandon(self) -> None:
        """End every session. What is still to be undone is left to the next start."""
        self._abandoned = True
        self.ahead.end()
        if self.lease is not None:
            self.lease.give_back(left=len(self.ahead.entries))
        for transport in (*self.unrecorded.values(), *self.transports.values()):
            transport.close()

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _not_undone(done: PutBack) -> LabError:
    want = done.entry.intent
    return LabError(
        f"{want.at}: {want.setting} was {want.earlier!r} and could not be put back: {done.error}"
    )
