"""The recordings of one platform: how one is loaded, read and rendered.

$ display packet-drop summary                      the command
# source: ...; platform; white space verbatim      where it is from
All interfaces:                                    the output, byte for byte
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest

from labtests.core.errors import UnreadableOutput
from labtests.transport.protocol import Reply


def label(recording: Path) -> str:
    return recording.stem


@dataclass(frozen=True)
class PlatformRecordings:
    """Files of a folder. The name of each begins with that of its parser; others' recordings are
    there, too, where it is `shared`."""

    folder: Path
    parsers: Mapping[str, Callable[[Reply], Any]]
    shared: bool = False

    @property
    def recordings(self) -> list[Path]:
        """Every one of the platform."""
        found = sorted(self.folder.glob("*.txt"))
        return [each for each in found if not self.shared or self._kind(each) in self.parsers]

    def load(self, recording: Path | str) -> Reply:
        """The recorded answer. `recording` is a path, or the file's name without `.txt`."""
        path = recording if isinstance(recording, Path) else self.folder / f"{recording}.txt"
        command, source, text = path.read_text(encoding="utf-8").split("\n", 2)
        assert command.startswith("$ "), path
        assert source.startswith("# source: "), path
        return Reply(device="recorded", command=command.removeprefix("$ "), text=text)

    def parser_of(self, recording: Path) -> Callable[[Reply], Any]:
        return self.parsers[self._kind(recording)]

    def rendered(self, recording: Path) -> str:
        """What the parser reads, one line for each record, or `refused: <why>`."""
        try:
            read = self.parser_of(recording)(self.load(recording))
        except UnreadableOutput as refusal:
            return f"refused: {refusal.problem}\n"
        if isinstance(read, dict):
            return "".join(f"{key} = {pformat(value, width=96)}\n" for key, value in read.items())
        return "".join(f"{pformat(record, width=96)}\n" for record in read)

    def expect_complete(self) -> None:
        """Every parser has a recording that it reads; no expectation is without its recording."""
        known = [r for r in sorted(self.folder.glob("*.txt")) if self._kind(r) in self.parsers]
        assert {self._kind(r) for r in known if self.is_read(r)} == set(self.parsers)
        expected = [r for r in self.folder.glob("*.expected") if self._kind(r) in self.parsers]
        assert {r.stem for r in expected} == {r.stem for r in known}

    def expect_new_line_refused(self, recording: Path, line: str) -> None:
        """Wherever it stands."""
        reply = self.load(recording)
        lines = reply.text.splitlines(keepends=True)
        for place in {0, len(lines) // 2, len(lines)}:
            more = "".join([*lines[:place], f"{line}\n", *lines[place:]])
            with pytest.raises(UnreadableOutput):
                self.parser_of(recording)(replace(reply, text=more))

    @staticmethod
    def _kind(recording: Path) -> str:
        return recording.name.split(".")[0]

    def is_read(self, recording: Path) -> bool:
        return not self.rendered(recording).startswith("refused: ")


def part_of(some: Any, whole: Any) -> bool:
    """Whether one reading says nothing that the other does not say: it may lack entries."""
    if some is None or some == whole or some == "":
        return True
    if isinstance(some, dict) and isinstance(whole, dict):
        return some.items() <= whole.items() or all(
            key in whole and part_of(value, whole[key]) for key, value in some.items()
        )
    if isinstance(some, frozenset) and isinstance(whole, frozenset):
        return some <= whole
    if isinstance(some, tuple | list) and isinstance(whole, tuple | list):
        return all(any(part_of(each, other) for other in whole) for each in some)
    if is_dataclass(some) and type(some) is type(whole):
        names = [each.name for each in fields(some)]
        return all(part_of(getattr(some, name), getattr(whole, name)) for name in names)
    return False
