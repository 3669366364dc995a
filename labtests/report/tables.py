"""run.json and the tables beside it: what people read, and what is a table, each in its own file.

A table of a run is a list that stands at the same place in every test or phase: counters, samples,
flows. In memory a run holds it there; in its folder it is `tables/NAME.csv.gz`, one tidy table
of the whole run, whose first columns say to which test, phase and flow a row belongs, counted from
0. run.json names each with its columns and its SHA-256: one that is missing, cut or another one is
never read as a run in which nothing was counted.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from labtests.core.output import clean
from labtests.core.packed import packed, unpacked
from labtests.core.printable import visible
from labtests.core.private_files import private_folder, write_bytes, write_private
from labtests.core.trusted_files import MOST_BYTES, NotAFile, handed

FORMAT = "labtests-run/2"
FOLDER = "tables"
MOST_ROWS = 4_000_000
"""Of a table: more than a text of MOST_BYTES has, unless its rows are all but empty."""
Json = dict[str, Any]


class NotTheTable(ValueError):
    """A table that run.json names is not there as the run wrote it; the text says why."""


@dataclass(frozen=True, slots=True)
class _Table:
    """Where a list stands: the lists above it, outermost first, and its own name."""

    above: tuple[str, ...]
    name: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that say whose row it is."""
        return tuple(each.removesuffix("s") for each in self.above)

    def owners(self, run: Json) -> Iterator[tuple[tuple[int, ...], Json]]:
        """Every object that has such a list, and its place."""
        found: list[tuple[tuple[int, ...], Json]] = [((), run)]
        for name in self.above:
            found = [
                ((*place, n), each) for place, owner in found for n, each in _rows(owner, name)
            ]
        yield from found


def _rows(owner: Json, name: str) -> list[tuple[int, Json]]:
    """The objects of a list with their places; whatever else stands there is passed by."""
    found = owner.get(name)
    rows = found if isinstance(found, list) else []
    return [(n, row) for n, row in enumerate(rows) if isinstance(row, dict)]


_PHASE = ("tests", "phases")
_TABLES = (
    _Table(("tests",), "changes"),
    *(
        _Table(_PHASE, name)
        for name in (
            *("counters", "samples", "watermarks", "streamed", "exact_state"),
            *("noise", "settings", "way", "flows"),
        )
    ),
    _Table((*_PHASE, "flows"), "intervals"),
)
"""Those above first."""


_MOVED = {
    "tests": frozenset({"changes"}),
    "phases": frozenset(table.name for table in _TABLES if table.above == _PHASE),
    "flows": frozenset({"intervals"}),
}


def write_run(folder: Path, run: Json) -> None:
    """run.json, then its tables: what matters most is written first. Raises NotPrivate, OSError."""
    files = {table.name: _file_of(table, run) for table in _TABLES}
    told = {name: facts for name, (facts, _) in files.items() if facts["rows"]}
    small = {**run, "format": FORMAT, "tables": told, "tests": _small(run["tests"])}
    write_private(folder / "run.json", laid_out(small) + "\n")
    if told:
        private_folder(folder / FOLDER)
    for name in told:
        write_bytes(folder / FOLDER / f"{name}.csv.gz", files[name][1])


def _small(tests: list[Json]) -> list[Json]:
    """Without what is in tables."""
    return [
        {**_left(test, "tests"), "phases": [_left(p, "phases") for p in test.get("phases") or ()]}
        for test in tests
    ]


def _left(row: Json, kind: str) -> Json:
    moved = _MOVED.get(kind, frozenset())
    return {name: value for name, value in row.items() if name not in moved}


def _file_of(table: _Table, run: Json) -> tuple[Json, bytes]:
    """What run.json says of a table, and its file."""
    rows = [
        (place, _left(row, table.name))
        for place, owner in table.owners(run)
        for _, row in _rows(owner, table.name)
    ]
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    columns = {name: _kind(row.get(name) for _, row in rows) for name in names}
    said = io.StringIO(newline="")
    lines = csv.writer(said, lineterminator="\n")
    lines.writerow([*table.keys, *columns])
    hidden = cache(_hidden)
    for place, row in rows:
        cells = (_cell(row.get(name), kind) for name, kind in columns.items())
        lines.writerow([*place, *map(hidden, cells)])
    content = packed(said.getvalue().encode())
    digest = hashlib.sha256(content).hexdigest()
    return {"rows": len(rows), "sha256": digest, "columns": columns}, content


def _hidden(cell: str) -> str:
    """Before CSV doubles quotes: no secret would be known behind that."""
    return visible(clean(cell))


def _kind(values: Iterable[Any]) -> str:
    """How a column's cells are written: as they are, as numbers (empty: null), or as JSON."""
    found = {type(value) for value in values}
    if found <= {str} or all(issubclass(kind, str) for kind in found):
        return "text"
    return "number" if found <= {int, float, type(None)} else "json"


def _cell(value: Any, kind: str) -> str:
    if kind == "text":
        return str(value)
    if kind == "number":
        return "" if value is None else repr(value)
    return json.dumps(value, ensure_ascii=False)


def laid_out(value: Any, margin: str = "") -> str:
    """JSON for people and programs: an object on one line where it holds nothing but values."""
    parts = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list) or not any(
        isinstance(p, dict | list) and p for p in parts
    ):
        return json.dumps(value)
    inner = margin + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(name)}: {laid_out(each, inner)}" for name, each in value.items()]
    else:
        lines = [laid_out(each, inner) for each in value]
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    return f"{opens}\n{inner}" + f",\n{inner}".join(lines) + f"\n{margin}{closes}"


# -- read again --------------------------------------------------------------------------------


def joined(folder: Path, run: Json) -> Json:
    """The run with its tables at their places; one of an older format as it is. Raises
    NotTheTable."""
    if run.get("format") != FORMAT:
        return run
    told = run.pop("tables", None)
    if not isinstance(told, dict):
        raise NotTheTable("`tables` must be an object")
    for table in _TABLES:
        owners = dict(table.owners(run))
        for owner in owners.values():
            owner[table.name] = []
        if table.name in told:
            _fill(table, owners, folder, told[table.name])
    return run


def _fill(table: _Table, owners: dict[tuple[int, ...], Json], folder: Path, facts: Any) -> None:
    file = f"{FOLDER}/{table.name}.csv.gz"
    try:
        rows = csv.reader(io.StringIO(_content(folder / file, facts), newline=""))
        columns = facts["columns"]
        if next(rows, None) != [*table.keys, *columns]:
            raise NotTheTable(f"{file} has other columns than run.json says")
        for row in rows:
            place = tuple(map(int, row[: len(table.keys)]))
            cells = zip(columns.items(), row[len(table.keys) :], strict=True)
            found = {name: _value(cell, kind) for (name, kind), cell in cells}
            owners[place][table.name].append(found)
    except (KeyError, TypeError, AttributeError, csv.Error, RecursionError) as error:
        raise NotTheTable(f"{file} does not fit to run.json: {error!r}") from error
    except ValueError as error:
        raise NotTheTable(
            str(error) if isinstance(error, NotTheTable) else f"{file}: {error}"
        ) from error


def _content(file: Path, facts: Any) -> str:
    try:
        content = handed(file)
    except (OSError, NotAFile) as error:
        why = getattr(error, "strerror", None) or error
        raise NotTheTable(f"{file} belongs to it and cannot be read: {why}; copy the whole run "
                          "folder") from error  # fmt: skip
    if hashlib.sha256(content).hexdigest() != facts["sha256"]:
        raise NotTheTable(f"{file} is not as the run wrote it (by its SHA-256); copy the whole run "
                          "folder again")  # fmt: skip
    told = b"".join(unpacked(content, MOST_BYTES))
    if told.count(b"\n") > MOST_ROWS:  # before anything is made of them
        raise NotTheTable(f"{file} has more than {MOST_ROWS} rows")
    return told.decode()


def _value(cell: str, kind: str) -> Any:
    if kind == "text":
        return cell
    if kind == "number":
        if not cell:
            return None
        return int(cell) if cell.lstrip("-").isdecimal() else float(cell)
    return json.loads(cell)
