"""What a switch is asked and told, when it says no, and what its configuration says.

Most refusals are a caret line and `% Unrecognized command found at '^' position.`; some are plain
sentences without a % ("The rule does not exist.", "This subnet overlaps with another interface!").

Displays tell what operates; only the configuration (`display current-configuration interface`,
`display this`) tells what was asked for and therefore what has to be written to put it back. Lines
nobody here knows are kept and left alone.
"""

import re
from collections.abc import Iterable, Iterator

from labtests.capabilities import settings as s
from labtests.drivers import displays
from labtests.drivers.comware.values import COMWARE, NAMES, full_name, wrong_port
from labtests.drivers.displays import Cli, CliPart, LineSetting, Refusals, Section, ViewSetting
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine, cli
from labtests.transport.protocol import Reply

WORD = re.compile(r"[A-Za-z0-9._/:,@#%+=~^()\[\]{}*!-]{1,80}")
"""What the CLI takes as one word: no blank, no line end, no `?` (help), no `|` (a filter) and no
quotes. Names of tables and ports have no other characters (Comware 7: names are words)."""
_FILTER = re.compile(r"[a-z0-9|-]+")
_CONFIGURED = ("display", "current-configuration", "interface")

REFUSALS = Refusals(
    # <H3C>, [H3C], [H3C-Twenty-FiveGigE1/0/14], RBM_P[H3C-...], and a trailing blank
    prompt=re.compile(r"^(?:RBM_[PS])?(?:<[^<>]+>|\[[^\[\]]+\])\s?"),
    refusal=re.compile(r"^% ?\w.* found at '\^' position|^% "),
    notice=re.compile(
        r"^System View: return to User View with Ctrl\+Z\.$"
        r"|^Enter system view, return user view with Ctrl\+Z\.$"  # Comware 5
        r"|^%[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"  # a log line of `terminal monitor`
    ),
    views=frozenset({"system-view", "return", "quit"}),
    remedies={
        "Unrecognized command": "this model or software has no such command in this view, or the "
        "account's role may not use it; try it by hand with `?`",
        "Incomplete command": "this model wants more words; try it by hand with `?`",
        "Ambiguous command": "this model knows two commands that start so; write it out",
        "Wrong parameter": "this model takes another value here; try it by hand with `?`",
        "Too many parameters": "this model wants fewer words; try it by hand with `?`",
        "Permission denied": "log in with an account that has the role network-admin",
    },
)
CLI = Cli(word=WORD, names=NAMES, refusals=REFUSALS, undo="undo", leave="quit")
line, show = CLI.line, CLI.show
Lines = Iterable[CliLine]
QUIT = line("quit")


# -- what its configuration says -------------------------------------------------------------------

_INTERFACE = COMWARE.shape("interface <name:text>")
_CONFIGURATION = displays.Marked(
    mark="#",
    end="return",
    cut_remedy="the output seems cut off; check that paging is off (`screen-length disable`)",
)


class ConfigSection(displays.Section):
    """One part of a configuration: its first line (`interface X`) and the lines under it."""

    @property
    def interface(self) -> str | None:
        """The interface this section is about: full name where its type is known."""
        name = _INTERFACE.first([self.head]).get("name")
        return None if name is None else full_name(name) or name


def parse_configuration(reply: Reply) -> tuple[ConfigSection, ...]:
    """Every section of a configuration, in order. `#` ends one; `return` ends the text, and a text
    without it was cut."""
    found = _CONFIGURATION.sections(reply)
    return tuple(ConfigSection(head=each.head, lines=each.lines) for each in found)


def interface_section(reply: Reply, port: str) -> ConfigSection:
    """The configuration of exactly this port (full name), which must be all there is."""
    sections = parse_configuration(reply)
    if [s.interface for s in sections] != [port]:
        wrong_port(reply, port, ", ".join(s.head for s in sections) or "nothing")
    return sections[0]


def interfaces() -> Asking[tuple[Reply, tuple[ConfigSection, ...]]]:
    """The configuration of every interface of the switch."""
    reply = yield from show(*_CONFIGURED)
    return reply, tuple(s for s in parse_configuration(reply) if s.interface is not None)


def included(words: str) -> Asking[tuple[Reply, tuple[str, ...]]]:
    """The lines of the configuration that have one of these words (`a|b`), with their margins. The
    last line of a configuration is `return`: without it, the answer was cut."""
    reply = yield from CLI.answer(cli(_FILTER, *_CONFIGURED[:2], "|", "include", f"{words}|return"))
    texts = tuple(text.rstrip() for text in whole_lines(reply))
    if [text.strip() for text in texts[-1:]] != ["return"]:
        refuse(reply, "the configuration does not end with `return`: it seems cut off")
    return reply, texts


# -- what is asked and set -------------------------------------------------------------------------


class ComwarePart(CliPart):
    """A part of the driver of one switch."""

    cli = CLI

    def configured(self, port: str) -> Asking[tuple[Reply, ConfigSection]]:
        """The configuration of one port."""
        reply = yield from show(*_CONFIGURED, self.port(port))
        return reply, interface_section(reply, self.port(port))

    def told(self, port: str) -> Asking[tuple[str, ...]]:
        """Its lines."""
        return (yield from self.configured(port))[1].lines


class ComwareSetting(ComwarePart, LineSetting[s.T]):
    """A setting of a Comware switch."""

    remedy = (
        "look at `display this` in that view: another setting may contradict it, or this model "
        "takes the command and does nothing"
    )


class PortSetting(ComwareSetting[s.T], ViewSetting[s.T]):
    """The same in the view of a port."""


Numbers = tuple[tuple[int, int], ...]
"""(priority, number), ascending."""


class Numbered:
    """Lines of a configuration that give a priority a number: `BEGIN <priority> BEHIND <number>`.
    `undone_by`: what stands behind the priority in `undo`."""

    def __init__(self, begin: str, behind: str, *, undone_by: str | None = None) -> None:
        self._begin, self._behind = begin.split(), behind.split()
        self._undone_by = self._behind if undone_by is None else undone_by.split()
        self.shape = COMWARE.shape(f"{begin} <priority:0-7> {behind} <number:number>")
        self._about = rf"(?:undo )?{begin} .*\b{behind} "

    def read(self, reply: Reply, section: Section) -> Numbers:
        """Those of a section. A priority with two numbers is refused, and so are lists."""
        section.expect_known(reply, self._about, self.shape)
        found = [(each["priority"], each["number"]) for each in section.each(reply, self.shape)]
        if len(dict(found)) != len(found):
            refuse(reply, f"a priority has two lines {self.shape.begins!r}")
        return tuple(sorted(found))

    def undone(self, earlier: Numbers, wanted: Numbers) -> Iterator[CliLine]:
        """What takes numbers away that are not to be."""
        for priority, _ in earlier:
            if priority not in dict(wanted):
                yield line("undo", *self._begin, priority, *self._undone_by)

    def made(self, earlier: Numbers, wanted: Numbers) -> Iterator[CliLine]:
        """What gives numbers that are not so."""
        for priority, number in wanted:
            if dict(earlier).get(priority) != number:
                yield line(*self._begin, priority, *self._behind, number)
