"""An open session with a switch: ask, configure, and hear it say no."""

import re

from labtests.capabilities.device import Commands
from labtests.core.errors import CommandRejected
from labtests.drivers.comware.configuration import Section, interface_section, parse_configuration
from labtests.drivers.comware.names import asked_port
from labtests.drivers.comware.rejections import expect_accepted, expect_answer
from labtests.transport.commands import CliLine, Word, cli
from labtests.transport.protocol import Reply, Transport

WORD = re.compile(r"[A-Za-z0-9._/:,@#%+=~^()\[\]{}*!-]{1,80}")
"""What the CLI takes as one word: no blank, no line end, no `?` (help), no `|` (a filter) and no
quotes. Names of tables and ports have no other characters (Comware 7: names are words)."""
_CONFIGURED = ("display", "current-configuration", "interface")


def line(*words: Word) -> CliLine:
    """A line for a Comware switch. Raises NotAWord."""
    return cli(WORD, *words)


class Cli:
    """What the rooms of this driver share. Keeps nothing but the session."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @property
    def device(self) -> str:
        """The switch's name in the testbed file."""
        return self._transport.device

    def port(self, port: str) -> str:
        """The full name of a port of the testbed file."""
        return asked_port(self.device, port)

    def ask(self, *words: Word) -> Reply:
        """The answer to a `display` command as it is, refusal or not."""
        return self._transport.run(line(*words))

    def show(self, *words: Word) -> Reply:
        """The answer to a `display` command. Raises CommandRejected when it is a refusal."""
        reply = self.ask(*words)
        expect_answer(reply)
        return reply

    def configure(self, commands: Commands) -> None:
        """Send configuration lines. Raises CommandRejected with the line that was refused."""
        if commands:
            expect_accepted(self._transport.configure(commands), commands)

    def interface(self, port: str) -> tuple[Reply, Section]:
        """The configuration of one port (full name)."""
        reply = self.show(*_CONFIGURED, port)
        return reply, interface_section(reply, port)

    def interfaces(self) -> tuple[Reply, tuple[Section, ...]]:
        """The configuration of every interface of the switch."""
        reply = self.show(*_CONFIGURED)
        return reply, tuple(s for s in parse_configuration(reply) if s.interface is not None)

    def expect_read_back(self, what: str, read: object, wanted: object, *, same: bool) -> None:
        """Raise CommandRejected when the switch accepted a setting and has another now."""
        if not same:
            raise CommandRejected(
                self.device,
                what,
                f"accepted, but reads back as {read} instead of {wanted}",
                "look at `display this` in that view: another setting may contradict it, or this "
                "model takes the command and does nothing",
            )
