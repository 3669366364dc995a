"""Configuration text: sections, each a first line and the lines under it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from labtests.drivers.displays.shapes import Shape
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.protocol import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a configuration. Lines that nobody knows are kept and left alone."""

    head: str
    lines: tuple[str, ...]

    def each(self, reply: Reply, shape: Shape) -> list[dict[str, Any]]:
        """What each line of this shape says."""
        found = (shape.pattern.fullmatch(line) for line in self.lines)
        return [shape.values(reply, match) for match in found if match]

    def said(self, reply: Reply, shape: Shape) -> dict[str, Any] | None:
        """What the line of this shape says; None where there is none. Two are refused."""
        found = self.each(reply, shape)
        if len(found) > 1:
            refuse(reply, f"{self.head} has two lines {shape.begins!r}")
        return found[0] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A configuration whose sections stand between marks, and that ends with a word: where that is
    missing, it was cut."""

    mark: str
    end: str
    cut_remedy: str

    def sections(self, reply: Reply) -> tuple[Section, ...]:
        """Every section, in order."""
        texts = [line.strip() for line in whole_lines(reply) if line.strip()]
        if not texts or texts[-1] != self.end:
            refuse(reply, f"the configuration does not end with `{self.end}`", self.cut_remedy)
        if self.end in texts[:-1] or texts[0] != self.mark or texts[-2] != self.mark:
            between = f"between `{self.mark}` and `{self.end}`"
            refuse(reply, f"this is not one configuration {between}", self.cut_remedy)
        marks = [n for n, text in enumerate(texts) if text == self.mark]
        parts = [texts[one + 1 : other] for one, other in pairwise(marks)]
        return tuple(Section(head=part[0], lines=tuple(part[1:])) for part in parts if part)
