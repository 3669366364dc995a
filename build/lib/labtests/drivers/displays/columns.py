"""Which word of a row stands in which column.

Where a ruler shows how wide each column is, that decides, and a cell may have single blanks. Else a
row with as many words as columns is read in order: a long value pushes the later ones out of their
place, but none is missing. A shorter row is read by where its words stand under the header. Where a
header has single blanks between its names, the text was collapsed on its way and places mean
nothing; then a short row is read only when its words can belong nowhere else.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from labtests.drivers.displays.shapes import Shape

_WORD = re.compile(r"\S+")
_PHRASE = re.compile(r"\S+(?: \S+)*")
_RULER = re.compile(r"\s*-+(?:\s+-+)+\s*")
_LONG_RULER = re.compile(r"-{20,}")
_FAR = 1_000_000

Cells = dict[str, str]
"""What stands over a column -> what stands in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What stands over it (a regular expression), how a cell shows, whether it may be blank."""

    head: str
    shape: Shape
    blank: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Columns where they stand: from, up to. The last `optional` come all or none."""

    columns: tuple[Column, ...]
    spans: tuple[tuple[int, int], ...]
    optional: int
    collapsed: bool
    ruled: bool = False

    @classmethod
    def under(
        cls, header: str, about: tuple[Column, ...], details: tuple[Column, ...]
    ) -> "Placed | None":
        """These columns, where this line is their header."""
        columns = (*about, *details)
        match = _header(tuple(column.head for column in columns)).fullmatch(header)
        if match is None:
            return None
        starts = [match.start(number) for number in range(1, len(columns) + 1)]
        return cls(
            columns=columns,
            spans=tuple(pairwise([*starts, _FAR])),
            optional=len(details),
            collapsed="  " not in header.strip(),
        )

    @property
    def details(self) -> tuple[Column, ...]:
        """Those that come all or none."""
        return self.columns[len(self.columns) - self.optional :]

    def ruled_by(self, line: str) -> "Placed":
        """The same; where this line is a ruler of as many columns, as wide as that."""
        spans = tuple(word.span() for word in _WORD.finditer(line))
        if _RULER.fullmatch(line) is None or len(spans) != len(self.columns):
            return self
        return replace(self, spans=spans, ruled=True)

    def cells(self, row: str) -> tuple[Cells, Cells] | None:
        """Those a row is about, and its details. None when they cannot be told apart."""
        words = list((_PHRASE if self.ruled else _WORD).finditer(row))
        heads = [column.head for column in self.columns]
        needed = len(heads) - self.optional
        found: Cells | None
        if len(words) == len(heads) and not self.ruled:
            found = dict(zip(heads, (word.group() for word in words), strict=True))
        elif self.collapsed and not self.ruled:
            found = self._by_count(heads, [word.group() for word in words])
        else:
            found = self._by_place(heads, words)
        if found is None or sum(head in found for head in heads[needed:]) not in (0, self.optional):
            return None
        about = {head: found.pop(head) for head in heads[:needed] if head in found}
        return about, found

    def _by_place(self, heads: list[str], words: list[re.Match[str]]) -> Cells | None:
        cells: Cells = {}
        for word in words:
            end = word.end() if self.ruled else word.start() + 1
            under = [
                n for n, span in enumerate(self.spans) if word.start() < span[1] and end > span[0]
            ]
            if len(under) != 1 or heads[under[0]] in cells:
                return None
            cells[heads[under[0]]] = word.group()
        return cells

    def _by_count(self, heads: list[str], words: list[str]) -> Cells | None:
        # no details, with or without the one blank cell before them, or a row that has only
        # details. One word less than the header could be the blank cell or a cut: not certain.
        needed = len(heads) - self.optional
        fewest = needed - self.columns[needed - 1].blank
        if words and not words[0].isdigit() and len(words) in (fewest, needed):
            return dict(zip(heads[:needed], words, strict=False))
        if len(words) == self.optional and all(word.isdigit() for word in words):
            return dict(zip(heads[needed:], words, strict=True))
        return None


@cache
def _header(heads: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\s*" + r"\s+".join(f"({head})" for head in heads) + r"\s*")


def unwrapped(texts: list[str], first: str) -> list[str]:
    """Undo the hard wrap of manual pages, which break every line at the ruler's width.

    Recognised by a header (`first` stands over its first column) that goes on in the line before
    the ruler; other texts stay as they are.
    """
    ruler = next((n for n, text in enumerate(texts) if _LONG_RULER.fullmatch(text)), 0)
    header = next((n for n, text in enumerate(texts) if re.match(f"{first} ", text)), ruler)
    if header != ruler - 2 or not texts[ruler - 1].startswith(" "):
        return texts
    width, widest_half = len(texts[ruler]), len(texts[ruler - 1])
    joined: list[str] = []
    for text in texts[: ruler + 1] + texts[ruler + 1 + _is_ruler(texts[ruler + 1 :]) :]:
        starts_late = text.startswith(" ") and len(text.rstrip()) <= widest_half
        if starts_late and joined and not joined[-1].startswith("-"):
            joined[-1] = joined[-1].ljust(width) + text
        else:
            joined.append(text)
    return joined


def _is_ruler(texts: list[str]) -> bool:
    """Whether the first of them is the rest of a ruler."""
    return bool(texts) and not texts[0].strip("-")
