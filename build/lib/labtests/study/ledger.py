"""What is finished of a study: one file of JSON lines, only appended to, a line for each run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import private_folder
from labtests.journal.append_only import InUse, NotWritten, Pages, Torn, read_lines

FILE = "runs.jsonl"
Row = dict[str, Any]


class StudyLedger:
    """The runs in a folder. Who has it open is the only one who writes; a line that a kill has torn
    is not there. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        """Raises LabError: the folder cannot be used, or another process is at it."""
        self.file = folder / FILE
        try:
            private_folder(folder)
            self._pages = Pages(self.file, fresh=not self.file.exists())
        except OSError as error:
            raise LabError(f"{folder} cannot be used: {error.strerror}") from error
        except InUse as error:
            raise LabError(
                f"{error}\n  remedy: wait for it, or give another folder with --out"
            ) from error
        self.rows: dict[str, Row] = {row["key"]: row for row in rows_of(folder)}

    def add(self, row: Row) -> None:
        """It is on the disk. Raises LabError: then it is not, and what was before is."""
        try:
            self._pages.write(row)
        except NotWritten as error:
            raise LabError(
                f"{error}\n  remedy: {len(self.rows)} finished runs are kept: make room, and give "
                "the same command"
            ) from error
        self.rows[row["key"]] = row

    def __enter__(self) -> "StudyLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self._pages.close()


def rows_of(folder: Path) -> list[Row]:
    """All runs of a folder that are whole, each once. Raises LabError."""
    file = folder / FILE
    if not file.exists():
        raise LabError(f"{file} is not there: no sweep has run into {folder}")
    found: dict[str, Row] = {}
    try:
        for line in read_lines(file):
            if not isinstance(line, Torn) and "key" in line:
                found.setdefault(line["key"], line)
    except OSError as error:
        raise LabError(f"{file} cannot be read: {error.strerror}") from error
    return list(found.values())


def row(key: str, values: Mapping[str, Any], more: Mapping[str, Any]) -> Row:
    """A line of the file."""
    return {"key": key, "values": dict(values), **more}
