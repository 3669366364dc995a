"""What a switch with a CLI tells of itself: what it is and runs, its clock, and whom it hears."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from labtests.capabilities.device import Versions
from labtests.capabilities.facts import Neighbour, Neighbours, OwnClock
from labtests.capabilities.readings import ClockReading
from labtests.drivers.displays.cli import CliPart
from labtests.drivers.displays.shapes import Unfit
from labtests.drivers.parsing import incomplete, kept, refuse, whole_lines
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


def utc_s(text: str, form: str, ahead: timedelta = timedelta()) -> float:
    """Seconds since 1970, of a time and date in this form (datetime.strptime) that is so far ahead
    of UTC. Raises Unfit."""
    try:
        return (datetime.strptime(text, form).replace(tzinfo=UTC) - ahead).timestamp()
    except (ValueError, OverflowError):
        raise Unfit(f"has {text!r}, which is not a time and date") from None


def first_said(
    reply: Reply, *shapes: re.Pattern[str], needed: str = "", line: str = ""
) -> dict[str, str]:
    """What the first line says in which each of these is found, by the names of its groups; "" for
    one that says nothing, but for one that is `needed`: it stands in such a line. Other lines are
    not read. Raises UnreadableOutput."""
    found: dict[str, str] = {}
    for text in whole_lines(reply):
        for shape in (each for each in shapes if not each.groupindex.keys() & found.keys()):
            if match := shape.search(text):
                found |= match.groupdict("")
    names = (name for shape in shapes for name in shape.groupindex)
    if needed and not found.get(needed):
        refuse(reply, f"there is no line `{line}`")
    return {name: kept(reply, found.get(name, ""), f"the version of {name}") for name in names}


TOTAL = re.compile(r"Total entries displayed:\s*([0-9]{1,6})")
"""How displays of LLDP neighbours end, of several vendors."""


def expect_total(reply: Reply, shown: int) -> None:
    """The answer says how many entries it has, once and at its end, and has so many. Raises
    UnreadableOutput."""
    texts = [text.strip() for text in whole_lines(reply) if text.strip()]
    totals = [int(match[1]) for text in texts if (match := TOTAL.fullmatch(text))]
    if not totals or TOTAL.fullmatch(texts[-1]) is None:
        incomplete(reply, "it does not end with `Total entries displayed`")
    if totals != [shown]:
        refuse(reply, f"it says {totals[-1]} entries and shows {shown}")


def in_the_way(
    where: str, lines: Iterable[str], starts: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """What lines of a configuration do to a test, by how they begin."""
    for text in lines:
        for start, what in starts:
            if text.startswith(start):
                yield f"{where}: {what} (`{text}`)"
