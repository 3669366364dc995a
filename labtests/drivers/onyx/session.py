"""What an Onyx switch is asked and told: lines of its CLI, and when it says no.

Displays are asked for in JSON where a recording has them so. Numbers are texts there, an object
stands in a list of one, and what belongs together is parted over the objects of a list.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from labtests.capabilities import settings as s
from labtests.core.output import excerpt
from labtests.drivers.displays import (
    Cli,
    CliPart,
    LineSetting,
    Names,
    Notation,
    PortDisplay,
    Refusals,
    ValueKind,
)
from labtests.drivers.displays.trees import Node, parse_any
from labtests.drivers.parsing import READ_AGAIN
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine, Word, cli
from labtests.transport.protocol import Reply

T = TypeVar("T")
WORD = re.compile(r"[A-Za-z0-9._/:-]{1,80}")
"""What the CLI takes as one word, of those that labtests sends."""
_WORD_OR_PIPE = re.compile(rf"{WORD.pattern}|\|")

NAMES = Names(
    cli="Onyx",
    abbreviations={"Eth": "ethernet"},
    listing="show interfaces status",
    example="Eth1/13",
    file="labtests/drivers/onyx/session.py",
)
"""`Eth1/13` in displays, `ethernet 1/13` in lines. Other types than Ethernet ports are not read."""

REFUSALS = Refusals(
    prompt=re.compile(r"^\S+ \[[^\]\n]*\] (?:\(config[^()\n]*\) )?[#>] ?"),
    refusal=re.compile(r"^% ?\w"),
    notice=re.compile(r"(?!)"),
    views=frozenset({"config term", "configure terminal", "exit"}),
    remedies={
        "Unrecognized command": "this release has no such command, or this account may not use it; "
        "try it by hand with `?`",
        "Incomplete command": "this release wants more words; try it by hand with `?`",
    },
)

ONYX = Notation().also(port=ValueKind(r"Eth[0-9/]+", NAMES.printed))
"""How the displays of this switch are declared that are read as text."""
CLI = Cli(word=WORD, names=NAMES, refusals=REFUSALS, undo="no", leave="exit")
line = CLI.line


def in_json(*words: Word) -> CliLine:
    """The question of a display in JSON."""
    line(*words)  # none of them is a `|`
    return cli(_WORD_OR_PIPE, "show", *words, "|", "json-print")


def show(*words: Word) -> Asking[Reply]:
    """The answer to a display in JSON. Raises CommandRejected when it is a refusal."""
    return CLI.answer(in_json(*words))


def rows_of(node: Node) -> tuple[Node, ...]:
    """The objects of a list, or the one object that it is."""
    return node.rows() if isinstance(node.shown, list) else (node,)


@dataclass(frozen=True, slots=True)
class Told:
    """What the objects of a list, or the one object that it is, say together."""

    node: Node
    fields: Mapping[str, Node]

    @classmethod
    def by(cls, node: Node) -> "Told":
        """Refused where two have one name."""
        found: dict[str, Node] = {}
        for row in rows_of(node):
            for name, each in row.named():
                if name in found:
                    row.refuse(f"has the name {excerpt(name, 80)!r} a second time")
                found[name] = each
        return cls(node, found)

    @classmethod
    def of_a_port(cls, reply: Reply) -> "tuple[str, Told]":
        """The one port that an answer `[{"Eth1/1": [...]}]` is about, and what it says of it."""
        whole = cls.by(parse_any(reply))
        if len(whole.fields) != 1:
            whole.node.refuse(f"should be about one port, not {len(whole.fields)}")
        ((name, node),) = whole.fields.items()
        return name, cls.by(node)

    def __getitem__(self, name: str) -> Node:
        if name not in self.fields:
            self.node.refuse(f"lacks the field {name!r}")
        return self.fields[name]

    def text(self, name: str) -> str:
        """Of one that may be absent: "" then."""
        return self.fields[name].text() if name in self.fields else ""

    def numbered(self, most: int) -> "list[Told]":
        """What it says of 0, 1, ... below this; exactly those have to be there."""
        if set(self.fields) != set(map(str, range(most))):
            self.node.refuse(f"does not have exactly the numbers from 0 to {most - 1}", READ_AGAIN)
        return [Told.by(self.fields[str(n)]) for n in range(most)]


class OnyxPart(CliPart):
    """A part of the driver of one switch, by its name and ports in the testbed file."""

    cli = CLI

    def at(self, port: str) -> tuple[str, str]:
        """How lines name a port: `ethernet 1/13`."""
        return "ethernet", self.port(port).removeprefix("Eth")

    def question(self, display: PortDisplay[T], port: str) -> CliLine:
        """A display for a port, in JSON."""
        before, _, behind = display.command.partition("<port>")
        return in_json(*before.split()[1:], *self.at(port), *behind.split())


class OnyxSetting(OnyxPart, LineSetting[s.T]):
    """A setting of an Onyx switch."""

    remedy = (
        "look at `show running-config`: another line may be in force, or this model takes the "
        "command and does nothing"
    )

    def of_port(self, port: str, *words: Word) -> CliLine:
        """A line of configuration: `interface ethernet 1/13 ...`."""
        return line("interface", *self.at(port), *words)
