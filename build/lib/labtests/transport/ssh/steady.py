"""The time by which paramiko and netmiko wait: a clock that nobody sets.

Both measure how long they have waited by `time.time()`. A clock that is set back meanwhile (NTP,
an administrator) makes half a minute hours, and one that is set forward ends a wait at once. They
only take differences of it in these modules; in those where they need a date it stays.
"""

import time
from collections.abc import Iterable
from types import ModuleType, SimpleNamespace
from typing import Any

_STEADY: Any = SimpleNamespace(**{**vars(time), "time": time.monotonic})


def wait_steadily(modules: Iterable[ModuleType]) -> None:
    """From now on these modules wait by a clock that nobody sets, whoever uses them."""
    for module in modules:
        module.time = _STEADY  # type: ignore[attr-defined]
