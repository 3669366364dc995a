"""Texts that make a regular expression look again and again: many thousand times what one of its
repetitions takes, or what several take together, and then something that does not fit."""

import random
import re
from collections.abc import Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

LENGTH = 20_000
PROBES = ' \t\n0a-"'
MOST_ALTERNATIVES = 12
NEAR = 3  # a unit reaches from one repetition to the next, or over so many
LONG_UNIT = 8  # characters: such a text begins less often, and is made so much longer
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
    tries = min(_alternatives(tree), MOST_ALTERNATIVES)
    chance = random.Random(seed)
    walks = [_Walk(chance, n, dropping=drop) for n in range(tries) for drop in (False, True)]
    places = {place for walk in walks for place in walk.places(tree)}
    places |= {("", probe) for probe in PROBES}
    places |= {(before, probe) for before, _ in places for probe in PROBES[:2]}
    for before, unit in sorted(places):
        length = LENGTH if len(unit) < LONG_UNIT else 2 * LENGTH
        yield before + unit * (length // len(unit)) + "\0!"


def _alternatives(tree: Any) -> int:
    """The most that a branch has, however deep."""
    if isinstance(tree, _parser.SubPattern):
        tree = list(tree)
    if not isinstance(tree, (list, tuple)):
        return 1
    own = len(tree[1][1]) if len(tree) == 2 and tree[0] is sre.BRANCH else 1
    return max(own, *map(_alternatives, tree), 1)


class _Walk:
    """Along one text that the pattern takes; in the `turn` another alternative of each branch.
    `dropping`: also without some of what may be missing."""

    def __init__(self, chance: random.Random, turn: int, *, dropping: bool) -> None:
        self._chance, self._turn, self._dropping = chance, turn, dropping
        self._text = ""
        self._found: list[tuple[str, str]] = []
        self._ends: list[int] = []  # of the repetitions on the way

    def places(self, tree: Any) -> list[tuple[str, str]]:
        """What stands before each repetition, and what it repeats; also, as that, what stands from
        behind a repetition to the next ones."""
        self._go(tree)
        return self._found

    def _go(self, tree: Any) -> None:
        for kind, more in tree:
            if kind in _REPEATS:
                self._repeat(*more)
            elif kind is sre.SUBPATTERN:
                self._go(more[3])
            elif kind is sre.BRANCH:
                self._go(more[1][self._turn % len(more[1])])
            elif kind is sre.ATOMIC_GROUP:
                self._go(more)
            elif kind is sre.ASSERT:
                self._ahead(*more)
            else:
                self._text += self._one(kind, more)

    def _repeat(self, least: int, most: int, inner: Any) -> None:
        before = self._text
        for _ in range(max(1, min(least, 3))):
            self._go(inner)
        if most > 1 and self._text != before:
            self._found.append((before, self._text[len(before) :]))
            near = [end for end in self._ends[-NEAR:] if end < len(before)]
            self._found += [(before[:end], before[end:]) for end in near]
            self._ends.append(len(self._text))
        if least == 0 and self._dropping and self._chance.random() < 0.3:
            self._text = before

    def _ahead(self, direction: int, inner: Any) -> None:
        """What is looked for ahead takes nothing; what it repeats can be long nevertheless."""
        before = self._text
        self._go(inner if direction > 0 else ())
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
