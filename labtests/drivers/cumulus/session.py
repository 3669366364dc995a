"""What a Cumulus switch is asked and told, how it says no, and its JSON.

A change is one revision: all its lines and `nv config apply -y` are one command, so that what was
refused on the way leaves nothing pending behind.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from labtests.core.output import excerpt
from labtests.core.trusted_files import json_of
from labtests.drivers.answers import Complaint, Tool, expect_success, reject
from labtests.drivers.parsing import READ_AGAIN, SAVE_IT, refuse
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, Word, if_done, program, script
from labtests.transport.protocol import Reply

PORTS_REMEDY = "check the interface name in the testbed file against `nv show interface`"
_COMPLAINTS = {
    r"^Error: .*(does not exist|is not a 'interface-name')": PORTS_REMEDY,
    r"^Error: (Ambiguous|Invalid) Command": "this release of Cumulus Linux has no such command; "
    "try it by hand with --help",
    r"^Invalid config": "what the switch would not apply is given up; look at the same line by "
    "hand, by `nv config diff`",
    r"permission|not allowed|not authori[sz]ed": "log in as a user of the groups nvset and "
    "nvapply, such as `cumulus`",
    r"^Error: |^Usage: ": "try it by hand; `nv list-commands` has what this release knows",
}
NVUE = Tool(
    name="nv",
    install="this is no Cumulus Linux 5 with NVUE: check `platform` in the testbed file",
    complaints=tuple(
        Complaint(says=says, remedy=do, only_failed=not says.startswith("^"))
        for says, do in _COMPLAINTS.items()
    ),
)
_APPLIED = re.compile(r"^applied(?:_and_saved)? \[rev_id: [^\]\n]{1,64}\]", re.MULTILINE)


def show(*named: Word) -> Asking[Reply]:
    """The answer to a `nv show`, in JSON. Raises CommandRejected, ToolMissing."""
    return expected((yield from ask(shown(*named))))


def expected(reply: Reply) -> Reply:
    """The same. Raises CommandRejected, ToolMissing."""
    expect_success(reply, NVUE)
    return reply


def shown(*named: Word) -> Shell:
    """The question."""
    return program("nv", "show", *named, "-o", "json")


PENDING = program("nv", "config", "diff", "-o", "commands")
"""What is set and not applied, as the lines that would set it."""


def revision(lines: Sequence[Shell], *, afresh: bool) -> tuple[Shell, ...]:
    """One revision of these lines, if there are any. `afresh`: without what is pending."""
    if not lines:
        return ()
    begin = (program("nv", "config", "detach"),) if afresh else ()
    change = if_done(*begin, *lines, program("nv", "config", "apply", "-y"))
    return (script("CHANGE || { nv config detach; false; }", CHANGE=change),)


def expect_applied(replies: Sequence[Reply]) -> None:
    """Raises CommandRejected, ToolMissing."""
    for reply in replies:
        expect_success(reply, NVUE)
        if not _APPLIED.search(reply.text):
            reject(reply, "it does not say `applied`", "look at `nv config revision`")


# -- JSON ------------------------------------------------------------------------------------------

MOST_NODES = 200_000
"""Of an answer. All interfaces of a large switch have some ten thousand."""
LONGEST = 255
_WORD = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.:/-]{{0,{LONGEST - 1}}}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""Of a profile. No document says what one may have; all that are shown are such."""
_MOST = 2**63


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an answer, and where it stands. What is not there is an empty object."""

    reply: Reply
    where: str
    shown: Any

    def below(self, *names: str) -> "Node":
        """What is under these names."""
        node = self
        for name in names:
            node = Node(self.reply, f"{node.where} {name}".strip(), node.fields().get(name, {}))
        return node

    def has(self, name: str) -> bool:
        """Whether it has such a field."""
        return name in self.fields()

    def items(self, looks: re.Pattern[str] = _WORD) -> Iterator[tuple[str, "Node"]]:
        """Its fields. A name that is none is refused."""
        for name in self.fields():
            if not looks.fullmatch(name):
                self.refuse(f"has the name {excerpt(repr(name), 80)}, which is none there")
            yield name, self.below(name)

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
        """What a neighbour or a person has written."""
        if not isinstance(self.shown, str) or len(self.shown) > LONGEST:
            self.refuse(f"should be a text, not {excerpt(repr(self.shown), 80)}")
        return str(self.shown)

    def number(self) -> int:
        """A whole number, which some releases write as a text."""
        if re.fullmatch("[0-9]{1,18}", word := self.word()) is None:
            self.refuse(f"should be a whole number, not {word!r}")
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
    try:
        shown = json_of(reply.text)
    except ValueError as error:
        refuse(reply, f"this is not JSON, or not all of it: {error}", READ_AGAIN)
    whole = Node(reply, "", shown)
    waiting, nodes = [shown], 0
    while waiting:
        node = waiting.pop()
        nodes += 1
        if nodes > MOST_NODES:
            whole.refuse(f"has more than {MOST_NODES} parts, and no answer of a switch has")
        if isinstance(node, dict | list):
            waiting += node.values() if isinstance(node, dict) else node
    whole.fields()
    return whole


class CumulusPart:
    """A part of the driver of one switch, by its name and ports in the testbed file."""

    def __init__(self, device: str, ports: tuple[str, ...] = ()) -> None:
        self.device, self.ports = device, ports
