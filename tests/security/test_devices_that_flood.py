"""A device that attacks its runner: SSH that is none, numbers without end, floods that nobody
reads, files that never end, and a clock that is set back."""

import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paramiko
import pytest
from hostile_host import PASSWORD, HostileHost

from labtests.core.clock import WallClock
from labtests.core.errors import LabError, LabErrors, LeaseUnusable, Unreachable
from labtests.drivers.connectx.rdma import parse_ibdev2netdev
from labtests.lease.record import me
from labtests.lease.register import DeviceTime, Register, RegisterReading
from labtests.recovery import replay
from labtests.transport.batching import Joined
from labtests.transport.commands import program
from labtests.transport.protocol import Reply
from labtests.transport.ssh.becoming import refusal
from labtests.transport.ssh.connecting import SHELL, connect, connect_all
from labtests.transport.ssh.wire import Wire
from labtests.workloads.marked import send_marked

LONG = "9" * 5000


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)


def message(kind: int, *parts: int | bytes) -> paramiko.Message:
    made = paramiko.Message()
    made.add_byte(bytes([kind]))
    for part in parts:
        (made.add_int if isinstance(part, int) else made.add_string)(part)
    return made


# -- SSH that is none ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        message(192, 1),  # no such number: KeyError in paramiko
        message(80, b"\xff\xfe", 1),  # no UTF-8: UnicodeDecodeError
        message(21),  # new keys out of turn: TypeError
        message(
            7, 2**32 - 1
        ),  # extensions that are not there: paramiko's thread would look for all
    ],
)
def test_what_is_no_ssh_is_an_error_of_that_device(tmp_path: Path, sent: paramiko.Message) -> None:
    with HostileHost(tmp_path, sends=sent) as host:
        session = connect(host.device, SHELL, clock=WallClock())
        for _ in range(2):
            with pytest.raises(Unreachable, match="evil"):
                session.run(program("true"), timeout_s=3)
        session.close()


@pytest.mark.parametrize("pairs", [0, 1])
def test_extensions_that_are_not_there_are_not_looked_for(pairs: int) -> None:
    wire, there = Wire.__new__(Wire), (b"server-sig-algs", b"ssh-ed25519") * pairs
    missing = message(7, 2**32 - 1, *there)
    missing.rewind()
    missing.get_byte()
    with pytest.raises(paramiko.SSHException, match="announced 4294967295 extensions"):
        wire._parse_ext_info(missing)


def test_a_login_that_is_no_ssh_is_an_error_of_that_device_and_the_others_are_put_back(
    tmp_path: Path,
) -> None:
    with HostileHost(tmp_path, at_login=message(192, 1)) as host:
        opened, failed = replay._connect((host.device,), WallClock(), None)  # type: ignore[arg-type]
    assert opened == {}
    assert "not SSH" in str(failed["evil"])


def test_no_exception_of_one_device_keeps_the_others_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object) -> None:
        raise KeyError(192)

    monkeypatch.setattr("labtests.transport.ssh.login.logged_in", stumble)
    with HostileHost(tmp_path) as host, pytest.raises(LabErrors, match="1 of 1"):
        connect_all([host.device], lambda _: SHELL, clock=WallClock())


# -- floods that nobody reads ----------------------------------------------------------------------


@pytest.mark.parametrize("stderr", [False, True])
def test_no_more_is_kept_than_the_window(tmp_path: Path, *, stderr: bool) -> None:
    blob = b"x" * 30_000
    flood = message(95, 0, 1, blob) if stderr else message(94, 0, blob)
    with HostileHost(tmp_path, sends=flood, times=100) as host:
        session: Any = connect(host.device, SHELL, clock=WallClock())
        channel = session.line.wire.open_session(window_size=2**20)
        channel.exec_command("x")
        assert channel.status_event.wait(20)
        assert not session.line.wire.is_active()
        assert "window" in session.line.wire.fault
        assert len(channel.in_buffer) + len(channel.in_stderr_buffer) < 2**20 + 2**15


# -- numbers without end ---------------------------------------------------------------------------


def test_a_status_of_thousands_of_digits_is_none() -> None:
    joined = Joined((program("true"), program("false")))
    mark = re.search(r"labtests-[0-9a-f]{20}", joined.script)
    assert mark is not None
    told = f"\n{mark[0]} 0 {LONG}\n"
    reply = Reply(device="h", command="x", text=told, errors=told, status=0)
    assert joined.answers(reply) == ()


@pytest.mark.parametrize(
    ("text", "status"),
    [(f"{LONG} packets transmitted, {LONG} received", 0), (LONG, 127), ("٣", 127)],
)
def test_counts_of_thousands_of_digits_are_no_evidence(text: str, status: int) -> None:
    def run(command: str, *, timeout_s: float) -> Reply:
        return Reply(device="h", command=command, text=text, status=status)

    party: Any = SimpleNamespace(name="h", address="10.0.0.1", transport=SimpleNamespace(run=run))
    (result,) = send_marked(party, party, ((0, 3),))
    assert result.sent_datagrams is None


def test_a_lease_host_that_says_yes_and_nothing_more_is_not_believed() -> None:
    def run(command: str, *, timeout_s: float) -> Reply:
        return Reply(device="h", command=command, text="", status=0)

    register = Register(SimpleNamespace(device="h", run=run), "/tmp/labtests")  # type: ignore[arg-type]
    now = DeviceTime(clock_s=1.0, wall=False, boot="b", date="d")
    with pytest.raises(LeaseUnusable, match="names no record"):
        register.append(RegisterReading(generation=0, names=(), now=now), me("run", run="r"))


# -- lines that strain a pattern -------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["sudo: " + "account " * 12_000, "sudo: " + "/sudoers" * 12_000, "sudo: x" * 12_000]
)
def test_what_sudo_says_is_read_once(line: str) -> None:
    began = time.process_time()
    refusal(Reply(device="h", command="x", text="", errors=line, status=1))
    assert time.process_time() - began < 1.5


def test_ibdev2netdev_is_read_once() -> None:
    text = "a b (" + ") fw x port 1 (" * 4000 + "\n"
    began = time.process_time()
    with pytest.raises(LabError):
        parse_ibdev2netdev(Reply(device="h", command="ibdev2netdev", text=text, status=0))
    assert time.process_time() - began < 1.5
