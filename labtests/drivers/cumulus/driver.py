"""What a suite may ask of a Cumulus switch: settings, counters, who it is, what is in the way."""

import re
from collections.abc import Iterator
from typing import Literal

from labtests.capabilities.device import Obstacles, Versions
from labtests.capabilities.facts import Caveats, Neighbour, Neighbours
from labtests.core.output import excerpt
from labtests.drivers.cumulus.egress import CumulusEcn, CumulusScheduling
from labtests.drivers.cumulus.interfaces import CumulusFrameLimit, CumulusInterfaces
from labtests.drivers.cumulus.maps import CumulusDscpMap, CumulusQueueMap, CumulusTrust
from labtests.drivers.cumulus.pfc import CumulusCable, CumulusPfc
from labtests.drivers.cumulus.profiles import parse_port, read_applied
from labtests.drivers.cumulus.queues import CumulusQueues
from labtests.drivers.cumulus.roce import CumulusRoceCounters
from labtests.drivers.cumulus.roce_mode import CumulusRoceMode
from labtests.drivers.cumulus.session import REVISIONS, expected, show, shown
from labtests.drivers.cumulus.streams import CumulusStreams
from labtests.drivers.cumulus.watchdog import (
    CumulusWatchdog,
    CumulusWatchdogCounters,
    CumulusWatchdogTimes,
)
from labtests.drivers.displays.trees import Node, parse
from labtests.drivers.linux.links import DateClock
from labtests.drivers.parsing import READ_AGAIN
from labtests.drivers.parts import PlatformPart, drivers
from labtests.transport.asking import Asking, ask, ask_each, both
from labtests.transport.protocol import Reply

SESSION = "shell"
KIND: Literal["host", "switch"] = "switch"

_SETTINGS = (
    *(CumulusRoceMode, CumulusPfc, CumulusTrust, CumulusEcn, CumulusScheduling),
    *(CumulusDscpMap, CumulusQueueMap, CumulusFrameLimit, CumulusCable),
    *(CumulusWatchdogTimes, CumulusWatchdog),
)


def parse_version(reply: Reply) -> dict[str, str]:
    """`cumulus`: what `nv show system` calls build, or product-release."""
    system = parse(reply)
    name = next((each for each in ("build", "product-release") if system.has(each)), None)
    if name is None:
        system.refuse("lacks the fields 'build' and 'product-release'", READ_AGAIN)
    found = re.fullmatch(r"(?:Cumulus Linux )?([0-9][\w.~+-]*)", system.below(name).text())
    if found is None:
        system.below(name).refuse("is not a version of Cumulus Linux")
    return {"cumulus": found[1]}


def parse_lldp(reply: Reply) -> tuple[Neighbour, ...]:
    """Those of its front ports, one each. eth0 hears the management's network."""
    return tuple(_neighbours(parse(reply)))


def _neighbours(whole: Node) -> Iterator[Neighbour]:
    for port, interface in whole.items():
        heard = list(interface.below("lldp", "neighbor").fields())
        if len(heard) > 1 and port != "eth0":
            interface.refuse("has two neighbours", "see `nv show interface lldp`")
        for name in heard if port != "eth0" else ():
            of = interface.below("lldp", "neighbor", name)
            yield Neighbour(
                port=port,
                name=of.below("chassis", "system-name").text(),
                port_id=of.below("port", "name").text(),
                port_description=of.below("port", "description").text(),
            )


# -- what is in the way ----------------------------------------------------------------------------


def _of_port(port: str, told: dict[str, str]) -> Iterator[str]:
    if told.get("pfc-watchdog") in ("enable", "enabled", "on"):
        way_out = f"nv unset interface {port} qos pfc-watchdog"
        yield f"{port}: the PFC watchdog may shut a queue in a run (`{way_out}`)"
    if name := told.get("link-pause"):
        yield f"{port}: it pauses all priorities together (qos link-pause profile {name})"
    if name := told.get("egress-shaper"):
        yield f"{port}: it may be slower than its link (qos egress-shaper profile {name})"


def parse_revisions(reply: Reply) -> Iterator[str]:
    """A sentence for each that is not in force and may be, or is in force and may not stay so."""
    for number, each in parse(reply).items():
        if (state := each.below("state").word()) in ("pending", "confirm"):
            may = "be applied" if state == "pending" else "be undone by itself, unless confirmed,"
            yield f"revision {number} may {may} in a run (`nv config diff applied {number}`)"


class CumulusState(PlatformPart, Versions, Neighbours, DateClock, Obstacles, Caveats):
    """The switch itself."""

    def versions(self) -> Asking[dict[str, str]]:
        """`cumulus`."""
        return parse_version((yield from show("system")))

    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """By LLDP."""
        return parse_lldp((yield from show("interface", "lldp")))

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What would undo, distort or be applied with a test's settings."""
        asked = ask_each(*(shown("interface", port, "--applied") for port in self.ports))
        applied, replies = yield from both(read_applied("pfc", ""), asked)
        waiting, found = applied.pending, list[str]()
        if applied.unknown:
            found.append(f"RoCE mode is on ({applied.roce}), and what it sets is not known "
                         f"({applied.unknown}): `nv unset qos roce`")  # fmt: skip
        if waiting:
            found.append(f"{len(waiting)} changes are pending, first `{excerpt(waiting[0], 80)}`: "
                         "`nv config apply` or `nv config detach`")  # fmt: skip
        for port, reply in zip(self.ports, replies, strict=True):
            found += _of_port(port, parse_port(expected(reply)))
        return tuple(found)

    def caveats(self) -> Asking[tuple[str, ...]]:
        """What another account has pending, too, and what waits to be confirmed."""
        return tuple(parse_revisions(expected((yield from ask(REVISIONS)))))


_PARTS = (
    *(CumulusQueues, CumulusInterfaces, CumulusWatchdogCounters, CumulusState),
    *(CumulusRoceCounters, CumulusStreams),
)
driver_of = drivers(_SETTINGS, _PARTS)
