"""Tables with a header: each column is declared by what stands over it.

    PORTS = Table(
        about=COMWARE.columns({"Interface": "interface:port", "Dot1pList": "priorities:list?"}),
        details=COMWARE.columns({"P|Prio": "priority:0-7", "Recv": "received_frames:count"}),
        make=PfcPort, make_detail=PfcFrames, into="frames")

Rows of one thing (the first column names it) are one record; a row that leaves all of `about` blank
goes on from the row above. `?` marks what may be blank. The details of a row come all or none.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Generic, TypeVar

from labtests.drivers.displays.columns import Column, Placed, unwrapped
from labtests.drivers.displays.lines import ANY, Notation, Times
from labtests.drivers.displays.shapes import made
from labtests.drivers.parsing import BLANK_OR_RULER, incomplete, refuse, whole_lines
from labtests.transport.protocol import Reply

T = TypeVar("T")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[T]):
    """A declared table. `extra`: details that some releases have. `passed`: lines beside it.
    `rowwise`: each row is a record, whatever its first column says.
    `nothing`: what stands in every column of the details where there are none. `rows`: how many of
    them there are of each thing, where that is known."""

    about: tuple[Column, ...]
    details: tuple[Column, ...] = ()
    extra: tuple[Column, ...] = ()
    make: Callable[..., T]
    make_detail: Callable[..., Any] = dict
    into: str = ""
    rows: Times = ANY
    rowwise: bool = False
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
class _TableItem:
    """One thing of a table, while its rows are read."""

    about: dict[str, Any]
    details: dict[Any, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _TableReading(Generic[T]):
    """A table while its rows are read."""

    reply: Reply
    table: Table[T]
    placed: Placed | None = None
    found: dict[Any, _TableItem] = field(default_factory=dict)
    last: _TableItem | None = None

    def take(self, line: str) -> None:
        """Read one line under the header: a ruler, or a row."""
        assert self.placed is not None
        if BLANK_OR_RULER.match(line):
            self.placed = self.placed.ruled_by(line)
        else:
            self._row(self.placed, line)

    def _row(self, placed: Placed, line: str) -> None:
        """It is refused where it contradicts an earlier one, or belongs to nothing."""
        about, details = placed.cells(line) or ({}, {})
        if not about and not details:
            refuse(self.reply, f"this row does not fit its columns: {line!r}")
        if about:
            self._name(about, line, more=bool(details))
        if self.last is None:
            refuse(self.reply, f"this row belongs to nothing above: {line!r}")
        if details and not self._is_nothing(details, line):
            values = self._values(placed.details, details, line)
            key = next(iter(values.values()))
            if key in self.last.details:
                refuse(self.reply, f"{key} appears twice: {line!r}")
            self.last.details[key] = made(self.reply, self.table.make_detail, values, line)

    def _name(self, cells: dict[str, str], line: str, *, more: bool) -> None:
        about = self._values(self.table.about, cells, line)
        key = len(self.found) if self.table.rowwise else next(iter(about.values()))
        self.last = self.found.setdefault(key, _TableItem(about))
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

    def records(self) -> tuple[T, ...]:
        """All of it."""
        if self.placed is None:
            heads = ", ".join(column.head for column in self.table.about)
            incomplete(self.reply, f"there is no table with the columns {heads}")
        return tuple(self._record(key, found) for key, found in self.found.items())

    def _record(self, key: Any, found: _TableItem) -> T:
        least, most = self.table.rows
        if not least <= len(found.details) <= most:
            incomplete(self.reply, f"{key} has {len(found.details)} rows, not {least} to {most}")
        details = {self.table.into: tuple(found.details.values())} if self.table.into else {}
        return made(self.reply, self.table.make, {**found.about, **details}, str(key))


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two rows say the same of one thing; what is blank in the second says nothing."""
    return all(value == other.get(name) for name, value in one.items() if value not in ("", set()))


def variants(notation: Notation, heads: Mapping[str, str], **more: Any) -> tuple[Table[Any], ...]:
    """One table for each release: `FEC?` stands over a column that some have, `RX_PPS?1` and
    `TX_PPS?1` over columns that come together."""
    groups = sorted({head.partition("?")[2] or head for head in heads if "?" in head})
    return tuple(
        Table(about=notation.columns(dict(_kept(heads, set(there)))), **more)
        for number in range(len(groups), -1, -1)
        for there in combinations(groups, number)
    )


def _kept(heads: Mapping[str, str], there: set[str]) -> Iterator[tuple[str, str]]:
    for head, kind in heads.items():
        name, optional, group = head.partition("?")
        if not optional or (group or head) in there:
            yield name, kind


def read_variant(reply: Reply, tables: Sequence[Table[T]]) -> tuple[T, ...]:
    """Every record of an answer that is one of these tables."""
    lines = whole_lines(reply)
    fitting = (table for table in tables if any(table.under(line) for line in lines))
    return read_table(reply, next(fitting, tables[0]))


def read_table(reply: Reply, table: Table[T]) -> tuple[T, ...]:
    """Every record of an answer that is one table."""
    return read_tables(reply, table)[0]


def read_tables(reply: Reply, *tables: Table[T]) -> list[tuple[T, ...]]:
    """The records of each of these tables, which make up the answer; a header begins the next."""
    readings = [_TableReading(reply, table) for table in tables]
    reading = None
    for number, line in enumerate(unwrapped(whole_lines(reply), tables[0].about[0].head), start=1):
        if any(table.passed.fullmatch(line.strip()) for table in tables):
            continue
        headed = ((each, each.table.under(line)) for each in readings)
        begun = next(((each, placed) for each, placed in headed if placed is not None), None)
        if begun is not None:
            reading = begun[0]
            reading.placed = begun[1]
        elif reading is not None:
            reading.take(line)
        elif not BLANK_OR_RULER.match(line):
            refuse(reply, f"line {number} is unrecognised: {line!r}")
    return [each.records() for each in readings]
