"""A Linux box that is a switch: a bridge or a router whose ports have tc queues."""

from typing import Literal

from labtests.capabilities.driver import Driver
from labtests.drivers.linux_switch.dscp import Classes
from labtests.drivers.linux_switch.ecn import OfTheKernel, TcEcn
from labtests.drivers.linux_switch.limits import QueueLimits
from labtests.drivers.linux_switch.losing import QueueLosses
from labtests.drivers.linux_switch.scheduling import TcScheduling
from labtests.drivers.linux_switch.shaped import Shaped
from labtests.drivers.linux_switch.state import TcState
from labtests.drivers.linux_switch.telemetry import Counters

SESSION = "shell"
KIND: Literal["host", "switch"] = "switch"


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    """The driver of one switch, by its name and ports in the testbed file."""
    settings = (TcEcn, TcScheduling, QueueLimits, QueueLosses)
    parts = (Counters, Classes, TcState, Shaped)
    return Driver(
        device,
        settings=tuple(setting(device, ports) for setting in settings),
        parts=(*(part(device, ports) for part in parts), OfTheKernel()),
    )
