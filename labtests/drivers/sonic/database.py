"""CONFIG_DB: entries of tables, what refers to what, and which lines lead from one to another.

What a port refers to (a map, a WRED profile, a scheduler, a buffer profile) may be another port's,
too. It is never changed: the port gets one of its own (standing.py).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from labtests.capabilities.settings import Commands, T
from labtests.core.output import excerpt
from labtests.drivers.displays.json_answers import json_shown
from labtests.drivers.linux.session import ShellSetting
from labtests.drivers.parsing import refuse
from labtests.drivers.sonic.session import SONIC, asked, database, set_fields
from labtests.drivers.standing import OURS, base_of, own_name
from labtests.drivers.states import StateSetting
from labtests.transport.asking import Asking
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

MOST_ENTRIES = 4096
"""Of a table. A port of a large switch has 20 queues."""
LONGEST = 512
"""Of a name or a value of a table, in characters."""
BINDINGS = ("PORT", "PORT_QOS_MAP", "QUEUE", "BUFFER_PG")
"""Tables that refer to others."""
FIELDS = {
    "DSCP_TO_TC_MAP": "dscp_to_tc_map",
    "TC_TO_QUEUE_MAP": "tc_to_queue_map",
    "TC_TO_PRIORITY_GROUP_MAP": "tc_to_pg_map",
    "WRED_PROFILE": "wred_profile",
    "SCHEDULER": "scheduler",
    "BUFFER_PROFILE": "profile",
}
"""By what field each of the others is referred to."""
SIGNED = ("dynamic_th",)
"""Fields that may be below 0."""
QUIET = {"pfc_enable": "", "pfc_asym": "off"}
"""Fields of which daemons hear nothing when they are gone, and what is told before that."""
Entry = Mapping[str, str]
Table = Mapping[str, Entry]
_NOTHING: Entry = {}


@dataclass(frozen=True, slots=True)
class Db:
    """Some tables, by name and key."""

    tables: Mapping[str, Table]

    def entry(self, table: str, key: str) -> Entry:
        """Its fields; none where there is no such entry."""
        return self.tables[table].get(key, _NOTHING)

    def holding(self, table: str, key: str, **fields: str | None) -> "Db":
        """With these fields in an entry, and without those that are None."""
        merged = {**self.entry(table, key), **fields}
        return self.having(table, {key: {k: v for k, v in merged.items() if v is not None}})

    def having(self, table: str, changes: Mapping[str, Entry | None]) -> "Db":
        """With these entries, and without those that are None."""
        entries = {**self.tables[table], **changes}
        kept = {key: entry for key, entry in entries.items() if entry is not None}
        return Db({**self.tables, table: kept})


def numbered(keys: Iterable[str], port: str) -> Iterator[tuple[str, frozenset[int]]]:
    """Of keys such as `Ethernet0|3-4` a port's, and which numbers each is about. Old releases
    have several ports in one key."""
    for key in keys:
        ports, _, numbers = key.partition("|")
        match = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", numbers)
        if port in ports.split(",") and match is not None:
            yield key, frozenset(range(int(match[1]), int(match[2] or match[1]) + 1))


def differences(before: Db, after: Db) -> Commands:
    """What is referred to is made before what refers to it, and taken away after it."""
    lines: list[tuple[int, Shell]] = []
    for table in after.tables:
        for key in sorted({*before.tables[table], *after.tables[table]}):
            kept = key in after.tables[table]
            order = (2 if kept else 1) if table in BINDINGS else (0 if kept else 3)
            lines += [(order, line) for line in _changes(table, key, before, after)]
    return tuple(line for _, line in sorted(lines, key=lambda each: each[0]))


def _changes(table: str, key: str, before: Db, after: Db) -> Iterator[Shell]:
    old, new = before.entry(table, key), after.entry(table, key)
    if key not in after.tables[table]:
        yield database("DEL", table, key)
    elif gone := tuple(name for name in old if name not in new):
        if quiet := {name: QUIET[name] for name in gone if name in QUIET}:
            yield set_fields(table, key, quiet)
        yield database("HDEL", table, key, *gone)
    if changed := {name: value for name, value in new.items() if old.get(name) != value}:
        yield set_fields(table, key, changed)


# -- references ------------------------------------------------------------------------------------


def named(reference: str) -> str:
    """What is referred to. Releases up to 202012 write `[SCHEDULER|name]`."""
    match = re.fullmatch(r"\[[A-Z_]+\|(.*)\]", reference)
    return match[1] if match else reference


def tidied(db: Db) -> Db:
    """Without what was made for a place that refers to it no more, or never did: a change may have
    been cut off."""
    entries = [entry for table in BINDINGS for entry in db.tables.get(table, {}).values()]
    for pool in FIELDS.keys() & db.tables.keys():
        told = {named(entry.get(FIELDS[pool], "")) for entry in entries}
        unused = (n for n in db.tables[pool] if n.startswith(OURS) and n not in told)
        db = db.having(pool, dict.fromkeys(unused))
    return db


@dataclass(frozen=True, slots=True)
class Slot:
    """A field that refers to an entry of another table: `pool`."""

    table: str
    key: str
    pool: str

    @property
    def place(self) -> str:
        """Which port, and which queue of it: short, for a name has 32 characters."""
        return re.sub("[^A-Za-z0-9_-]", "_", self.key.removeprefix("Ethernet").replace("|", "-"))

    def name(self, db: Db) -> str:
        """What it refers to, "" for nothing."""
        return named(db.entry(self.table, self.key).get(FIELDS[self.pool], ""))

    def found(self, db: Db) -> Entry:
        """That; without fields where it refers to nothing, or to what is not there."""
        return db.entry(self.pool, self.name(db))

    def base(self, db: Db) -> str:
        """What it refers to, or what ours stands for there."""
        return base_of(self.name(db), self.place)

    def referring(self, db: Db, name: str) -> Db:
        """It refers to this, or to nothing."""
        field = FIELDS[self.pool]
        told = [entry.get(field, "") for entry in db.tables[self.table].values()]
        value = f"[{self.pool}|{name}]" if any(t.startswith("[") for t in told) else name
        return db.holding(self.table, self.key, **{field: value if name else None})

    def meaning(
        self, db: Db, fits: Callable[[Entry], bool], own: Callable[[Entry], Entry], named: str = ""
    ) -> Db:
        """It refers to what fits: what is named, what it stands for, what it refers to now; else to
        a copy of that, made to fit."""
        base = self.base(db)
        for name in (named, base, self.name(db)):
            if (entry := db.tables[self.pool].get(name)) is not None and fits(entry):
                return self.referring(db, name)
        name = own_name(self.place, base)
        return self.referring(db.having(self.pool, {name: own(self.found(db))}), name)


# -- settings --------------------------------------------------------------------------------------


def parse_table(reply: Reply) -> Table:
    """Its entries. Lists (of no table here) are kept as text."""
    shown = json_shown(reply)
    if not isinstance(shown, dict) or not all(map(_is_entry, shown.values())):
        refuse(reply, "it is not a table of entries")
    if len(shown) > MOST_ENTRIES:
        refuse(reply, f"it has {len(shown)} entries, and no table of a switch {MOST_ENTRIES}")
    found = {key: {name: str(each[name]) for name in each} for key, each in shown.items()}
    for text in (text for key, entry in found.items() for text in (key, *entry, *entry.values())):
        if len(text) > LONGEST or not text.isprintable():
            told = excerpt(repr(text), 80)
            refuse(reply, f"an entry has {told}, which is neither a name nor a value")
    return found


def _is_entry(each: object) -> bool:
    return isinstance(each, dict) and not any(isinstance(v, dict) for v in each.values())


def read_tables(*tables: str) -> Asking[Db]:
    """These, as they are now; `{}` where there is none."""
    empty = {name: json.dumps({name: {}}) for name in tables}
    words = ("-d", "--var-json")
    replies = yield from asked(*(program("sonic-cfggen", "-a", empty[n], *words, n) for n in empty))
    return Db({name: parse_table(each) for name, each in zip(empty, replies, strict=True)})


class DbSetting(ShellSetting[T], StateSetting[T, Db]):
    """A setting that is what some tables say."""

    tables: ClassVar[tuple[str, ...]]
    tool = SONIC
    remedy = (
        "look at the tables of CONFIG_DB that it is in: something else may change them, or this "
        "model takes the entry and does nothing (see /var/log/syslog, orchagent)"
    )

    def state(self, port: str) -> Asking[Db]:
        """The tables. Raises CommandRejected for a port that has its maps together with others: of
        old releases, and nothing is known of what else is read there."""
        db = yield from read_tables(*self.tables)
        for key in db.tables.get("PORT_QOS_MAP", ()):
            if port in key.split(",") and key != port:
                problem = f"{port} has its maps together with other ports"
                remedy = "give each port an entry of its own in PORT_QOS_MAP"
                raise self.reject(f"PORT_QOS_MAP|{excerpt(key, 80)}", problem, remedy)
        return db

    def _change(self, port: str, before: Db, after: Db) -> Commands:
        return differences(before, tidied(after))

    def referred(self, db: Db, slot: Slot) -> Entry | None:
        """What it refers to; None for nothing."""
        name = slot.name(db)
        if name and name not in db.tables[slot.pool]:
            problem = f"{slot.table}|{slot.key} refers to it, and it is not there"
            raise self.reject(f"{slot.pool}|{name}", problem, "make it")
        return slot.found(db) if name else None

    def number(self, where: str, entry: Entry, field: str, usual: int | str = "") -> int:
        """A field that is a whole number."""
        text, sign = entry.get(field, str(usual)), "-?" if field in SIGNED else ""
        if re.fullmatch(f"{sign}[0-9]{{1,18}}", text) is None:
            raise self.reject(where, f"{field} is {text!r}, not a whole number", "correct it")
        return int(text)

    def word(self, where: str, entry: Entry, field: str, *words: str) -> Any:
        """One of these, the first if none is told. Another may be read by the switch as any."""
        told = entry.get(field, words[0])
        if told not in words:
            raise self.reject(where, f"{field} is {told!r}", f"write one of {', '.join(words)}")
        return told
