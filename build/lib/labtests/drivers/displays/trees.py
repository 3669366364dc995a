"""Answers in JSON that are trees: objects whose fields are names, of ports, profiles, queues.

    whole = parse(reply)
    for queue, node in whole.below("egress-queue-stats").numbered(8):
        node.only("tx-frames", "tx-bytes")
        frames = node.count("tx-frames")

What has one shape is declared instead (objects.py). What is asked for is checked, and refused with
the place where it stands; a word that is read may be a word of a command.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from labtests.core.output import excerpt
from labtests.drivers.displays.json_answers import json_shown
from labtests.drivers.parsing import SAVE_IT, refuse
from labtests.transport.protocol import Reply

LONGEST = 255
_WORD = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.:/-]{{0,{LONGEST - 1}}}")
_MOST = 2**64 - 1  # no counter has more bits


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an answer: what it is called in the part that it is of. What is not there is an
    empty object."""

    reply: Reply
    shown: Any
    called: str | int = ""
    of: "Node | None" = field(default=None, repr=False)

    @property
    def where(self) -> str:
        """The names on the way to it. Made when it is needed, for an answer has many parts."""
        return " ".join(excerpt(str(node.called), 80) for node in reversed([*self._way()]))

    def _way(self) -> Iterator["Node"]:
        """From here up to the whole answer, which has no name."""
        node = self
        while node.of is not None:
            yield node
            node = node.of

    def below(self, *names: str) -> "Node":
        """What is under these names."""
        node = self
        for name in names:
            node = Node(self.reply, node.fields().get(name, {}), name, node)
        return node

    def has(self, name: str) -> bool:
        """Whether it has such a field."""
        return name in self.fields()

    def named(self) -> Iterator[tuple[str, "Node"]]:
        """Its fields, whatever their names."""
        return ((name, self.below(name)) for name in self.fields())

    def items(self, looks: re.Pattern[str] = _WORD) -> Iterator[tuple[str, "Node"]]:
        """Its fields. A name that is none is refused."""
        for name in self.fields():
            if not looks.fullmatch(name):
                self.refuse(f"has the name {excerpt(repr(name), 80)}, which is none there")
            yield name, self.below(name)

    def rows(self) -> tuple["Node", ...]:
        """Its parts, where it is a list."""
        if not isinstance(self.shown, list):
            self.refuse(f"should be a list, not {excerpt(repr(self.shown), 80)}")
        return tuple(Node(self.reply, each, n, self) for n, each in enumerate(self.shown, 1))

    def numbered(self, most: int) -> Iterator[tuple[int, "Node"]]:
        """Its fields, by numbers below this."""
        for name, node in self.items(re.compile("[0-9]{1,2}")):
            if int(name) >= most or str(int(name)) != name:
                self.refuse(f"has the number {name}, which is none there")
            yield int(name), node

    def only(self, *known: str) -> None:
        """What is new may be what matters."""
        if new := sorted(self.fields().keys() - set(known)):
            self.refuse(f"has the field {excerpt(repr(new[0]), 80)}, which is unrecognised")

    def word(self) -> str:
        """A word, or a number as one."""
        if type(self.shown) is int and 0 <= self.shown <= _MOST:
            return str(self.shown)
        if not isinstance(self.shown, str) or not _WORD.fullmatch(self.shown):
            self.refuse(f"should be a word, not {excerpt(repr(self.shown), 80)}")
        return str(self.shown)

    def text(self) -> str:
        """What a neighbour or a person has written; "" for nothing."""
        told: Any = "" if self.shown == {} else self.shown
        if not isinstance(told, str) or len(told) > LONGEST:
            self.refuse(f"should be a text, not {excerpt(repr(told), 80)}")
        return told

    def like(self, looks: str, what: str) -> re.Match[str]:
        """Its text, in any case, which has to look so."""
        found = re.fullmatch(looks, self.text(), re.IGNORECASE | re.ASCII)
        if found is None:
            self.refuse(f"should be {what}, not {excerpt(repr(self.text()), 80)}")
        return found

    def one_of(self, *words: str) -> str:
        """One of these words, which may show in any case."""
        return self.like("|".join(words), " or ".join(words))[0].lower()

    def number(self) -> int:
        """A whole number, which some releases write as a text."""
        word = self.word()
        if re.fullmatch("[0-9]{1,20}", word) is None or int(word) > _MOST:
            self.refuse(f"should be a whole number of 64 bits, not {excerpt(word, 80)!r}")
        return int(word)

    def count(self, name: str) -> int | None:
        """A counter; None where it is not there, or not available."""
        if not self.has(name) or self.below(name).shown in ("n/a", "N/A"):
            return None
        return self.below(name).number()

    def refuse(self, problem: str, remedy: str = SAVE_IT) -> NoReturn:
        """Raise UnreadableOutput."""
        refuse(self.reply, f"{self.where or 'it'} {problem}", remedy)

    def fields(self) -> Mapping[str, Any]:
        """What it has."""
        if not isinstance(self.shown, dict):
            self.refuse(f"should be an object, not {excerpt(repr(self.shown), 80)}")
        fields: Mapping[str, Any] = self.shown
        return fields


def parse(reply: Reply) -> Node:
    """An answer that is one object."""
    whole = parse_any(reply)
    whole.fields()
    return whole


def parse_any(reply: Reply) -> Node:
    """An answer that may also be a list."""
    return Node(reply, json_shown(reply))
