"""Cells of a table with blank cells: which word of a row belongs to which column.

A row with as many words as columns is read in order: a long value pushes the later ones out of
their place, but none is missing. A shorter row is read by where its words stand under the header.
Where a header has single blanks between its names, the text was collapsed on its way and places
mean nothing; then a short row is read only when its words can belong nowhere else.
"""

import re
from dataclasses import dataclass

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """A header: the names and where they start. The last `optional` columns come all or none."""

    names: tuple[str, ...]
    starts: tuple[int, ...]
    collapsed: bool
    optional: int

    @classmethod
    def of(cls, header: str, *, optional: int) -> "Columns":
        """The columns of this header line."""
        words = list(_WORD.finditer(header))
        return cls(
            names=tuple(w.group() for w in words),
            starts=tuple(w.start() for w in words),
            collapsed="  " not in header.strip(),
            optional=optional,
        )

    def cells(self, row: str) -> dict[str, str] | None:
        """Column name -> word. None when the words cannot be told apart with certainty."""
        words = list(_WORD.finditer(row))
        if len(words) == len(self.names):
            return dict(zip(self.names, (w.group() for w in words), strict=True))
        if self.collapsed:
            return self._by_count([w.group() for w in words])
        return self._by_place(words)

    def _by_place(self, words: list[re.Match[str]]) -> dict[str, str] | None:
        cells: dict[str, str] = {}
        for word in words:
            under = sum(start <= word.start() for start in self.starts) - 1
            if under < 0 or self.names[under] in cells:
                return None
            cells[self.names[under]] = word.group()
        return cells if self._all_or_none(cells) else None

    def _all_or_none(self, cells: dict[str, str]) -> bool:
        shown = sum(name in cells for name in self.names[-self.optional :])
        return shown in (0, self.optional)

    def _by_count(self, words: list[str]) -> dict[str, str] | None:
        # all optional columns missing, with or without the one blank cell before them, or a row
        # that has only the optional columns. One word less than the header could be the blank cell
        # or a cut: not certain.
        required = self.names[: -self.optional]
        if words and not words[0].isdigit() and len(words) in (len(required), len(required) - 1):
            return dict(zip(required, words, strict=False))
        if len(words) == self.optional and all(word.isdigit() for word in words):
            return dict(zip(self.names[-self.optional :], words, strict=True))
        return None


def unwrapped(texts: list[str]) -> list[str]:
    """Undo the hard wrap of H3C's manual pages, which break every line at the ruler's width.

    Recognised by a header that goes on in the line before the ruler; other texts stay as they are.
    """
    ruler = next((n for n, text in enumerate(texts) if re.fullmatch(r"-{20,}", text)), 0)
    header = next((n for n, text in enumerate(texts) if text.startswith("Interface ")), ruler)
    if header != ruler - 2 or not texts[ruler - 1].startswith(" "):
        return texts
    width = len(texts[ruler])
    joined: list[str] = []
    for number, text in enumerate(texts):
        if number == ruler + 1 and not text.strip("-"):
            continue
        if _is_second_half(text, joined, header_width=len(texts[ruler - 1])):
            joined[-1] = joined[-1].ljust(width) + text
        else:
            joined.append(text)
    return joined


def _is_second_half(text: str, before: list[str], *, header_width: int) -> bool:
    starts_late = text.startswith(" ") and len(text.rstrip()) <= header_width
    return starts_late and bool(before) and not before[-1].startswith("-")
