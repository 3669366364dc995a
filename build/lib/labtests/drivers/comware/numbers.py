"""Lines of a configuration that give a priority a number: `BEGIN <priority> BEHIND <number>`."""

from collections.abc import Iterator

from labtests.drivers.comware.session import line
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import Section
from labtests.drivers.parsing import refuse
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

Numbers = tuple[tuple[int, int], ...]
"""(priority, number), ascending."""


class NumberLines:
    """One kind of them. `undone_by`: what stands behind the priority in `undo`."""

    def __init__(self, begin: str, behind: str, *, undone_by: str | None = None) -> None:
        self._begin, self._behind = begin.split(), behind.split()
        self._undone_by = self._behind if undone_by is None else undone_by.split()
        self.shape = COMWARE.shape(f"{begin} <priority:0-7> {behind} <number:number>")
        self._about = rf"(?:undo )?{begin} .*\b{behind} "

    def read(self, reply: Reply, section: Section) -> Numbers:
        """Those of a section. A priority with two numbers is refused, and so are lists."""
        section.expect_known(reply, self._about, self.shape)
        found = [(each["priority"], each["number"]) for each in section.each(reply, self.shape)]
        if len(dict(found)) != len(found):
            refuse(reply, f"a priority has two lines {self.shape.begins!r}")
        return tuple(sorted(found))

    def undone(self, earlier: Numbers, wanted: Numbers) -> Iterator[CliLine]:
        """What takes numbers away that are not to be."""
        for priority, _ in earlier:
            if priority not in dict(wanted):
                yield line("undo", *self._begin, priority, *self._undone_by)

    def made(self, earlier: Numbers, wanted: Numbers) -> Iterator[CliLine]:
        """What gives numbers that are not so."""
        for priority, number in wanted:
            if dict(earlier).get(priority) != number:
                yield line(*self._begin, priority, *self._behind, number)
