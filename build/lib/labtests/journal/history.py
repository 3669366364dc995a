"""A change journal, read after a crash: what is still to be undone (changes.py writes it)."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labtests.capabilities.values import expect_value
from labtests.core.errors import LabError
from labtests.core.output import excerpt
from labtests.inventory import Endpoint, LeasePlace, expect_place, expect_sound, is_name
from labtests.journal.append_only import Torn, read_lines
from labtests.journal.changes import FORMAT, Begun, Entry, Intent
from labtests.journal.runner import expect_runner
from labtests.journal.values import NotStorable, unpack

_SETTING = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(slots=True)
class Story:
    """What a file tells: `entries` are still to be undone, in the order they were made."""

    begun: Begun
    entries: list[Entry] = field(default_factory=list)
    kept: list[Entry] = field(default_factory=list)
    torn: list[Torn] = field(default_factory=list)
    last_number: int = 0
    ended: bool = False
    by_number: dict[int, Entry] = field(default_factory=dict)
    open: dict[int, Entry] = field(default_factory=dict)  # `entries` while the file is read
    staying: dict[int, Entry] = field(default_factory=dict)  # `kept`, too
    through: dict[int, list[object]] = field(default_factory=dict)  # `touched`, too

    @property
    def all(self) -> list[Entry]:
        """Also those that were meant to stay."""
        return [*self.kept, *self.entries]


def read_changes(path: Path) -> Story:
    """The story so far. Raises LabError when the file is not there, or not a change journal, or
    somebody else could have written it."""
    try:
        lines = list(read_lines(path))
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from error
    whole = [line for line in lines if isinstance(line, dict)]
    if not whole or whole[0].get("format") != FORMAT:
        raise LabError(f"{path} is not a change journal ({FORMAT})")
    try:
        story = Story(_begun(whole[0]), torn=[line for line in lines if isinstance(line, Torn)])
        for line in whole[1:]:
            _tell(story, line)
        for number, values in story.through.items():
            story.by_number[number].touched = tuple(values)
        story.entries, story.kept = [*story.open.values()], [*story.staying.values()]
        _expect_sound(story, path)
    except (KeyError, TypeError, ValueError, AttributeError, NotStorable) as error:
        raise LabError(f"{path} cannot be understood: {error}") from error
    return story


def _expect_sound(story: Story, path: Path) -> None:
    """What is dialled and what is changed could stand in a testbed file. Raises LabError."""
    begun = story.begun
    texts = (begun.testbed, begun.file, begun.backend)
    expect_runner(begun.runner)
    if not is_name(begun.run) or not is_name(begun.testbed):
        raise ValueError("its first line has no valid run or testbed name")
    if any(type(text) is not str for text in texts) or type(begun.dry_run) is not bool:
        raise ValueError("its first line has fields of the wrong type")
    expect_sound(begun.devices, begun.lease, place=str(path))
    beside = {device.management.known_hosts_beside for device in begun.devices}
    if not beside <= {None, str(Path(begun.file).parent)}:
        raise ValueError("a device's known_hosts is not beside the testbed file")
    for entry in story.all:
        expect_place(entry.intent.at, begun.devices, place=str(path))


def _tell(story: Story, line: dict[str, Any]) -> None:
    kind = line["kind"]
    if kind == "change":
        entry = _entry(line)
        if story.ended:
            raise ValueError(f"change {entry.number} follows the end marker")
        if entry.number in story.by_number:
            raise ValueError(f"change {entry.number} appears twice")
        story.by_number[entry.number] = story.open[entry.number] = entry
        story.last_number = max(story.last_number, entry.number)
    elif kind == "kept":
        story.staying |= story.open
        story.open.clear()
    elif kind == "ended":
        story.ended = True
        story.open.clear()
    elif (marked := story.by_number.get(line.get("number", 0))) is not None:
        _mark(story, marked, line)


def _mark(story: Story, entry: Entry, line: dict[str, Any]) -> None:
    kind = line["kind"]
    if kind in ("made", "undoing"):
        entry.whole = kind == "made"
    elif kind in ("undone", "folded"):
        into = story.by_number.get(line.get("into", 0))
        if into is entry:
            raise ValueError(f"change {entry.number} is folded into itself")
        if not (story.open.pop(entry.number, None) or story.staying.pop(entry.number, None)):
            return  # undone already: what it was folded into has its values
        if into is not None:
            into.whole = into.whole and entry.whole
            both = (story.through.pop(each.number, []) for each in (entry, into))
            fewer, more = sorted(both, key=len)
            more += [entry.intent.wanted, *fewer]
            story.through[into.number] = more


def _entry(line: dict[str, Any]) -> Entry:
    earlier, wanted = unpack(line["earlier"]), unpack(line["wanted"])
    words = [line["setting"], line["device"], line["port"], *line["commands"], *line["undo"]]
    numbers = (line["number"], line.get("together", 0))
    if {*map(type, words)} != {str} or {*map(type, numbers)} != {int}:
        raise ValueError(f"change {excerpt(repr(line['number']), 20)} has fields of the wrong type")
    if not _SETTING.fullmatch(line["setting"]):
        raise ValueError(f"{excerpt(repr(line['setting']), 60)} is not a setting name")
    for value in (earlier, wanted):
        expect_value(line["setting"], value)
    intent = Intent(
        at=Endpoint(device=line["device"], interface=line["port"]),
        setting=line["setting"],
        earlier=earlier,
        wanted=wanted,
        commands=tuple(line["commands"]),
        undo=tuple(line["undo"]),
    )
    return Entry(number=line["number"], intent=intent, together=line.get("together", 0))


def _begun(line: dict[str, Any]) -> Begun:
    return Begun(
        run=line["run"],
        runner=unpack(line["runner"]),
        testbed=line["testbed"],
        file=line["file"],
        backend=line["backend"],
        dry_run=line["dry_run"],
        devices=tuple(unpack(device) for device in line["devices"]),
        lease=unpack(line["lease"]) if "lease" in line else LeasePlace(),
    )
