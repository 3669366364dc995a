"""Kinds of arguments that command lines of switches take."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labtests.simlab.switch_cli.grammar import BadSyntax, Problem, TypedWord


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number in a range; or one of some names of such numbers."""

    low: int
    high: int
    names: tuple[str, ...] = ()

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        text = words[0].text.lower()
        if text in self.names:
            return self.names.index(text), 1
        if not (text.isascii() and text.isdigit() and self.low <= int(text) <= self.high):
            return None
        return int(text), 1


class Ranges(frozenset[int]):
    """Numbers, printed as `0,2-4`."""

    def __str__(self) -> str:
        runs: list[list[int]] = []
        for number in sorted(self):
            if runs and number == runs[-1][1] + 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


@dataclass(frozen=True, slots=True)
class RangeList:
    """Numbers up to `high` in one word: `0-7`, `3,5`, `0,2-4`; or `names` of them: `cs3,af31`."""

    high: int
    names: Mapping[str, int] = field(default_factory=dict)

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        numbers: set[int] = set()
        for part in words[0].text.split(","):
            number = str(self.names.get(part.lower(), part))
            match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", number)
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
            if not first <= last <= self.high:
                return None
            numbers.update(range(first, last + 1))
        return Ranges(numbers), 1


DSCP_NAMES: Mapping[str, int] = {
    "default": 0,
    **{f"cs{n}": 8 * n for n in range(1, 8)},
    **{f"af{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)},
    "ef": 46,
}
"""RFC 2474, 2597 and 3246, as vendors write them."""


@dataclass(frozen=True, slots=True)
class NumberList:
    """Numbers up to `high` in several words, up to the keyword behind them: `4 5`, `0 to 7`."""

    high: int
    until: str

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        numbers: list[int] = []
        index = 0
        while index < len(words) and not self.until.startswith(words[index].text.lower()):
            joined = "to".startswith(words[index].text.lower()) and numbers and words[index + 1 :]
            index += bool(joined)
            last = self._number(words[index])
            numbers.extend(range(numbers[-1] + 1, last + 1) if joined else [last])
            index += 1
        return (tuple(numbers), index) if numbers else None

    def _number(self, word: TypedWord) -> int:
        if Number(0, self.high).read([word]) is None:
            raise BadSyntax(Problem.WRONG, word.column)
        return int(word.text)


@dataclass(frozen=True, slots=True)
class OneWord:
    """A word, as this reads it; None: it is not of the kind."""

    reads: Callable[[str], Any]

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        value = self.reads(words[0].text)
        return None if value is None else (value, 1)


def one_of(*words: str) -> OneWord:
    """One of these, in any case; printed as it stands here."""
    meant = {each.lower(): each for each in words}
    return OneWord(lambda text: meant.get(text.lower()))


@dataclass(frozen=True, slots=True)
class AnyName:
    """A name without blanks."""

    longest: int

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        return (words[0].text, 1) if len(words[0].text) <= self.longest else None


@dataclass(frozen=True, slots=True)
class RestOfLine:
    """Everything up to the end of the line, blanks inside included."""

    longest: int

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        text = ""
        for word in words:
            text = text.ljust(word.column - words[0].column) + word.text
        return (text, len(words)) if len(text) <= self.longest else None


_TYPE_AND_NUMBER = re.compile(
    r"(?P<type>(?:\d+(?=[A-Za-z]))?[A-Za-z-]+)(?P<number>\d+(?:/\d+)*(?::\d+)?)?"
)


@dataclass(frozen=True, slots=True)
class InterfaceName:
    """One of this switch's interfaces, in one word or two: a type, which may be a short name or a
    unique beginning of a long one, and a number. `types` are short names by long ones."""

    names: tuple[str, ...]
    types: Mapping[str, str]

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        match = _TYPE_AND_NUMBER.fullmatch(words[0].text)
        types = self._types(match["type"]) if match else []
        if match is None or not types:
            return None
        apart = match["number"] is None
        if apart and len(words) == 1:
            raise BadSyntax(Problem.INCOMPLETE, words[0].column + len(words[0].text) + 1)
        number = words[1].text if apart else match["number"]
        meant = {name for name in self.names for each in types if name == each + number}
        if len(meant) != 1:
            raise BadSyntax(Problem.WRONG, words[apart].column)
        return meant.pop(), 1 + apart

    def _types(self, text: str) -> list[str]:
        """The types this could be."""
        mine = {re.sub(r"[\d/:]+$", "", name) for name in self.names} | set(self.types)
        text = text.lower()
        by_short = [full for full, short in self.types.items() if short.lower() == text]
        exact = [each for each in mine if each.lower() == text]
        return exact or by_short or [each for each in mine if each.lower().startswith(text)]


@dataclass(frozen=True, slots=True)
class InterfaceList:
    """Interfaces to the end of the line: `ethernet 1/1-4`, `e1/1 - 2, e1/5`, or one as `one` has
    it."""

    one: InterfaceName

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        line = " ".join(word.text for word in words)
        found: dict[str, None] = {}
        for part in line.split(","):
            first, _, last = (each.strip() for each in part.partition("-"))
            typed = [TypedWord(each, words[0].column) for each in first.split()]
            read = self.one.read(typed) if typed else None
            if read is None or read[1] != len(typed):
                return None
            found |= dict.fromkeys(self._to(read[0], last, words[0].column))
        return tuple(found), len(words)

    def _to(self, name: str, last: str, column: int) -> list[str]:
        """From this interface to the one with this last number."""
        slot, _, number = name.rpartition("/")
        if last and not (re.fullmatch("[0-9]{1,4}", last) and int(last) >= int(number)):
            raise BadSyntax(Problem.WRONG, column)
        names = [f"{slot}/{n}" for n in range(int(number), int(last or number) + 1)]
        if any(each not in self.one.names for each in names):
            raise BadSyntax(Problem.WRONG, column)
        return names


def short_name(name: str, types: Mapping[str, str]) -> str:
    """As tables print an interface. A type that has no known abbreviation stays as it is."""
    for full, short in types.items():
        if name.startswith(full):
            return short + name.removeprefix(full)
    return name
