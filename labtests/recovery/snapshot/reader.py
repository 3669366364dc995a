"""A second look at a device, beside the lab's own driver: it never changes anything, asks nothing
twice and as much as it can at once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from labtests.capabilities.facts import Foresight
from labtests.capabilities.profile import SETTINGS
from labtests.core.errors import CommandRejected, CommandTimeout
from labtests.drivers import driver_module
from labtests.inventory import Device
from labtests.transport.commands import Command
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Transport

Able = TypeVar("Able")
Answer = TypeVar("Answer")

AT_ONCE = 64
"""Devices that are asked side by side."""


class Reader:
    """What one device is asked, over the session that the lab has with it."""

    def __init__(self, device: Device, transport: Transport) -> None:
        self.device = device
        self.ports = tuple(port.interface for port in device.ports)
        self.exchanges = Exchanges(transport)
        self._driver: Any = driver_module(device.platform).Driver(self.exchanges)

    @property
    def settings(self) -> tuple[str, ...]:
        """Every setting that it has, in the order in which they can be made."""
        names = (name for name in SETTINGS if callable(getattr(self._driver, name, None)))
        return tuple(name for name in names if callable(getattr(self._driver, f"set_{name}", None)))

    def setting(self, port: str, name: str) -> object:
        """What it is now. Raises DeviceError."""
        read: Callable[[str], object] = getattr(self._driver, name)
        return read(port)

    def able(self, ability: type[Able]) -> Able | None:
        """The device as something that has this ability; None when it has not."""
        return self._driver if isinstance(self._driver, ability) else None

    @contextmanager
    def asked_at_once(self, commands: Callable[[Foresight], Sequence[Command]]) -> Iterator[None]:
        """Inside, nothing is asked twice; what the device foresees is asked in one exchange."""
        with self.exchanges.remembered():
            ahead = self.able(Foresight)
            if ahead is not None:
                # on failure each command is asked by itself, and tells what is wrong with it
                with suppress(CommandRejected, CommandTimeout):
                    self.exchanges.ask_ahead(commands(ahead))
            yield


def in_parallel(readers: Sequence[Reader], read: Callable[[Reader], Answer]) -> dict[str, Answer]:
    """What is read of each device, by name, in the order of `readers`. `read` must not raise for
    what a device does."""
    if not readers:
        return {}
    with ThreadPoolExecutor(max_workers=min(len(readers), AT_ONCE)) as pool:
        answers = list(pool.map(read, readers))
    return {reader.device.name: answer for reader, answer in zip(readers, answers, strict=True)}
