"""What a device is sent, made of words: the one place where words become the text of a command.

A `Command` is a text that only the functions here make. Adding, joining or formatting gives a plain
text again, which no transport takes: mypy refuses it, and at run time `as_shell` and `as_line` do.

    program("ip", "link", "show", "dev", port)    a list of words; each is one word to the shell
    root("ip", "link", "set", ...)                the same, and only root may
    write(1, "/sys/class/net/IF/...")             `echo 1 > FILE`, which only root may
    script("ls /sys/class/net/IF/*", IF=port)     a fixed text; each name in it becomes one word
    in_turn(...), if_done(...)                    several of them, by `;` and by `&&`
    cli(alphabet, "interface", port)              a line of a switch's CLI

Words are quoted only where they must be, so that what is sent is what one would type by hand.
"""

import re
from collections.abc import Callable, Sequence
from shlex import quote
from typing import Self, SupportsIndex

from labtests.core.errors import LabError
from labtests.core.output import excerpt

SUDO = "sudo -n "
_SURROGATE = re.compile("[\ud800-\udfff]")
Word = str | int


class NotAWord(LabError):
    """What cannot be one word of a command there; nothing was made of it."""


class Command(str):
    """A text for a device. Made by the functions of this module, and by nothing else."""

    __slots__ = ()

    def __new__(cls, *_: object) -> Self:
        """Refused."""
        raise TypeError(
            "a command is made of words (labtests/transport/commands.py), not of a text"
        )

    def __reduce_ex__(self, _: SupportsIndex) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # what is kept in a file is for reading


class Shell(Command):
    """For a POSIX shell. `by_sudo` is the same for a login that may run single programs as root."""

    __slots__ = ("_by_sudo",)
    _by_sudo: str

    @property
    def by_sudo(self) -> "Shell":
        """With `sudo -n` before each program that only root may run, and nothing else."""
        return _shell(self._by_sudo, self._by_sudo)


class CliLine(Command):
    """For the CLI of a switch."""

    __slots__ = ()


def program(*words: Word) -> Shell:
    """A program and its arguments."""
    text = _line(words)
    return _shell(text, text)


def root(*words: Word) -> Shell:
    """A program that only root may run so."""
    text = _line(words)
    return _shell(text, SUDO + text)


def write(value: int, file: str) -> Shell:
    """`echo VALUE > FILE`: sudo writes by `tee`, since a redirection is the shell's own."""
    text = f"echo {value:d}"
    return _shell(f"{text} > {quote(file)}", f"{text} | {SUDO}tee {quote(file)} > /dev/null")


def script(text: str, **words: Word | Sequence[Word]) -> Shell:
    """A fixed text in which each of these names stands for one word, for several, or for a command
    that was made here. The text is a literal (tests/security), and has no name inside quotes."""

    def filled(render: Callable[[Shell], str]) -> str:
        given = {name: _part(word, render) for name, word in words.items()}
        if not given:
            return text
        names = "|".join(sorted(given, key=len, reverse=True))
        return re.sub(rf"\b(?:{names})\b", lambda match: given[match[0]], text)

    return _shell(filled(str), filled(_sudo_of))


def in_turn(*commands: Shell) -> Shell:
    """One after the other, whatever becomes of them."""
    return _joined("; ", commands)


def if_done(*commands: Shell) -> Shell:
    """One after the other, as long as they succeed."""
    return _joined(" && ", commands)


def cli(alphabet: re.Pattern[str], *words: Word) -> CliLine:
    """A line whose words have no character but those of this vendor's alphabet."""
    for word in words:
        if not alphabet.fullmatch(str(word)):
            raise NotAWord(
                f"{excerpt(str(word), 80)!r} cannot be a word of a line for this switch's CLI"
            )
    return str.__new__(CliLine, " ".join(map(str, words)))


def as_shell(command: object) -> Shell:
    """The same. Raises TypeError for what was not made here: a defect of labtests, not of a lab."""
    if not isinstance(command, Shell):
        raise TypeError(
            f"{command!r} is not a shell command made of words (labtests/transport/commands.py)"
        )
    return command


def as_line(command: object) -> CliLine:
    """The same, for a CLI."""
    if not isinstance(command, CliLine):
        raise TypeError(
            f"{command!r} is not a CLI line made of words (labtests/transport/commands.py)"
        )
    return command


def _line(words: Sequence[Word]) -> str:
    return " ".join(map(_quoted, words))


def _quoted(word: Word) -> str:
    """One word to a shell. Raises NotAWord for what no command line can hold."""
    text = str(word)
    if "\0" in text or _SURROGATE.search(text):
        raise NotAWord(f"{excerpt(repr(text), 80)} cannot be a word of a command")
    return quote(text)


def _shell(text: str, by_sudo: str) -> Shell:
    made: Shell = str.__new__(Shell, text)
    made._by_sudo = by_sudo
    return made


def _sudo_of(command: Shell) -> str:
    return command._by_sudo


def _part(word: Word | Sequence[Word], render: Callable[[Shell], str]) -> str:
    if isinstance(word, Shell):
        return render(word)
    return _quoted(word) if isinstance(word, Word) else _line(word)


def _joined(by: str, commands: Sequence[Shell]) -> Shell:
    return _shell(by.join(commands), by.join(map(_sudo_of, commands)))
