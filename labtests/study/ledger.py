"""What is finished of a study: one file of JSON lines, only appended to, a line for each run; and
which of them the last sweep has asked for."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import private_folder, write_told
from labtests.core.trusted_files import believed, json_of
from labtests.journal.append_only import InUse, NotWritten, Pages, Torn, numbered_lines

FILE, ASKED = "runs.jsonl", "asked.json"
Row = dict[str, Any]
_FAILED: Row = {"failed": ""}
"""What has failed may be run again: then a later line of the same key counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRuns:
    """The runs of a folder that were asked for last. `missing`: those that are not finished;
    `others`: how many are kept of what was asked before; `spoilt`: lines that are no run."""

    rows: list[Row]
    missing: int
    others: int
    spoilt: tuple[int, ...]


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

    def left(self, keys: Iterable[str], *, again: bool) -> set[str]:
        """Those that are to be run: not finished, and with `again` those that have failed, too."""
        return left_of(keys, self.rows, again=again)

    def ask(self, keys: Iterable[str]) -> None:
        """These are the runs that the folder is about, from now on. Raises LabError."""
        write_told(self.file.with_name(ASKED), json.dumps(list(keys)))

    def __enter__(self) -> "StudyLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self._pages.close()


def left_of(keys: Iterable[str], rows: Mapping[str, Row], *, again: bool) -> set[str]:
    """Those that these runs leave to be run: see StudyLedger.left."""
    return {key for key in keys if key not in rows or (again and "failed" in rows[key])}


def rows_of(folder: Path) -> list[Row]:
    """All runs of a folder that are whole, each once. Raises LabError."""
    return _read(folder)[0]


def kept(folder: Path) -> KeptRuns:
    """Those that were asked for last; all of them where nothing says which. Raises LabError."""
    rows, spoilt = _read(folder)
    asked = _asked(folder / ASKED)
    if asked is None:
        return KeptRuns(rows=rows, missing=0, others=0, spoilt=spoilt)
    mine = {each["key"]: each for each in rows if each["key"] in asked}
    return KeptRuns(
        rows=[mine[key] for key in asked if key in mine],
        missing=len(asked) - len(mine),
        others=len(rows) - len(mine),
        spoilt=spoilt,
    )


def _read(folder: Path) -> tuple[list[Row], tuple[int, ...]]:
    """The runs, and the numbers of lines that are none."""
    file = folder / FILE
    if not file.exists():
        raise LabError(f"{file} is not there: no sweep has run into {folder}")
    found: dict[str, Row] = {}
    spoilt = []
    try:
        for number, line in numbered_lines(file):
            if isinstance(line, Torn) or not _is_run(line):
                spoilt.append(number)
            else:
                if "failed" in found.get(line["key"], _FAILED):
                    found[line["key"]] = line
    except OSError as error:
        raise LabError(f"{file} cannot be read: {error.strerror}") from error
    return list(found.values()), tuple(spoilt)


def _is_run(line: Mapping[str, Any]) -> bool:
    measured = line.get("measured") or {}
    return (
        isinstance(line.get("key"), str)
        and isinstance(line.get("values"), dict)
        and isinstance(line.get("failed", ""), str)
        and isinstance(measured, dict)
        and all(each is None or isinstance(each, (int, float)) for each in measured.values())
    )


def _asked(file: Path) -> dict[str, None] | None:
    """The keys, in their order; None where there is no such file."""
    if not file.exists():
        return None
    try:
        found = json_of(believed(file), most_parts=None)
    except OSError as error:
        raise LabError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise LabError(
            f"{file}: not what a sweep has written\n"
            "  remedy: give the same command again: it is written anew, and nothing run twice"
        )
    return dict.fromkeys(found)


def row(key: str, values: Mapping[str, Any], more: Mapping[str, Any]) -> Row:
    """A line of the file."""
    return {"key": key, "values": dict(values), **more}
