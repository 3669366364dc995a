"""What a suite may ask of a SONiC box: its settings and counters, who it is, what is in the way."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from labtests.capabilities.device import Obstacles, Versions
from labtests.capabilities.facts import Neighbour, Neighbours
from labtests.drivers.displays import Table, first_said, read_table
from labtests.drivers.displays.box import TOTAL, expect_total
from labtests.drivers.linux.links import DateClock
from labtests.drivers.parsing import incomplete, mac_digits, refuse
from labtests.drivers.parts import PlatformPart, drivers
from labtests.drivers.sonic.counters import SonicCounters, SonicQueues
from labtests.drivers.sonic.database import Db, named, numbered, read_tables
from labtests.drivers.sonic.egress import SonicEcn, SonicScheduling
from labtests.drivers.sonic.interfaces import SonicFrameLimit, SonicLinks
from labtests.drivers.sonic.maps import SonicDscpMap, SonicQueueMap, SonicTrust
from labtests.drivers.sonic.pfc import SonicPfc
from labtests.drivers.sonic.session import NOTATION, show
from labtests.drivers.sonic.streams import SonicStreams
from labtests.drivers.sonic.thresholds import SonicMemory, SonicThresholds
from labtests.drivers.sonic.watchdog import SonicWatchdog, SonicWatchdogTimes
from labtests.drivers.sonic.watermarks import SonicWatermarkPolls, SonicWatermarks
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

SESSION = "shell"
KIND: Literal["host", "switch"] = "switch"

_SETTINGS = (
    *(SonicPfc, SonicTrust, SonicEcn, SonicScheduling),
    *(SonicDscpMap, SonicQueueMap, SonicFrameLimit),
    *(SonicWatchdogTimes, SonicWatchdog, SonicThresholds, SonicWatermarkPolls),
)


# -- who it is -------------------------------------------------------------------------------------

_TOLD = {"SONiC Software Version": "sonic", "HwSKU": "model", "ASIC": "asic"}
_VERSION = [re.compile(rf"^\s*{words}: (?P<{name}>.*)") for words, name in _TOLD.items()]


def parse_version(reply: Reply) -> dict[str, str]:
    """`sonic`, `model` (HwSKU) and `asic`. The rest is the build, the box and its containers."""
    found = {name: text.strip() for name, text in first_said(reply, *_VERSION).items()}
    if missing := [name for name, text in found.items() if not text]:
        incomplete(reply, f"it has no line that tells the {missing[0]}")
    return found


LLDP = Table(
    about=NOTATION.columns(
        {"LocalPort": "port:port", "RemoteDevice": "name:rest?", "RemotePortID": "port_id:rest?"}
        | {"Capability": ":[A-Z]+?", "RemotePortDescr": "port_description:rest?"}
    ),
    make=Neighbour,
    passed=re.compile(rf"Capability codes:.*|{TOTAL.pattern}"),
    rowwise=True,
)


def _plain(found: Neighbour) -> Neighbour:
    """A MAC address by its digits."""
    return replace(found, port_id=mac_digits(found.port_id) or found.port_id)


def parse_lldp(reply: Reply) -> tuple[Neighbour, ...]:
    """Those of its front ports, one each; as many in all as the switch says. What eth0 hears comes
    through the management's network."""
    found = read_table(reply, LLDP)
    expect_total(reply, len(found))
    front = {each.port: _plain(each) for each in found if each.port != "eth0"}
    if len(front) != sum(each.port != "eth0" for each in found):
        refuse(reply, "a port has two neighbours", "see `show lldp neighbors`")
    return tuple(front.values())


# -- what is in the way ----------------------------------------------------------------------------

_TABLES = (*SonicPfc.tables, "PFC_WD", "SCHEDULER", "QUEUE")


def _obstacles(db: Db, of: PlatformPart) -> Iterator[str]:
    if db.entry("PFC_WD", "GLOBAL").get("BIG_RED_SWITCH") == "enable":
        yield "all that is lossless is dropped (`pfcwd big_red_switch disable`)"
    for port in of.ports:
        yield from (f"{port}: a run would {e}" for e in SonicPfc(of.device).left_behind(db, port))
        if guard := db.entry("PFC_WD", port):
            action, after_ms = guard.get("action", "drop"), guard.get("detection_time", "?")
            told = f"action {action} after {after_ms} ms; `pfcwd stop {port}`"
            yield f"{port}: the PFC watchdog may shut a queue in a run ({told})"
        entries = [db.entry("QUEUE", key) for key, _ in numbered(db.tables["QUEUE"], port)]
        entries.append(db.entry("PORT_QOS_MAP", port))
        for name in sorted({named(entry.get("scheduler", "")) for entry in entries}):
            if db.entry("SCHEDULER", name).get("pir", "").strip("0"):
                yield f"{port}: it is shaped, slower than its link (SCHEDULER|{name}: pir)"


class SonicState(PlatformPart, Versions, Neighbours, DateClock, Obstacles):
    """The box itself."""

    def versions(self) -> Asking[dict[str, str]]:
        """`sonic`, `model` and `asic`."""
        return parse_version((yield from show("version")))

    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """By LLDP."""
        return parse_lldp((yield from show("lldp", "table")))

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What the configuration has that would undo or distort a test's settings."""
        return tuple(_obstacles((yield from read_tables(*_TABLES)), self))


_PARTS = (
    *(SonicQueues, SonicCounters, SonicWatermarks, SonicMemory),
    *(SonicLinks, SonicStreams, SonicState),
)
driver_of = drivers(_SETTINGS, _PARTS)
