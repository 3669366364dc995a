"""Devices that accept a connection, a login or a channel and then say nothing: whoever waits is
told so in time."""

from pathlib import Path

import pytest
from mute_server import PASSWORD, MuteServer
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, LoginRefused, Unreachable
from labtests.transport.ssh import SHELL, connect, hop, route, wire

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
