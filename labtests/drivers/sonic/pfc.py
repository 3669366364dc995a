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

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.displays import written
from labtests.drivers.pauses import AsymmetricPauses, expect_mode, lossless, obeys_all
from labtests.drivers.sonic.database import Db, DbSetting, Slot, named, numbered
from labtests.drivers.sonic.maps import GROUP, slot_of
from labtests.drivers.sonic.session import database, set_fields
from labtests.transport.commands import Shell

_DEFAULTS = ("pg_lossless_", "NULL")
Groups = frozenset[int]


def _runs(port: str, groups: Groups) -> tuple[str, ...]:
    """`Ethernet0|3-4`, `Ethernet0|6`: as buffermgrd names its entries."""
    return tuple(f"{port}|{run}" for run in written(groups).split(",") if run)


def _entries(db: Db, port: str, *, default: bool) -> dict[str, Groups]:
    """Those of a port that have its default profile, or another one with headroom."""
    found = {}
    for key, groups in numbered(db.tables["BUFFER_PG"], port):
        name = named(db.entry("BUFFER_PG", key).get("profile", ""))
        usual = name.startswith(_DEFAULTS)
        if usual == default and (usual or "xoff" in db.entry("BUFFER_PROFILE", name)):
            found[key] = groups
    return found


def _reached(db: Db, slot: Slot) -> Groups:
    """By the port's map, or what ours stands for, beside that of lossy traffic."""
    told = db.entry(slot.pool, slot.base(db)).values()
    return frozenset(int(each) for each in told if each in [*"1234567"])


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
    port that has none stays, but for groups that all have a profile of their own."""
    entries, defaults = after.tables["BUFFER_PG"].keys(), _entries(after, port, default=True)
    own = frozenset[int]().union(*_entries(after, port, default=False).values())
    usual = {key for key, groups in numbered(_runs(port, wanted), port) if not groups <= own}
    made = {*_runs(port, earlier), *_runs(port, wanted)}
    stale = made - entries - (set() if defaults else usual)
    for key in sorted(stale - before.tables["BUFFER_PG"].keys()):
        yield database("DEL", "BUFFER_PG", key)
    gone = stale | (before.tables["BUFFER_PG"].keys() - entries)
    lost = {group for _, groups in numbered(gone, port) for group in groups}
    for key, groups in numbered(after.tables["BUFFER_PG"], port):
        if groups & lost or (key in made and key not in defaults):
            yield set_fields("BUFFER_PG", key, dict(after.entry("BUFFER_PG", key)))


# -- the setting -----------------------------------------------------------------------------------


class SonicPfc(DbSetting[PfcSetting], AsymmetricPauses):
    """`pfc_enable`, and `pfc_asym` of PORT: with that a port obeys all pauses (portsorch:
    setPortPfcAsym), whatever is in `pfc_enable`."""

    tables = ("PORT_QOS_MAP", GROUP, "BUFFER_PROFILE", "BUFFER_PG", "PORT")

    def value(self, db: Db, port: str) -> PfcSetting:
        """As configured."""
        text = db.entry("PORT_QOS_MAP", port).get("pfc_enable", "")
        told = [each.strip() for each in text.split(",") if each.strip()]
        if not set(told) <= set("01234567"):
            raise self.reject(f"PORT_QOS_MAP|{port}", f"pfc_enable is {text!r}", "write `3,4`")
        entry = db.entry("PORT", port)
        asymmetric = self.word(f"PORT|{port}", entry, "pfc_asym", "", "off", "on") or None
        return PfcSetting.of(frozenset(map(int, told)), asymmetric)

    def left_behind(self, db: Db, port: str) -> Iterator[str]:
        """Entries, such as buffermgrd leaves, that a change and the way back would not bring; and
        of a port that is off those that they would bring."""
        own, now = lossless(self.value(db, port)), {*_entries(db, port, default=True)}
        groups = own or _reached(db, slot_of(port, GROUP))
        others = _entries(db, port, default=False)
        kept = {*_runs(port, groups.difference(*others.values()))}
        for key in sorted(now - kept):
            yield f"take BUFFER_PG|{key} away for good; `DEL` it in CONFIG_DB"
        for key in () if own else sorted(kept - now):
            yield f"leave BUFFER_PG|{key}; make the port lossless first (`config interface pfc`)"

    def _made(self, db: Db, port: str, wanted: PfcSetting) -> Db:
        expect_mode(self, f"PORT_QOS_MAP|{port}", wanted, "SONiC")
        pausing, now = lossless(wanted), self.value(db, port)
        if (obeys := wanted.asymmetric) != now.asymmetric and (obeys or obeys_all(now)):
            db = db.holding("PORT", port, pfc_asym=obeys)
        if pausing == (before := now.priorities):
            return db
        told, slot = ",".join(map(str, sorted(pausing))) or None, slot_of(port, GROUP)
        self._expect_way_back(db, port, slot, before)
        db = db.holding("PORT_QOS_MAP", port, pfc_enable=told)
        if not pausing:  # groups in use keep their profile; 0 has that of lossy traffic
            return laid_out(slot.referring(db, slot.base(db)), port, _reached(db, slot))
        own, usual = {str(n): str(n) for n in pausing}, dict.fromkeys(map(str, range(8)), "0")
        db = slot.meaning(
            db,
            lambda entry: all(entry.get(n, "0") == own[n] for n in own),
            lambda entry: {n: {**usual, **entry, **own}[n] for n in usual},
        )
        self._expect_free(db, port, pausing)
        return laid_out(db, port, pausing)

    def _expect_way_back(self, db: Db, port: str, slot: Slot, before: Groups) -> None:
        """Somebody's map has the lossless priorities in their own groups, as one of ours would.
        Raises CommandRejected."""
        for n in map(str, sorted(before)) if slot.base(db) == slot.name(db) else ():
            if (group := slot.found(db).get(n, "0")) != n:
                told = f"puts traffic class {n} into priority group {group}"
                by = slot.name(db) or "the port, without a map,"
                problem = f"pfc_enable has {n}, and {by} {told}: labtests could not restore that"
                remedy = f"`config interface pfc priority {port} {n} off`, or map {n} to {n} there"
                raise self.reject(f"PORT_QOS_MAP|{port} {GROUP}", problem, remedy)

    def _expect_free(self, db: Db, port: str, groups: Groups) -> None:
        """No entry of lossy traffic has the name that buffermgrd would write. Raises
        CommandRejected."""
        own = (*_entries(db, port, default=True), *_entries(db, port, default=False))
        for key in {*_runs(port, groups)} & {*db.tables["BUFFER_PG"]} - {*own}:
            problem = "it is of lossy traffic, and labtests could not restore it"
            raise self.reject(f"BUFFER_PG|{key}", problem, "leave that priority lossy")

    def commands(self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: Db) -> Commands:
        """What buffermgrd has made in between goes, too."""
        lines = super().commands(port, earlier, wanted, around)
        if not lines or lossless(earlier) == lossless(wanted):
            return lines
        after = self._made(around, port, wanted)
        return (*lines, *repaired(around, after, port, lossless(earlier), lossless(wanted)))
