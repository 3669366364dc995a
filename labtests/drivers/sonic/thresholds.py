"""When priority groups pause: their buffer profiles. Bytes; `dynamic_th` is a power of two (SAI).

The dynamic buffer model keeps none in CONFIG_DB (`NULL` in BUFFER_PG): its numbers are not told.
"""

import re
from dataclasses import replace

from labtests.capabilities.device import MemoryLimits
from labtests.capabilities.records import BufferThresholds, PortMemory
from labtests.capabilities.settings import BUFFER_THRESHOLDS, PFC
from labtests.drivers.parts import PlatformPart
from labtests.drivers.sonic.database import Db, DbSetting, Entry, Slot, named, numbered, read_tables
from labtests.drivers.sonic.egress import SonicEcn
from labtests.transport.asking import Asking

PROFILE, POOL = "BUFFER_PROFILE", "BUFFER_POOL"
Thresholds = tuple[BufferThresholds, ...]
_FIELDS = {
    "dynamic_exponent": "dynamic_th",
    "static": "static_th",
    "xon_offset": "xon_offset",
    "xon": "xon",
    "reserved": "size",
    "headroom": "xoff",
}


def slots_of(db: Db, port: str) -> dict[int, Slot]:
    """What the groups of a port refer to. Beside that of lossy traffic (`Ethernet0|0`) a group may
    have an entry with headroom (`Ethernet0|0-7`), which holds."""
    return {group: slot for slot, groups in _slots(db, port) for group in groups}


def _slots(db: Db, port: str) -> list[tuple[Slot, frozenset[int]]]:
    """Those with headroom are told last."""
    keys = numbered(db.tables["BUFFER_PG"], port)
    found = [(Slot("BUFFER_PG", key, PROFILE), groups) for key, groups in keys]
    return sorted(found, key=lambda each: "xoff" in each[0].found(db))


class SonicThresholds(DbSetting[Thresholds]):
    """The profile of each group that has headroom."""

    kind, within = BUFFER_THRESHOLDS, PFC
    tables = ("BUFFER_PG", PROFILE, POOL)

    def value(self, db: Db, port: str) -> Thresholds:
        """As configured."""
        lossless = [each for each in _slots(db, port) if "xoff" in each[0].found(db)]
        found: dict[int, Slot] = {}
        for slot, groups in lossless:
            if twice := groups & found.keys():
                problem = f"{found[min(twice)].key} has group {min(twice)}, too"
                raise self.reject(f"BUFFER_PG|{slot.key}", problem, "remove one of them")
            found |= dict.fromkeys(groups, slot)
        numbers = {group: self.numbers(found[group], db) for group in range(8) if group in found}
        return tuple(BufferThresholds(priority=n, unit="bytes", **numbers[n]) for n in numbers)

    def numbers(self, slot: Slot, db: Db) -> dict[str, int]:
        """By the names of BufferThresholds. Raises CommandRejected."""
        entry, where = slot.found(db), f"{PROFILE}|{slot.name(db)}"
        found = {n: self.number(where, entry, f) for n, f in _FIELDS.items() if f in entry}
        if abs(found.get("dynamic_exponent", 0)) > 8 or not _one_threshold(entry):
            problem = "it needs one of static_th and dynamic_th, the latter -8 to 8"
            raise self.reject(where, problem, "correct it")
        return found

    def there(self, value: Thresholds, now: Thresholds) -> Thresholds:
        """Of groups that have headroom now."""
        return tuple(e for e in value if e.priority in {each.priority for each in now})

    def _made(self, db: Db, port: str, wanted: Thresholds) -> Db:
        slots, told = slots_of(db, port), {each.priority: each for each in wanted}
        if unknown := sorted(told.keys() - {each.priority for each in self.value(db, port)}):
            problem = f"group {unknown[0]} has no buffer profile with headroom"
            remedy = "make the priority lossless first (PFC)"
            raise self.reject(f"BUFFER_PG|{port}", problem, remedy)
        for key in sorted({slot.key for slot in slots.values()}):
            groups = [group for group, slot in slots.items() if slot.key == key]
            asked = {replace(told[n], priority=0) for n in groups if n in told}
            if asked:
                db = self._entry(db, slots[groups[0]], asked, together=len(groups))
        return db

    def _entry(self, db: Db, slot: Slot, asked: set[BufferThresholds], *, together: int) -> Db:
        if len(asked) > 1 or "," in slot.key:
            problem = f"it is one entry of {together} groups, which are to differ"
            raise self.reject(f"BUFFER_PG|{slot.key}", problem, "give each group one of its own")
        wanted, names = self._fields(slot, asked.pop()), _FIELDS.values()

        def own(entry: Entry) -> Entry:
            self._expect_whole(db, slot, wanted)
            return {**{name: v for name, v in entry.items() if name not in names}, **wanted}

        return slot.meaning(
            db, lambda entry: {n: _plain(entry[n]) for n in names if n in entry} == wanted, own
        )

    def _fields(self, slot: Slot, wanted: BufferThresholds) -> Entry:
        numbers = {field: getattr(wanted, name) for name, field in _FIELDS.items()}
        if wanted.unit != "bytes" or wanted.dynamic_percent is not None:
            problem = f"it cannot have {wanted.unit}, or percent"
            remedy = "give bytes, and one of static and dynamic_exponent"
            raise self.reject(f"{PROFILE} of BUFFER_PG|{slot.key}", problem, remedy)
        return {field: str(number) for field, number in numbers.items() if number is not None}

    def _expect_whole(self, db: Db, slot: Slot, told: Entry) -> None:
        """Raise CommandRejected for what orchagent would not take: it is not asked what it took."""
        where = f"{PROFILE} of BUFFER_PG|{slot.key}"
        if not _one_threshold(told) or not {"size", "xoff"} <= told.keys():
            problem = "it has not one threshold, a size and headroom"
            remedy = "give one of `static` and `dynamic_exponent`, `reserved` and `headroom`"
            raise self.reject(where, problem, remedy)
        mode = self.pool(db, slot).get("mode", "dynamic" if "dynamic_th" in told else "static")
        if f"{mode}_th" not in told:
            problem = f"its pool is {mode}, and so has to be its threshold"
            raise self.reject(where, problem, f"give {mode}_th")

    def pool(self, db: Db, slot: Slot) -> Entry:
        """That of a group's profile."""
        return db.entry(POOL, pool_of(db, slot))


def pool_of(db: Db, slot: Slot) -> str:
    """The name of the pool that a group shares, "" where that is not told."""
    return named(slot.found(db).get("pool", ""))


def _plain(text: str) -> str:
    """A number as it is written here, whatever zeros it has in front."""
    return str(int(text)) if re.fullmatch("-?[0-9]{1,18}", text) else text


def _one_threshold(entry: Entry) -> bool:
    return ("dynamic_th" in entry) != ("static_th" in entry)


class SonicMemory(PlatformPart, MemoryLimits):
    """The same in bytes, with the pool that is shared, and the curves of the port's queues."""

    def memory_limits(self, port: str) -> Asking[PortMemory]:
        """See MemoryLimits."""
        own, ecn = SonicThresholds(self.device), SonicEcn(self.device)
        db = yield from read_tables(*own.tables, *ecn.tables)
        told, curves = own.value(db, port), ecn.value(db, port).queues
        pools = {group: own.pool(db, slot) for group, slot in slots_of(db, port).items()}
        return PortMemory(
            priorities=tuple(each.memory(_size(pools[each.priority])) for each in told),
            kmax_bytes=tuple((each.queue, each.high_limit) for each in curves if each.ecn),
        )


def _size(pool: Entry) -> int | None:
    size = pool.get("size", "")
    return int(size) if re.fullmatch("[0-9]{1,18}", size) else None
