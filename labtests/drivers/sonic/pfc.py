"""PFC: the lossless priorities of a port, and the frames.

A priority is lossless when `pfc_enable` has it, its TC goes into the priority group (PG) of its own
number, and that group has a buffer profile with headroom (`xoff`).
`pg_lossless_<speed>_<cable>_profile`, made by buffermgrd, and `NULL`, of the dynamic buffer model,
are a port's default. How much headroom there is, is the box's own.

On a box with static buffers, buffermgrd makes BUFFER_PG entries for `pfc_enable` by itself, one for
each run of numbers, writes them anew whenever that changes, and never takes one away; so
`pfc_enable` is written at once, and what is in the way of it is taken away and put back.
"""

from collections.abc import Iterator

from labtests.capabilities.counters import PFC_RX_FRAMES, PFC_TX_FRAMES
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.displays import Table, read_tables, written
from labtests.drivers.parsing import incomplete
from labtests.drivers.parts import PlatformPart
from labtests.drivers.pauses import PausesByPriority, lossless
from labtests.drivers.sonic.database import Db, DbSetting, Entry, Slot, numbered
from labtests.drivers.sonic.maps import GROUP, slot_of
from labtests.drivers.sonic.session import (
    NOTATION,
    PASSED,
    Counts,
    counted_by,
    database,
    set_fields,
    show,
)
from labtests.transport.asking import Asking
from labtests.transport.commands import Shell
from labtests.transport.protocol import Reply

_DEFAULTS = ("pg_lossless_", "NULL")
Groups = frozenset[int]


def _runs(port: str, groups: Groups) -> tuple[str, ...]:
    """`Ethernet0|3-4`, `Ethernet0|6`: as buffermgrd names its entries."""
    return tuple(f"{port}|{run}" for run in written(groups).split(",") if run)


def _entries(db: Db, port: str, *, default: bool) -> dict[str, Groups]:
    """Those of a port that have its default profile, or another one with headroom."""
    found = {}
    for key, groups in db.keys("BUFFER_PG", port):
        name = db.entry("BUFFER_PG", key).get("profile", "")
        name = name.removeprefix("[BUFFER_PROFILE|").removesuffix("]")
        usual = name.startswith(_DEFAULTS)
        if usual == default and (usual or "xoff" in db.entry("BUFFER_PROFILE", name)):
            found[key] = groups
    return found


def laid_out(db: Db, port: str, lossless: Groups) -> Db:
    """The default profile is that of exactly these groups, one entry for each run of them, as
    buffermgrd writes it; groups with another one keep it. Without a default nothing is written."""
    defaults = _entries(db, port, default=True)
    if not defaults:
        return db
    others = _entries(db, port, default=False).values()
    wanted, entry = _runs(port, lossless.difference(*others)), db.entry("BUFFER_PG", min(defaults))
    return db.having("BUFFER_PG", {**dict.fromkeys(defaults), **dict.fromkeys(wanted, entry)})


def repaired(before: Db, after: Db, port: str, earlier: Groups, wanted: Groups) -> Iterator[Shell]:
    """Lines that take away what buffermgrd makes of these groups and the tables do not say; and
    then tell again what was below that, and below what the tables have lost. What it makes for a
    port that has none stays."""
    entries, defaults = after.tables["BUFFER_PG"].keys(), _entries(after, port, default=True)
    made = {*_runs(port, earlier), *_runs(port, wanted)}
    stale = made - entries - (set() if defaults else set(_runs(port, wanted)))
    for key in sorted(stale - before.tables["BUFFER_PG"].keys()):
        yield database("DEL", "BUFFER_PG", key)
    gone = stale | (before.tables["BUFFER_PG"].keys() - entries)
    lost = {group for _, groups in numbered(gone, port) for group in groups}
    for key, groups in after.keys("BUFFER_PG", port):
        if groups & lost or (key in made and key not in defaults):
            yield set_fields("BUFFER_PG", key, dict(after.entry("BUFFER_PG", key)))


# -- the setting -----------------------------------------------------------------------------------


class SonicPfc(DbSetting[PfcSetting], PausesByPriority):
    """`pfc_enable`."""

    tables = ("PORT_QOS_MAP", GROUP, "BUFFER_PROFILE", "BUFFER_PG")

    def value(self, db: Db, port: str) -> PfcSetting:
        """As configured."""
        text = db.entry("PORT_QOS_MAP", port).get("pfc_enable", "")
        told = [each.strip() for each in text.split(",") if each.strip()]
        if not all(each in "01234567" and len(each) == 1 for each in told):
            raise self.reject(f"PORT_QOS_MAP|{port}", f"pfc_enable is {text!r}", "write `3,4`")
        priorities = frozenset(map(int, told))
        return PfcSetting(mode="on" if priorities else "off", priorities=priorities)

    def _made(self, db: Db, port: str, wanted: PfcSetting) -> Db:
        if wanted.mode == "auto":
            where, remedy = f"PORT_QOS_MAP|{port}", 'use the mode "on" or "off"'
            raise self.reject(where, "SONiC negotiates no PFC", remedy)
        pausing, before = lossless(wanted), self.value(db, port).priorities
        if pausing == before:
            return db
        told = ",".join(map(str, sorted(pausing))) or None
        slot, db = slot_of(port, GROUP), db.holding("PORT_QOS_MAP", port, pfc_enable=told)

        def fits(entry: Entry) -> bool:
            return all(entry.get(str(n), "0") == str(n) for n in pausing)

        def own(entry: Entry) -> Entry:
            usual = {str(n): entry.get(str(n), "0") for n in range(8)}
            return usual | {str(n): str(n) for n in pausing}

        if pausing:
            return laid_out(slot.meaning(db, fits, own), port, pausing)
        db = slot.referring(db, slot.base(db))
        return laid_out(db, port, _reached(db, slot))

    def commands(self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: Db) -> Commands:
        """What buffermgrd has made in between goes, too."""
        lines = super().commands(port, earlier, wanted, around)
        if not lines:
            return ()
        if not lossless(wanted):  # of a field that is gone daemons hear nothing
            lines = (set_fields("PORT_QOS_MAP", port, {"pfc_enable": ""}), *lines)
        after = self._made(around, port, wanted)
        return (*lines, *repaired(around, after, port, lossless(earlier), lossless(wanted)))


_LOSSLESS = frozenset("1234567")


def _reached(db: Db, slot: Slot) -> frozenset[int]:
    """Groups that a map leads to keep their profile while no pause is sent: without one a group
    may have no memory at all. Group 0 has that of lossy traffic."""
    groups = (slot.found(db) or {}).values()
    return frozenset(int(group) for group in groups if group in _LOSSLESS)


# -- frames ----------------------------------------------------------------------------------------

_SIDES = {"Rx": PFC_RX_FRAMES, "Tx": PFC_TX_FRAMES}
_TABLES = tuple(
    Table(
        about=NOTATION.columns(
            {f"Port {side}": "port:port"} | {f"PFC{n}": f"PFC{n}:count" for n in range(8)}
        ),
        make=lambda port, **counts: (port, counts),
        passed=PASSED,
    )
    for side in _SIDES
)


def parse_pfc_counters(reply: Reply) -> dict[str, Counts]:
    """By port; of each side by priority."""
    found = dict(zip(_SIDES, map(dict, read_tables(reply, *_TABLES)), strict=True))
    if list(found["Rx"]) != list(found["Tx"]):
        incomplete(reply, "its two tables are not of the same ports")
    return {port: {side: found[side][port] for side in _SIDES} for port in found["Rx"]}


class SonicPfcFrames(PlatformPart, PfcTelemetry):
    """PFC frames received and sent."""

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """One display of all ports."""
        reply = yield from show("pfc", "counters")
        shown = [counted_by(reply, port, parse_pfc_counters) for port in ports]
        return tuple(
            each.of(side, f"PFC{n}", (name, "frames"), ("priority", n))
            for each in shown
            for side, name in _SIDES.items()
            for n in range(8)
        )
