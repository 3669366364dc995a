"""One SSH channel of an emulated device: what its face sees as a Console.

Everything happens inside the packet that asked for it: asyncssh calls a session synchronously and
writes go straight to the socket. So a client that gets the reply to a later global request has all
output that its commands had printed. A coroutine per command, as asyncssh's process API has it,
would lose that order.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any, cast, get_args

import asyncssh
from asyncssh.stream import SSHServerStreamSession

from labtests.simlab.face import Face, SignalName
from labtests.simlab.terminal import Control, LineEditor
from labtests.simlab.transfer import Transfer

DEFAULT_WIDTH, DEFAULT_HEIGHT = 80, 24

Line = Callable[[str], None] | None
Event = Callable[[], None] | None


@contextmanager
def _loudly() -> Iterator[None]:
    """A mistake in a face reaches the event loop's handler. asyncssh alone would close the
    connection and say nothing."""
    try:
        yield
    except Exception as mistake:
        asyncio.get_running_loop().call_exception_handler(
            {"message": "an emulated device failed", "exception": mistake}
        )
        raise


HELD_AT_MOST = 2**16
"""Characters that are kept for one packet. Then it is seen whether the client reads them."""


def _taker(held: str) -> Any:
    """See Console: who takes input from now on. Input that came before is delivered at once."""

    def give(session: "ConsoleSession", callback: Line) -> None:
        setattr(session, held, callback)
        session._deliver()

    return property(attrgetter(held), give)


class ConsoleSession(asyncssh.SSHServerSession[str]):
    """A Console (see face.py), and what asyncssh tells it."""

    def __init__(self, face: Face, username: str) -> None:
        self.username = username
        self.pty = False
        self.width, self.height = DEFAULT_WIDTH, DEFAULT_HEIGHT
        self.on_eof: Event = None
        self.on_interrupt: Event = None
        self.on_suspend: Event = None
        self.on_question: Callable[[str], str] | None = None
        self.on_signal: Callable[[SignalName], None] | None = None
        self._on_line: Line = None
        self._on_key: Line = None
        self._on_data: Line = None
        self._face = face
        self._channel: asyncssh.SSHServerChannel[str] | None = None
        self._command: str | None = None
        self._editor = LineEditor(self._send)
        self._typed = ""  # input that nobody has taken yet
        self._ended = False  # of the input
        self._delivering = False
        self._status: int | None = None  # of a session that has exited
        self._unsent = False
        self._held: dict[asyncssh.DataType, list[str]] | None = None  # output of the same moment
        self._held_characters = 0
        self._transfer: SSHServerStreamSession[Any] | None = None  # of the sftp subsystem

    # -- the face's side ------------------------------------------------------------

    on_line, on_key, on_data = map(_taker, ("_on_line", "_on_key", "_on_data"))

    @property
    def congested(self) -> bool:
        """See Console."""
        return self._unsent

    def write(self, text: str) -> None:
        """See Console."""
        self._send(text.replace("\n", "\r\n") if self.pty else text)

    def write_error(self, text: str) -> None:
        """See Console."""
        if self.pty:
            self.write(text)
        else:
            self._send(text, asyncssh.EXTENDED_DATA_STDERR)

    def exit(self, status: int) -> None:
        """See Console. The status is sent behind the output, however long that takes to drain."""
        self._let_go()
        if self._channel is None or self._status is not None:
            return
        self._status = status
        if not self._unsent:
            self._channel.exit(status)

    # -- the SSH side ------------------------------------------------------------

    def connection_made(self, chan: asyncssh.SSHServerChannel[str]) -> None:
        """The channel is open."""
        self._channel = chan
        chan.set_write_buffer_limits(0)  # so that pause/resume tell whether anything is unsent

    def pty_requested(
        self, term_type: str, term_size: tuple[int, int, int, int], term_modes: Mapping[int, int]
    ) -> bool:
        """A terminal comes first; a shell or command follows."""
        self.pty = True
        self.terminal_size_changed(*term_size)
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        """The client's window was resized."""
        self.width, self.height = width or DEFAULT_WIDTH, height or DEFAULT_HEIGHT

    def shell_requested(self) -> bool:
        """An interactive session."""
        return True

    def exec_requested(self, command: str) -> bool:
        """A single command."""
        self._command = command
        return True

    def subsystem_requested(self, subsystem: str) -> bool:
        """Only SFTP, on devices that have files. asyncssh's own session does the protocol."""
        files, channel = self._face.files, self._channel
        if subsystem != "sftp" or files is None or channel is None:
            return False
        self._transfer = SSHServerStreamSession(None, lambda chan: Transfer(chan, files), 3)
        self._transfer.connection_made(channel)
        return True

    def session_started(self) -> None:
        """The client has been told that it may begin."""
        if self._transfer is not None:
            self._transfer.session_started()
            return
        with _loudly():
            if self._command is None:
                self._face.shell(self)
            else:
                self._held = {}
                self._face.execute(self._command, self)
        self._let_go()

    def data_received(self, data: str, datatype: asyncssh.DataType) -> None:
        """Input."""
        if self._transfer is not None:
            self._transfer.data_received(data, datatype)
            return
        if self.pty and self._on_key is None and Control.INTERRUPT in data:
            _, _, data = data.rpartition(Control.INTERRUPT)
            self._typed = ""  # as a terminal driver flushes its queue
            self._editor.type(Control.INTERRUPT)
            self._interrupt()
        self._typed += data
        self._held = {} if self._held is None else self._held
        self._deliver()
        self._let_go()

    def eof_received(self) -> bool:
        """No more input; output goes on."""
        if self._transfer is not None:
            return bool(self._transfer.eof_received())
        self._ended = True
        self._deliver()
        return True

    def break_received(self, msec: int) -> bool:
        """A break counts as Ctrl-C."""
        self._interrupt()
        return True

    def signal_received(self, signal: str) -> None:
        """An SSH signal request."""
        if signal == "INT":
            self._interrupt()
        elif self.on_signal is not None and signal in get_args(SignalName):
            with _loudly():
                self.on_signal(cast(SignalName, signal))

    def pause_writing(self) -> None:
        """The client's window is full."""
        self._unsent = True
        if self._transfer is not None:
            self._transfer.pause_writing()

    def resume_writing(self) -> None:
        """Everything written is on its way."""
        self._unsent = False
        if self._transfer is not None:
            self._transfer.resume_writing()
        if self._status is not None and self._channel is not None:
            self._channel.exit(self._status)

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed, by whomever."""
        self._channel = None
        if self._transfer is not None:
            self._transfer.connection_lost(exc)
            return
        if self._status is None:
            self._status = -1
            with _loudly():
                self._face.hang_up(self)

    # -- between the two ------------------------------------------------------------

    @property
    def _open(self) -> bool:
        return self._channel is not None and self._status is None

    def _send(self, text: str, kind: asyncssh.DataType = None) -> None:
        if self._channel is None or self._status is not None or not text:
            return
        if self._held is None:
            with suppress(BrokenPipeError):  # the client has closed; connection_lost comes next
                self._channel.write(text, kind)
            return
        self._held.setdefault(kind, []).append(text)
        self._held_characters += len(text)
        if self._held_characters > HELD_AT_MOST:
            self._let_go()

    def _let_go(self) -> None:
        """What a command prints at once, and the echo of what was typed, is one packet a stream,
        not one for each word and key of it."""
        held, self._held, self._held_characters = self._held, None, 0
        for kind, pieces in (held or {}).items():
            self._send("".join(pieces), kind)

    def _interrupt(self) -> None:
        if self.on_interrupt is not None:
            with _loudly():
                self.on_interrupt()

    def _deliver(self) -> None:
        """Hand over input to whoever wants it now. A callback may change who that is."""
        if self._delivering:
            return
        self._delivering = True
        try:
            with _loudly():
                while self._open and self._typed and self._deliver_some():
                    pass
                if self._open and self._ended and not self._typed:
                    self._end_input()
        finally:
            self._delivering = False

    def _deliver_some(self) -> bool:
        if self._on_key is not None:
            self._on_key(self._take(1))
        elif self._on_data is not None:
            self._on_data(self._take(len(self._typed)))
        elif self._on_line is None:
            return False
        elif self.pty:
            self._type(self._on_line, self._take(1))
        else:
            return self._deliver_plain_line(self._on_line)
        return True

    def _deliver_plain_line(self, on_line: Callable[[str], None]) -> bool:
        line, end, rest = self._typed.partition("\n")
        if not end and not self._ended:
            return False
        self._typed = rest
        on_line(line.removesuffix("\r"))
        return True

    def _type(self, on_line: Callable[[str], None], key: str) -> None:
        asks = self.on_question if key == "?" else None
        if asks is not None and (listing := asks(self._editor.line)):
            self._editor.list_below(listing)
            return
        entered = self._editor.type(key)
        if entered is Control.INTERRUPT:
            self._interrupt()
        elif entered is Control.SUSPEND:
            if self.on_suspend is not None:
                self.on_suspend()
        elif entered is Control.END_OF_INPUT:
            self._end_input()
        elif entered is not None:
            on_line(entered)

    def _take(self, count: int) -> str:
        taken, self._typed = self._typed[:count], self._typed[count:]
        return taken

    def _end_input(self) -> None:
        callback = self.on_eof
        if self._ended:
            self.on_eof = None  # the end of a stream comes once
        if callback is not None:
            callback()
