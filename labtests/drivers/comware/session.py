"""What a switch is asked and told: lines of its CLI, displays of a port, settings of a port."""

import re
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from labtests.capabilities import settings as s
from labtests.capabilities.settings import Commands
from labtests.drivers import displays
from labtests.drivers.comware.configuration import (
    ConfigSection,
    interface_section,
    parse_configuration,
)
from labtests.drivers.comware.names import asked_port, wrong_port
from labtests.drivers.comware.rejections import expect_accepted, expect_answer
from labtests.drivers.parsing import BLANK_OR_RULER
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine, Word, cli
from labtests.transport.protocol import Reply

T = TypeVar("T")

WORD = re.compile(r"[A-Za-z0-9._/:,@#%+=~^()\[\]{}*!-]{1,80}")
"""What the CLI takes as one word: no blank, no line end, no `?` (help), no `|` (a filter) and no
quotes. Names of tables and ports have no other characters (Comware 7: names are words)."""
_CONFIGURED = ("display", "current-configuration", "interface")


def line(*words: Word) -> CliLine:
    """A line for a Comware switch. Raises NotAWord."""
    return cli(WORD, *words)


QUIT = line("quit")


def show(*words: Word) -> Asking[Reply]:
    """The answer to a `display` command. Raises CommandRejected when it is a refusal."""
    reply = yield from ask(line(*words))
    expect_answer(reply)
    return reply


def interfaces() -> Asking[tuple[Reply, tuple[ConfigSection, ...]]]:
    """The configuration of every interface of the switch."""
    reply = yield from show(*_CONFIGURED)
    return reply, tuple(s for s in parse_configuration(reply) if s.interface is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortDisplay(Generic[T]):
    """A `display` command for a `<port>`, and what it shows of each: full name and value."""

    command: str
    shows: displays.Line[tuple[str, T]] | displays.Table[tuple[str, T]]
    skip: re.Pattern[str] = BLANK_OR_RULER

    def asked(self, port: str) -> CliLine:
        """The command for a port (full name)."""
        return line(*(port if word == "<port>" else word for word in self.command.split()))

    def read(self, reply: Reply) -> dict[str, T]:
        """What an answer shows, by port, in its order."""
        if isinstance(self.shows, displays.Table):
            return dict(displays.read_table(reply, self.shows))
        return dict(displays.read(reply, self.shows, skip=self.skip))

    def of(self, reply: Reply, port: str) -> T:
        """What an answer shows of this port (full name), which must be all there is."""
        found = self.read(reply)
        if set(found) != {port}:
            wrong_port(reply, port, ", ".join(found))
        return found[port]


class ComwarePart:
    """A part of the driver of one switch, by its name in the testbed file. A `port` may be written
    in full or abbreviated."""

    def __init__(self, device: str) -> None:
        self.device = device

    def port(self, port: str) -> str:
        """The full name of a port of the testbed file."""
        return asked_port(self.device, port)

    def asked(self, display: PortDisplay[T], port: str) -> Asking[Reply]:
        """The answer to a display. Raises CommandRejected when it is a refusal."""
        reply = yield from ask(display.asked(self.port(port)))
        expect_answer(reply)
        return reply

    def shown(self, display: PortDisplay[T], port: str) -> Asking[tuple[Reply, T]]:
        """What a display shows of exactly this port."""
        reply = yield from self.asked(display, port)
        return reply, display.of(reply, self.port(port))

    def configured(self, port: str) -> Asking[tuple[Reply, ConfigSection]]:
        """The configuration of one port."""
        reply = yield from show(*_CONFIGURED, self.port(port))
        return reply, interface_section(reply, self.port(port))


class ComwareSetting(ComwarePart, s.Setting[s.T]):
    """A setting of a Comware switch."""

    remedy = (
        "look at `display this` in that view: another setting may contradict it, or this model "
        "takes the command and does nothing"
    )

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises CommandRejected with the line that was refused."""
        for reply in replies:
            expect_accepted(reply, commands)


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
