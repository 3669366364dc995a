"""The kinds of arguments that Comware's QoS and interface commands take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from labtests.simlab.comware.grammar import BadSyntax, Problem, Word
from labtests.simlab.comware.interfaces import Ports

QUEUE_NAMES = ("be", "af1", "af2", "af3", "af4", "ef", "cs6", "cs7")
"""Keywords for queues 0..7 (H3C ACL and QoS command reference)."""


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number in a range."""

    low: int
    high: int

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        text = words[0].text
        if not (text.isascii() and text.isdigit() and self.low <= int(text) <= self.high):
            return None
        return int(text), 1


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue, by number or by name."""

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        text = words[0].text.lower()
        if text in QUEUE_NAMES:
            return QUEUE_NAMES.index(text), 1
        return Number(0, 7).read(words)


@dataclass(frozen=True, slots=True)
class PriorityList:
    """802.1p priorities in one word: `0-7`, `3,5`, `0,2-4`."""

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        priorities: set[int] = set()
        for part in words[0].text.split(","):
            first, dash, last = part.partition("-")
            ends = [first, last] if dash else [first]
            if not all(end in list("01234567") for end in ends) or ends[0] > ends[-1]:
                return None
            priorities.update(range(int(ends[0]), int(ends[-1]) + 1))
        return frozenset(priorities), 1


def priority_list(priorities: Iterable[int]) -> str:
    """As Comware prints such a list; empty for none."""
    runs: list[list[int]] = []
    for priority in sorted(priorities):
        if runs and priority == runs[-1][1] + 1:
            runs[-1][1] = priority
        else:
            runs.append([priority, priority])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


@dataclass(frozen=True, slots=True)
class ImportList:
    """Values of a map in several words, up to the keyword behind them: `4 5`, `0 to 7`."""

    high: int

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        values: list[int] = []
        index = 0
        while index < len(words) and not "export".startswith(words[index].text.lower()):
            text = words[index].text.lower()
            if "to".startswith(text) and values and index + 1 < len(words):
                index += 1
                last = self._number(words[index])
                values.extend(range(values[-1] + 1, last + 1))
            else:
                values.append(self._number(words[index]))
            index += 1
        return (tuple(values), index) if values else None

    def _number(self, word: Word) -> int:
        if Number(0, self.high).read([word]) is None:
            raise BadSyntax(Problem.WRONG, word.column)
        return int(word.text)


@dataclass(frozen=True, slots=True)
class Name:
    """A name without blanks."""

    longest: int

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        return (words[0].text, 1) if len(words[0].text) <= self.longest else None


@dataclass(frozen=True, slots=True)
class Text:
    """Everything up to the end of the line, blanks inside included."""

    longest: int

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        text = ""
        for word in words:
            text = text.ljust(word.column - words[0].column) + word.text
        return (text, len(words)) if len(text) <= self.longest else None


@dataclass(frozen=True, slots=True)
class Port:
    """An interface of this switch, in one word or two."""

    ports: Ports

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """See Parameter."""
        second = words[1].text if len(words) > 1 else None
        name, taken = self.ports.read(words[0].text, second)
        if name is not None:
            return name, taken
        if taken == 1:  # a type alone
            raise BadSyntax(Problem.INCOMPLETE, words[0].column + len(words[0].text) + 1)
        if taken == 2:
            apart = second is not None and not words[0].text[-1].isdigit()
            raise BadSyntax(Problem.WRONG, words[1 if apart else 0].column)
        return None
