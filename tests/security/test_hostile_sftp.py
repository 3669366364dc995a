"""A host whose SFTP drips, floods, stalls or is none: an error of that host, in time."""

import io
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import paramiko
import pytest
from hostile_host import PASSWORD, HostileHost
from paramiko import sftp

from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected, CommandTimeout, DeviceError
from labtests.transport.ssh.fabric_runner import SuiteSession
from labtests.transport.ssh.file_transfer import CountedSftp, HostFiles
from labtests.transport.ssh.line import SshLine, open_line
from labtests.transport.ssh.shell import ShellTransport

pytestmark = pytest.mark.timeout(30)
WITHIN_S = 1.0
SIZE = 2**20
Act = Callable[[CountedSftp], object]
Answers = Callable[["Files", int, bytes], None]


class Files:
    """Speaks SFTP on a channel. The test answers one kind of request; the others are answered as by
    an honest host with one file of SIZE bytes."""

    def __init__(self, kind: int, answer: Answers) -> None:
        self._kind, self._answer = kind, answer
        self.channel: paramiko.Channel
        self.over = threading.Event()

    def __call__(self, channel: paramiko.Channel) -> None:
        self.channel = channel
        with suppress(OSError, EOFError, struct.error):
            while not self.over.is_set():
                kind, number, rest = self._next()
                if kind == self._kind:
                    self._answer(self, number, rest)
                else:
                    self.honest(kind, number, rest)

    def say(self, kind: int, body: bytes) -> None:
        self.channel.sendall(struct.pack(">IB", len(body) + 1, kind) + body)

    def drip(self, data: bytes) -> None:
        for byte in data:
            if self.over.wait(0.02):
                return
            self.channel.sendall(bytes([byte]))

    def honest(self, kind: int, number: int, rest: bytes) -> None:
        head = struct.pack(">I", number)
        if kind == sftp.CMD_INIT:
            self.say(sftp.CMD_VERSION, struct.pack(">I", 3))
        elif kind == sftp.CMD_OPEN:
            self.say(sftp.CMD_HANDLE, head + struct.pack(">I", 1) + b"h")
        elif kind == sftp.CMD_STAT:
            self.say(sftp.CMD_ATTRS, head + struct.pack(">IQ", 1, SIZE))
        elif kind == sftp.CMD_READ:
            offset, most = struct.unpack(">QI", rest[-12:])
            data = b"x" * min(most, SIZE - offset)
            if data:
                self.say(sftp.CMD_DATA, head + struct.pack(">I", len(data)) + data)
            else:
                self.status(number, sftp.SFTP_EOF)
        else:
            self.status(number, sftp.SFTP_OK)

    def status(self, number: int, code: int, text: bytes = b"") -> None:
        texts = struct.pack(">I", len(text)) + text + struct.pack(">I", 0)
        self.say(sftp.CMD_STATUS, struct.pack(">II", number, code) + texts)

    def _next(self) -> tuple[int, int, bytes]:
        (size,) = struct.unpack(">I", self._exactly(4))
        body = self._exactly(size)
        return body[0], struct.unpack(">I", body[1:5])[0], body[5:]

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size and (piece := self.channel.recv(size - len(data))):
            data += piece
        return data


@contextmanager
def files_of(folder: Path, files: Files) -> Iterator[tuple[HostFiles, SshLine]]:
    host = HostileHost(folder)
    host.serve_files = files
    with host:
        line = open_line(host.device)
        line.wire.answer_within_s = WITHIN_S
        session = SuiteSession(
            transport=ShellTransport(line, clock=WallClock()),
            clock=WallClock(),
            become=False,
            note=lambda _: None,
            expect_lease=lambda: None,
            planned=lambda: None,
        )
        try:
            yield HostFiles(session, line), line
        finally:
            files.over.set()
            line.close()


def get(client: CountedSftp) -> object:
    return client.getfo("/x", io.BytesIO())


def put(client: CountedSftp) -> object:
    return client.putfo(io.BytesIO(b"y" * SIZE), "/x")


def expect_told(folder: Path, files: Files, act: Act, error: type[DeviceError], words: str) -> None:
    begun_s = time.monotonic()
    with files_of(folder, files) as (moving, _):
        with pytest.raises(error, match=words) as caught:
            moving.move("get /x", act)
        assert time.monotonic() - begun_s < 5 * WITHIN_S
        assert caught.value.device == "evil"
        assert caught.value.command == "sftp: get /x"
        assert caught.value.remedy


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)


def drips_bytes(files: Files, number: int, rest: bytes) -> None:
    body = struct.pack(">II", number, 2**15) + b"x" * 2**15
    files.drip(struct.pack(">IB", len(body) + 1, sftp.CMD_DATA) + body)


def drips_answers(files: Files, number: int, rest: bytes) -> None:
    files.over.wait(0.02)
    files.say(sftp.CMD_DATA, struct.pack(">II", number, 1) + b"x")


def floods(files: Files, number: int, rest: bytes) -> None:
    while not files.over.is_set():  # answers to what nobody has asked
        files.status(number + 2**20, sftp.SFTP_OK, b"x" * 2**14)


def stalls(files: Files, number: int, rest: bytes) -> None:
    files.over.wait()


@pytest.mark.parametrize("how", [drips_bytes, drips_answers, floods, stalls])
def test_a_file_that_does_not_come_is_a_timeout(tmp_path: Path, how: Answers) -> None:
    words = "(?s)did not answer in time, or was slower than 16 KiB/s.*remedy: try `sftp`"
    expect_told(tmp_path, Files(sftp.CMD_READ, how), get, CommandTimeout, words)


def test_nor_is_what_came_quickly_before_waited_for_later(tmp_path: Path) -> None:
    def at_the_end(files: Files, number: int, rest: bytes) -> None:
        offset, _ = struct.unpack(">QI", rest[-12:])
        if offset > SIZE // 2:
            stalls(files, number, rest)
        else:
            files.honest(sftp.CMD_READ, number, rest)

    expect_told(tmp_path, Files(sftp.CMD_READ, at_the_end), get, CommandTimeout, "in time")


def takes_a_byte_at_a_time(files: Files, number: int, rest: bytes) -> None:
    while not files.over.wait(0.02):
        files.channel.recv(1)


@pytest.mark.parametrize("how", [takes_a_byte_at_a_time, stalls, floods])
def test_a_file_that_is_not_taken_is_a_timeout(tmp_path: Path, how: Answers) -> None:
    def big(client: CountedSftp) -> object:
        return client.putfo(io.BytesIO(b"y" * 2**24), "/x")

    expect_told(tmp_path, Files(sftp.CMD_WRITE, how), big, CommandTimeout, "in time")


def says(kind: int, body: bytes) -> Answers:
    return lambda files, number, rest: files.say(kind, struct.pack(">I", number) + body)


WRONG = {
    "another kind": (sftp.CMD_OPEN, says(sftp.CMD_ATTRS, struct.pack(">I", 0))),
    "no text": (
        sftp.CMD_OPEN,
        says(sftp.CMD_STATUS, struct.pack(">II", sftp.SFTP_FAILURE, 2) + b"\xff\xfe"),
    ),
    "huge": (sftp.CMD_STAT, lambda files, *_: files.channel.sendall(b"\xff" * 4)),
    "version": (sftp.CMD_INIT, lambda files, *_: files.say(sftp.CMD_VERSION, b"x")),
    "no version": (sftp.CMD_INIT, lambda files, *_: files.say(sftp.CMD_NAME, b"x")),
    "names": (sftp.CMD_READ, says(sftp.CMD_NAME, struct.pack(">I", 2**32 - 1))),
    "shell": (sftp.CMD_INIT, lambda files, *_: files.channel.sendall(b"Hi there!")),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_sftp_is_an_error_of_that_host(tmp_path: Path, wrong: str) -> None:
    files = Files(*WRONG[wrong])
    expect_told(
        tmp_path, files, get, CommandRejected, "(?s)something that is not SFTP.*remedy: try `sftp`"
    )


def test_extensions_without_number_are_not_counted(tmp_path: Path) -> None:
    body = struct.pack(">IQI", 0x80000001, SIZE, 2**32 - 1)
    files = Files(sftp.CMD_STAT, says(sftp.CMD_ATTRS, body))
    taken = io.BytesIO()
    with files_of(tmp_path, files) as (moving, _):
        moving.move("get /x", lambda client: client.getfo("/x", taken))
    assert len(taken.getvalue()) == SIZE


@pytest.mark.parametrize("act", [get, put])
def test_an_honest_host_is_given_time(tmp_path: Path, act: Act) -> None:
    """More than one answer may take, as long as pieces come; the runner's own time is not its."""

    def slowly(files: Files, number: int, rest: bytes) -> None:
        time.sleep(0.05)
        kind = sftp.CMD_READ if act is get else sftp.CMD_WRITE
        files.honest(kind, number, rest)

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            time.sleep(0.05)
            return super().read(size)

        def write(self, data: object) -> int:
            time.sleep(0.05)
            return super().write(data)  # type: ignore[arg-type]

    files = Files(sftp.CMD_READ if act is get else sftp.CMD_WRITE, slowly)
    with files_of(tmp_path, files) as (moving, line):
        begun_s = time.monotonic()
        if act is get:
            moving.move("get /x", lambda client: client.getfo("/x", Slow()))
        else:
            moving.move("put /x", lambda client: client.putfo(Slow(b"y" * SIZE), "/x"))
        assert time.monotonic() - begun_s > WITHIN_S
        assert line.wire.is_active()


def test_after_an_error_the_next_file_comes(tmp_path: Path) -> None:
    files = Files(sftp.CMD_READ, drips_answers)
    with files_of(tmp_path, files) as (moving, _):
        with pytest.raises(CommandTimeout):
            moving.move("get /x", get)
        files._kind = -1
        assert moving.move("get /x", get) == SIZE
