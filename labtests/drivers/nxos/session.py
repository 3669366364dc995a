"""What a switch is asked and told: lines of its CLI, and when it says no."""

import re

from labtests.capabilities import settings as s
from labtests.capabilities.settings import Commands
from labtests.drivers import displays
from labtests.drivers.displays import Notation, Unfit, ValueKind
from labtests.drivers.nxos.names import asked_port, full_name, printed_port
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine, Word, cli
from labtests.transport.protocol import Reply

WORD = re.compile(r"[A-Za-z0-9._/:,@#%+=~^()\[\]{}*-]{1,80}")
"""What the CLI takes as one word: no blank, no line end, no `?` (help), no `|` and `>` (filters),
no `;` (a second command), no `!` (a comment) and no quotes."""
_WORD_OR_NEXT = re.compile(rf"{WORD.pattern}|;")

_REFUSALS = displays.Refusals(
    prompt=re.compile(r"^[\w.-]+(?:\(config[\w-]*\))?# ?"),
    # `Invalid range at '^' marker.` has no % (in a list of sentences of a public tool)
    refusal=re.compile(r"^% ?\w|^Invalid .* at '\^' marker|^(?i:error)\b.*:"),
    notice=re.compile(
        r"^Enter configuration commands, one per line\. End with CNTL/Z\.$"
        r"|^\d{4} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"  # a log line of `terminal monitor`
    ),
    views=frozenset({"configure terminal", "config term", "end"}),
    remedies={
        "Invalid command": "this model or software has no such command in this mode, or the feature"
        " is off; try it by hand with `?`",
        "Incomplete command": "this model wants more words; try it by hand with `?`",
        "Permission denied": "log in with an account that has the role network-admin",
    },
)
expect_answer, expect_accepted = _REFUSALS.expect_answer, _REFUSALS.expect_accepted


def _priorities(text: str) -> frozenset[int]:
    """A list as the CLI writes it: `24-31`, `26`, `0,2-4`."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch("([0-9]{1,2})(?:-([0-9]{1,2}))?", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise Unfit(f"{text!r} is no list of numbers")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(found)


NXOS = Notation().also(
    port=ValueKind(r"\S+", printed_port),
    list=ValueKind("[0-9,-]+", _priorities),
)
"""How the displays of this switch are declared."""


def line(*words: Word) -> CliLine:
    """A line for the switch. Raises NotAWord."""
    return cli(WORD, *words)


EXIT = line("exit")


def show(*words: Word) -> Asking[Reply]:
    """The answer to a `show`. Raises CommandRejected when it is a refusal."""
    reply = yield from ask(line("show", *words))
    expect_answer(reply)
    return reply


def show_ended(*words: Word) -> Asking[Reply]:
    """The same with the clock behind it (` ; ` parts commands): a running configuration has no end
    of its own, and without one a cut answer would be a shorter configuration."""
    line(*words)  # none of them is a `;`
    reply = yield from ask(cli(_WORD_OR_NEXT, "show", *words, ";", "show", "clock"))
    expect_answer(reply)
    return reply


class NxosPart:
    """A part of the driver of one switch, by its name in the testbed file. A `port` may be written
    in full or abbreviated."""

    def __init__(self, device: str) -> None:
        self.device = device

    def port(self, port: str) -> str:
        """The full name of a port of the testbed file."""
        return asked_port(self.device, port)


class NxosSetting(NxosPart, s.Setting[s.T]):
    """A setting of a Nexus."""

    remedy = (
        "look at `show running-config ipqos` and at the port's configuration: another policy may "
        "be in force, or this model takes the command and does nothing"
    )

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises CommandRejected with the line that was refused."""
        for reply in replies:
            expect_accepted(reply, commands)


def told_port(head: str) -> str | None:
    """The port that a section `interface X` is about, in full; None for another section."""
    name = head.removeprefix("interface ")
    return None if name == head else full_name(name) or name
