"""The driver: everything a suite may ask of a switch with Comware 7 (H3C, HPE)."""

from labtests.capabilities.device import Entitled, Obstacles, Versions
from labtests.core.errors import CommandRejected
from labtests.drivers.comware import commands as lines
from labtests.drivers.comware.configuration import Section
from labtests.drivers.comware.intents import Intents
from labtests.drivers.comware.links import Links
from labtests.drivers.comware.session import line
from labtests.drivers.comware.telemetry import Telemetry
from labtests.drivers.comware.versions import parse_version

SESSION = "hp_comware"
"""How it is reached: netmiko's device type for the Comware CLI."""

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


class Driver(Intents, Telemetry, Links, Versions, Obstacles, Entitled):
    """A Comware switch behind an open CLI session."""

    def versions(self) -> dict[str, str]:
        """`model`, `comware` and `release`."""
        return parse_version(self.cli.show("display", "version"))

    def obstacles(self) -> tuple[str, ...]:
        """What the interfaces' configuration has that would undo or distort a test's settings."""
        _, sections = self.cli.interfaces()
        return tuple(sentence for section in sections for sentence in _obstacles_of(section))

    def refusals(self) -> tuple[str, ...]:
        """Into the view of a port and out again: that changes nothing, and takes a role that may
        configure. (Every role may enter the system view; only network-admin may ask for roles.)"""
        _, sections = self.cli.interfaces()
        ports = [s.interface for s in sections if s.interface and "/" in s.interface]
        try:
            for port in ports[:1]:
                self.cli.configure((line("interface", port), lines.QUIT))
        except CommandRejected as error:
            return (f"this account cannot set anything: {error.problem}; {error.remedy}",)
        return ()


def _obstacles_of(section: Section) -> list[str]:
    return [
        f"{section.interface}: {what} (`{line}`)"
        for start, what in _IN_THE_WAY
        for line in section.lines
        if line.startswith(start)
    ]
