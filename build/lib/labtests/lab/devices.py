"""The devices of an open lab: what each has, and what it is asked. Changes nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from labtests.capabilities.driver import Driver
from labtests.capabilities.settings import Kind, Setting, T
from labtests.capabilities.values import expect_value
from labtests.core.errors import LabError
from labtests.inventory import Device, Endpoint, Testbed
from labtests.journal import Intent
from labtests.lab.changes import Planned, Step, Wanted
from labtests.transport.asking import Asking
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Clock
from labtests.transport.ssh.connecting import AT_ONCE
from labtests.transport.transcript import Transcript

Able = TypeVar("Able")
Answer = TypeVar("Answer")


class Devices:
    """What a lab (lab.py) asks of its devices."""

    testbed: Testbed
    clock: Clock
    transports: dict[str, Exchanges]
    transcript: Transcript | None
    planned: Planned | None
    drivers: dict[str, Driver]

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """What has an ability, by device."""
        found = {name: driver.able(ability) for name, driver in self.drivers.items()}
        return {name: part for name, part in found.items() if part is not None}

    def part(self, device: str, ability: type[Able]) -> Able:
        """What of a device has this ability."""
        part = self.drivers[device].able(ability)
        if part is None:
            raise LabError(f"{device} does not support {ability.__name__}")
        return part

    def has(self, device: str, kind: Kind[Any]) -> bool:
        """Whether a device has this kind of setting."""
        return self.drivers[device].setting(kind) is not None

    def offers(self, name: str, device: str | None = None) -> bool:
        """Whether a device, or any, has a setting or a method of an ability of this name."""
        asked = self.drivers.values() if device is None else (self.drivers[device],)
        return any(driver.offers(name) for driver in asked)

    def ask(self, device: str, asking: Asking[Answer], *occasions: str) -> Answer:
        """Ask a device, round by round (Exchanges.ask). Raises what the asking raises."""
        return self.transports[device].ask(asking, *occasions)

    def of_each(self, read: Callable[[Device], Answer]) -> dict[str, Answer]:
        """What is read of each device, side by side, by name. `read` must not raise for what a
        device does."""
        devices = self.testbed.devices
        with ThreadPoolExecutor(max_workers=max(1, min(len(devices), AT_ONCE))) as pool:
            answers = list(pool.map(read, devices))
        return {device.name: answer for device, answer in zip(devices, answers, strict=True)}

    def note(self, device: str, text: str) -> None:
        """For the transcript, if there is one."""
        if self.transcript is not None:
            self.transcript.note(device, text)

    def current(self, at: Endpoint, kind: Kind[T]) -> T:
        """What a setting is now (in a plan: what it would be by now)."""
        return self.ask(at.device, self.shown(at, kind))

    def shown(self, at: Endpoint, kind: Kind[T]) -> Asking[T]:
        """The same, to be asked with other questions."""
        return self._now(at, self.setting(at, kind))

    def setting(self, at: Endpoint, kind: Kind[T]) -> Setting[T]:
        """How the device has it. Raises LabError where it does not have it."""
        if not isinstance(kind, Kind):
            raise LabError(
                f"{kind!r} is not a kind of setting: use one of labtests.capabilities.settings "
                "(PFC, TRUST, ECN, ...)"
            )
        found = self.drivers[at.device].setting(kind)
        if found is None:
            raise LabError(f"{at.device} has no setting {kind.name!r}: its platform cannot set it")
        return found

    def place(self, at: Endpoint, kind: Kind[Any]) -> Endpoint:
        """Where it is set that a port has it: there, or ("" for the port) on the whole device."""
        return replace(at, interface="") if self.setting(at, kind).wide else at

    def step(self, want: Wanted[T]) -> Asking[Step | None]:
        """The change that this takes; None when there is nothing to do. Raises LabError when it
        cannot be read, or not be so; NoSuchValue for what comes from a file, or a device, and is no
        value of the setting."""
        setting = self.setting(want.at, want.kind)
        now = yield from self._now(want.at, setting)
        if now == want.value:
            return None
        return (yield from self._step(setting, want.at, now, want.value))

    def _step(
        self, setting: Setting[T], at: Endpoint, now: T, wanted: T, through: tuple[T, ...] = ()
    ) -> Asking[Step | None]:
        name, port = setting.kind.name, at.interface
        for value in (now, wanted, *through):
            expect_value(name, value)
        around = yield from setting.around(port, (now, wanted, *through))
        commands = setting.commands(port, now, wanted, around)
        if not commands:
            return None
        undo = setting.commands(port, wanted, now, around)
        intent = Intent(
            at=at, setting=name, earlier=now, wanted=wanted, commands=commands, undo=undo
        )
        return Step(intent, commands, setting, around)

    def _now(self, at: Endpoint, setting: Setting[T]) -> Asking[T]:
        key = (at.device, at.interface, setting.kind.name)
        if self.planned is not None and key in self.planned.values:
            value: Any = self.planned.values[key]
            return value  # type: ignore[no-any-return]
        return (yield from setting.read(at.interface))
