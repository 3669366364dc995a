"""The same transports against the simulated lab: identical words, simulated time."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from driven import driving
from in_process import InProcessLab
from recorded import recorded_lab
from sshd_server import Sshd
from typed import typed

from labtests.capabilities.records import PfcSetting
from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, Unreachable
from labtests.drivers.linux.host import RIGHTS
from labtests.inventory import load
from labtests.transport.commands import program
from labtests.transport.protocol import Clock, Transport, wait_until
from labtests.transport.ssh import SHELL, connect, connect_all
from labtests.transport.ssh.connecting import emulated
from labtests.transport.transcribing import TranscribedTransport
from labtests.transport.transcript import Transcript

ConnectX = driving("connectx")

TESTBED = load(Path(__file__).parents[2] / "testbeds" / "h3c-s6550-cx4.yaml")
SESSIONS = {"comware": "hp_comware", "connectx": SHELL}


@pytest.fixture(scope="module")
def lab():
    with InProcessLab(TESTBED, seed=1) as lab:
        yield lab


@pytest.fixture(scope="module")
def devices(lab: InProcessLab):
    testbed = lab.reroute(TESTBED)
    sessions = {device.name: SESSIONS[device.platform] for device in testbed.devices}
    transports = connect_all(testbed.devices, lambda d: sessions[d.name], clock=lab.clock)
    yield transports
    for transport in transports.values():
        transport.close()


def answers(transport: Transport, clock: Clock) -> list[object]:
    """What a host says that both a real and an emulated one can say."""
    said: list[object] = []
    for command in (
        "echo hi; echo err >&2; exit 3",
        "printf 'it is %s\\n' \"it's\"",
        "no_such_tool -x",
        "true && echo yes || echo no",
        "cat",
    ):
        reply = transport.run(typed(command))
        said.append((reply.text, reply.status))
    with pytest.raises(CommandTimeout, match="its process group on the host was ended"):
        transport.run(typed("sleep 60"), timeout_s=1)
    process = transport.start(typed("sleep 60"), limit_s=1)
    said.append(process.status())
    assert wait_until(clock, lambda: process.status() is not None, deadline_s=5)
    said.append(process.status())
    process.close()
    process = transport.start(typed("sleep 60"), limit_s=30)
    process.signal("TERM")
    assert wait_until(clock, lambda: process.status() is not None, deadline_s=5)
    said.append((process.output(), process.status()))
    process.close()
    process = transport.start(typed("sleep 60"), limit_s=30)
    process.close()
    said.append((process.output(), process.status()))
    return said


def test_an_emulated_host_answers_as_a_real_one(lab, devices, sshd: Sshd) -> None:
    real = connect(sshd.device(), SHELL, clock=WallClock())
    assert answers(devices["ServerA"], lab.clock) == answers(real, WallClock())
    real.close()


def test_simulated_time_stands_still_while_commands_need_none(lab, devices) -> None:
    before_s = lab.clock.now_s()
    devices["ServerA"].run(typed("cat /proc/net/snmp; ethtool -S enp3s0f0np0"))
    devices["S6550"].run(typed("display version"))
    process = devices["ServerB"].start(typed("sleep 5"), limit_s=30)
    assert process.status() is None
    process.close()
    assert lab.clock.now_s() == before_s


def test_a_command_that_takes_simulated_time_takes_no_more_wall_time(lab, devices) -> None:
    before_s, begun_s = lab.clock.now_s(), time.monotonic()
    reply = devices["ServerA"].run(typed("sleep 20; echo slept"))
    assert (reply.text, reply.status) == ("slept\n", 0)
    assert 20 <= reply.time_s - before_s < 20.1
    assert time.monotonic() - begun_s < 10


def test_a_switch_configures_and_answers(devices) -> None:
    switch = devices["S6550"]
    port = "Twenty-FiveGigE1/0/13"
    reply = switch.configure(typed((f"interface {port}", "qos trust dscp")))
    assert f"[S6550-{port}]qos trust dscp\n" in reply.text or f"-{port}]qos trust dscp\n" in (
        reply.text
    )
    assert (
        "qos trust dscp"
        in switch.run(typed(f"display current-configuration interface {port}")).text
    )
    assert "% Unrecognized command" in switch.run(typed("display nonsense")).text
    switch.configure(typed((f"interface {port}", "undo qos trust")))


def test_a_simulated_run_replays_from_its_journal(lab, devices, tmp_path: Path) -> None:
    with Transcript(tmp_path / "journal.jsonl", clock=lab.clock) as transcript:
        host = TranscribedTransport(devices["ServerA"], transcript)
        asked = [host.run(typed("cat /proc/net/snmp")), host.run(typed("sleep 3; date"))]
        process = host.start(typed("sleep 2"), limit_s=10)
        assert wait_until(lab.clock, lambda: process.status() is not None, deadline_s=5)
        status, ended_s = process.status(), lab.clock.now_s()
        process.close()
    replayed = recorded_lab(tmp_path / "journal.jsonl")["ServerA"]
    assert [replayed.run("cat /proc/net/snmp"), replayed.run("sleep 3; date")] == asked
    again = replayed.start("sleep 2", limit_s=10)
    assert wait_until(replayed.clock, lambda: again.status() is not None, deadline_s=5)
    assert again.status() == status == 0
    assert replayed.clock.now_s() == pytest.approx(ended_s, abs=0.2)


def test_a_simulated_cable_cut_to_the_management_is_unreachable(lab) -> None:
    device = lab.reroute(TESTBED).device("ServerC")
    transport = connect(device, SHELL, clock=lab.clock)
    lab.fault(kind="cut", device="ServerC")
    with pytest.raises(Unreachable, match="ServerC: 'true': the SSH session"):
        transport.run(typed("true"))


def test_an_emulated_host_is_set_by_single_programs_of_root_too(lab) -> None:
    device = lab.reroute(TESTBED).device("ServerA")
    device = replace(device, management=replace(device.management, become="commands"))
    transport = connect(device, SHELL, clock=lab.clock)
    (port,) = (port.interface for port in device.ports)
    host = ConnectX(transport)
    host.set_mtu(port, 1500)
    host.set_pfc(port, PfcSetting(mode="on", priorities=frozenset({4})))
    host.set_reaction_point(port, frozenset({2, 5}))
    assert host.reaction_point(port) == {2, 5}
    assert transport.run(RIGHTS).text == "0\n"
    assert "NOPASSWD: ALL" in transport.run(program("sudo", "-n", "-l")).text
    transport.close()


def test_emulated_devices_say_so_and_real_ones_do_not(devices, sshd: Sshd) -> None:
    assert emulated(devices) == set(devices)
    real = connect(sshd.device(), SHELL, clock=WallClock())
    assert emulated({"real": real}) == set()
    real.close()
