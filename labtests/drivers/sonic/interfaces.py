"""Ports: state, speed, MTU, FEC (`show interfaces status`), and what they count themselves.

A longest frame is the MTU and 22 bytes: orchagent adds header, VLAN tag and check sequence.
"""

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkFacts, LinkState
from labtests.capabilities.readings import Reading
from labtests.drivers.displays import Unfit, read_variant, variants
from labtests.drivers.frames import FrameLimit
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import ErrorsAmongCounters
from labtests.drivers.sonic.database import Db, DbSetting
from labtests.drivers.sonic.session import (
    NOTATION,
    PASSED,
    PORTS_REMEDY,
    Counts,
    counted,
    of_port,
    show,
)
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

HEADER_BYTES = 22
_FEC = {"rs": "rs", "fc": "baser", "none": "off"}
_BITS = {"M": 10**6, "G": 10**9}
_COUNTERS = {
    "RX_OK": c.RX_PACKETS,
    "RX_ERR": c.RX_ERRORS,
    "RX_OVR": c.RX_OVERSIZE_PACKETS,
    "TX_OK": c.TX_PACKETS,
    "TX_ERR": c.TX_ERRORS,
    "TX_OVR": "tx_oversize_packets",
    "RX_DRP": c.NET_RX_DROPPED,
    "TX_DRP": "tx_discards",
}
"""What is discarded on the way out is what queues count, and more: no loss of its own."""


def _facts(port: str, speed: str, mtu: str, oper: str, **more: str) -> tuple[str, LinkFacts]:
    if speed != "N/A" and not (speed[:-1].isdigit() and speed[-1] in _BITS):
        raise Unfit(f"has the speed {speed!r}")
    return port, LinkFacts(
        up=oper == "up",
        speed_bits_per_s=None if speed == "N/A" else int(speed[:-1]) * _BITS[speed[-1]],
        frame_bytes=None if mtu == "N/A" else int(mtu) + HEADER_BYTES,
        fec=_FEC.get(more.get("fec", "")) if oper == "up" else None,  # what is set is in force then
    )


STATUS = variants(
    NOTATION,
    {"Interface": "port:port", "Lanes": "lanes", "Speed": r"speed:[0-9]{1,9}[MG]|N/A"}
    | {"MTU": r"mtu:[0-9]{1,6}|N/A", "FEC?": "fec:rs|fc|none|auto|N/A", "Alias": "alias"}
    | {"Vlan?": "vlan", "Oper": "oper:up|down|N/A", "Admin": "admin:up|down|N/A"}
    | {"Type?": "type:rest?", "Asym PFC?": "asymmetric:on|off|N/A"},
    make=_facts,
    passed=PASSED,
)
_RATES = {"BPS": "rest", "PPS?1": "rest", "UTIL": "rest"}
_SIDE = {"OK": "count"} | _RATES | dict.fromkeys(("ERR", "DRP", "OVR"), "count")
COUNTERS = variants(
    NOTATION,
    {"IFACE": "port:port", "STATE": "state:U|D|X|N/A"}
    | {f"{s}_{w}": f"{s}_{w.partition('?')[0]}:{k}" for s in ("RX", "TX") for w, k in _SIDE.items()}
    | {f"{each}?2": f"{each}:count" for each in ("TRIM", "TRIM_TX", "TRIM_DRP")},
    make=lambda port, **cells: (port, {"": {word: cells[word] for word in _COUNTERS}}),
    passed=PASSED,
)


def parse_status(reply: Reply) -> dict[str, LinkFacts]:
    """By port."""
    return dict(read_variant(reply, STATUS))


def parse_counters(reply: Reply) -> dict[str, Counts]:
    """By port and the switch's own word."""
    return dict(read_variant(reply, COUNTERS))


class SonicInterfaces(PlatformPart, LinkState, ErrorsAmongCounters):
    """Links, and what ports count."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """See LinkState."""
        reply = yield from show("interfaces", "status")
        return of_port(reply, port, parse_status(reply))

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that is counted."""
        own = yield from counted(port, parse_counters, "interfaces", "counters")
        return tuple(
            own.of("", word, (name, "packets"), ("port", None)) for word, name in _COUNTERS.items()
        )


class SonicFrameLimit(DbSetting[int | None], FrameLimit):
    """`mtu` of a port; None where its entry has none."""

    tables = ("PORT",)
    default_bytes = 1514
    """Of orchagent."""

    def value(self, db: Db, port: str) -> int | None:
        """As configured."""
        entry = db.tables["PORT"].get(port)
        if entry is None:
            raise self.reject(f"PORT|{port}", "there is no such port", PORTS_REMEDY)
        return self.number(f"PORT|{port}", entry, "mtu") + HEADER_BYTES if "mtu" in entry else None

    def _made(self, db: Db, port: str, wanted: int | None) -> Db:
        if wanted == 0:  # no jumbo frames, where a switch has such a setting
            raise self.reject(f"PORT|{port}", "0 is not a valid MTU", "give the longest frame")
        mtu = None if wanted is None else str(wanted - HEADER_BYTES)
        return db.holding("PORT", port, mtu=mtu)
