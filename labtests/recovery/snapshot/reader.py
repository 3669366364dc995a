"""A second look at a device, beside the lab's own work with it: it never changes anything, and asks
as much as it can at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from labtests.capabilities.driver import Driver
from labtests.capabilities.settings import KINDS, Kind, T
from labtests.core.errors import LabError
from labtests.drivers import driver_module
from labtests.inventory import Device
from labtests.transport.asking import Asking
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
        self.driver: Driver = driver_module(device.platform).driver_of(device.name, self.ports)

    @property
    def settings(self) -> tuple[Kind[Any], ...]:
        """Every kind of setting that it has, in the order in which they can be made."""
        return tuple(kind for kind in KINDS if self.driver.setting(kind) is not None)

    def setting(self, port: str, kind: Kind[T]) -> Asking[T]:
        """What it is now."""
        found = self.driver.setting(kind)
        if found is None:
            raise LabError(f"{self.device.name} has no setting {kind}")
        return found.read(port)

    def able(self, ability: type[Able]) -> Able | None:
        """What of the device has this ability; None when it has not."""
        return self.driver.able(ability)

    def ask(self, asking: Asking[Answer], *occasions: str) -> Answer:
        """Ask it, round by round (Exchanges.ask). Raises what the asking raises."""
        return self.exchanges.ask(asking, *occasions)


def in_parallel(readers: Sequence[Reader], read: Callable[[Reader], Answer]) -> dict[str, Answer]:
    """What is read of each device, by name, in the order of `readers`. `read` must not raise for
    what a device does."""
    if not readers:
        return {}
    with ThreadPoolExecutor(max_workers=min(len(readers), AT_ONCE)) as pool:
        answers = list(pool.map(read, readers))
    return {reader.device.name: answer for reader, answer in zip(readers, answers, strict=True)}
