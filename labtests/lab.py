"""An open lab: devices by ability, changes that are undone, and what was sent.

The only room that joins inventory, transport and drivers. Every change goes through `Lab.change`,
which reads the earlier value, journals it, makes and proves the new one, and remembers how to undo.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from labtests.drivers import driver_module
from labtests.errors import LabError, LabErrors
from labtests.inventory import Endpoint, Testbed
from labtests.journal import Journal, JournalledTransport
from labtests.ssh.connecting import connect_all, emulated
from labtests.ssh.unbroken import UnbrokenTransport
from labtests.transport import Clock, Transport

Able = TypeVar("Able")
Backend = Literal["hardware", "simulated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting that was, or would be, changed. `setting` is the ability's method name."""

    time_s: float
    device: str
    port: str
    setting: str
    earlier: object
    wanted: object
    commands: tuple[str, ...]
    undo: bool = False


@dataclass(slots=True)
class _Undo:
    """What a setting was. `whole` is false while a change of it, either way, is under way."""

    at: Endpoint
    setting: str
    earlier: object
    whole: bool = False

    def same_setting(self, other: "_Undo") -> bool:
        return (self.at, self.setting) == (other.at, other.setting)


@dataclass(slots=True)
class Planned:
    """What a `--plan` run has pretended to set: later steps start from it, nothing is sent."""

    values: dict[tuple[str, str, str], object] = field(default_factory=dict)


class Lab:
    """Open devices of one testbed. Leaving the `with` undoes every change and closes."""

    def __init__(
        self,
        testbed: Testbed,
        transports: Mapping[str, Transport],
        *,
        clock: Clock,
        backend: Backend,
        journal: Journal | None = None,
    ) -> None:
        self.testbed, self.clock, self.backend = testbed, clock, backend
        self.transports = dict(transports)
        self.changes: list[Change] = []
        self.planned: Planned | None = None
        self._journal = journal
        self._undo: list[_Undo] = []
        self._drivers: dict[str, Any] = {
            device.name: driver_module(device.platform).Driver(self.transports[device.name])
            for device in testbed.devices
        }

    @classmethod
    def open(cls, testbed: Testbed, *, clock: Clock, backend: Backend, journal: Journal) -> "Lab":
        """Connect to every device at once. Raises LabErrors with every device that fails."""
        journal.clock = clock  # notes and what processes print carry the lab's time
        sessions = {d.name: driver_module(d.platform).SESSION for d in testbed.devices}
        plain = connect_all(testbed.devices, sessions, clock=clock)
        if emulated(plain):
            backend = "simulated"  # one emulated device is enough to spoil a hardware result
        whole = {n: UnbrokenTransport(JournalledTransport(t, journal)) for n, t in plain.items()}
        return cls(testbed, whole, clock=clock, backend=backend, journal=journal)

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """The devices that have an ability, by name."""
        return {name: d for name, d in self._drivers.items() if isinstance(d, ability)}

    def offers(self, name: str) -> bool:
        """Whether some device has a method of this name: a setting or a counter family."""
        return any(callable(getattr(driver, name, None)) for driver in self._drivers.values())

    def driver(self, device: str, ability: type[Able]) -> Able:
        """One device, as something that has this ability."""
        driver = self._drivers[device]
        if not isinstance(driver, ability):
            raise LabError(f"{device} cannot do what {ability.__name__} asks")
        return driver

    # -- changes -----------------------------------------------------------------------------

    def change(self, at: Endpoint, setting: str, wanted: object) -> None:
        """Make one setting so, and remember to put it back. Nothing is sent when it is so already.

        `setting` names the triple of an ability: "pfc", "trust", "ecn", "reaction_point", ...
        """
        earlier = self._now(at, setting)
        if earlier == wanted:
            return
        undo = _Undo(at, setting, earlier)
        self._undo.append(undo)  # first: what fails half-way is undone too
        self._make(at, setting, earlier, wanted)
        undo.whole = True

    def current(self, at: Endpoint, setting: str) -> object:
        """What a setting is now (in a plan: what it would be by now)."""
        return self._now(at, setting)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Whatever is changed inside is undone at the end, last first, and read back."""
        mark = len(self._undo)
        try:
            yield
        finally:
            self._restore_to(mark)

    def _restore_to(self, mark: int) -> None:
        """Undo every change after the mark. One that fails does not stop the others; one that is
        interrupted is still there for the next call."""
        errors: list[LabError] = []
        while len(self._undo) > mark:
            undo = self._undo[-1]
            first = next(u for u in self._undo[mark:] if u.same_setting(undo))
            if first is undo:
                errors += self._put_back(undo)
            else:  # it was changed before as well: only the first value is to come back
                first.whole = first.whole and undo.whole
            self._undo.pop()
        if errors:
            raise LabErrors("the lab could not be put back as it was found", errors)

    def _put_back(self, undo: _Undo) -> Iterator[LabError]:
        """The setting is as it was, and nothing else of an interrupted change is left; or why."""
        try:
            now = self._now(undo.at, undo.setting)
            if now != undo.earlier or not undo.whole:
                undo.whole = False
                self._make(undo.at, undo.setting, now, undo.earlier, undo=True)
        except LabError as error:
            yield _not_undone(undo.at, undo.setting, undo.earlier, error)

    def _now(self, at: Endpoint, setting: str) -> object:
        key = (at.device, at.interface, setting)
        if self.planned is not None and key in self.planned.values:
            return self.planned.values[key]
        read: Callable[[str], object] = getattr(self._drivers[at.device], setting)
        return read(at.interface)

    def _make(
        self, at: Endpoint, setting: str, earlier: object, wanted: object, *, undo: bool = False
    ) -> Change:
        driver = self._drivers[at.device]
        commands = getattr(driver, f"{setting}_commands")(at.interface, earlier, wanted)
        change = Change(
            time_s=self.clock.now_s(),
            device=at.device,
            port=at.interface,
            setting=setting,
            earlier=earlier,
            wanted=wanted,
            commands=commands,
            undo=undo,
        )
        self.changes.append(change)
        if self.planned is not None:
            self.planned.values[at.device, at.interface, setting] = wanted
            return change
        if self._journal is not None:
            self._journal.note(
                at.device,
                f"{'undo' if undo else 'change'} {setting} of {at.interface}: "
                f"from {earlier!r} to {wanted!r}",
            )
        getattr(driver, f"set_{setting}")(at.interface, wanted)
        return change

    # -- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Undo what is left and end every session. Closing twice is allowed."""
        try:
            self._restore_to(0)
        finally:
            for transport in self.transports.values():
                transport.close()

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _not_undone(at: Endpoint, setting: str, earlier: object, error: LabError) -> LabError:
    return LabError(f"{at}: {setting} was {earlier!r} and could not be put back: {error}")
