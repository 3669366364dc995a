"""What a switch is asked: lines for its CLI, and the configuration of its ports."""

import re

from labtests.capabilities.settings import Commands
from labtests.drivers.comware.configuration import (
    ConfigSection,
    interface_section,
    parse_configuration,
)
from labtests.drivers.comware.names import asked_port
from labtests.drivers.comware.rejections import expect_answer
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine, Word, cli
from labtests.transport.protocol import Reply

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


def interface(port: str) -> Asking[tuple[Reply, ConfigSection]]:
    """The configuration of one port (full name)."""
    reply = yield from show(*_CONFIGURED, port)
    return reply, interface_section(reply, port)


def interfaces() -> Asking[tuple[Reply, tuple[ConfigSection, ...]]]:
    """The configuration of every interface of the switch."""
    reply = yield from show(*_CONFIGURED)
    return reply, tuple(s for s in parse_configuration(reply) if s.interface is not None)


class ComwarePart:
    """What the parts of this driver share: the switch's name in the testbed file."""

    def __init__(self, device: str) -> None:
        self.device = device

    def port(self, port: str) -> str:
        """The full name of a port of the testbed file."""
        return asked_port(self.device, port)


def in_interface(port: str, *commands: CliLine) -> Commands:
    """These lines in the view of a port (full name); nothing when there are none."""
    return (line("interface", port), *commands, QUIT) if commands else ()
