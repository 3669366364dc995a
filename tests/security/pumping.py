"""Texts that make a regular expression look again and again: twenty thousand characters of what one
of its repetitions takes, and then something that does not fit."""

import random
import re
from collections.abc import Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

LENGTH = 20_000
PROBES = ' \t\n0a-"'
TRIES = 2  # texts of each repetition
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "7",
    sre.CATEGORY_SPACE: " \t\n",
    sre.CATEGORY_WORD: "a_7",
    sre.CATEGORY_NOT_SPACE: "x7",
    sre.CATEGORY_NOT_DIGIT: "x ",
    sre.CATEGORY_NOT_WORD: " -",
}
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def pumped(pattern: re.Pattern[str], seed: int = 1) -> Iterator[str]:
    """Each once."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    chance = random.Random(seed)
    places = {place for _ in range(TRIES) for place in _Walk(chance).places(tree)}
    places |= {("", probe) for probe in PROBES}
    places |= {(before, probe) for before, _ in places for probe in PROBES[:2]}
    for before, unit in sorted(places):
        yield before + unit * (LENGTH // len(unit)) + "\0!"


class _Walk:
    """Along one text that the pattern takes."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._text = chance, ""
        self._found: list[tuple[str, str]] = []

    def places(self, tree: Any) -> list[tuple[str, str]]:
        """What stands before each repetition, and what it repeats."""
        self._go(tree)
        return self._found

    def _go(self, tree: Any) -> None:
        for kind, more in tree:
            if kind in _REPEATS:
                self._repeat(*more)
            elif kind is sre.SUBPATTERN:
                self._go(more[3])
            elif kind is sre.BRANCH:
                self._go(self._chance.choice(more[1]))
            elif kind is sre.ATOMIC_GROUP:
                self._go(more)
            else:
                self._text += self._one(kind, more)

    def _repeat(self, least: int, most: int, inner: Any) -> None:
        before = self._text
        for _ in range(max(1, min(least, 3))):
            self._go(inner)
        if most > 1 and self._text != before:
            self._found.append((before, self._text[len(before) :]))
        if least == 0 and self._chance.random() < 0.3:
            self._text = before

    def _one(self, kind: Any, more: Any) -> str:
        if kind is sre.LITERAL:
            return chr(more)
        if kind is sre.NOT_LITERAL:
            return next(each for each in "a 7" if ord(each) != more)
        if kind is sre.ANY:
            return self._chance.choice("a 7%")
        return self._member(more) if kind is sre.IN else ""

    def _member(self, members: Any) -> str:
        negated = members[0][0] is sre.NEGATE
        texts = "".join(_of(kind, more) for kind, more in members)
        if not negated:
            return self._chance.choice(texts)
        ranges = [more for kind, more in members if kind is sre.RANGE]
        free = [
            each
            for each in "a 7x-:,%~"
            if each not in texts and not any(low <= ord(each) <= high for low, high in ranges)
        ]
        return self._chance.choice(free or ["~"])


def _of(kind: Any, more: Any) -> str:
    if kind is sre.LITERAL:
        return chr(more)
    if kind is sre.RANGE:
        return chr(more[0]) + chr(more[1])
    return _CATEGORIES[more] if kind is sre.CATEGORY else ""
