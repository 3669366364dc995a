"""One module per platform: `platform: comware` in a testbed **is** `drivers/comware`, and
`linux-switch` is `drivers/linux_switch`.

There is no registry: a new vendor is a new module here that has `SESSION` (how it is reached:
"shell" for a Linux box, else a netmiko device type), `KIND` ("host" or "switch") and `driver_of`,
the table of a device's settings, counters and facts (capabilities/driver.py).
"""

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, Protocol, cast

from labtests.capabilities.driver import Driver
from labtests.core.errors import InventoryError


class Platform(Protocol):
    """What a platform's module offers: how it is reached, what it is, and a device's driver by the
    device's name in the testbed file."""

    SESSION: str
    KIND: Literal["host", "switch"]

    def driver_of(self, device: str, ports: tuple[str, ...] = ()) -> Driver:
        """The table of what it has."""
        ...


def platforms() -> tuple[str, ...]:
    """The platforms that have a driver here, in alphabetical order."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(name.replace("_", "-") for name in names if _loaded(name) is not None)


@lru_cache  # a lab asks for each of its devices; looking through the folder takes its time
def driver_module(platform: str) -> Platform:
    """The module of a platform. Raises InventoryError that lists the platforms there are."""
    name = platform.replace("-", "_")
    if name in {module.name for module in iter_modules(__path__)} and "_" not in platform:
        module = _loaded(name)
        if module is not None:
            return module
    raise InventoryError(
        [
            f"no driver for platform {platform!r}; there are: {', '.join(platforms())}. "
            f"To add it, write labtests/drivers/{name}.py with SESSION, KIND and driver_of"
        ]
    )


def _loaded(name: str) -> Platform | None:
    # modules that drivers share (answers.py) have no driver_of and are no platform
    module = import_module(f"{__name__}.{name}")
    return cast(Platform, module) if hasattr(module, "driver_of") else None
