"""The devices of an open lab: each by its abilities, and what its settings are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TypeVar

from labtests.capabilities.facts import Foresight
from labtests.capabilities.values import expect_value
from labtests.core.errors import CommandRejected, CommandTimeout, LabError
from labtests.inventory import Endpoint, Testbed
from labtests.lab.changes import Planned
from labtests.transport.commands import Command
from labtests.transport.exchanges import Exchanges, Known
from labtests.transport.protocol import Clock, Transport
from labtests.transport.transcript import Journal

Able = TypeVar("Able")


class Devices:
    """What a lab (lab.py) asks of its devices. Changes nothing."""

    testbed: Testbed
    clock: Clock
    transports: dict[str, Transport]
    journal: Journal | None
    planned: Planned | None
    _drivers: dict[str, Any]

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """The devices that have an ability, by name."""
        return {name: d for name, d in self._drivers.items() if isinstance(d, ability)}

    def offers(self, name: str, device: str | None = None) -> bool:
        """Whether a device, or any, has a method of this name: a setting or a counter family."""
        asked = self._drivers.values() if device is None else (self._drivers[device],)
        return any(callable(getattr(driver, name, None)) for driver in asked)

    def driver(self, device: str, ability: type[Able]) -> Able:
        """One device, as something that has this ability."""
        driver = self._drivers[device]
        if not isinstance(driver, ability):
            raise LabError(f"{device} cannot do what {ability.__name__} asks")
        return driver

    @contextmanager
    def remembered(self, device: str) -> Iterator[None]:
        """Inside, this thread asks this device nothing twice until something is changed on it."""
        transport = self.transports[device]
        with transport.remembered() if isinstance(transport, Exchanges) else nullcontext():
            yield

    @contextmanager
    def foreseen(
        self, device: str, known: Known | None = None, *, obstacles: bool = False
    ) -> Iterator[None]:
        """The same; and all settings of a host, with `obstacles` also what would undo them, come in
        one exchange, ahead of the questions, or in none when they are `known` from a moment ago."""
        with self.remembered(device):
            transport, driver = self.transports[device], self._drivers[device]
            if isinstance(transport, Exchanges) and isinstance(driver, Foresight):
                if known is not None:
                    transport.recall(known, self.clock.now_s())
                # on failure each is asked by itself, and tells what is wrong with it
                more = driver.obstacle_commands() if obstacles else ()
                with suppress(CommandRejected, CommandTimeout):
                    transport.ask_ahead((*more, *self._questions(device)))
            yield

    def _questions(self, device: str) -> tuple[Command, ...]:
        """What reads all settings of a device that knows it in advance."""
        ports = tuple(port.interface for port in self.testbed.device(device).ports)
        return self.driver(device, Foresight).setting_commands(ports)

    def kept(self, device: str) -> Known | None:
        """What this thread has read of a device that `joins`, for `foreseen`; inside it."""
        transport = self.transports[device]
        if not self.joins(device):
            return None
        assert isinstance(transport, Exchanges)
        return transport.kept()

    def joins(self, device: str) -> bool:
        """Whether changes of this device can be sent together."""
        shell = isinstance(self._drivers[device], Foresight)
        return shell and isinstance(self.transports[device], Exchanges) and self.planned is None

    def note(self, device: str, text: str) -> None:
        """For the journal of what was said, if there is one."""
        if self.journal is not None:
            self.journal.note(device, text)

    def current(self, at: Endpoint, setting: str) -> object:
        """What a setting is now (in a plan: what it would be by now)."""
        return self._now(at, setting)

    def commands(
        self, at: Endpoint, setting: str, earlier: object, wanted: object
    ) -> tuple[Command, ...]:
        """The commands that lead from one value to the other; nothing is sent. Raises NoSuchValue
        for what comes from a file, or a device, and is no value of this setting."""
        expect_value(setting, earlier)
        expect_value(setting, wanted)
        plan: Callable[..., tuple[Command, ...]] | None = getattr(
            self._drivers[at.device], f"{setting}_commands", None
        )
        if plan is None:
            raise self._cannot_set(at, setting)
        return plan(at.interface, earlier, wanted)

    @staticmethod
    def _cannot_set(at: Endpoint, setting: str) -> LabError:
        return LabError(f"{at.device} has no setting {setting!r}: its platform can not set it")

    def _now(self, at: Endpoint, setting: str) -> object:
        key = (at.device, at.interface, setting)
        if self.planned is not None and key in self.planned.values:
            return self.planned.values[key]
        read: Callable[[str], object] | None = getattr(self._drivers[at.device], setting, None)
        if read is None:
            raise self._cannot_set(at, setting)
        return read(at.interface)
