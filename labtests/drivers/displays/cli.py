"""One CLI, as the parts of a driver ask it, tell it, and are refused by it."""

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from labtests.capabilities import settings as s
from labtests.capabilities.device import Entitled, Obstacles
from labtests.capabilities.records import PortState
from labtests.capabilities.settings import Commands
from labtests.core.output import excerpt
from labtests.drivers.displays.lines import Line, read
from labtests.drivers.displays.names import Names
from labtests.drivers.displays.refusals import Refusals
from labtests.drivers.displays.tables import Table, read_table
from labtests.drivers.parsing import BLANK_OR_RULER
from labtests.drivers.parts import PlatformPart
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine, Word, cli
from labtests.transport.protocol import Reply

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cli:
    """What a CLI takes as one word, its interface names, and the words by which it says no; what
    stands before a line that is taken back, and the line that leads out of a view."""

    word: re.Pattern[str]
    names: Names
    refusals: Refusals
    undo: str
    leave: str

    def line(self, *words: Word) -> CliLine:
        """A line for the switch. Raises NotAWord."""
        return cli(self.word, *words)

    def switched(self, on: bool, *words: Word) -> CliLine:
        """A line, or the one that takes it back."""
        return self.line(*(() if on else (self.undo,)), *words)

    def at(self, port: str, *lines: CliLine) -> Commands:
        """These lines in the view of a port (full name); nothing when there are none."""
        return (self.line("interface", port), *lines, self.line(self.leave)) if lines else ()

    def show(self, *words: Word) -> Asking[Reply]:
        """The answer to a display. Raises CommandRejected when it is a refusal."""
        return (yield from self.answer(self.line(*words)))

    def answer(self, question: CliLine) -> Asking[Reply]:
        """The same of a line that is made already."""
        reply = yield from ask(question)
        self.refusals.expect_answer(reply)
        return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class PortDisplay(Generic[T]):
    """A display for a `<port>`, and what it shows of each: full name and value. `beside` are lines
    that are about no port. What is neither lines nor a table is read by a function."""

    command: str
    shows: Line[tuple[str, T]] | Table[tuple[str, T]] | Callable[[Reply], dict[str, T]]
    beside: Line[Any] | None = None
    skip: re.Pattern[str] = BLANK_OR_RULER

    @property
    def name(self) -> str:
        """The command without what it is asked for."""
        return self.command.removesuffix(" <port>")

    def read(self, reply: Reply) -> dict[str, T]:
        """What an answer shows, by port, in its order."""
        if isinstance(self.shows, Table):
            return dict(read_table(reply, self.shows))
        if not isinstance(self.shows, Line):
            return self.shows(reply)
        beside = () if self.beside is None else (self.beside,)
        return dict(read(reply, self.shows, *beside, skip=self.skip))


class CliPart(PlatformPart):
    """A part that speaks to a CLI. A `port` may be written in full or abbreviated."""

    cli: ClassVar[Cli]

    def port(self, port: str) -> str:
        """The full name of a port of the testbed file."""
        return self.cli.names.asked(self.device, port)

    def question(self, display: PortDisplay[T], port: str) -> CliLine:
        """How a display is asked for a port."""
        words = display.command.split()
        return self.cli.line(*(self.port(port) if word == "<port>" else word for word in words))

    def asked(self, display: PortDisplay[T], port: str) -> Asking[Reply]:
        """The answer to a display. Raises CommandRejected when it is a refusal."""
        return self.cli.answer(self.question(display, port))

    def of(self, display: PortDisplay[T], reply: Reply, port: str) -> T:
        """What an answer shows of this port, which must be all there is."""
        found, full = display.read(reply), self.port(port)
        if set(found) != {full}:
            self.cli.names.wrong(reply, full, excerpt(", ".join(found), 80) or "nothing")
        return found[full]

    def shown(self, display: PortDisplay[T], port: str) -> Asking[tuple[Reply, T]]:
        """What a display shows of exactly this port."""
        reply = yield from self.asked(display, port)
        return reply, self.of(display, reply, port)


class LineSetting(CliPart, s.Setting[s.T]):
    """A setting that is made by lines of configuration."""

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises CommandRejected with the line that was refused."""
        for reply in replies:
            self.cli.refusals.expect_accepted(reply, commands)

    def each_that_differs(
        self, earlier: s.T, wanted: s.T, fields: Mapping[str, tuple[str, Collection[Any]]]
    ) -> Iterator[CliLine]:
        """The line of each field that is to change: its words, with `{}` for the value, and what
        values it takes. Raises CommandRejected for another one, changed or not."""
        for name, (words, taken) in fields.items():
            value = getattr(wanted, name)
            if value not in taken:
                raise self.reject(words.format(value), f"{value} is not in {_in_words(taken)}",
                                  "choose another one")  # fmt: skip
            if value != getattr(earlier, name):
                yield self.cli.line(*words.format(value).split())


def _in_words(taken: Collection[Any]) -> str:
    if isinstance(taken, range):
        return f"{taken[0]}..{taken[-1]}, steps of {taken.step}"
    return ", ".join(map(str, taken))


class ViewSetting(LineSetting[s.T]):
    """A setting that is made in the view of a port."""

    @abstractmethod
    def lines(self, port: str, earlier: s.T, wanted: s.T) -> Iterable[CliLine]:
        """What leads there from another value, in the view of the port (full name). Raises
        CommandRejected for what the port cannot hold."""

    def commands(self, port: str, earlier: s.T, wanted: s.T, around: None = None) -> Commands:
        """See Setting."""
        if earlier == wanted:
            return ()
        return self.cli.at(self.port(port), *self.lines(self.port(port), earlier, wanted))


class PortShutting(ViewSetting[PortState]):
    """Whether a port is shut, as configured: whether its cable has a link is another thing."""

    kind = s.PORT_STATE

    @abstractmethod
    def told(self, port: str) -> Asking[tuple[str, ...]]:
        """The lines of a port's configuration, which say nothing of a port in use."""

    def read(self, port: str) -> Asking[PortState]:
        """See Setting."""
        return "down" if "shutdown" in (yield from self.told(port)) else "up"

    def lines(self, port: str, earlier: PortState, wanted: PortState) -> Iterable[CliLine]:
        """One line."""
        return (self.cli.switched(wanted == "down", "shutdown"),)


class CliState(CliPart, Obstacles, Entitled):
    """What stands in the way of a test, and of whoever may not configure."""

    @abstractmethod
    def interfaces(self) -> Asking[tuple[str, ...]]:
        """The full names of all that are in the configuration."""

    def trial(self) -> Asking[Commands]:
        """Into the view of a port and out again: that changes nothing, and takes a role that may
        configure."""
        ports = [name for name in (yield from self.interfaces()) if "/" in name]
        leave = self.cli.line(self.cli.leave)
        return (self.cli.line("interface", ports[0]), leave) if ports else ()

    def expect_entitled(self, lines: Commands, reply: Reply) -> None:
        """See Entitled."""
        self.cli.refusals.expect_accepted(reply, lines)
