"""A Linux box that is a switch: a bridge or a router whose ports have tc queues."""

from labtests.drivers.linux_switch.dscp import Classes
from labtests.drivers.linux_switch.telemetry import Counters


class Driver(Counters, Classes):
    """A Linux switch behind an open shell.

    Counters: QueueTelemetry, DropTelemetry by `tc -s qdisc`.
    Classes: DscpClasses by `tc filter` and the scheduler's own map.
    """
