"""Ports: state, speed, MTU, FEC (`show interfaces status`).

A longest frame is the MTU and 22 bytes: orchagent adds header, VLAN tag and check sequence.
"""

from labtests.capabilities.facts import LinkFacts, LinkState
from labtests.drivers.displays import Unfit
from labtests.drivers.frames import FrameLimit
from labtests.drivers.parts import PlatformPart
from labtests.drivers.sonic import session as s
from labtests.drivers.sonic.database import Db, DbSetting
from labtests.transport.asking import Asking

HEADER_BYTES = 22
_FEC = {"rs": "rs", "fc": "baser", "none": "off"}
_BITS = {"M": 10**6, "G": 10**9}


def _facts(port: str, speed: str, mtu: str, oper: str, **more: str) -> tuple[str, LinkFacts]:
    if speed != "N/A" and not (speed[:-1].isdigit() and speed[-1] in _BITS):
        raise Unfit(f"has the speed {speed!r}")
    return port, LinkFacts(
        up=oper == "up",
        speed_bits_per_s=None if speed == "N/A" else int(speed[:-1]) * _BITS[speed[-1]],
        frame_bytes=None if mtu == "N/A" else int(mtu) + HEADER_BYTES,
        fec=_FEC.get(more.get("fec", "")) if oper == "up" else None,  # what is set is in force then
    )


parse_status: s.Parser[LinkFacts] = s.releases(
    {"Interface": "port:port", "Lanes": "lanes", "Speed": r"speed:[0-9]{1,9}[MG]|N/A"}
    | {"MTU": r"mtu:[0-9]{1,6}|N/A", "FEC?": "fec:rs|fc|none|auto|N/A", "Alias": "alias"}
    | {"Vlan?": "vlan", "Oper": "oper:up|down|N/A", "Admin": "admin:up|down|N/A"}
    | {"Type?": "type:rest?", "Asym PFC?": "asymmetric:on|off|N/A"},
    make=_facts,
)


class SonicLinks(PlatformPart, LinkState):
    """Links."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """See LinkState."""
        return s.of_port((yield from s.show("interfaces", "status")), port, parse_status)


class SonicFrameLimit(DbSetting[int | None], FrameLimit):
    """`mtu` of a port; None where its entry has none."""

    tables = ("PORT",)
    header_bytes, mtus = HEADER_BYTES, range(68, 9217)
    default_bytes = 1514
    """Of orchagent."""

    def value(self, db: Db, port: str) -> int | None:
        """As configured."""
        entry = db.tables["PORT"].get(port)
        if entry is None:
            raise self.reject(f"PORT|{port}", "there is no such port", s.PORTS_REMEDY)
        return self.number(f"PORT|{port}", entry, "mtu") + HEADER_BYTES if "mtu" in entry else None

    def _made(self, db: Db, port: str, wanted: int | None) -> Db:
        mtu = None if wanted is None else str(self.mtu(f"PORT|{port}", wanted))
        return db.holding("PORT", port, mtu=mtu)
