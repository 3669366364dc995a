"""What a switch is asked and told, and when it says no.

Most refusals are a caret line and `% Unrecognized command found at '^' position.`; some are plain
sentences without a % ("The rule does not exist.", "This subnet overlaps with another interface!").
"""

import re
from abc import abstractmethod
from collections.abc import Iterable

from labtests.capabilities import settings as s
from labtests.capabilities.settings import Commands
from labtests.drivers.comware.configuration import (
    ConfigSection,
    interface_section,
    parse_configuration,
)
from labtests.drivers.comware.names import NAMES
from labtests.drivers.displays import Cli, CliPart, LineSetting, Refusals
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

WORD = re.compile(r"[A-Za-z0-9._/:,@#%+=~^()\[\]{}*!-]{1,80}")
"""What the CLI takes as one word: no blank, no line end, no `?` (help), no `|` (a filter) and no
quotes. Names of tables and ports have no other characters (Comware 7: names are words)."""
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
CLI = Cli(word=WORD, names=NAMES, refusals=REFUSALS)
line, show = CLI.line, CLI.show
QUIT = line("quit")


def interfaces() -> Asking[tuple[Reply, tuple[ConfigSection, ...]]]:
    """The configuration of every interface of the switch."""
    reply = yield from show(*_CONFIGURED)
    return reply, tuple(s for s in parse_configuration(reply) if s.interface is not None)


class ComwarePart(CliPart):
    """A part of the driver of one switch."""

    cli = CLI

    def configured(self, port: str) -> Asking[tuple[Reply, ConfigSection]]:
        """The configuration of one port."""
        reply = yield from show(*_CONFIGURED, self.port(port))
        return reply, interface_section(reply, self.port(port))


class ComwareSetting(ComwarePart, LineSetting[s.T]):
    """A setting of a Comware switch."""

    remedy = (
        "look at `display this` in that view: another setting may contradict it, or this model "
        "takes the command and does nothing"
    )


class PortSetting(ComwareSetting[s.T]):
    """A setting that is made in the view of a port."""

    @abstractmethod
    def lines(self, port: str, earlier: s.T, wanted: s.T) -> Iterable[CliLine]:
        """What leads there from another value, in the view of the port (full name)."""

    def commands(self, port: str, earlier: s.T, wanted: s.T, around: None = None) -> Commands:
        """See Setting."""
        if earlier == wanted:
            return ()
        return in_interface(self.port(port), *self.lines(self.port(port), earlier, wanted))


def in_interface(port: str, *commands: CliLine) -> Commands:
    """These lines in the view of a port (full name); nothing when there are none."""
    return (line("interface", port), *commands, QUIT) if commands else ()
