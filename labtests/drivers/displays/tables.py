"""Tables with a header: each column is declared by what stands over it.

    PORTS = Table(
        about=COMWARE.columns({"Interface": "interface:port", "Dot1pList": "priorities:list?"}),
        details=COMWARE.columns({"P|Prio": "priority:0-7", "Recv": "received_frames:count"}),
        make=PfcPort, make_detail=PfcFrames, into="frames")

Rows of one thing (the first column names it) are one record; a row that leaves all of `about` blank
goes on from the row above. `?` marks what may be blank. The details of a row come all or none.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from labtests.drivers.displays.columns import Column, Placed, unwrapped
from labtests.drivers.parsing import BLANK_OR_RULER, incomplete, refuse, whole_lines
from labtests.transport.protocol import Reply

T = TypeVar("T")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[T]):
    """A declared table. `extra`: details that some releases have. `passed`: lines beside it.
    `nothing`: what stands in every column of the details where there are none."""

    about: tuple[Column, ...]
    details: tuple[Column, ...] = ()
    extra: tuple[Column, ...] = ()
    make: Callable[..., T]
    make_detail: Callable[..., Any] = dict
    into: str = ""
    passed: re.Pattern[str] = _NEVER
    nothing: re.Pattern[str] = _NEVER

    def under(self, header: str) -> Placed | None:
        """The columns where this line is the table's header."""
        for extra in (self.extra, ()):
            placed = Placed.under(header, self.about, (*self.details, *extra))
            if placed is not None:
                return placed
        return None


@dataclass(slots=True)
class _Found:
    """One thing of a table, while its rows are read."""

    about: dict[str, Any]
    details: dict[Any, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading(Generic[T]):
    """A table while its rows are read."""

    reply: Reply
    table: Table[T]
    placed: Placed | None = None
    found: dict[Any, _Found] = field(default_factory=dict)
    last: _Found | None = None

    def row(self, line: str) -> None:
        """Read one. It is refused where it contradicts an earlier one, or belongs to nothing."""
        assert self.placed is not None
        about, details = self.placed.cells(line) or ({}, {})
        if not about and not details:
            refuse(self.reply, f"this row does not fit its columns: {line!r}")
        if about:
            self._name(about, line, more=bool(details))
        if self.last is None:
            refuse(self.reply, f"this row belongs to nothing above: {line!r}")
        if details and not self._is_nothing(details, line):
            values = self._values(self.placed.details, details, line)
            key = next(iter(values.values()))
            if key in self.last.details:
                refuse(self.reply, f"{key} is there twice: {line!r}")
            self.last.details[key] = self.table.make_detail(**values)

    def _name(self, cells: dict[str, str], line: str, *, more: bool) -> None:
        about = self._values(self.table.about, cells, line)
        key = next(iter(about.values()))
        self.last = self.found.setdefault(key, _Found(about))
        if self.last.about is not about and not (more and _agree(about, self.last.about)):
            refuse(self.reply, f"two rows of {key} contradict each other: {line!r}")

    def _is_nothing(self, details: dict[str, str], line: str) -> bool:
        dashes = [
            self.table.nothing.fullmatch(details[column.head]) is not None
            for column in self.table.details
        ]
        if dashes[0] and not all(dashes):
            refuse(self.reply, f"these numbers belong to nothing: {line!r}")
        return dashes[0]

    def _values(
        self, columns: tuple[Column, ...], cells: dict[str, str], line: str
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for column in columns:
            match = column.shape.pattern.fullmatch(cells.get(column.head, ""))
            if match is not None:
                values |= column.shape.values(self.reply, match)
            elif column.head in cells or not column.blank:
                refuse(self.reply, f"this row does not fit its columns: {line!r}")
        return values

    def take(self, line: str) -> None:
        """Read one line: the header, a ruler under it, or a row."""
        header = self.table.under(line)
        if header is not None:
            self.placed = header
        elif self.placed is not None and BLANK_OR_RULER.match(line):
            self.placed = self.placed.ruled_by(line)
        else:
            self.row(line)

    def records(self) -> tuple[T, ...]:
        """All of it."""
        if self.placed is None:
            heads = ", ".join(column.head for column in self.table.about)
            incomplete(self.reply, f"there is no table with the columns {heads}")
        return tuple(self._record(found) for found in self.found.values())

    def _record(self, found: _Found) -> T:
        details = {self.table.into: tuple(found.details.values())} if self.table.into else {}
        return self.table.make(**found.about, **details)


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two rows say the same of one thing; what is blank in the second says nothing."""
    return all(value == other.get(name) for name, value in one.items() if value not in ("", set()))


def read_table(reply: Reply, table: Table[T]) -> tuple[T, ...]:
    """Every record of an answer that is one table."""
    return read_tables(reply, table)[0]


def read_tables(reply: Reply, *tables: Table[T]) -> list[tuple[T, ...]]:
    """The records of each of these tables, which make up the answer; a header begins the next."""
    readings = [_Reading(reply, table) for table in tables]
    reading = None
    for number, line in enumerate(unwrapped(whole_lines(reply), tables[0].about[0].head), start=1):
        if any(table.passed.fullmatch(line.strip()) for table in tables):
            continue
        begun = next((each for each in readings if each.table.under(line)), None)
        reading = begun or reading
        if reading is not None:
            reading.take(line)
        elif not BLANK_OR_RULER.match(line):
            refuse(reply, f"line {number} is unrecognised: {line!r}")
    return [each.records() for each in readings]
