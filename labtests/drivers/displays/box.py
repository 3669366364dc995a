"""What a switch with a CLI tells of itself: what it is and runs, its clock, and whom it hears."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from labtests.capabilities.device import Versions
from labtests.capabilities.facts import ClockReading, Neighbour, Neighbours, OwnClock
from labtests.drivers.displays.cli import CliPart
from labtests.drivers.displays.shapes import Unfit
from labtests.drivers.parsing import kept, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply


class CliBox(CliPart, Versions, OwnClock, Neighbours):
    """Each by one question, and what reads the answer; a clock also by how fine it is, in s."""

    version: ClassVar[tuple[CliLine, Callable[[Reply], dict[str, str]]]]
    clock: ClassVar[tuple[CliLine, Callable[[Reply], float], float]]
    heard: ClassVar[tuple[CliLine, Callable[[Reply], tuple[Neighbour, ...]]]]

    def versions(self) -> Asking[dict[str, str]]:
        """See Versions."""
        question, parse = self.version
        return parse((yield from self.cli.answer(question)))

    def own_clock(self) -> Asking[ClockReading]:
        """See OwnClock."""
        question, parse, resolution_s = self.clock
        reply = yield from self.cli.answer(question)
        device_s = parse(reply)
        return ClockReading(device_s=device_s, lab_s=reply.time_s, resolution_s=resolution_s)

    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """By LLDP."""
        question, parse = self.heard
        return parse((yield from self.cli.answer(question)))


def utc_s(told: str, form: str) -> float:
    """Seconds since 1970 of a time in UTC, as strptime reads it. Raises Unfit for what is none."""
    try:
        return datetime.strptime(told, form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise Unfit(f"with {told} is not a date and time") from None


def first_said(reply: Reply, *shapes: re.Pattern[str]) -> dict[str, str]:
    """What the first line says in which each of these is found, by the names of its groups; "" for
    one that says nothing. Other lines are not read."""
    found: dict[str, str] = {}
    for text in whole_lines(reply):
        for shape in (each for each in shapes if not each.groupindex.keys() & found.keys()):
            if match := shape.search(text):
                found |= match.groupdict("")
    names = (name for shape in shapes for name in shape.groupindex)
    return {name: kept(reply, found.get(name, ""), f"the version of {name}") for name in names}


def in_the_way(
    where: str, lines: Iterable[str], starts: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """What lines of a configuration do to a test, by how they begin."""
    for text in lines:
        for start, what in starts:
            if text.startswith(start):
                yield f"{where}: {what} (`{text}`)"
