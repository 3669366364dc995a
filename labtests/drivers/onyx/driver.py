"""What a suite may ask of an Onyx switch: settings, counters, who it is, what is in the way."""

import re
from collections.abc import Iterator
from typing import Literal

from labtests.capabilities.facts import Neighbour
from labtests.capabilities.settings import Commands
from labtests.core.output import excerpt
from labtests.drivers.displays import CliBox, CliState, Unfit, read_one, utc_s
from labtests.drivers.displays.trees import Node, parse_any
from labtests.drivers.onyx.egress import SERVED, OnyxEcn, OnyxScheduling
from labtests.drivers.onyx.interfaces import INTERFACE, OnyxFrameLimit, OnyxInterfaces
from labtests.drivers.onyx.pfc import OnyxPfc, OnyxPfcFrames
from labtests.drivers.onyx.pools import OnyxTrafficPools, pools_in_the_way, pools_told
from labtests.drivers.onyx.qos import OnyxDscpMap, OnyxQueueMap, OnyxTrust
from labtests.drivers.onyx.queues import OnyxQueues
from labtests.drivers.onyx.session import ONYX, OnyxPart, Told, in_json, line, rows_of
from labtests.drivers.parts import drivers
from labtests.transport.asking import Asking, known
from labtests.transport.protocol import Reply

SESSION = "mellanox_mlnxos"
"""How it is reached: netmiko's device type for MLNX-OS, as Onyx was called before."""

KIND: Literal["host", "switch"] = "switch"

_SETTINGS = (
    *(OnyxPfc, OnyxTrust, OnyxEcn, OnyxScheduling),
    *(OnyxDscpMap, OnyxQueueMap, OnyxFrameLimit, OnyxTrafficPools),
)


def parse_version(reply: Reply) -> dict[str, str]:
    """`onyx` and `model`."""
    told = Told.by(parse_any(reply))
    told["Product name"].one_of("MLNX-OS", "Onyx")
    release = told["Product release"].like(r"[0-9][\w.-]*", "a release")[0]
    return {"onyx": release, "model": told["Product model"].text()}


# -- neighbours ------------------------------------------------------------------------------------

_AT = re.compile(r"(Eth[0-9/]+)(?: \(\w+\))?")
_NOTHING = "Not Advertised"
_NOBODY = ("", "No lldp remote information.")


def parse_lldp(reply: Reply) -> tuple[Neighbour, ...]:
    """Those of its front ports, one each. A port in a port-channel is called `Eth1/1 (Po100)`."""
    return tuple(_neighbours(reply))


def _neighbours(reply: Reply) -> Iterator[Neighbour]:
    seen = set()
    for row in rows_of(parse_any(reply)):
        for name, node in row.named():
            if name == "Lines" and all(each.text() in _NOBODY for each in node.rows()):
                continue
            found = _AT.fullmatch(name)
            if found is None:
                row.refuse(f"has {excerpt(name, 80)!r}, which is not a port")
            heard = node.rows()
            if len(heard) != 1 or found[1] in seen:
                node.refuse(
                    f"has {len(heard)} neighbours, or comes twice", "see `show lldp remote`"
                )
            seen.add(found[1])
            yield _neighbour(found[1], heard[0])


def _neighbour(port: str, node: Node) -> Neighbour:
    if node.has("Transmit"):  # of `show lldp interfaces`
        node.refuse("is about what the port itself sends")
    if not node.has("Remote port-id"):
        node.refuse("lacks the field 'Remote port-id'")
    system, port_id, description = (
        "" if (text := node.below(f"Remote {words}").text()) == _NOTHING else text
        for words in ("system name", "port-id", "port description")
    )
    return Neighbour(port=port, name=system, port_id=port_id, port_description=description)


# -- the clock -------------------------------------------------------------------------------------


def _told_s(time: str, date: str, zone: str) -> float:
    if not re.fullmatch(r"(?:UTC(?:-offset)? )?\(?(?:Etc/)?UTC\)?", zone):
        raise Unfit(f"does not say how far {zone} is from UTC", "set `clock timezone UTC`")
    return utc_s(f"{date} {time}", "%Y/%m/%d %H:%M:%S")


_CLOCK = ONYX.record(
    "",
    ONYX.line("Time: <time:[0-9:]+>"),
    ONYX.line("Date: <date:[0-9/]+>"),
    ONYX.line("Time zone: <zone:text>"),
    ONYX.maybe("UTC-offset: same as UTC"),
    make=_told_s,
)


def parse_clock(reply: Reply) -> tuple[float]:
    """Seconds since 1970, to the second."""
    return (read_one(reply, _CLOCK),)


# -- the switch itself -----------------------------------------------------------------------------


class OnyxState(OnyxPart, CliBox, CliState):
    """The switch itself."""

    version = (in_json("version"), parse_version)
    clock = (line("show", "clock"), lambda reply: parse_clock(reply)[0], 1.0)
    heard = (in_json("lldp", "interfaces", "ethernet", "remote"), parse_lldp)

    def interfaces(self) -> Asking[tuple[str, ...]]:
        """Those of the testbed."""
        return known(self.ports)

    def trial(self) -> Asking[Commands]:
        """Into the view of a port and out again."""
        if not self.ports:
            return known(())
        return known((line("interface", *self.at(self.ports[0])), line("exit")))

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What would distort a test's settings."""
        found = list(pools_in_the_way((yield from pools_told())))
        for port in self.ports:
            _, (_, pauses) = yield from self.shown(INTERFACE, port)
            if pauses is not False:
                said = "it pauses" if pauses else "it does not say whether it pauses"
                found.append(f"{port}: {said} all priorities together (`flowcontrol`)")
            _, served = yield from self.shown(SERVED, port)
            slow = (f"{what} is shaped, and slower than its link" for what in served.shaped)
            found += [f"{port}: {each}" for each in slow]
        return tuple(found)


driver_of = drivers(_SETTINGS, (OnyxQueues, OnyxPfcFrames, OnyxInterfaces, OnyxState))
