"""Which packets get which traffic class (TC), and which TC which queue: maps that a port refers to.

A port without a DSCP map puts everything into TC 0 (SAI). One without a map from TC to queue is
taken for queue n for TC n, which is from memory.
"""

import re

from labtests.capabilities import settings as s
from labtests.capabilities.records import TrustSetting
from labtests.core.output import excerpt
from labtests.drivers.maps import DscpMapSetting
from labtests.drivers.sonic.database import Db, DbSetting, Slot
from labtests.drivers.standing import OURS

_DSCP, _QUEUE, GROUP = "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP"
_NUMBER = re.compile("NULL|0|[1-9][0-9]?")
"""NULL is what an entry has that has nothing."""
_USUAL, _SAME = tuple(dscp // 8 for dscp in range(64)), tuple(range(8))


def slot_of(port: str, pool: str) -> Slot:
    """The map that a port refers to."""
    return Slot("PORT_QOS_MAP", port, pool)


class _Maps(DbSetting[s.T]):
    """A setting in which ports refer to maps."""

    def numbers(self, db: Db, slot: Slot, size: int) -> tuple[int, ...] | None:
        """What the port's map says, 0 of what it leaves out (SAI); None where it has none."""
        entry, where = self.referred(db, slot), f"{slot.pool}|{slot.name(db)}"
        if entry is None:
            return None
        if odd := sorted(name for name in entry if not _NUMBER.fullmatch(name)):
            problem = f"it maps {excerpt(odd[0], 80)!r}, which is not a number"
            raise self.reject(where, problem, "write whole numbers without zeros before them")
        found = tuple(self.number(where, entry, str(n), 0) for n in range(size))
        if wrong := [n for n in range(size) if found[n] not in _SAME]:
            problem = f"it maps {wrong[0]} to {found[wrong[0]]}"
            raise self.reject(where, problem, "use classes 0 to 7")
        return found

    def mapped(self, db: Db, slot: Slot, wanted: tuple[int, ...]) -> Db:
        """The port refers to a map that says this."""
        own = {str(n): str(c) for n, c in enumerate(wanted)}
        return slot.meaning(db, lambda e: all(e.get(n, "0") == own[n] for n in own), lambda _: own)


class SonicTrust(_Maps[TrustSetting]):
    """Whether the port has a DSCP map. One that gets one gets the map of the other ports, the only
    one there is, else one of its own: TC p for DSCP 8p to 8p + 7."""

    kind = s.TRUST
    tables = ("PORT_QOS_MAP", _DSCP)

    def value(self, db: Db, port: str) -> TrustSetting:
        """By the port's entry."""
        if slot_of(port, _DSCP).name(db):
            return TrustSetting(source="dscp")
        tagged = db.entry("PORT_QOS_MAP", port).get("dot1p_to_tc_map")
        return TrustSetting(source="dot1p" if tagged else "none")

    def _made(self, db: Db, port: str, wanted: TrustSetting) -> Db:
        slot, now, where = slot_of(port, _DSCP), self.value(db, port), f"PORT_QOS_MAP|{port}"
        if now == wanted:
            return db
        if wanted.override or {now.source, wanted.source} != {"dscp", "none"}:
            problem = f"labtests does not change {now} to {wanted}"
            raise self.reject(where, problem, 'use "dscp" or "none", without override')
        if wanted.source == "dscp":
            return self._trusting(db, slot)
        free, name = slot.referring(db, ""), slot.base(db)
        if name and slot.name(self._trusting(free, slot)) != name:
            problem = f"it has {name}, one of several DSCP maps: labtests could not restore it"
            raise self.reject(where, problem, "take the map off by hand")
        return free

    def _trusting(self, db: Db, slot: Slot) -> Db:
        others = [name for name in db.tables[slot.pool] if not name.startswith(OURS)]
        if len(others) == 1:
            return slot.referring(db, others[0])
        return self.mapped(db, slot, _USUAL)


class SonicDscpMap(_Maps[tuple[int, ...]], DscpMapSetting):
    """The TC of each DSCP at a port that has a map."""

    tables = SonicTrust.tables

    def value(self, db: Db, port: str) -> tuple[int, ...]:
        """Refused where there is none."""
        found = self.numbers(db, slot_of(port, _DSCP), 64)
        if found is None:
            problem = "the port has no DSCP map, because it does not classify by DSCP"
            raise self.reject(f"PORT_QOS_MAP|{port}", problem, "give it one first: dscp_to_tc_map")
        return found

    def _made(self, db: Db, port: str, wanted: tuple[int, ...]) -> Db:
        return self.mapped(db, slot_of(port, _DSCP), wanted)


class SonicQueueMap(_Maps[tuple[int, ...]]):
    """The queue of each TC, at all ports of the testbed alike."""

    kind = s.QUEUE_MAP
    wide = True
    tables = ("PORT_QOS_MAP", _QUEUE)

    def value(self, db: Db, port: str) -> tuple[int, ...]:
        """Refused where ports differ."""
        found = {self.numbers(db, slot_of(name, _QUEUE), 8) or _SAME for name in self.ports}
        if len(found) > 1:
            problem = "ports of the testbed have different maps from TC to queue"
            raise self.reject("PORT_QOS_MAP", problem, "give all of them the same tc_to_queue_map")
        return found.pop() if found else _SAME

    def _made(self, db: Db, port: str, wanted: tuple[int, ...]) -> Db:
        ours = any(slot_of(p, _QUEUE).name(db).startswith(OURS) for p in self.ports)
        if self.value(db, port) == wanted and not ours:
            return db
        for name in self.ports:
            slot = slot_of(name, _QUEUE)
            plain = not slot.base(db) and wanted == _SAME
            db = slot.referring(db, "") if plain else self.mapped(db, slot, wanted)
        return db
