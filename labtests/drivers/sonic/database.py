"""CONFIG_DB: entries of tables, what refers to what, and which lines lead from one to another.

What a port refers to (a map, a WRED profile, a scheduler, a buffer profile) may be somebody else's
and another port's, too. It is never changed: the port gets one of its own, `labtests-`, its place
and the name of what it stands for, so that any later process knows the way back.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from labtests.capabilities.settings import Commands, T
from labtests.core.output import excerpt
from labtests.drivers.answers import expect_success
from labtests.drivers.displays.json_answers import json_shown
from labtests.drivers.linux.session import ShellSetting
from labtests.drivers.parsing import refuse
from labtests.drivers.sonic.session import SONIC, database, set_fields
from labtests.drivers.states import StateSetting
from labtests.transport.asking import Asking, ask_each
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

OURS = "labtests-"
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

    def keys(self, table: str, port: str) -> Iterator[tuple[str, frozenset[int]]]:
        """The entries of a port in a table with keys `Ethernet0|3-4`, and which numbers each is
        about. Old releases have several ports in one key."""
        yield from numbered(self.tables[table], port)


def numbered(keys: Iterable[str], port: str) -> Iterator[tuple[str, frozenset[int]]]:
    """Those of a port."""
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
        yield database("HDEL", table, key, *gone)
    if changed := {name: value for name, value in new.items() if old.get(name) != value}:
        yield set_fields(table, key, changed)


# -- references ------------------------------------------------------------------------------------


def _name(reference: str) -> str:
    """Releases up to 202012 write `[SCHEDULER|name]`."""
    match = re.fullmatch(r"\[[A-Z_]+\|(.*)\]", reference)
    return match[1] if match else reference


def tidied(db: Db) -> Db:
    """Without what was made for a place that refers to it no more, or never did: a change may have
    been cut off."""
    entries = [entry for table in BINDINGS for entry in db.tables.get(table, {}).values()]
    for pool in FIELDS.keys() & db.tables.keys():
        told = {_name(entry.get(FIELDS[pool], "")) for entry in entries}
        unused = (n for n in db.tables[pool] if n.startswith(OURS) and n not in told)
        db = db.having(pool, dict.fromkeys(unused))
    return db


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A field that refers to an entry of another table: `pool`."""

    table: str
    key: str
    pool: str
    place: str
    """Which port, and which queue of it: short, for a name has 32 characters."""

    def name(self, db: Db) -> str:
        """What it refers to, "" for nothing."""
        return _name(db.entry(self.table, self.key).get(FIELDS[self.pool], ""))

    def found(self, db: Db) -> Entry | None:
        """That; None where it refers to nothing, or to what is not there."""
        return db.tables[self.pool].get(self.name(db))

    def base(self, db: Db) -> str:
        """What it refers to, or what ours stands for there."""
        name = self.name(db)
        return name.removeprefix(self._own).removeprefix("-") if self.is_ours(name) else name

    @property
    def _own(self) -> str:
        return f"{OURS}{self.place}"

    def is_ours(self, name: str) -> bool:
        """Whether it was made for this place."""
        return name == self._own or name.startswith(f"{self._own}-")

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
        name = f"{self._own}-{base}" if base else self._own
        start = self.found(db) or _NOTHING
        return self.referring(db.having(self.pool, {name: own(start)}), name)


def short(port: str) -> str:
    """A port in a name of ours."""
    return re.sub("[^A-Za-z0-9_]", "_", port.removeprefix("Ethernet"))


# -- settings --------------------------------------------------------------------------------------


def parse_table(reply: Reply) -> Table:
    """Its entries. Lists (of no table here) are kept as text."""
    shown = json_shown(reply)
    if not isinstance(shown, dict) or not all(map(_is_entry, shown.values())):
        refuse(reply, "it is not a table of entries")
    if len(shown) > MOST_ENTRIES:
        refuse(reply, f"it has {len(shown)} entries, and no table of a switch {MOST_ENTRIES}")
    found = {
        key: {name: value if isinstance(value, str) else str(value) for name, value in each.items()}
        for key, each in shown.items()
    }
    for text in (text for key, entry in found.items() for text in (key, *entry, *entry.values())):
        if len(text) > LONGEST or not text.isprintable():
            refuse(
                reply,
                f"an entry has {excerpt(repr(text), 80)}, which is neither a name nor a value",
            )
    return found


def _is_entry(each: object) -> bool:
    return isinstance(each, dict) and not any(isinstance(v, dict) for v in each.values())


def read_tables(*tables: str) -> Asking[Db]:
    """These, as they are now; `{}` where there is none."""
    empty = (json.dumps({name: {}}) for name in tables)
    replies = yield from ask_each(
        *(
            program("sonic-cfggen", "-a", e, "-d", "--var-json", n)
            for n, e in zip(tables, empty, strict=True)
        )
    )
    for reply in replies:
        expect_success(reply, SONIC)
    return Db({name: parse_table(each) for name, each in zip(tables, replies, strict=True)})


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

    def number(self, where: str, entry: Entry, field: str, default: int | None = None) -> int:
        """A field that is a whole number."""
        text = entry.get(field, "" if default is None else str(default))
        if re.fullmatch("[0-9]{1,18}", text) is None:
            raise self.reject(where, f"{field} is {text!r}, not a whole number", "correct it")
        return int(text)
