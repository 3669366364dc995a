"""What a suite may ask of a Nexus 9000 with NX-OS."""

from typing import Literal

from labtests.capabilities.device import Entitled, Obstacles
from labtests.capabilities.driver import Driver
from labtests.capabilities.settings import Commands
from labtests.drivers.nxos.clock import NxosClock
from labtests.drivers.nxos.configuration import Configured, configured
from labtests.drivers.nxos.egress import NxosEcn, NxosScheduling
from labtests.drivers.nxos.interfaces import NxosInterfaces
from labtests.drivers.nxos.lldp import NxosNeighbours
from labtests.drivers.nxos.pfc import NxosPfc, NxosPfcFrames
from labtests.drivers.nxos.ports import NxosFrameLimit, NxosHeadroom
from labtests.drivers.nxos.queuing import NxosQueues
from labtests.drivers.nxos.session import EXIT, expect_accepted, line
from labtests.drivers.nxos.trust import NxosDscpMap, NxosQueueMap, NxosTrust
from labtests.drivers.nxos.versions import NxosVersions
from labtests.drivers.nxos.watchdog import NxosWatchdog, NxosWatchdogCounters, NxosWatchdogTimes
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

SESSION = "cisco_nxos"
"""How it is reached: netmiko's device type for NX-OS."""

KIND: Literal["host", "switch"] = "switch"

# the start of a line, and what it does to a test
_AT_A_PORT = (
    ("flowcontrol ", "802.3x flow control is on: it pauses all priorities where PFC is off"),
    ("priority-flow-control watch-dog-interval on", "the PFC watchdog may shut a queue in a run"),
)
_IN_A_POLICY = (("shape ", "a queue is shaped: it is slower than its link"),)

_SETTINGS = (
    *(NxosPfc, NxosTrust, NxosEcn, NxosScheduling),
    *(NxosDscpMap, NxosQueueMap, NxosFrameLimit, NxosHeadroom),
    *(NxosWatchdogTimes, NxosWatchdog),
)
_PARTS = (NxosQueues, NxosPfcFrames, NxosInterfaces, NxosWatchdogCounters)


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    """The driver of one switch, by its name in the testbed file."""
    parts = (*(part(device) for part in _PARTS), NxosNeighbours(), NxosClock())
    return Driver(
        device,
        settings=tuple(setting(device) for setting in _SETTINGS),
        parts=(*parts, NxosVersions(), NxosState()),
    )


class NxosState(Obstacles, Entitled):
    """What stands in the way of a test, and of whoever may not configure."""

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What the configuration has that would undo or distort a test's settings."""
        of = yield from configured()
        return tuple(_obstacles(of))

    def trial(self) -> Asking[Commands]:
        """Into the section of a port and out again: that changes nothing, and takes a role that may
        configure."""
        ports = [name for name in (yield from configured()).ports if "/" in name]
        return (line("interface", ports[0]), EXIT) if ports else ()

    def expect_entitled(self, lines: Commands, reply: Reply) -> None:
        """See Entitled."""
        expect_accepted(reply, lines)


def _obstacles(of: Configured) -> list[str]:
    found = [
        f"{name}: {what} (`{text}`)"
        for name, section in of.ports.items()
        for text in section.lines
        for start, what in _AT_A_PORT
        if text.startswith(start) and not text.endswith(" off")
    ]
    in_force = {(place.kind, name) for place, (name, _) in of.applied.items()}
    return found + [
        f"policy-map {key[1]}, class {block.name}: {what} (`{text}`)"
        for key in sorted(in_force & of.policies.keys())
        for block in of.policies[key]
        for text in block.lines
        for start, what in _IN_A_POLICY
        if text.startswith(start)
    ]
