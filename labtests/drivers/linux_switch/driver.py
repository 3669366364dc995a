"""A Linux box that is a switch: a bridge or a router whose ports have tc queues."""

from labtests.drivers.linux_switch.dscp import Classes
from labtests.drivers.linux_switch.ecn import Marking
from labtests.drivers.linux_switch.limits import Limits
from labtests.drivers.linux_switch.ports import Ports
from labtests.drivers.linux_switch.scheduling import Schedulers
from labtests.drivers.linux_switch.telemetry import Counters


class Driver(Counters, Classes, Schedulers, Marking, Limits, Ports):
    """A Linux switch behind an open shell.

    Counters: QueueTelemetry, DropTelemetry by `tc -s qdisc`.
    Classes: DscpClasses by `tc filter` and the scheduler's own map.
    Schedulers: Scheduling, QueueShares by htb and ets (prio is read).
    Marking: EcnMarking, EcnCurves, Lacking by red.
    Limits: QueueLimits of bfifo and pfifo.
    Ports: LinkState, LinkErrors, OwnClock, Versions, as on any Linux box.
    """
