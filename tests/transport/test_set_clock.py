"""Somebody sets the clock of the runner's machine while a device says nothing: whoever waits is
told so in time all the same, and nobody is told so who did not wait."""

import ast
import importlib
import itertools
import threading
import time
from pathlib import Path
from types import ModuleType

import netmiko
import paramiko
import pytest
from mute_server import PASSWORD, MuteServer
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, Unreachable
from labtests.transport.ssh import SHELL, connect, hop, route, wire
from labtests.transport.ssh.shell import ShellTransport

pytestmark = pytest.mark.timeout(30)
HOUR_S = 3600.0
DATES = {"sftp_attr", "sftp_client", "sftp_file"}  # what a file's times become


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ANSWER_WITHIN_S", 0.5)
    monkeypatch.setattr(route, "DIAL_WITHIN_S", 1)
    monkeypatch.setattr(hop, "LOGIN_WITHIN_S", 2)
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)


def set_by(monkeypatch: pytest.MonkeyPatch, step_s: float) -> None:
    """At each look."""
    looks, began_s = itertools.count(), time.time()
    monkeypatch.setattr(time, "time", lambda: began_s + step_s * next(looks))


@pytest.mark.parametrize("at", ["banner", "kex", "login"])
def test_a_server_that_falls_silent_is_told_in_time_when_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    with MuteServer(tmp_path, at) as server:
        set_by(monkeypatch, -HOUR_S)
        with pytest.raises(Unreachable, match="accepted the connection, and did not"):
            connect(server.device("linux"), SHELL, clock=WallClock())


@pytest.mark.parametrize("at", ["open", "exec"])
def test_so_is_one_that_answers_no_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    with MuteServer(tmp_path, at) as server:
        shell = connect(server.device("linux"), SHELL, clock=WallClock())
        set_by(monkeypatch, -HOUR_S)
        with pytest.raises((Unreachable, CommandTimeout), match=r"no answer|Timeout opening"):
            shell.run(typed("uname -s"), timeout_s=1)
        shell.close()


@pytest.mark.parametrize("act", ["send", "recv"])
def test_so_is_a_channel_that_takes_and_gives_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    with MuteServer(tmp_path, "nothing") as server:
        shell = connect(server.device("linux"), SHELL, clock=WallClock())
        assert isinstance(shell, ShellTransport)
        channel = shell.line.wire.open_session()
        set_by(monkeypatch, -HOUR_S)
        with pytest.raises(TimeoutError):
            channel.sendall(b"x" * 2**23) if act == "send" else channel.recv(1)
        shell.close()


def test_a_clock_that_is_set_forward_ends_no_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MuteServer(tmp_path, "login") as server:
        set_by(monkeypatch, HOUR_S)
        threading.Timer(0.4, server.speak).start()
        shell = connect(server.device("linux"), SHELL, clock=WallClock())
        assert isinstance(shell, ShellTransport)
        assert shell.line.wire.is_authenticated()
        shell.close()


@pytest.mark.parametrize("package", [paramiko, netmiko], ids=["paramiko", "netmiko"])
def test_no_module_on_the_way_to_a_device_waits_by_the_clock_of_the_machine(
    package: ModuleType,
) -> None:
    folder = Path(package.__file__ or "").parent
    known = {"paramiko": folder.glob("*.py"), "netmiko": folder.glob("[a-z]*.py")}
    comware = folder.glob("hp/*.py")
    waiting = {
        ".".join(file.relative_to(folder.parent).with_suffix("").parts)
        for file in (*known[package.__name__], *comware)
        if file.stem not in DATES and _asks_the_time(file)
    }
    assert waiting
    importlib.import_module("labtests.transport.ssh.cli")
    found = {name: importlib.import_module(name).time.time for name in waiting}
    assert found == dict.fromkeys(waiting, time.monotonic)


def _asks_the_time(file: Path) -> bool:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(ast.unparse(node) == "time.time" for node in ast.walk(tree))
