r"""What a terminal driver does on a pty: echo, rubbing out, control keys.

Only `\b`, printable text and `\x1b[K` are sent for editing. So what a session prints that is only
typed into, like netmiko's, is exactly the characters echoed, then `\r\n`.
"""

import re
from collections.abc import Callable
from enum import StrEnum

MAX_LINE_LENGTH = 4096  # N_TTY's limit
_RUBOUT, _KILL, _KILL_WORD = "\x08\x7f", "\x15", "\x17"
_WHOLE_SEQUENCE = re.compile(r"[^\[O]|[\[O][0-9;]*[^0-9;]")  # what follows an escape


class Control(StrEnum):
    """Keys that end the line without entering it."""

    INTERRUPT = "\x03"
    END_OF_INPUT = "\x04"
    SUSPEND = "\x1a"


_ENDING = (Control.INTERRUPT, Control.SUSPEND)

Entered = str | Control


class LineEditor:
    """One line being typed. `echo` gets what the terminal shows of it."""

    def __init__(self, echo: Callable[[str], None]) -> None:
        self._echo = echo
        self.line = ""
        self._sequence: str | None = None  # an escape sequence that has begun: it does nothing
        self._after_return = False

    def list_below(self, listing: str) -> None:
        """A listing with the prompt at its end, behind which the line is shown again."""
        self._echo("\r\n" + listing.replace("\n", "\r\n") + self.line)

    def type(self, key: str) -> Entered | None:
        """One character arrives. The line, when this ends it; a control key; else None."""
        second_half = key == "\n" and self._after_return  # of a client's CR LF
        self._after_return = key == "\r"
        if self._sequence is not None:
            sequence = self._sequence + key
            self._sequence = None if _WHOLE_SEQUENCE.fullmatch(sequence) else sequence
            return None
        if key in "\r\n":
            return None if second_half else self._enter()
        if key in _ENDING or (key == Control.END_OF_INPUT and not self.line):
            self.line = ""
            return Control(key)
        self._edit(key)
        return None

    def _edit(self, key: str) -> None:
        if key == "\x1b":
            self._sequence = ""
        elif key in _RUBOUT:
            self._cut(max(len(self.line) - 1, 0))
        elif key == _KILL:
            self._cut(0)
        elif key == _KILL_WORD:
            self._cut(self.line.rstrip().rfind(" ") + 1)
        elif key.isprintable() and len(self.line) < MAX_LINE_LENGTH:
            self.line += key
            self._echo(key)

    def _enter(self) -> str:
        line, self.line = self.line, ""
        self._echo("\r\n")
        return line

    def _cut(self, start: int) -> None:
        """The line ends there."""
        if start < len(self.line):
            self._echo("\b" * (len(self.line) - start) + "\x1b[K")
            self.line = self.line[:start]
