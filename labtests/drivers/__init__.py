"""One module per platform. `platform: comware` in a testbed **is** `drivers/comware`, class Driver
(and `linux-switch` is `drivers/linux_switch`).

There is no registry: a new vendor is a new module here that has `SESSION` (how it is reached:
"shell" for a Linux host, else a netmiko device type) and `class Driver`, built from an open session
and nothing else. What a Driver can do is in its class header (capabilities/device.py).
"""

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from labtests.core.errors import InventoryError
from labtests.transport.protocol import Transport


class DriverFactory(Protocol):
    """How every driver is built: from an open session and nothing else."""

    def __call__(self, transport: Transport) -> object:
        """Wrap the session."""
        ...


class DriverModule(Protocol):
    """What a platform's module offers."""

    SESSION: str
    Driver: DriverFactory


def platforms() -> tuple[str, ...]:
    """The platforms that have a driver here, in alphabetical order."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(name.replace("_", "-") for name in names if _loaded(name) is not None)


@lru_cache  # a lab asks for each of its devices; looking through the folder takes its time
def driver_module(platform: str) -> DriverModule:
    """The module of a platform. Raises InventoryError that lists the platforms there are."""
    name = platform.replace("-", "_")
    if name in {module.name for module in iter_modules(__path__)} and "_" not in platform:
        module = _loaded(name)
        if module is not None:
            return module
    raise InventoryError(
        [
            f"no driver for platform {platform!r}; there are: {', '.join(platforms())}. "
            f"To add it, write labtests/drivers/{name}.py with SESSION and class Driver"
        ]
    )


def _loaded(name: str) -> DriverModule | None:
    # modules that drivers share (answers.py) have no Driver and are no platform
    module = import_module(f"{__name__}.{name}")
    return cast(DriverModule, module) if hasattr(module, "Driver") else None
