"""What one remote command prints: both streams, apart, as text, as far as they have arrived."""

import codecs
import threading
import time
from contextlib import suppress
from typing import Self

import paramiko

from labtests.transport.ssh.surroundings import own_output

OUTPUT_LIMIT_BYTES = 2**25
"""Of one command: an hour of iperf3's JSON is less, and to look for secrets in so much takes a
minute of CPU at worst."""
WINDOW_BYTES = OUTPUT_LIMIT_BYTES + 2**20
"""How much a server may send before somebody reads: enough to see that it is too much. So large
that a command whose output nobody
reads for a while is not slowed down, and that one round trip brings everything printed so far."""
LAST_WORDS_S = 1.0  # wall time
READ_BYTES = 2**26  # per read: everything there is; paramiko's buffer is slow in small bites


class TooMuchOutput(Exception):
    """A command printed more than OUTPUT_LIMIT_BYTES."""


class Bell(threading.Event):
    """Rings when a channel has news. paramiko clears it on a read; it stays rung until heard."""

    def clear(self) -> None:
        """Nothing: `hear` resets it."""

    def hear(self, timeout_s: float) -> None:
        """Wait until it rings, at most so long, and reset it."""
        self.wait(timeout_s)
        super().clear()


class _Stream:
    """One stream, decoded as it comes: a character cut by a packet's end is put together."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []

    def feed(self, data: bytes) -> None:
        self._pieces.append(self._decoder.decode(data))

    def text(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class Streams:
    """stdout and stderr of one channel, and its end. All methods may be called by any thread.

    With a `mark`, what comes before that line is not the command's (surroundings.py). Whoever waits
    is woken by the exit status and by what comes after it; `lasting`: by every word."""

    def __init__(self, channel: paramiko.Channel, *, mark: str = "", lasting: bool = False) -> None:
        self._channel, self._mark = channel, mark
        self._lock = threading.Lock()
        self._out, self._err = _Stream(), _Stream()
        self._received_bytes = 0
        self._last_news_s = time.monotonic()
        self._bell: Bell | None = None
        if lasting:
            self._ring()

    def hear(self, timeout_s: float) -> None:
        """Wait for news, at most so long (wall time)."""
        over = self._channel.status_event
        if self._bell is None and not over.is_set():
            over.wait(timeout_s)
        else:
            self._ring().hear(timeout_s)

    def _ring(self) -> Bell:
        """The bell: rung already if there is something to read, or the channel is closed."""
        if self._bell is None:
            self._bell = Bell()
            self._channel.in_buffer.set_event(self._bell)
            self._channel.in_stderr_buffer.set_event(self._bell)
        return self._bell

    def drain(self) -> int:
        """Take everything that has arrived; the number of bytes. Raises TooMuchOutput."""
        with self._lock:
            before = self._received_bytes
            while self._channel.recv_ready():
                self._take(self._out, self._channel.recv(READ_BYTES))
            while self._channel.recv_stderr_ready():
                self._take(self._err, self._channel.recv_stderr(READ_BYTES))
            return self._received_bytes - before

    def _take(self, stream: _Stream, data: bytes) -> None:
        self._received_bytes += len(data)
        self._last_news_s = time.monotonic()
        if self._received_bytes > OUTPUT_LIMIT_BYTES:
            raise TooMuchOutput
        stream.feed(data)

    def output(self) -> str:
        """stdout so far."""
        with self._lock:
            return own_output(self._out.text(), self._mark, ended=self.ended)

    def errors(self) -> str:
        """stderr so far."""
        with self._lock:
            return own_output(self._err.text(), self._mark, ended=self.ended)

    @property
    def status(self) -> int | None:
        """The exit status; None when there is none (yet, or because the session broke)."""
        if self._channel.status_event.is_set() and self._channel.exit_status >= 0:
            return self._channel.exit_status
        return None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come.

        The channel is closed, or it has its exit status and its end. A background process that
        inherited stdout keeps the end away: then silence after the exit status counts.
        """
        if self._channel.closed:
            return not self._unread
        if self.status is None or self._unread:
            return False
        return bool(self._channel.eof_received) or self._quiet_for_s() > LAST_WORDS_S

    @property
    def lost(self) -> bool:
        """Whether the channel is closed without an exit status: the session broke."""
        return self._channel.closed and self.status is None

    def close(self) -> None:
        """Free the channel. Closing twice is allowed. A host that takes not even that any more is
        found gone by who asks it next."""
        with suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _unread(self) -> bool:
        return self._channel.recv_ready() or self._channel.recv_stderr_ready()

    def _quiet_for_s(self) -> float:
        return time.monotonic() - self._last_news_s
