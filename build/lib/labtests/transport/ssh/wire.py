"""An SSH connection as labtests needs it: fast, in order, and honest about how processes end."""

import signal
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

import paramiko
from paramiko import auth_handler, buffered_pipe, channel, packet, proxy, transport
from paramiko.auth_handler import AuthOnlyHandler
from paramiko.common import (
    MSG_CHANNEL_DATA,
    MSG_CHANNEL_EXTENDED_DATA,
    MSG_CHANNEL_REQUEST,
    cMSG_GLOBAL_REQUEST,
    cMSG_SERVICE_REQUEST,
)
from paramiko.kex_curve25519 import KexCurve25519
from paramiko.packet import Packetizer
from paramiko.transport import ServiceRequestingTransport

from labtests.transport.ssh.algorithms import is_old
from labtests.transport.ssh.steady import wait_steadily

wait_steadily((auth_handler, buffered_pipe, channel, packet, proxy, transport))

SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a process."""

_CURVE = "curve25519-sha256"
_QUICK_KEX = "ecdh-sha2-nistp256"


def _current(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not is_old(name))


def _old_too(current: Sequence[str], every: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*current, *every)))


DEAD_PEER_MS = 30_000
"""A peer that acknowledges nothing for so long is gone (TCP_USER_TIMEOUT)."""
KEEPALIVE_IDLE_S = 15
ANSWER_WITHIN_S = 30.0  # wall time: of a round trip, and to what is asked on a channel
TAKEN_WITHIN_S = 60.0  # wall time: of one packet that we send
MOST_PACKET_BYTES = 2**18
"""As OpenSSH has it. What we ask for comes in packets of 2**15."""
_MAC_BYTES = 64  # the longest, which is read together with a packet


def _channel_request(channel: paramiko.Channel, message: paramiko.Message) -> None:
    start = message.packet.tell()
    if message.get_text() != "exit-signal":
        message.packet.seek(start)
        channel._handle_request(message)  # type: ignore[attr-defined]
        return
    message.get_boolean()  # want reply: never, by RFC 4254
    name = f"SIG{message.get_text()}"  # RFC 4254 section 6.10 has them without SIG
    channel.exit_status = SIGNALLED + signal.Signals.__members__.get(name, 0)
    channel.status_event.set()


def _channel_data(channel: paramiko.Channel, message: paramiko.Message) -> None:
    channel._feed(message)  # type: ignore[attr-defined]
    _expect_window(channel)


def _channel_extended_data(channel: paramiko.Channel, message: paramiko.Message) -> None:
    channel._feed_extended(message)  # type: ignore[attr-defined]
    _expect_window(channel)


def _expect_window(channel: paramiko.Channel) -> None:
    """What nobody has read yet is never more than the window, which paramiko does not look at."""
    waiting_bytes = len(channel.in_buffer) + len(channel.in_stderr_buffer)
    if waiting_bytes > channel.in_window_size:
        raise Malformed("it sent more than the channel's window lets it")


class _Login(AuthOnlyHandler):
    """paramiko makes the event that an answer sets only after it has asked. An answer that is
    faster than that is lost, and the login "times out" (some 1 in 20 on loopback). Here the event
    is there from the start and is cleared before asking."""

    def __init__(self, transport: paramiko.Transport) -> None:
        self._answered = threading.Event()
        super().__init__(transport)

    @property
    def auth_event(self) -> threading.Event:
        """Set by whatever the server answers."""
        return self._answered

    @auth_event.setter
    def auth_event(self, _: object) -> None:
        """paramiko's own event comes too late to be used."""

    def send_auth_request(self, *request: Any, **finishing: Any) -> Any:
        """Ask, and wait for the answer. Raises Unanswered, so that no other key is tried: there
        would be as long a silence for each."""
        self._answered.clear()
        try:
            return super().send_auth_request(*request, **finishing)
        except paramiko.AuthenticationException as error:
            if self._answered.is_set() or not self.transport.is_active():
                raise
            waited_s = self.transport.auth_timeout
            raise Unanswered(f"did not answer a login within {waited_s:g} s") from error


_RAISED = (OSError, EOFError, paramiko.SSHException)
"""What paramiko says that it raises."""


class Malformed(paramiko.SSHException):
    """The device sent something that is not SSH, and paramiko raised an unrelated exception."""


class Unanswered(TimeoutError):
    """The device accepted a connection or a channel, and did not say in time whether it does what
    it was asked there."""


class _ChannelAnswer(threading.Event):
    """The answer to what is asked on a channel, for which paramiko waits without end."""

    def __init__(self, within_s: float) -> None:
        super().__init__()
        self._within_s = within_s

    def wait(self, timeout: float | None = None) -> bool:
        """Raises Unanswered."""
        if not super().wait(self._within_s if timeout is None else timeout):
            raise Unanswered(f"it accepted a channel, then no answer within {self._within_s:g} s")
        return True


class _TakenInTime:
    """A socket, or what stands for one, whose peer takes each packet in time, or the connection is
    over: paramiko goes on as long as a byte is taken now and then."""

    def __init__(self, sock: Any) -> None:
        self._sock, self._due_s = sock, 0.0
        self.recv, self.close = sock.recv, sock.close

    def begin(self) -> None:
        """What is sent next is another packet."""
        self._due_s = time.monotonic() + TAKEN_WITHIN_S

    def send(self, data: bytes) -> int:
        """See socket.socket. Raises OSError."""
        if time.monotonic() > self._due_s:
            self.close()
            raise OSError(f"it did not take a packet within {TAKEN_WITHIN_S:g} s")
        sent_bytes: int = self._sock.send(data)
        return sent_bytes


class _Packets(Packetizer):
    """paramiko reads as much as a packet says that it has, up to 4 GiB, and copies all for every
    piece that comes: one such packet takes memory and time from every other device."""

    def __init__(self, sock: Any) -> None:
        self._taken = _TakenInTime(sock)
        super().__init__(self._taken)  # type: ignore[arg-type]

    def write_all(self, out: Any) -> None:
        """Raises EOFError; then the connection is over (see _TakenInTime)."""
        self._taken.begin()
        super().write_all(out)

    def read_all(self, n: int, check_rekey: bool = False) -> Any:
        """Raises SSHException, which ends the connection, before any of it is read."""
        if n > MOST_PACKET_BYTES + _MAC_BYTES:
            raise paramiko.SSHException(f"it announced a packet of {n} bytes")
        return super().read_all(n, check_rekey)


_LEAST_EXTENSION_BYTES = 8
"""Two lengths: of its name and of its value (RFC 8308 section 2.3)."""


class Wire(ServiceRequestingTransport):
    """A paramiko transport with fifteen differences.

    - TCP_NODELAY: without it an exec waits some 40 ms for a delayed acknowledgement.
    - `round_trip`: once it is back, everything the server had sent before is here.
    - A process that died by a signal has the exit status 128 + n, where paramiko knows none.
    - Requests on a channel (exec, pty-req, shell) are answered in time, or Unanswered is raised;
      what is sent on one that takes nothing is a TimeoutError.
    - A login that asks questions is refused: they would go to the user's terminal.
    - The login service is asked for once and with a deadline. paramiko's plain transport asks again
      for every key it tries, which some servers (asyncssh) answer by hanging up; its newer one
      waits for ever.
    - A quick answer to a login is not lost (see _Login).
    - AES-GCM is asked for first: with other ciphers paramiko compares MACs byte by byte in Python,
      a noticeable part of what a short session costs.
    - ecdh-sha2-nistp256 is asked for first: of OpenSSH's key exchanges it takes least of a server's
      CPU, which is most of what many logins at once wait for (RFC 9142 puts it beside curve25519).
    - CBC, MD5 and SHA-1 are not offered (RFC 9142; CBC: CVE-2008-5161).
    - A peer that sends more than a channel's window ends the connection (RFC 4254 section 5.2).
    - Whatever its reading thread stumbles over is one of the errors that it says it raises.
    - A packet that is longer than one has to be, or that announces more extensions than it has,
      ends the connection (see _Packets), and so does one of ours that is taken byte by byte (see
      _TakenInTime).
    - curve25519-sha256 is known by its plain name too (RFC 8731), the only one that a hardened sshd
      may offer. And what the server has offered is kept, for the error when nothing fits.
    """

    _kex_info = {**paramiko.Transport._kex_info, _CURVE: KexCurve25519}  # type: ignore[attr-defined] # noqa: RUF012
    _preferred_kex = tuple(
        sorted(
            (*_current(paramiko.Transport._preferred_kex), _CURVE),  # type: ignore[attr-defined]
            key=lambda name: name != _QUICK_KEX,
        )
    )

    _preferred_ciphers = tuple(
        sorted(_current(paramiko.Transport._preferred_ciphers), key=lambda name: "gcm" not in name)  # type: ignore[attr-defined]
    )
    _preferred_macs = _current(paramiko.Transport._preferred_macs)  # type: ignore[attr-defined]
    _preferred_keys = _current(paramiko.Transport._preferred_keys)  # type: ignore[attr-defined]
    _preferred_pubkeys = _current(paramiko.Transport._preferred_pubkeys)  # type: ignore[attr-defined]

    _channel_handler_table = {  # noqa: RUF012 - paramiko's own, a table of its class
        **paramiko.Transport._channel_handler_table,  # type: ignore[attr-defined]
        MSG_CHANNEL_DATA: _channel_data,
        MSG_CHANNEL_EXTENDED_DATA: _channel_extended_data,
        MSG_CHANNEL_REQUEST: _channel_request,
    }

    def __init__(self, sock: Any, **settings: Any) -> None:
        if isinstance(sock, socket.socket):  # through a jump host it is a channel
            _tune(sock)
        self._asking = threading.Lock()
        self._turn = threading.Condition()
        self._asked = self._answered = 0
        self._may_log_in = False
        self.answer_within_s = ANSWER_WITHIN_S
        self.offered: dict[str, list[str]] = {}
        self.fault = ""
        """What the device did against the rules, if anything; then the connection is over."""
        super().__init__(sock, packetizer_class=_Packets, **settings)

    def auth_interactive_dumb(
        self, username: str, handler: object = None, submethods: str = ""
    ) -> list[str]:
        """Never: paramiko would show what the device prints, and send it what a person types."""
        raise paramiko.BadAuthenticationType(
            "it asks for more than a key", ["keyboard-interactive"]
        )

    @property
    def saved_exception(self) -> Exception | None:
        """What ended the reading thread; raised by whoever waits for the device."""
        return self._saved

    @saved_exception.setter
    def saved_exception(self, error: Exception | None) -> None:
        if error is not None and not isinstance(error, _RAISED):
            told = Malformed(f"it sent something that is not SSH ({type(error).__name__}: {error})")
            told.__cause__ = error
            error = told
        if isinstance(error, Malformed):
            self.fault = str(error)
        self._saved = error

    @property
    def has_begun(self) -> bool:
        """Whether the server has shown its host key and encrypts: a login may come next."""
        return bool(self.initial_kex_done)

    def open_channel(self, *about: Any, **settings: Any) -> paramiko.Channel:
        """See paramiko."""
        channel = super().open_channel(*about, **settings)
        channel.event = _ChannelAnswer(self.answer_within_s)
        channel.settimeout(self.answer_within_s)
        return channel

    def round_trip(self, timeout_s: float) -> bool:
        """Ask and wait for the answer, as OpenSSH's keepalive does (a refusal is an answer too).

        False when the connection is gone or no answer came in time (wall seconds).
        """
        message = paramiko.Message()
        message.add_byte(cMSG_GLOBAL_REQUEST)
        message.add_string("keepalive@openssh.com")
        message.add_boolean(True)
        with self._asking:
            self._asked += 1
            number = self._asked
            try:
                self._send_user_message(message)  # type: ignore[attr-defined]
            except (OSError, EOFError, paramiko.SSHException):
                return False
        with self._turn:
            self._turn.wait_for(lambda: self._answered >= number or not self.is_active(), timeout_s)
            return self.is_active() and self._answered >= number

    def ensure_session(self) -> None:
        """Logging in may begin. Raises SSHException when the server does not let it."""
        if not self._may_log_in:
            message = paramiko.Message()
            message.add_byte(cMSG_SERVICE_REQUEST)
            message.add_string("ssh-userauth")
            self._send_message(message)  # type: ignore[attr-defined]
            with self._turn:
                self._turn.wait_for(
                    lambda: self._may_log_in or not self.is_active(), self.auth_timeout
                )
            if not self._may_log_in:
                raise paramiko.SSHException("the server did not let the login begin")
            self.auth_handler = self.get_auth_handler()

    def get_auth_handler(self) -> AuthOnlyHandler:
        """Who logs in."""
        return _Login(self)

    def run(self) -> None:
        """paramiko's reading thread; whoever waits learns of its end."""
        try:
            super().run()
        finally:
            with self._turn:
                self._turn.notify_all()

    def _parse_request_success(self, m: paramiko.Message) -> None:
        super()._parse_request_success(m)  # type: ignore[misc]
        self._count_answer()

    def _parse_request_failure(self, m: paramiko.Message) -> None:
        super()._parse_request_failure(m)  # type: ignore[misc]
        self._count_answer()

    def _really_parse_kex_init(self, m: paramiko.Message, ignore_first_byte: bool = False) -> Any:
        parsed = super()._really_parse_kex_init(m, ignore_first_byte)  # type: ignore[misc]
        self.offered = {n: names for n, names in parsed.items() if isinstance(names, list)}
        return parsed

    def _parse_ext_info(self, m: paramiko.Message) -> None:
        """A count, and so many names with values: paramiko would look for 4 thousand million."""
        rest = m.get_remainder()
        if (count := int.from_bytes(rest[:4], "big")) > len(rest) // _LEAST_EXTENSION_BYTES:
            raise paramiko.SSHException(f"it announced {count} extensions, and did not send them")
        super()._parse_ext_info(m)  # type: ignore[misc]

    def _parse_service_accept(self, m: paramiko.Message) -> None:
        with self._turn:
            self._may_log_in = m.get_text() == "ssh-userauth"
            self._turn.notify_all()

    def _count_answer(self) -> None:
        # answers come in the order of the requests (RFC 4254 section 4), late ones included
        with self._turn:
            self._answered += 1
            self._turn.notify_all()


class LegacyWire(Wire):
    """The same with a device whose testbed file says `legacy_ssh: true`: whatever paramiko can do,
    the current algorithms first."""

    _preferred_ciphers = _old_too(Wire._preferred_ciphers, paramiko.Transport._preferred_ciphers)  # type: ignore[attr-defined]
    _preferred_macs = _old_too(Wire._preferred_macs, paramiko.Transport._preferred_macs)  # type: ignore[attr-defined]
    _preferred_kex = _old_too(Wire._preferred_kex, paramiko.Transport._preferred_kex)  # type: ignore[attr-defined]
    _preferred_keys = _old_too(Wire._preferred_keys, paramiko.Transport._preferred_keys)  # type: ignore[attr-defined]
    _preferred_pubkeys = _old_too(Wire._preferred_pubkeys, paramiko.Transport._preferred_pubkeys)  # type: ignore[attr-defined]


def end_input(channel: paramiko.Channel) -> None:
    """Nothing more is sent on this channel.

    paramiko's shutdown_write builds the message under the channel's lock and sends it after. When
    the command has ended in between, our CLOSE goes out first, and a server must break the whole
    connection for an EOF on a channel that is gone (RFC 4254 section 5.3; OpenSSH and asyncssh do).
    """
    with channel.lock:
        message = channel._send_eof()  # type: ignore[attr-defined]
        if message is not None and channel.transport is not None:
            channel.transport._send_user_message(message)  # type: ignore[attr-defined]


def _tune(sock: socket.socket) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_PEER_MS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_IDLE_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_IDLE_S)
