"""Files to and from a host, by SFTP over the session that is open.

What is sent goes into one folder of the run, /tmp/labtests-WORD, and nowhere else: whose file
another one was, with which owner, mode, label and names, could not be put back with certainty, and
not at all by a runner that is dead. The folder is removed at the end of the run. A process on the
host, the keeper, removes it when the session breaks before (supervision.py).

Nobody on the host can know WORD before the folder is there: SFTP makes it, and no process has the
name among its arguments until then, so no other user makes one of that name first. A runner that is
killed between that and the keeper's start leaves it, empty. The keeper stays in the folder: one of
that name that somebody else has made since is another one, and is left alone.
"""

import os
import posixpath
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import paramiko
from paramiko.sftp import CMD_ATTRS, SFTPError

from labtests.core.errors import CommandRejected, CommandTimeout, DeviceError, LabError
from labtests.core.private_files import expect_safe_way, open_private
from labtests.transport.commands import program, script
from labtests.transport.protocol import Process, wait_until
from labtests.transport.ssh.fabric_runner import SuiteSession
from labtests.transport.ssh.line import SshLine
from labtests.transport.ssh.unbroken import Hand

TOP = "/tmp"  # there it is a folder of our own, mode 0700
GET_LIMIT_BYTES = 2**30
LEAST_BYTES_PER_S = 2**14  # of a file: 1 GiB takes at most 19 hours
KEPT_S = 86_400
_PRIVATE, _DANGEROUS = 0o600, 0o7022
READY_WITHIN_S = 15.0
_READY = "ready"
_KEEPER = f"""trap : HUP INT TERM; cd FOLDER || exit 1; echo {_READY}; exec >/dev/null 2>&1
sleep SECONDS; trap '' HUP INT TERM; if [ . -ef FOLDER ]; then rm -rf -- FOLDER; fi"""
"""A signal ends the sleep. timeout(1) sends the group another one when it gets its own: rm must not
end by that. Nobody reads by then what the shell has to say."""

_GARBLED = (SFTPError, struct.error, UnicodeError)
"""What paramiko raises, as it reads an answer that is not SFTP."""

Answer = TypeVar("Answer")


class _TooLarge(Exception):
    """More than GET_LIMIT_BYTES."""


class _Patience:
    """How long is still waited for a host: some time at first, and more for what it moves, but
    never more than at first. So one that stalls, and one that drips, are both at an end."""

    def __init__(self, most_s: float) -> None:
        self._most_s = self._left_s = most_s
        self._moved_bytes = 0

    def begin(self) -> None:
        """Another file."""
        self._left_s, self._moved_bytes = self._most_s, 0

    def moved(self, so_far_bytes: int) -> None:
        """So much of the file has been moved."""
        earned_s = (so_far_bytes - self._moved_bytes) / LEAST_BYTES_PER_S
        self._left_s = min(self._left_s + earned_s, self._most_s)
        self._moved_bytes = so_far_bytes

    @contextmanager
    def waiting(self, channel: paramiko.Channel) -> Iterator[None]:
        """Inside, the host is waited for. Raises TimeoutError."""
        if self._left_s <= 0:
            raise TimeoutError
        channel.settimeout(self._left_s)
        begun_s = time.monotonic()
        try:
            yield
        finally:
            self._left_s -= time.monotonic() - begun_s


class CountedSftp(paramiko.SFTPClient):
    """paramiko's client, for hosts that lie: it asks for one piece after the other, whatever size
    it was told, stops at a limit, waits no longer than `_Patience` has, and no file here gets a
    mode that lets others write it, or run it as its owner. `moved_bytes` is the size of the last
    file."""

    moved_bytes = 0

    def __init__(self, channel: paramiko.Channel, *, answer_within_s: float) -> None:
        self._patience = _Patience(answer_within_s)  # before the versions are told
        super().__init__(channel)

    def begin(self) -> None:
        """What is done next is another file."""
        self._patience.begin()

    def stat(self, path: Any) -> paramiko.SFTPAttributes:
        """See paramiko."""
        found = super().stat(path)
        found.st_mode = (found.st_mode or _PRIVATE) & ~_DANGEROUS
        return found

    def get(self, remotepath: Any, localpath: Any, *_: Any, **__: Any) -> None:
        """See paramiko; not through a link that somebody has put here."""
        place = Path(localpath)
        expect_safe_way(place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(open_private(place, flags), "wb") as file:
            self.getfo(remotepath, file)

    def getfo(self, remotepath: Any, fl: Any, *_: Any, **__: Any) -> int:
        """See paramiko."""
        self.moved_bytes = super().getfo(remotepath, fl, self._got, prefetch=False)
        return self.moved_bytes

    def putfo(self, fl: Any, remotepath: Any, *_: Any, **__: Any) -> paramiko.SFTPAttributes:
        """See paramiko."""
        found = super().putfo(fl, remotepath, callback=self._put)
        self.moved_bytes = found.st_size or 0
        return found

    def _got(self, so_far_bytes: int, _: int) -> None:
        if so_far_bytes > GET_LIMIT_BYTES:
            raise _TooLarge
        self._patience.moved(so_far_bytes)

    def _put(self, so_far_bytes: int, _: int) -> None:
        self._patience.moved(so_far_bytes)

    def _write_all(self, out: bytes) -> None:
        while out:
            with self._patience.waiting(self.sock):
                sent_bytes = self.sock.send(out)
            if sent_bytes <= 0:
                raise EOFError
            out = out[sent_bytes:]

    def _read_all(self, n: int) -> bytes:
        out = bytearray()
        while len(out) < n:
            with self._patience.waiting(self.sock):
                piece = self.sock.recv(n - len(out))
            if not piece:
                raise EOFError
            out += piece
        return bytes(out)

    def _read_response(self, waitfor: Any = None) -> Any:
        kind, message = super()._read_response(waitfor)  # type: ignore[misc]
        if kind == CMD_ATTRS:
            message = _without_extensions(message)
        return kind, message


def _without_extensions(attributes: paramiko.Message) -> paramiko.Message:
    """paramiko reads as many as it is told that there are, up to four thousand million."""
    plain = paramiko.Message()
    plain.add_int(attributes.get_int() & ~paramiko.SFTPAttributes.FLAG_EXTENDED)
    return paramiko.Message(plain.asbytes() + attributes.get_remainder())


class HostFiles:
    """Files of one host. `folder` is the run's, "" before anything was sent."""

    def __init__(self, session: SuiteSession, line: SshLine) -> None:
        self.folder = ""
        self._session, self._line = session, line
        self._hand = Hand(session.device)
        self._keeper: Process | None = None
        self._client: CountedSftp | None = None

    def place(self, remote: str) -> str:
        """The path that a name stands for: a relative one is in the run's folder."""
        return remote if posixpath.isabs(remote) else posixpath.join(self._made(), remote)

    def place_to_send(self, remote: str) -> str:
        """The same, where files may be sent to. Raises CommandRejected, LeaseLost."""
        self._session.expect_lease()
        path = posixpath.normpath(posixpath.join(self._made(), remote))
        if not path.startswith(f"{self.folder}/"):
            raise CommandRejected(
                self._session.device,
                f"put {remote}",
                f"files can only be uploaded to the run folder {self.folder}, which is removed at "
                "the end, so that the host is left as it was found",
                "give it a name without a folder (`put(...).remote` says where it is); where it "
                "has to be elsewhere, copy it by `sudo`, and put back yourself what was there",
            )
        return path

    def move(self, what: str, act: Callable[[CountedSftp], Answer]) -> Answer:
        """Do it, also when a Ctrl-C stops whoever asked, and note it with the number of bytes.
        Raises OSError for a file that cannot be read or written, DeviceError for the rest."""
        return self._hand.do(lambda: self._moved(what, act))

    def clean_up(self) -> None:
        """The run's folder is gone. Raises CommandRejected where something is left in it, and
        Unreachable when the session broke: then the host has removed it."""
        self._hand.close()
        folder, self.folder = self.folder, ""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        ended = keeper.status() is not None  # by itself: then another may have that name by now
        act = program("test", "!", "-e", folder) if ended else program("rm", "-rf", "--", folder)
        reply = self._session.transport.run(act)
        keeper.close()
        why = "who kept it has ended" if ended else reply.errors.strip()
        if reply.status != 0:
            raise CommandRejected(
                self._session.device,
                reply.command,
                f"files that were sent are left there: {why}",
                f"look at whose it is (ls -ld {folder}), and remove it as root",
            )

    def _moved(self, what: str, act: Callable[[CountedSftp], Answer]) -> Answer:
        with self._told(what):
            client = self._opened()
            client.begin()
            answer = act(client)
        self._session.note(f"sftp: {what}: {client.moved_bytes} bytes")
        return answer

    def _opened(self) -> CountedSftp:
        if self._client is None:
            channel = self._line.wire.open_session()
            try:
                channel.invoke_subsystem("sftp")
                within_s = self._line.wire.answer_within_s
                self._client = CountedSftp(channel, answer_within_s=within_s)
            except BaseException:
                channel.close()
                raise
        return self._client

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """What goes wrong inside is noted, and names the device. After it a new channel is used."""
        try:
            yield
        except (OSError, EOFError, paramiko.SSHException, _TooLarge, *_GARBLED) as error:
            client, self._client = self._client, None
            if client is not None:
                client.close()
            told = self._explained(what, error)
            self._session.note(f"sftp: {what}: {told or error}")
            if told is not None:
                raise told from error
            error.add_note(f"{self._session.device}: sftp {what}")
            raise

    def _explained(self, what: str, error: Exception) -> DeviceError | None:
        """None for what is wrong with a file, which Fabric's users know as OSError."""
        device, command = self._session.device, f"sftp: {what}"
        if isinstance(error, _TooLarge):
            problem = f"the file is larger than {GET_LIMIT_BYTES // 2**30} GiB"
            return CommandRejected(device, command, problem, "get the part of it that is needed")
        if not self._line.wire.is_active():
            return self._line.broken(command, error)
        if isinstance(error, TimeoutError):
            remedy = "try `sftp` by hand: does a disk or a network file system of the host hang?"
            problem = "the host did not answer in time, or was slower than "
            problem += f"{LEAST_BYTES_PER_S // 2**10} KiB/s"
            return CommandTimeout(device, command, problem, remedy)
        if isinstance(error, _GARBLED):
            problem = f"the host sent something that is not SFTP: {error or type(error).__name__}"
            remedy = "try `sftp` by hand: does a login shell of the host print something?"
            return CommandRejected(device, command, problem, remedy)
        if isinstance(error, OSError):
            return None
        remedy = "sshd_config of the host needs a line `Subsystem sftp internal-sftp`"
        return CommandRejected(device, command, f"no SFTP there: {error or 'it ended'}", remedy)

    def _made(self) -> str:
        """The run's folder, and who is to remove it."""
        if self.folder:
            return self.folder
        self._session.expect_lease()
        folder = f"{TOP}/labtests-{secrets.token_hex(8)}"
        self._hand.do(lambda: self._make(folder))
        try:
            self._keeper = self._kept(folder)
        except BaseException:
            with suppress(LabError, OSError):
                self._hand.do(lambda: self._unmake(folder))
            raise
        self.folder = folder
        return folder

    def _kept(self, folder: str) -> Process:
        """Who removes it when the session has ended."""
        keeper = program("sh", "-c", script(_KEEPER, SECONDS=KEPT_S, FOLDER=folder))
        process = self._session.transport.start(keeper, limit_s=KEPT_S)
        try:
            self._expect_ready(process)
        except BaseException:
            process.close()
            raise
        return process

    def _expect_ready(self, keeper: Process) -> None:
        """A signal that comes earlier would end it, and leave the folder."""
        wait_until(
            self._session.clock,
            lambda: _READY in keeper.output() or keeper.status() is not None,
            deadline_s=READY_WITHIN_S,
        )
        if _READY not in keeper.output():
            problem = f"it has ended, or is not ready after {READY_WITHIN_S:g} s"
            remedy = "look at the load of the host, and whether `sh -c` with a trap works there"
            raise CommandTimeout(keeper.device, keeper.command, problem, remedy)

    def _make(self, folder: str) -> None:
        what = f"mkdir {folder}"
        try:
            with self._told(what):
                client = self._opened()
                client.begin()
                client.mkdir(folder, 0o700)
        except OSError as error:
            raise CommandRejected(
                self._session.device,
                f"sftp: {what}",
                f"the folder for files of this run cannot be made: {error}",
                f"look at rights and space on the host: ls -ld {TOP}; df {TOP}",
            ) from error

    def _unmake(self, folder: str) -> None:
        """It is empty, if it is still there."""
        with self._told(f"rmdir {folder}"):
            client = self._opened()
            client.begin()
            client.rmdir(folder)
