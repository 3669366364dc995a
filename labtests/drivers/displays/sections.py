"""Configuration text: sections, each a first line and the lines under it."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from labtests.core.output import quoted_excerpt
from labtests.drivers.displays.shapes import Shape, Unfit
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.protocol import Reply

_DEEPEST = 16  # lines under each other: more than any CLI has views in each other


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

    def expect_known(self, reply: Reply, about: str, *shapes: Shape) -> None:
        """Every line that begins like this (a regular expression, in any case, blanks counted as
        one) has one of these shapes: taken for nothing, another one would be lost when something is
        set and undone."""
        for line in self.lines:
            if re.match(about, " ".join(line.split()), re.IGNORECASE | re.ASCII) is None:
                continue
            if not any(shape.pattern.fullmatch(line) for shape in shapes):
                refuse(
                    reply, f"{self.head} has a line that is unrecognised: {quoted_excerpt(line)}"
                )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested(Section):
    """A part with parts of its own, whose first lines are among its lines."""

    inner: tuple["Nested", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Indented:
    """A configuration in which a blank at the beginning says what stands under what. It has no end
    of its own, so another command's answer stands behind it on a line of its own; where that line
    (`end`) is missing, the configuration was cut. Lines `beside` may stand behind it. Comments are
    passed over."""

    end: Shape
    comment: str
    cut_remedy: str
    beside: Shape | None = None

    def sections(self, reply: Reply) -> tuple[Nested, ...]:
        """Every section, in order. Raises UnreadableOutput."""
        texts = [line.rstrip() for line in whole_lines(reply) if line.strip()]
        while texts and self.beside and self.beside.pattern.fullmatch(texts[-1].strip()):
            texts.pop()
        if not texts or self.end.pattern.fullmatch(texts[-1].strip()) is None:
            refuse(reply, f"there is no line `{self.end.begins}` behind it", self.cut_remedy)
        kept = [text for text in texts[:-1] if not text.lstrip().startswith(self.comment)]
        try:
            return _nested(kept)
        except Unfit as problem:
            refuse(reply, str(problem), self.cut_remedy)


def _nested(texts: list[str], depth: int = 1) -> tuple[Nested, ...]:
    """The sections of lines of which the first has the smallest margin."""
    if depth > _DEEPEST:
        raise Unfit(f"{texts[0].strip()!r} stands under {_DEEPEST} others")
    margins = [len(text) - len(text.lstrip()) for text in texts]
    heads = [n for n, margin in enumerate(margins) if margin == margins[0]]
    if margins and min(margins) < margins[0]:
        raise Unfit(f"{texts[0].strip()!r} stands under nothing")
    found = []
    for first, behind in pairwise([*heads, len(texts)]):
        inner = _nested(texts[first + 1 : behind], depth + 1) if behind > first + 1 else ()
        lines = tuple(each.head for each in inner)
        found.append(Nested(head=texts[first].strip(), lines=lines, inner=inner))
    return tuple(found)
