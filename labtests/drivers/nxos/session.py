"""What a switch is asked and told: lines of its CLI, its interface names (`Ethernet1/13` in
headers, `Eth1/13` in tables), and when it says no.
"""

import re

from labtests.capabilities import settings as s
from labtests.drivers import displays as d
from labtests.transport.asking import Asking
from labtests.transport.commands import Word, cli
from labtests.transport.protocol import Reply

NAMES = d.Names(
    cli="NX-OS",
    abbreviations={"Ethernet": "Eth", "port-channel": "Po", "mgmt": "mgmt"},
    listing="show interface brief",
    example="Ethernet1/13",
    file="labtests/drivers/nxos/session.py",
)
full_name, printed_port = NAMES.full, NAMES.printed


WORD = re.compile(r"[A-Za-z0-9._/:,@#%+=~^()\[\]{}*-]{1,80}")
"""What the CLI takes as one word: no blank, no line end, no `?` (help), no `|` and `>` (filters),
no `;` (a second command), no `!` (a comment) and no quotes."""
_WORD_OR_MARK = re.compile(rf"{WORD.pattern}|[;|]")

REFUSALS = d.Refusals(
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


_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}


def _size(text: str) -> int:
    number, unit = text.split()
    return int(number) * _BYTES[unit]


NXOS = d.Notation().also(
    port=d.ValueKind(r"\S+", printed_port),
    list=d.ValueKind("[0-9,-]+", d.numbers_in),
    size=d.ValueKind(rf"[0-9]{{1,40}}\s+(?:{'|'.join(_BYTES)})", _size),
)
"""How the displays and lines of this switch are declared; `size` is in bytes."""


CLI = d.Cli(word=WORD, names=NAMES, refusals=REFUSALS, undo="no", leave="exit")
line = CLI.line
EXIT = line("exit")


def show_ended(*words: Word, only: str = "", counted: bool = False) -> Asking[Reply]:
    """The answer to a `show` with the clock behind it (` ; ` parts commands): a running
    configuration has no end of its own, and without one a cut answer would be a shorter
    configuration. `only` the lines that match this; `counted`: and how many there are of all."""
    line(*words)  # none of them is a `;`
    filtered = ("|", "include", only) if only else ()
    count = (";", "show", *words, "|", "count") if counted else ()
    return CLI.answer(cli(_WORD_OR_MARK, "show", *words, *filtered, *count, ";", "show", "clock"))


class NxosPart(d.CliPart):
    """A part of the driver of one switch."""

    cli = CLI


class NxosSetting(NxosPart, d.LineSetting[s.T]):
    """A setting of a Nexus."""

    remedy = (
        "look at `show running-config ipqos` and at the port's configuration: another policy may "
        "be in force, or this model takes the command and does nothing"
    )


def told_port(head: str) -> str | None:
    """The port that a section `interface X` is about, in full; None for another section."""
    name = head.removeprefix("interface ")
    return None if name == head else full_name(name) or name
