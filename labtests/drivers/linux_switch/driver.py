"""A Linux box that is a switch: a bridge or a router whose ports have tc queues."""

from labtests.drivers.linux_switch.dscp import Classes
from labtests.drivers.linux_switch.ecn import Marking
from labtests.drivers.linux_switch.limits import Limits
from labtests.drivers.linux_switch.shaped import Shaped
from labtests.drivers.linux_switch.state import State


class Driver(State, Classes, Marking, Limits, Shaped):
    """A Linux switch behind an open shell.

    Counters: QueueTelemetry, DropTelemetry by `tc -s qdisc`.
    Classes: DscpClasses by `tc filter` and the scheduler's own map.
    Schedulers: Scheduling, QueueShares by htb and ets (prio is read).
    Marking: EcnMarking, EcnCurves, Lacking by red.
    Limits: QueueLimits of bfifo and pfifo.
    State: Obstacles, Caveats, Foresight.
    Shaped: LinkState, LinkErrors, PortTelemetry, OwnClock, Versions, as on any Linux box; the speed
    of a shaper.
    """
