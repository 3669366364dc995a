"""What a suite may ask of a switch with Comware 7 (H3C, HPE)."""

from typing import Literal

from labtests.capabilities.facts import Caveats
from labtests.capabilities.records import PortState
from labtests.drivers.comware.alarms import ComwarePfcAlarm, ComwareWarnings
from labtests.drivers.comware.box import ComwareBox
from labtests.drivers.comware.dcbx import ComwareDcbxState, Dcbx
from labtests.drivers.comware.deadlock import ComwareDeadlockDetection, ComwareDeadlockTimes
from labtests.drivers.comware.edge import ComwareEdge
from labtests.drivers.comware.frames import ComwareFrameLimit, Headroom, Thresholds
from labtests.drivers.comware.interfaces import Interfaces
from labtests.drivers.comware.maps import ComwareDscpMap, ComwareTrust, QueueMap
from labtests.drivers.comware.marking import ComwareEcn
from labtests.drivers.comware.pfc import ComwarePfc, PfcFrames
from labtests.drivers.comware.queues import Drops, Queues
from labtests.drivers.comware.scheduling import ComwareScheduling
from labtests.drivers.comware.session import CLI, PortSetting, interfaces
from labtests.drivers.comware.streams import ComwareStream, ComwareStreams
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import CliState, PortShutting, in_the_way
from labtests.drivers.parts import drivers
from labtests.transport.asking import Asking

SESSION = "hp_comware"
"""How it is reached: netmiko's device type for the Comware CLI."""

KIND: Literal["host", "switch"] = "switch"

# the start of a configuration line, and what it does to a test
_IN_THE_WAY = (
    ("flow-control", "802.3x flow control is on: it pauses all priorities where PFC is off"),
    (
        "qos apply qmprofile",
        "a queue scheduling profile is in force and hides the port's scheduler",
    ),
    ("qos wred queue ", "WRED is configured on the port itself, so no table can be applied"),
    ("priority-flow-control deadlock enable", "PFC deadlock detection may switch PFC off in a run"),
    (
        "priority-flow-control deadlock recover-mode manual",
        "where PFC was switched off for a deadlock it stays off until "
        "`priority-flow-control deadlock recover`",
    ),
    (
        "qos apply policy ",
        "a QoS policy is applied: it may put packets into other classes than the maps say",
    ),
    ("qos lr ", "a rate limit is configured: the port is slower than its link"),
    ("qos gts ", "traffic shaping is configured: the port is slower than its link"),
)


_CLASSED = COMWARE.shape("qos priority <priority:0-7>")
_TRUSTED = "qos trust "


class ComwareState(CliState, Caveats):
    """What of the interfaces' configuration stands in the way."""

    cli = CLI

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What would undo or distort a test's settings."""
        _, sections = yield from interfaces()
        return tuple(
            sentence
            for section in sections
            for sentence in in_the_way(str(section.interface), section.lines, _IN_THE_WAY)
        )

    def caveats(self) -> Asking[tuple[str, ...]]:
        """Ports whose own priority is the class of all that comes in: they trust nothing."""
        _, sections = yield from interfaces()
        return tuple(
            f"{section.interface}: it trusts nothing, so all that comes in is of its own class "
            f"(`{line}`), whatever the maps say"
            for section in sections
            for line in section.lines
            if _CLASSED.pattern.fullmatch(line)
            if not any(each.startswith(_TRUSTED) for each in section.lines)
        )

    def interfaces(self) -> Asking[tuple[str, ...]]:
        """See CliState. (Every role may enter the system view; only network-admin may ask for
        roles.)"""
        _, sections = yield from interfaces()
        return tuple(str(section.interface) for section in sections)


class ComwarePortState(PortSetting[PortState], PortShutting):
    """`shutdown`."""


_SETTINGS = (
    *(ComwarePfc, ComwareTrust, ComwareEdge, ComwareEcn, ComwareScheduling),
    *(ComwareDscpMap, QueueMap, ComwareFrameLimit, Headroom, Thresholds),
    *(ComwareDeadlockTimes, ComwareDeadlockDetection, ComwarePfcAlarm, Dcbx, ComwareStream),
    ComwarePortState,
)
_PARTS = (
    *(Queues, PfcFrames, Drops, Interfaces, ComwareWarnings, ComwareState, ComwareDcbxState),
    *(ComwareBox, ComwareStreams),
)
driver_of = drivers(_SETTINGS, _PARTS)
