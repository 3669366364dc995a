"""A dead run has changed two hosts; one of them misbehaves while it is put back. The other is put
back all the same, and what could not be is said."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import paramiko
import pytest
from in_process import InProcessLab

import labtests.recovery.replay as replay
from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, Unreachable
from labtests.core.redaction import Redaction
from labtests.inventory import Device, Endpoint, Management, load
from labtests.journal import Begun, ChangeJournal, Intent, Runner, this_runner
from labtests.recovery.replay import find, recover
from labtests.transport.commands import Command, program
from labtests.transport.protocol import Reply, Transport
from labtests.transport.ssh.connecting import SHELL, connect

pytestmark = [pytest.mark.usefixtures("own_state"), pytest.mark.timeout(120)]
TESTBED = """\
name: two
devices:
  evil: {platform: connectx, management: {host: a.example}, ports: {eth0: {address: 10.0.0.1/24}}}
  good: {platform: connectx, management: {host: b.example}, ports: {eth0: {address: 10.0.0.2/24}}}
  S:
    platform: comware
    management: {host: s.example}
    ports: {Twenty-FiveGigE1/0/1: {}, Twenty-FiveGigE1/0/2: {}}
links:
  - {between: [evil, "S:Twenty-FiveGigE1/0/1"], speed_gbit_per_s: 10, length_m: 3}
  - {between: [good, "S:Twenty-FiveGigE1/0/2"], speed_gbit_per_s: 10, length_m: 3}
"""
EARLIER, LEFT = 1500, 4200


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[InProcessLab]:
    (tmp_path / "two.yaml").write_text(TESTBED)
    with InProcessLab(load(tmp_path / "two.yaml"), seed=1, directory=tmp_path / "files") as running:
        yield running


def devices_of(lab: InProcessLab) -> tuple[Device, ...]:
    def reached(device: Device) -> Device:
        address = lab.devices[device.name]
        management = Management(
            host=address["host"],
            port=address["port"],
            user=address["user"],
            key_file=str(lab.directory / "id_ed25519"),
            known_hosts=str(lab.directory / "known_hosts"),
            ssh_config=False,
        )
        return replace(device, management=management)

    return tuple(reached(each) for each in lab.lab.testbed.devices if each.name != "S")


def mtu_of(device: Device) -> str:
    session = connect(device, SHELL, clock=WallClock())
    try:
        return session.run(program("cat", "/sys/class/net/eth0/mtu")).text.strip()
    finally:
        session.close()


def left_behind(folder: Path, devices: tuple[Device, ...]) -> Path:
    """Both hosts have the MTU that the run has set, and its journal says so."""
    for device in devices:
        session = connect(device, SHELL, clock=WallClock())
        session.run(program("ip", "link", "set", "dev", "eth0", "mtu", str(LEFT)))
        session.close()
    gone: Runner = replace(this_runner(), started_ticks=1)
    begun = Begun(
        run="run-1",
        runner=gone,
        testbed="two",
        file=str(folder / "two.yaml"),
        backend="hardware",
        dry_run=False,
        devices=devices,
        lease=None,
    )
    folder = folder / "run"
    folder.mkdir(mode=0o700)
    ahead = ChangeJournal.begin(folder / "changes.jsonl", begun, Redaction())
    for device in devices:
        ahead.ahead(
            [
                Intent(
                    at=Endpoint(device=device.name, interface="eth0"),
                    setting="mtu",
                    earlier=EARLIER,
                    wanted=LEFT,
                    commands=("a",),
                    undo=("b",),
                )
            ]
        )
    assert ahead.pages is not None
    ahead.pages.close()
    return folder / "changes.jsonl"


class Misbehaving:
    """A session that answers as the test says; `honest` is the real one."""

    def __init__(self, honest: Transport, act: Callable[[Command], Reply]) -> None:
        self.device, self._honest, self._act = honest.device, honest, act
        self.line = getattr(honest, "line", None)

    def run(self, command: Command, *, timeout_s: float = 30.0) -> Reply:
        return self._act(command)

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        return self._act(commands[-1])

    def start(self, command: Command, *, limit_s: float) -> Any:
        raise paramiko.SSHException("no")

    def close(self) -> None:
        self._honest.close()


def says(text: str, status: int | None = 0, errors: str = "") -> Callable[[Command], Reply]:
    return lambda command: Reply(
        device="evil", command=command, text=text, errors=errors, status=status
    )


def raises(error: BaseException) -> Callable[[Command], Reply]:
    def act(command: Command) -> Reply:
        raise error

    return act


HOW = {
    "nothing": says(""),
    "garbage": says("\x00\x1b]0;x\x07\ud800" * 100),
    "brackets": says("[" * 100_000),
    "digits": says("9" * 100_000),
    "status": says("1500\n", status=255, errors="x" * 2**20),
    "no status": says("9000\n", status=None),
    "yes to all": says("0\n"),
    "gone": raises(Unreachable("evil", "x", "broke", "look")),
    "late": raises(CommandTimeout("evil", "x", "slow", "look")),
    "no ssh": raises(paramiko.SSHException("what")),
    "no error of ours": raises(RecursionError("deep")),
    "memory": raises(MemoryError()),
    "key": raises(KeyError("x")),
}


@pytest.mark.parametrize("how", HOW)
def test_the_honest_host_is_put_back(
    lab: InProcessLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    devices = devices_of(lab)
    journal = left_behind(tmp_path, devices)

    def connected(device: Device, session: str, **more: Any) -> Transport:
        honest = connect(device, session, **more)
        return honest if device.name == "good" else Misbehaving(honest, HOW[how])

    monkeypatch.setattr(replay, "connect", connected)
    begun_s = time.monotonic()
    done = recover(find(str(journal)))
    assert time.monotonic() - begun_s < 60
    rows = {row.device: row for row in done.rows}
    assert rows["good"].how == "restored"
    assert rows["evil"].how == "cannot"
    assert rows["evil"].by_hand
    assert not done.complete
    assert mtu_of(devices[1]) == str(EARLIER)
    again = recover_alone(journal, monkeypatch)
    assert again["evil"] == "restored"  # nothing of it was forgotten


def recover_alone(journal: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(replay, "connect", connect)
    return {row.device: row.how for row in recover(find(str(journal))).rows}
