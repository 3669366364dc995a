"""What a suite may ask of a switch with Comware 7 (H3C, HPE)."""

from typing import Literal

from labtests.capabilities.device import Entitled, Obstacles, Versions
from labtests.capabilities.driver import Driver
from labtests.capabilities.settings import Commands
from labtests.drivers.comware import settings
from labtests.drivers.comware.configuration import ConfigSection
from labtests.drivers.comware.links import ComwareLinks
from labtests.drivers.comware.marking import ComwareEcn
from labtests.drivers.comware.rejections import expect_accepted
from labtests.drivers.comware.session import QUIT, ComwarePart, interfaces, line, show
from labtests.drivers.comware.telemetry import ComwareTelemetry
from labtests.drivers.comware.versions import parse_version
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

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
    ("qos lr ", "a rate limit is configured: the port is slower than its link"),
    ("qos gts ", "traffic shaping is configured: the port is slower than its link"),
)


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    """The driver of one switch, by its name in the testbed file."""
    switch = ComwarePart(device)
    return Driver(
        device,
        settings=(
            settings.ComwarePfc(switch),
            settings.ComwareTrust(switch),
            ComwareEcn(switch),
            settings.ComwareScheduling(switch),
            settings.ComwareDscpMap(switch),
            settings.QueueMap(switch),
            settings.FrameLimit(switch),
            settings.Headroom(switch),
        ),
        parts=(ComwareTelemetry(switch), ComwareLinks(switch), ComwareState()),
    )


class ComwareState(Versions, Obstacles, Entitled):
    """What the switch runs, and what stands in the way of a test."""

    def versions(self) -> Asking[dict[str, str]]:
        """`model`, `comware` and `release`."""
        return parse_version((yield from show("display", "version")))

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What the interfaces' configuration has that would undo or distort a test's settings."""
        _, sections = yield from interfaces()
        return tuple(sentence for section in sections for sentence in _obstacles_of(section))

    def trial(self) -> Asking[Commands]:
        """Into the view of a port and out again: that changes nothing, and takes a role that may
        configure. (Every role may enter the system view; only network-admin may ask for roles.)"""
        _, sections = yield from interfaces()
        ports = [s.interface for s in sections if s.interface and "/" in s.interface]
        return (line("interface", ports[0]), QUIT) if ports else ()

    def expect_entitled(self, lines: Commands, reply: Reply) -> None:
        """See Entitled."""
        expect_accepted(reply, lines)


def _obstacles_of(section: ConfigSection) -> list[str]:
    return [
        f"{section.interface}: {what} (`{line}`)"
        for start, what in _IN_THE_WAY
        for line in section.lines
        if line.startswith(start)
    ]
