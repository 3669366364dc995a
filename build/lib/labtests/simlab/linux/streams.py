"""What processes read from and write to: consoles, pipes, files, and stdio's buffer in front.

The buffer matters: with its output in a pipe (SSH without a terminal) a program like ib_send_bw
shows nothing until it flushes or exits, and what it had not flushed dies with it.
"""

import errno
import os
from collections.abc import Callable

STDIO_BLOCK = 4096  # glibc's buffer for a pipe or file: st_blksize


class Event:
    """Something that processes wait for."""

    def __init__(self) -> None:
        self._waiters: list[Callable[[], None]] = []

    def remember(self, wake: Callable[[], None]) -> None:
        """Call this one, too."""
        self._waiters.append(wake)

    def forget(self, wake: Callable[[], None]) -> None:
        """Do not call this one any more. Fine when it was not to be called."""
        if wake in self._waiters:
            self._waiters.remove(wake)

    def set(self) -> None:
        """All who wait look again."""
        waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()


class Output:
    """Where text goes. This one is /dev/null."""

    terminal = False

    @property
    def congested(self) -> bool:
        """Whether whoever writes much should wait: a real write(2) would."""
        return False

    def write(self, text: str) -> None:
        """Raises OSError as write(2) fails: BrokenPipeError when nobody reads any more."""

    def hold(self) -> None:
        """One more process has it open."""

    def release(self) -> None:
        """A process that had it open is gone."""


class TextSource:
    """Text to read: what was put in, until `end`. `changed` is set when there is more, or the end;
    `wanted` is called at the first look."""

    def __init__(self, text: str = "", *, ended: bool = False) -> None:
        self.changed = Event()
        self.ended = ended
        self.wanted: Callable[[], None] | None = None
        self._text = text

    def put(self, text: str) -> None:
        """There is more to read."""
        self._text += text
        self.changed.set()

    def end(self) -> None:
        """Nothing more will come."""
        self.ended = True
        self.changed.set()

    def reopen(self) -> None:
        """A terminal's Ctrl-D ended one reader's input; the next reads on."""
        self.ended = False

    def take(self) -> str:
        """All that is there; "" when nothing is."""
        self._ask()
        text, self._text = self._text, ""
        return text

    def take_line(self) -> str | None:
        """A whole line with its end, or the rest at the end; None when it is not there yet."""
        self._ask()
        line, newline, rest = self._text.partition("\n")
        if not newline and not self.ended:
            return None
        self._text = rest
        return line + newline

    def hold(self) -> None:
        """One more process has it open."""

    def release(self) -> None:
        """A process that had it open is gone."""

    def _ask(self) -> None:
        if self.wanted is not None:
            wanted, self.wanted = self.wanted, None
            wanted()


def nothing() -> TextSource:
    """/dev/null to read from."""
    return TextSource(ended=True)


class Pipe(Output):
    """Two ends: `source` to read, the pipe itself to write. Both know when the other is gone."""

    def __init__(self) -> None:
        self.source = _PipeSource()
        self._writers = 0

    def write(self, text: str) -> None:
        """See Output."""
        if self.source.readers == 0 and self.source.opened:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        self.source.put(text)

    def hold(self) -> None:
        """See Output."""
        self._writers += 1

    def release(self) -> None:
        """The last writer's end is the reader's end of input."""
        self._writers -= 1
        if self._writers == 0:
            self.source.end()


class _PipeSource(TextSource):
    def __init__(self) -> None:
        super().__init__()
        self.readers = 0
        self.opened = False

    def hold(self) -> None:
        self.readers += 1
        self.opened = True

    def release(self) -> None:
        self.readers -= 1


class Capture(Output):
    """Collects what is written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        """See Output."""
        self.text += text


class FileOutput(Output):
    """Every write goes to the file at once, as write(2) on sysfs does."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def write(self, text: str) -> None:
        """See Output."""
        if text:
            self._write(text)


class Stdio:
    """A C program's stdout: by lines on a terminal or under `stdbuf -oL`, else by blocks."""

    def __init__(self, output: Output, *, line_buffered: bool) -> None:
        self._output = output
        self._line_buffered = line_buffered or output.terminal
        self._text = ""

    def write(self, text: str) -> None:
        """Comes out when a line (a block) is full."""
        self._text += text
        if self._line_buffered:
            lines, newline, rest = self._text.rpartition("\n")
            self._text = rest
            self._output.write(lines + newline)
        while len(self._text) >= STDIO_BLOCK:
            block, self._text = self._text[:STDIO_BLOCK], self._text[STDIO_BLOCK:]
            self._output.write(block)

    def flush(self) -> None:
        """Everything written is out."""
        text, self._text = self._text, ""
        if text:
            self._output.write(text)
