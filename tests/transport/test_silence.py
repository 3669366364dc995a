"""Devices that accept a connection, a login or a channel and then say nothing: whoever waits is
told so in time."""

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from mute_server import PASSWORD, MuteServer
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, LoginRefused, Unreachable
from labtests.transport.ssh import SHELL, connect, hop, route, wire
from labtests.transport.ssh.hop import Proxy

pytestmark = pytest.mark.timeout(30)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ANSWER_WITHIN_S", 0.5, raising=False)
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)


def test_a_host_that_never_says_whether_it_runs_a_command_is_told_so(tmp_path: Path) -> None:
    with MuteServer(tmp_path, "exec") as server:
        shell = connect(server.device("linux"), SHELL, clock=WallClock())
        late = r"(?s)mute: 'uname -s': .*no answer within 0.5 s.*remedy: log in by hand"
        with pytest.raises(CommandTimeout, match=late):
            shell.run(typed("uname -s"), timeout_s=1)
        shell.close()


@pytest.mark.parametrize("at", ["pty-req", "shell"])
def test_a_switch_that_never_gives_a_terminal_is_told_so(tmp_path: Path, at: str) -> None:
    late = r"(?s)mute: 'ssh 127.*no answer within 0.5 s to the request for a terminal.*remedy: log"
    with MuteServer(tmp_path, at) as server, pytest.raises(Unreachable, match=late):
        connect(server.device("comware"), "hp_comware", clock=WallClock())


@pytest.mark.parametrize("at", ["banner", "kex"])
def test_a_server_that_never_begins_is_not_told_as_a_refused_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    monkeypatch.setattr(route, "DIAL_WITHIN_S", 1)
    with MuteServer(tmp_path, at) as server, pytest.raises(Unreachable) as caught:
        connect(server.device("linux"), SHELL, clock=WallClock())
    assert not isinstance(caught.value, LoginRefused)
    assert "did not begin SSH in 1 s" in str(caught.value)


def test_a_server_that_never_answers_a_login_is_not_told_as_a_refused_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hop, "LOGIN_WITHIN_S", 1)
    with MuteServer(tmp_path, "login") as server, pytest.raises(Unreachable) as caught:
        connect(server.device("linux"), SHELL, clock=WallClock())
    assert not isinstance(caught.value, LoginRefused)
    assert "accepted the connection, and did not answer a login within 1 s" in str(caught.value)


def test_a_packet_that_is_taken_byte_by_byte_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "TAKEN_WITHIN_S", 0.5, raising=False)
    ours, theirs = socket.socketpair()
    ours.settimeout(0.1)

    def drip() -> None:
        with suppress(OSError):
            while theirs.recv(1):
                time.sleep(0.01)

    threading.Thread(target=drip, daemon=True).start()
    with theirs, pytest.raises(EOFError):
        wire._Packets(ours).write_all(b"x" * 2**23)
    assert ours.fileno() == -1


def test_so_does_one_that_no_proxy_command_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "TAKEN_WITHIN_S", 0.5, raising=False)
    proxy = Proxy("sleep 20")
    proxy.settimeout(0.1)
    with proxy.process:
        with pytest.raises(EOFError):
            wire._Packets(proxy).write_all(b"x" * 2**20)
        assert proxy.process.wait(10) != 0


def test_a_proxy_command_is_given_everything() -> None:
    proxy = Proxy("cat")
    proxy.settimeout(5)
    text, got = b"0123456789abcdef" * 2**12, b""
    with proxy.process:
        threading.Thread(target=lambda: wire._Packets(proxy).write_all(text), daemon=True).start()
        while len(got) < len(text):
            got += proxy.recv(2**12)
        proxy.close()
    assert got == text
