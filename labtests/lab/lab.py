"""An open lab: devices by ability, changes that are undone, and what was sent.

The only room that joins inventory, transport and drivers, and the only one that changes a device:
every change is a `Step`, planned from what is read, journalled, sent and read back here, and undone
in undoing.py.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from labtests.capabilities.settings import Kind, T
from labtests.capabilities.streams import ExactState
from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint, Testbed
from labtests.journal import ChangeJournal, Entry, NotWritten
from labtests.journal.known import remember
from labtests.lab.changes import Change, Leased, Planned, Step, Wanted
from labtests.lab.sending import Sending
from labtests.lab.undoing import Undoing
from labtests.measure.evidence import Backend
from labtests.streams import Collectors
from labtests.transport.asking import Asking, side_by_side
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.connecting import SHELL, connect_all, emulated, lines_of
from labtests.transport.ssh.unbroken import UnbrokenTransport
from labtests.transport.transcribing import TranscribedTransport
from labtests.transport.transcript import Transcript

if TYPE_CHECKING:
    from labtests.lab.connection import HostConnection
    from labtests.transport.ssh.line import SshLine


def _session_of(device: Device) -> str:
    return driver_module(device.platform).SESSION


def ports_of(device: Device) -> tuple[str, ...]:
    """The interfaces of the testbed file."""
    return tuple(port.interface for port in device.ports)


class Lab(Undoing):
    """Open devices of one testbed. Leaving the `with` undoes every change, gives the lease back
    and closes."""

    def __init__(
        self,
        testbed: Testbed,
        transports: Mapping[str, Transport],
        *,
        clock: Clock,
        backend: Backend,
        transcript: Transcript | None = None,
    ) -> None:
        self.testbed, self.clock = testbed, clock
        self.backend: Backend = backend
        if backend == "hardware" and testbed.linux_lab is not None:
            self.backend = "namespaces"
        self.transports = {
            name: each if isinstance(each, Exchanges) else Exchanges(each)
            for name, each in transports.items()
        }
        self.changes: list[Change] = []
        self.planned: Planned | None = None
        self.in_force: dict[tuple[Endpoint, str], object] = {}
        """Settings that this run has set, or found as it asked for them."""
        self.overridden: list[str] = []
        """A sentence for each setting that was neither what labtests had made nor what it had found
        when it was put back: somebody else had changed it meanwhile."""
        self.transcript = transcript
        self.lease: Leased | None = None  # set by lease.holding; without, nobody is asked
        self.unrecorded: Mapping[str, Transport] = self.transports  # beside the transcript
        self.lines: Mapping[str, SshLine] = {}  # of the sessions; a recording has none
        self.streams: Collectors | None = None  # opened by streaming.open_streams
        self.exact: ExactState | None = None  # of a simulated lab; nobody judges by it
        self._connections: dict[str, HostConnection] = {}
        self._abandoned = False
        self.ahead = ChangeJournal()  # in memory, until somebody gives it pages on a disk
        self.drivers = {
            device.name: driver_module(device.platform).driver_of(device.name, ports_of(device))
            for device in testbed.devices
        }

    @classmethod
    def open(
        cls,
        testbed: Testbed,
        *,
        clock: Clock,
        backend: Backend,
        transcript: Transcript,
        run: str = "",
    ) -> "Lab":
        """Connect to every device at once. Raises LabErrors with every device that fails.

        `run` is the id by which processes that are left on a host are found again."""
        transcript.clock = clock  # notes and what processes print carry the lab's time
        if backend != "simulated":
            remember(testbed)
        plain = connect_all(testbed.devices, _session_of, clock=clock, run=run)
        if emulated(plain):
            backend = "simulated"  # one emulated device is enough to spoil a hardware result
        whole = {
            n: UnbrokenTransport(TranscribedTransport(t, transcript)) for n, t in plain.items()
        }
        counted = {name: Exchanges(transport) for name, transport in whole.items()}
        lab = cls(testbed, counted, clock=clock, backend=backend, transcript=transcript)
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

    def change(self, at: Endpoint, kind: Kind[T], wanted: T) -> None:
        """Make one setting so, and remember to put it back. Nothing is sent when it is so already.

        Raises LeaseLost, before anything is sent, when somebody else has the lab by now.
        """
        self._change(at.device, [Wanted(at, kind, wanted)])

    def change_all(self, device: str, wanted: Sequence[Wanted[Any]]) -> None:
        """The same for several settings of one device. What a CLI is sent one after the other is
        read one after the other, too: ports of one switch may share what is set."""
        for together in [wanted] if self.joins(device) else [[each] for each in wanted]:
            self._change(device, together)

    def joins(self, device: str) -> bool:
        """Whether changes of this device can be sent together."""
        platform = self.testbed.device(device).platform
        return driver_module(platform).SESSION == SHELL and self.planned is None

    def _change(self, device: str, wanted: Sequence[Wanted[Any]]) -> None:
        found = self.ask(device, side_by_side([self.step(each) for each in wanted]))
        self.make(device, [step for step in found if step is not None])
        self.in_force.update({(each.at, each.kind.name): each.value for each in wanted})

    def make(self, device: str, steps: Sequence[Step], then: Asking[T] | None = None) -> T | None:
        """Steps of one device, none of which has an effect on another: all are written ahead by one
        fsync; to a shell they are sent in one exchange that stops at the first failure
        and reads everything back at its end. What `then` returns, which is asked last."""
        if not steps:
            return None if then is None else self.ask(device, then)
        if self.transcript is not None and self.transcript.problem:
            problem = self.transcript.problem
            raise NotWritten(f"refusing changes that cannot be journalled: {problem}")
        self.expect_lease()
        entries = self.ahead.ahead([step.intent for step in steps])  # what fails half-way is undone
        if self.planned is not None:
            self._pretend(steps, entries)
            return None if then is None else self.ask(device, then)
        sending, done = self._sending(steps, then), list[Entry]()
        try:
            for error, entry in zip(sending.outcomes(), entries, strict=True):
                if error is not None:
                    raise error
                done.append(entry)
        finally:
            self.ahead.made(done)
        return sending.result

    def _pretend(
        self, steps: Sequence[Step], entries: Sequence[Entry], *, undo: bool = False
    ) -> None:
        assert self.planned is not None
        for step in steps:
            self._record(step, undo=undo)
            at, want = step.at, step.intent
            self.planned.values[at.device, at.interface, want.setting] = want.wanted
        self.ahead.made(entries)

    def _sending(
        self, steps: Sequence[Step], then: Asking[T] | None, *, undo: bool = False
    ) -> Sending[T]:
        exchanges = self.transports[steps[0].at.device]
        record = partial(self._record, undo=undo)
        return Sending(exchanges, steps, then, ready=self._expect_fresh, record=record)

    def _record(self, step: Step, *, undo: bool = False) -> None:
        want = step.intent
        change = Change(
            time_s=self.clock.now_s(),
            device=want.at.device,
            port=want.at.interface,
            setting=want.setting,
            earlier=want.earlier,
            wanted=want.wanted,
            commands=want.commands,
            undo=undo,
        )
        self.changes.append(change)
        if self.planned is None:
            self.note(
                want.at.device,
                f"{'undo' if undo else 'change'} {want.setting} of {want.at.interface}: "
                f"from {want.earlier!r} to {want.wanted!r}",
            )

    def expect_lease(self, *, undoing: bool = False) -> None:
        """The lab is still ours, if it ever was. Raises LeaseLost."""
        if self.lease is not None and self.planned is None:
            self.lease.expect_held(undoing=undoing)

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
        if self.streams is not None:
            self.streams.close(read_out_within_s=0.0)  # a switch that dials would keep us here
        self.ahead.end()
        if self.lease is not None:
            self.lease.give_back(left=len(self.ahead.entries))
        for transport in (*self.unrecorded.values(), *self.transports.values()):
            transport.close()

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
