"""Flows in a table beside the case file (`flows_from`): CSV, or parquet where pandas can read it.

The columns are the keys of a flow in a case file; an empty cell is a key that is not given.
Mistakes have the line and column of the table (of parquet: the row and the column, both from 1).
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from labtests.core.errors import InventoryError
from labtests.core.trusted_files import NotAFile, handed
from labtests.inventory.form import sentence_of
from labtests.inventory.mistakes import Mistakes, Position, nearest
from labtests.network.cases.form import FlowPart

_POWER = re.compile(r"\d+(\.\d+)?[eE]\+?\d{1,2}")
_WHOLE = {
    name
    for name, field in FlowPart.model_fields.items()
    if "int" in str(field.annotation) and "float" not in str(field.annotation)
}
"""Keys of a flow that are whole numbers."""

MOST_BYTES = 2**28
"""Of a table of flows: some millions of them."""
PARQUET = ".parquet"

Cells = tuple[int, Sequence[str]]
"""A line of the table, and what is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTable:
    """Flows from a file, and where each of them stands."""

    flows: tuple[FlowPart, ...]
    mistakes: Mistakes
    columns: tuple[str, ...]
    lines: tuple[int, ...]

    def note(self, number: int, key: str, problem: str) -> None:
        """Something is wrong with this key of the flow with this number in the file."""
        column = self.columns.index(key) + 1 if key in self.columns else 1
        self.mistakes.add_at(Position(line=self.lines[number], column=column), (key,), problem)


def read_flows(path: Path) -> FlowTable:
    """The flows of a file, and every mistake in it; column numbers are those of cells. Raises
    InventoryError when it cannot be read."""
    rows = _parquet(path) if path.suffix == PARQUET else _csv(path)
    _, heading = next(rows, (1, ()))
    columns = tuple(name.strip() for name in heading)
    mistakes = Mistakes(file=str(path))
    _check_columns(columns, mistakes)
    flows, lines = [], []
    for line, cells in rows if not mistakes.lines() else ():
        flow = _flow(columns, line, cells, mistakes)
        if flow is not None:
            flows.append(flow)
            lines.append(line)
    return FlowTable(flows=tuple(flows), mistakes=mistakes, columns=columns, lines=tuple(lines))


def _csv(path: Path) -> Iterator[Cells]:
    try:
        text = handed(path, most_bytes=MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, NotAFile) as error:
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise InventoryError([f"{path}:1:1: file: cannot be read: {problem}"]) from error
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise InventoryError([f"{path}:{reader.line_num}:1: file: {error}"]) from error


def _parquet(path: Path) -> Iterator[Cells]:
    import pandas as pd  # costs 0.3 s; only who has such a file pays

    try:
        table: Any = pd.read_parquet(path)
    except ImportError as error:
        problem = "parquet needs the package pyarrow: pip install pyarrow, or write CSV"
        raise InventoryError([f"{path}:1:1: file: {problem}"]) from error
    except (OSError, ValueError) as error:
        raise InventoryError([f"{path}:1:1: file: cannot be read: {error}"]) from error
    yield 1, [str(name) for name in table.columns]
    for number, row in enumerate(table.itertuples(index=False), start=1):
        yield number, [_cell(value, pd.isna) for value in row]


def _cell(value: Any, missing: Callable[[Any], bool]) -> str:
    """What a CSV file would have: names of a list apart by spaces, nothing for what is missing."""
    if hasattr(value, "__len__") and not isinstance(value, str):
        return " ".join(map(str, value))
    return "" if missing(value) else str(value)


def _check_columns(columns: Sequence[str], mistakes: Mistakes) -> None:
    for number, name in enumerate(columns, start=1):
        place = Position(line=1, column=number)
        if name not in FlowPart.model_fields:
            hint = nearest(name, FlowPart.model_fields)
            mistakes.add_at(place, (name,), f"no key of a flow: {hint}")
        elif name in columns[: number - 1]:
            mistakes.add_at(place, (name,), "column given twice")
    for name in ("source", "target"):
        if name not in columns:
            mistakes.add_at(Position(line=1, column=1), (name,), "is missing")


def _flow(
    columns: Sequence[str], line: int, cells: Sequence[str], mistakes: Mistakes
) -> FlowPart | None:
    if len(cells) != len(columns):
        problem = f"{len(cells)} cells in {len(columns)} columns"
        mistakes.add_at(Position(line=line, column=1), (), problem)
        return None
    told = {name: cell.strip() for name, cell in zip(columns, cells, strict=True) if cell.strip()}
    after = told.pop("after", "").split()
    try:
        flow = FlowPart.model_validate_strings(_with_whole(told))
        return flow.model_copy(update={"after": after}) if after else flow
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            key = str(detail["loc"][0])
            column = columns.index(key) + 1 if key in columns else 1
            problem = "is missing" if detail["type"] == "missing" else sentence_of(detail)
            mistakes.add_at(Position(line=line, column=column), (key,), problem)
        return None


def _with_whole(told: dict[str, str]) -> dict[str, str]:
    """`1e6` is whole, where a whole number has to stand."""
    return {
        key: str(int(float(cell))) if key in _WHOLE and _is_power(cell) else cell
        for key, cell in told.items()
    }


def _is_power(cell: str) -> bool:
    return bool(_POWER.fullmatch(cell)) and float(cell).is_integer()
