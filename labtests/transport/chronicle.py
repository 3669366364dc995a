"""A transcript read again (transcript.py), plain or compressed: who was asked what, in which test,
and what the answer was. Commands that were sent together are told apart."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.packed import Damaged, unpacked
from labtests.core.trusted_files import MOST_BYTES, NotAFile, handed, json_of
from labtests.transport.batching import Joined
from labtests.transport.protocol import Reply
from labtests.transport.transcript import TEST

NAME = "journal.jsonl"
COMPRESSED = f"{NAME}.gz"
MOST_PACKED_BYTES = 2**26
"""Of a compressed journal: what it holds is a dozen times as long."""
LONGEST_LINE = 2**24
"""Of a journal, in bytes: one answer of a device."""
_CHUNK = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One command with its answer. `status` is None on a CLI, `problem` why there is no answer."""

    order: int
    time_s: float
    device: str
    test: str
    kind: str
    command: str
    text: str
    status: int | None
    problem: str = ""

    @property
    def failed(self) -> bool:
        """Whether it was not answered, or not with success."""
        return bool(self.problem) or self.status not in (None, 0)


class UnreadableJournal(LabError):
    """A journal, or a part of it, cannot be read; the text names the file, and the line."""


@dataclass(frozen=True, slots=True)
class Chronicle:
    """What of a journal could be read, and why not the rest of it; "" where all could. `folder` is
    the run's, where it is known."""

    exchanges: tuple[Exchange, ...] = ()
    problem: str = ""
    folder: str = ""

    @classmethod
    def of(cls, folder: Path) -> "Chronicle":
        """Of a run folder, which may have come without its journal."""
        found: list[Exchange] = []
        where = str(folder.absolute())
        try:
            found.extend(exchanges(folder))
        except LabError as error:
            return cls(tuple(found), str(error), where)
        return cls(tuple(found), folder=where)


def exchanges(folder: Path) -> Iterator[Exchange]:
    """All of a run folder, in order; what stands before a damage comes before it is told. The last
    line of a run that was killed may be half a line: it is left out. Raises UnreadableJournal."""
    test, started = "", dict[tuple[str, Any], Exchange]()
    for line in _lines(folder):
        if line.said.get("kind") == "note":
            said = line.text("text")
            test = said.removeprefix(TEST) if said.startswith(TEST) else test
            continue
        one = _exchange(line, test)
        process = (one.device, line.number("process"))
        if one.kind == "start":
            started[process] = one
        elif one.kind == "output" and process in started:
            one = replace(one, command=started[process].command)
        yield from _apart(one, line.text("errors"))


@dataclass(frozen=True, slots=True)
class _JournalLine:
    """One object of a journal. What has another type than it should
    have raises UnreadableJournal."""

    file: Path
    number_of: int
    said: dict[str, Any]

    def text(self, name: str) -> str:
        """A text; "" where there is none."""
        found = self.said.get(name)
        if not isinstance(found, str | None):
            raise self._odd(name, "a text")
        return found or ""

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty where there is none."""
        found = self.said.get(name) or []
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self._odd(name, "a list of texts")
        return found

    def number(self, name: str) -> int | float | None:
        """A number, if there is one."""
        found = self.said.get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self._odd(name, "a number")
        if isinstance(found, float) and not math.isfinite(found):
            raise self._odd(name, "a number")
        return found

    def _odd(self, name: str, wanted: str) -> "UnreadableJournal":
        return UnreadableJournal(f"{self.file}:{self.number_of}: `{name}` is not {wanted}")


def _exchange(line: _JournalLine, test: str) -> Exchange:
    command = line.text("command") or line.text("signal") or "\n".join(line.texts("commands"))
    status, kind = line.number("status"), line.text("kind")
    return Exchange(
        order=int(line.number("order") or 0),
        time_s=float(line.number("time_s") or 0.0),
        device=line.text("device"),
        test=test,
        kind=kind,
        command=f"signal {command}" if kind == "signal" else command,
        text=line.text("text"),
        status=None if status is None else int(status),
        problem=line.text("problem"),
    )


def _apart(one: Exchange, errors: str) -> Iterator[Exchange]:
    """The commands of one exchange; where their answers cannot be told apart, all as one."""
    joined = Joined.of(one.command) if one.kind in ("run", "configure") else None
    if joined is None:
        yield replace(one, text=one.text + errors)
        return
    reply = Reply(
        device=one.device,
        command=one.command,
        text=one.text,
        errors=errors,
        status=one.status,
        time_s=one.time_s,
    )
    answers = joined.answers(reply)
    for command, answer in zip(joined.commands, answers, strict=False):
        yield replace(one, command=command, text=answer.text + answer.errors, status=answer.status)
    if len(answers) < len(joined.commands):
        left = "\n".join(joined.commands[len(answers) :])
        yield replace(one, command=left, text="", problem=one.problem or "no answer of its own")


def _lines(folder: Path) -> Iterator[_JournalLine]:
    file, chunks = _content(folder)
    number, rest = 0, b""
    try:
        for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\n")
            for raw in whole:
                number += 1
                if line := _line(file, number, raw):
                    yield line
            if len(rest) > LONGEST_LINE:
                raise UnreadableJournal(
                    f"{file}:{number + 1}: it is longer than {LONGEST_LINE} bytes"
                )
    except Damaged as error:
        raise UnreadableJournal(f"{file}: {error}; {number} lines of it can be read") from error
    try:
        last = _line(file, number + 1, rest)
    except UnreadableJournal:  # half a line
        return
    if last:
        yield last


def _line(file: Path, number: int, raw: bytes) -> _JournalLine | None:
    if not raw.strip():
        return None
    try:
        said = json_of(raw)
    except ValueError as error:
        raise UnreadableJournal(f"{file}:{number}: it is not JSON: {error}") from error
    if not isinstance(said, dict):
        raise UnreadableJournal(f"{file}:{number}: it is no JSON object")
    return _JournalLine(file, number, said)


def _content(folder: Path) -> tuple[Path, Iterable[bytes]]:
    """What either form says; the compressed one is what a run leaves that has ended."""
    file = folder / COMPRESSED
    try:
        return file, unpacked(handed(file, most_bytes=MOST_PACKED_BYTES), MOST_BYTES)
    except FileNotFoundError:
        file = folder / NAME
    except (OSError, NotAFile) as error:
        raise UnreadableJournal(f"{file} cannot be read: {error}") from error
    try:
        return file, _in_chunks(handed(file))
    except (OSError, NotAFile) as error:
        raise UnreadableJournal(
            f"{file} cannot be read: {getattr(error, 'strerror', error)}\n"
            "  remedy: name the folder of a run, such as reports/latest"
        ) from error


def _in_chunks(content: bytes) -> Iterator[bytes]:
    for at in range(0, len(content), _CHUNK):
        yield content[at : at + _CHUNK]
