"""What every part of a driver has, and how a platform's table becomes the driver of a device."""

from collections.abc import Callable, Sequence
from typing import Any

from labtests.capabilities.driver import Driver
from labtests.core.errors import CommandRejected


class PlatformPart:
    """A part of the driver of one device, by its name and ports in the testbed file."""

    def __init__(self, device: str, ports: tuple[str, ...] = ()) -> None:
        self.device, self.ports = device, ports

    def reject(self, where: str, problem: str, remedy: str) -> CommandRejected:
        """An error about a line, or a place, of the configuration."""
        return CommandRejected(self.device, where, problem, remedy)


def drivers(settings: Sequence[Any], parts: Sequence[Any]) -> Callable[..., Driver]:
    """The `driver_of` of a platform: of each class one, by a device's name and ports."""

    def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
        made = (tuple(each(device, ports) for each in table) for table in (settings, parts))
        return Driver(device, *made)

    return driver_of
