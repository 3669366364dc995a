r"""What a terminal driver and a small readline do on a pty: echo, editing, control keys.

Only `\b`, printable text and `\x1b[K` are sent for editing. So what a session prints that is only
typed into, like netmiko's, is exactly the characters echoed, then `\r\n`.
"""

from collections.abc import Callable
from enum import StrEnum

MAX_LINE_LENGTH = 4096  # N_TTY's limit


class Control(StrEnum):
    """Keys that end the line without entering it."""

    INTERRUPT = "\x03"
    END_OF_INPUT = "\x04"
    SUSPEND = "\x1a"


_ENDING = (Control.INTERRUPT, Control.SUSPEND)

Entered = str | Control

_NAMED_SEQUENCES = {
    "[C": "right",
    "[D": "left",
    "[H": "start",
    "[F": "end",
    "[1~": "start",
    "[4~": "end",
    "[3~": "delete",
    "OC": "right",
    "OD": "left",
    "OH": "start",
    "OF": "end",
}
_NAMED_KEYS = {
    "\x01": "start",
    "\x02": "left",
    "\x05": "end",
    "\x06": "right",
    "\x08": "rubout",
    "\x7f": "rubout",
    "\x0b": "kill_right",
    "\x15": "kill_left",
    "\x17": "kill_word",
}


class LineEditor:
    """One line being typed. `echo` gets what the terminal shows of it."""

    def __init__(self, echo: Callable[[str], None]) -> None:
        self._echo = echo
        self._line = ""
        self._cursor = 0
        self._sequence: str | None = None  # an escape sequence that has begun
        self._after_return = False
        self._edits: dict[str, Callable[[], None]] = {
            "start": lambda: self._move(0),
            "end": lambda: self._move(len(self._line)),
            "left": lambda: self._move(self._cursor - 1),
            "right": lambda: self._move(self._cursor + 1),
            "rubout": lambda: self._cut(self._cursor - 1, self._cursor),
            "delete": lambda: self._cut(self._cursor, self._cursor + 1),
            "kill_left": lambda: self._cut(0, self._cursor),
            "kill_right": lambda: self._cut(self._cursor, len(self._line)),
            "kill_word": lambda: self._cut(self._word_start(), self._cursor),
        }

    @property
    def before_cursor(self) -> str:
        """The line up to the cursor."""
        return self._line[: self._cursor]

    def show(self, listing: str, insert: str) -> None:
        """A listing with the prompt at its end stands before the line; text is inserted."""
        if listing:
            rest = self._line[self._cursor :]
            self._echo("\r\n" + listing + self._line + "\b" * len(rest))
        for character in insert:
            self._insert(character)

    def type(self, key: str) -> Entered | None:
        """One character arrives. The line, when this ends it; a control key; else None."""
        second_half = key == "\n" and self._after_return  # of a client's CR LF
        self._after_return = key == "\r"
        if self._sequence is not None:
            self._continue_sequence(key)
            return None
        if key in "\r\n":
            return None if second_half else self._enter()
        if key in _ENDING or (key == Control.END_OF_INPUT and not self._line):
            self._line, self._cursor = "", 0
            return Control(key)
        self._edit(key)
        return None

    def _edit(self, key: str) -> None:
        if key == "\x1b":
            self._sequence = ""
        elif key in _NAMED_KEYS:
            self._edits[_NAMED_KEYS[key]]()
        elif key.isprintable() and len(self._line) < MAX_LINE_LENGTH:
            self._insert(key)

    def _enter(self) -> str:
        line, self._line, self._cursor = self._line, "", 0
        self._echo("\r\n")
        return line

    def _continue_sequence(self, key: str) -> None:
        assert self._sequence is not None
        self._sequence += key
        begun = len(self._sequence) == 1 and key in "[O"
        if begun or key.isdigit() or key == ";":
            return
        name = _NAMED_SEQUENCES.get(self._sequence)
        self._sequence = None
        if name is not None:
            self._edits[name]()

    def _insert(self, key: str) -> None:
        rest = self._line[self._cursor :]
        self._line = self._line[: self._cursor] + key + rest
        self._cursor += 1
        self._echo(key + rest + "\b" * len(rest))

    def _move(self, position: int) -> None:
        position = min(max(position, 0), len(self._line))
        if position < self._cursor:
            self._echo("\b" * (self._cursor - position))
        else:
            self._echo(self._line[self._cursor : position])
        self._cursor = position

    def _cut(self, start: int, end: int) -> None:
        if not 0 <= start < end <= len(self._line):
            return
        self._move(start)
        self._line = self._line[:start] + self._line[end:]
        rest = self._line[start:]
        self._echo(rest + "\x1b[K" + "\b" * len(rest))

    def _word_start(self) -> int:
        before = self._line[: self._cursor].rstrip()
        return before.rfind(" ") + 1
