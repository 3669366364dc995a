"""Displays of ruled tables, where the ruler says what stands in which column.

                      operational  applied       values, by the names that they are indented under
    ----------------  -----------  --------
    mode              lossless     lossless
    pfc
      pfc-priority    3

    Queues                                       and tables, each under a title
    ======
        queue  frames
        -----  ------
        0      7

Titles, names and heads are declared with how each value looks (a regular expression); all else is
refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labtests.core.output import excerpt
from labtests.drivers.parsing import READ_AGAIN, incomplete, kept, refuse, whole_lines
from labtests.transport.protocol import Reply

Looks = Mapping[str, str]
"""How the value of each name looks; a name with `?` at its end may be missing, and one with `=` has
to be the same in both columns."""
_INDENT = 2
_RULER, _UNDERLINE = re.compile("-+(?: +-+)*"), re.compile("=+")


@dataclass(frozen=True, slots=True)
class Ruled:
    """What was shown: `blocks` by title, "" for the values, each its rows of cells under heads."""

    reply: Reply
    blocks: Mapping[str, tuple[tuple[str, ...], ...]]

    def only(self, *titles: str) -> None:
        """Whatever else is shown may be what matters. Raises UnreadableOutput."""
        if odd := self.blocks.keys() - set(titles):
            refuse(self.reply, f"it has a table {excerpt(min(odd), 80)!r}")

    def values(self, looks: Looks) -> dict[str, str]:
        """The values that are in operation, or where there is none applied, by the names that lead
        to each. A name without any is a heading. Raises UnreadableOutput."""
        found: dict[str, str] = {}
        path: list[str] = []
        heading = False
        heads, *rows = self._rows("")
        if heads[:3] != ("", "operational", "applied"):
            refuse(self.reply, f"its heads are {excerpt(' '.join(heads), 80)!r}")
        for name, now, applied, *_ in rows:
            depth = (len(name) - len(name.lstrip())) // _INDENT
            if depth > len(path) or (heading and depth < len(path)):
                refuse(self.reply, f"{name.strip()!r} or what is above it stands alone")
            path = [*path[:depth], name.strip()]
            if value := now or applied:
                self._put(found, " ".join(path), value)
            heading = not value
            if f"{' '.join(path)}=" in looks and now != applied:
                refuse(self.reply, f"{path[-1]} is {now!r}, and {applied!r} as applied", READ_AGAIN)
        if heading:
            incomplete(self.reply, f"nothing is under {path[-1]!r}")
        self._expect(found, looks)
        return found

    def _put(self, found: dict[str, str], name: str, value: str) -> None:
        if name in found:
            refuse(self.reply, f"it has {name} twice")
        found[name] = value

    def rows(self, title: str, looks: Looks) -> Iterator[dict[str, str]]:
        """Each row of a table, by its heads. Raises UnreadableOutput."""
        heads, *rows = self._rows(title)
        for row in rows:
            found = dict(zip(heads, (cell.strip() for cell in row), strict=True))
            self._expect(found, looks)
            yield found

    def _rows(self, title: str) -> tuple[tuple[str, ...], ...]:
        if not self.blocks.get(title):
            incomplete(self.reply, f"it lacks the table {title!r}")
        return self.blocks[title]

    def _expect(self, found: Mapping[str, str], looks: Looks) -> None:
        known = {name.rstrip("?="): looks[name] for name in looks}
        for name, value in found.items():
            if name not in known or not re.fullmatch(known[name], kept(self.reply, value, name)):
                refuse(self.reply, f"it has {excerpt(f'{name}: {value}', 80)!r}")
        if gone := {name.rstrip("=") for name in looks if name[-1:] != "?"} - found.keys():
            incomplete(self.reply, f"it lacks {min(gone)!r}")


def read_ruled(reply: Reply) -> Ruled:
    """An answer that is such a display. Raises UnreadableOutput."""
    lines = [line.rstrip() for line in whole_lines(reply)]
    blocks: dict[str, list[str]] = {"": []}
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and _UNDERLINE.fullmatch(below):
            if line in blocks:
                refuse(reply, f"it has the table {line!r} twice")
            blocks[line] = []
        elif line and not _UNDERLINE.fullmatch(line):
            blocks[[*blocks][-1]].append(line)
    return Ruled(reply, {title: _block(reply, each) for title, each in blocks.items()})


def _block(reply: Reply, lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if not lines or lines == ["No Data"]:
        return ()
    heads, ruler, *rows = (*lines, "")[: max(2, len(lines))]
    margin = len(ruler) - len(ruler.lstrip())
    if not _RULER.fullmatch(ruler.strip()):
        refuse(reply, f"no ruler is under {excerpt(heads, 80)!r}")
    begins = [margin + each.start() for each in re.finditer("-+", ruler[margin:])]
    named = re.split(r"\s{2,}", heads.strip())
    if len(named) not in (len(begins), len(begins) - 1):
        refuse(reply, f"the heads {excerpt(heads, 80)!r} have another number of rulers")
    blank = [""] * (len(begins) - len(named))
    return ((*blank, *named), *(_cells(reply, begins, row) for row in rows))


def _cells(reply: Reply, begins: Sequence[int], row: str) -> tuple[str, ...]:
    """The first keeps its indent."""
    if row[: begins[0]].strip() or any(row[at - 1 : at].strip() for at in begins[1:]):
        refuse(reply, f"{excerpt(row, 80)!r} does not stand under its heads")
    first, *more = (row[a:b] for a, b in zip(begins, [*begins[1:], None], strict=True))
    return (first.rstrip(), *(each.strip() for each in more))
