"""A simulated lab in a process of its own: started, driven, logged into, and never left behind."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import netmiko
import paramiko
import pytest
from in_process import InProcessLab

from labtests.inventory import load
from labtests.simlab.control import LabProcess, RunningLab, SimulationFailed
from labtests.simlab.lab import CannotSimulate
from labtests.simlab.serving import run_freely
from labtests.simlab.timeline import NS_PER_S
from labtests.transport.protocol import Clock

TWO_SWITCHES = """\
name: two-switches
devices:
  S1:
    platform: comware
    management: {host: s1.example, user: operator, jump: bastion, password_env: SECRET}
    ports: {Twenty-FiveGigE1/0/1: {}, Twenty-FiveGigE1/0/2: {}}
  S2:
    platform: comware
    management: {host: s2.example}
    ports: {Twenty-FiveGigE1/0/1: {}}
links:
  - between: ["S1:Twenty-FiveGigE1/0/1", "S2:Twenty-FiveGigE1/0/1"]
    speed_gbit_per_s: 25
    length_m: 3
"""


@pytest.fixture(scope="module")
def testbed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("testbed") / "two.yaml"
    file.write_text(TWO_SWITCHES)
    return file


@pytest.fixture(scope="module")
def simulation(testbed_file: Path) -> Iterator[LabProcess]:
    with LabProcess(testbed_file, seed=1) as running:
        yield running


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(pid: int, within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def netmiko_login(simulation: LabProcess, name: str, **options: object) -> netmiko.BaseConnection:
    address = simulation.devices[name]
    return netmiko.ConnectHandler(
        device_type="hp_comware",
        host=address["host"],
        port=address["port"],
        username=address["user"],
        **{"password": simulation.password, **options},
    )


def test_time_stands_still_except_in_a_sleep(simulation):
    clock: Clock = simulation.clock
    before = clock.now_s()
    assert clock.now_s() == before
    clock.sleep(1.5)
    assert clock.now_s() == pytest.approx(before + 1.5)
    clock.sleep(-1.0)
    assert clock.now_s() == pytest.approx(before + 1.5)


def test_the_devices_are_announced_with_their_users(simulation):
    assert {name: address["user"] for name, address in simulation.devices.items()} == {
        "S1": "operator",
        "S2": "admin",
    }
    assert {address["host"] for address in simulation.devices.values()} == {"127.0.0.1"}


def test_a_rerouted_testbed_leads_into_the_lab_and_keeps_everything_else(simulation, testbed_file):
    testbed = load(testbed_file)
    rerouted = simulation.reroute(testbed)
    management = rerouted.device("S1").management
    assert (management.host, management.port) == ("127.0.0.1", simulation.devices["S1"]["port"])
    assert (management.user, management.jump, management.password_env) == ("operator", None, None)
    assert (management.host_keys, management.ssh_config) == ("strict", False)
    assert Path(management.key_file).is_file()
    assert Path(management.known_hosts).is_file()
    assert rerouted.links == testbed.links
    assert rerouted.device("S1").ports == testbed.device("S1").ports


def test_plain_openssh_logs_in_with_the_written_config(simulation):
    command = ["ssh", "-F", str(simulation.directory / "ssh_config"), "S1", "display clock"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    assert "UTC" in done.stdout


def test_plain_openssh_drives_an_interactive_session_on_a_terminal(simulation):
    command = ["ssh", "-tt", "-F", str(simulation.directory / "ssh_config"), "S2"]
    typed = "system-view\nint twe1/0/1\nqos trust dscp\ndis th\nreturn\nquit\n"
    done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0
    assert "[S2-Twenty-FiveGigE1/0/1]dis th\n#\ninterface" in done.stdout.replace("\r", "")
    assert " qos trust dscp" in done.stdout


def test_a_plain_netmiko_script_configures_and_reads(simulation):
    with netmiko_login(simulation, "S1") as switch:
        assert switch.find_prompt() == "<S1>"
        answer = switch.send_config_set(
            ["interface Twenty-FiveGigE1/0/1", "qos trust dscp", "priority-flow-control enable"]
        )
        assert "%" not in answer
        shown = switch.send_command("display priority-flow-control interface Twenty-FiveGigE1/0/1")
        assert shown.splitlines()[-1].split() == ["WGE1/0/1", "On", "On"]
        assert "^" in switch.send_command("display nonsense")
        assert switch.send_command("display clock").endswith("2024")
        assert "successfully" in switch.save_config()


def test_netmiko_reads_an_output_longer_than_a_page(simulation):
    with netmiko_login(simulation, "S1") as switch:
        shown = switch.send_command("display qos map-table dscp-dot1p").splitlines()
    assert len(shown) == 66
    assert shown[-1].split() == ["63", ":", "7"]


def test_a_wrong_password_is_refused(simulation):
    with pytest.raises(netmiko.NetmikoAuthenticationException):
        netmiko_login(simulation, "S1", password="wrong")


def test_a_fault_reaches_the_lab(simulation):
    client = paramiko.SSHClient()
    client.load_host_keys(str(simulation.directory / "known_hosts"))
    address = simulation.devices["S2"]
    client.connect(address["host"], address["port"], address["user"], simulation.password)
    simulation.fault(kind="cut", device="S2")
    client.get_transport().join(5)
    assert not client.get_transport().is_active()
    client.close()


def test_faults_and_requests_that_cannot_be_are_refused_with_what_can(simulation):
    with pytest.raises(
        SimulationFailed, match=r"\"kind\" is 'fire', which is none of dead-counter, .*cut"
    ):
        simulation.fault(kind="fire", device="S1")
    with pytest.raises(SimulationFailed, match="\"device\" is 'S9', which is none of S1, S2"):
        simulation.fault(kind="cut", device="S9")
    with pytest.raises(SimulationFailed, match="'truncate' needs \"command\""):
        simulation.fault(kind="truncate", device="S1")
    with pytest.raises(SimulationFailed, match="unknown request; known: advance_s, now, fault"):
        simulation.ask({"stop": True})
    assert simulation.clock.now_s() >= 0


def test_closing_ends_the_process_and_removes_its_folder(testbed_file):
    simulation = LabProcess(testbed_file, seed=1)
    assert simulation.directory.stat().st_mode & 0o777 == 0o700
    assert (simulation.directory / "id_ed25519").stat().st_mode & 0o777 == 0o600
    simulation.close()
    simulation.close()
    assert not alive(simulation.pid)
    assert not simulation.directory.exists()
    with pytest.raises(SimulationFailed, match="gone"):
        simulation.clock.now_s()


def test_a_lab_that_was_killed_is_reported_with_its_signal(testbed_file):
    simulation = LabProcess(testbed_file, seed=1)
    os.kill(simulation.pid, signal.SIGKILL)
    with pytest.raises(SimulationFailed, match=r"simulated lab .*\(exit status -9\)"):
        simulation.clock.sleep(1.0)
    simulation.close()
    assert not simulation.directory.exists()


def test_a_testbed_that_cannot_be_simulated_says_why(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(TWO_SWITCHES.split("links:")[0])
    with pytest.raises(SimulationFailed, match="S1: a switch without a link cannot be simulated"):
        LabProcess(file, seed=1)


RUNNER = """\
import sys, time
from pathlib import Path
from labtests.simlab.control import LabProcess
lab = LabProcess(Path(sys.argv[1]), seed=1)
print(lab.pid, lab.directory, flush=True)
time.sleep(60)
"""


def test_the_lab_ends_when_its_runner_is_killed(testbed_file):
    command = [sys.executable, "-c", RUNNER, str(testbed_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        pid, directory = runner.stdout.readline().split()
        assert alive(int(pid))
        runner.kill()
    assert wait_until_gone(int(pid))
    assert not Path(directory).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_lab_for_people_says_how_to_log_in_runs_at_wall_speed_and_ends_cleanly(
    testbed_file, number
):
    command = [sys.executable, "-m", "labtests", "simlab", "serve", str(testbed_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        shown = [server.stdout.readline()]
        while not shown[-1].startswith("Ctrl-C"):
            shown.append(server.stdout.readline())
        login = next(line.split("#")[0].split() for line in shown if "ssh -F" in line)
        seconds = [simulated_second(login)]
        time.sleep(1.2)
        seconds.append(simulated_second(login))
        server.send_signal(number)
        assert server.wait(10) == 0
    assert 1 <= seconds[1] - seconds[0] <= 3
    assert any("the password is" in line for line in shown)
    assert not Path(login[2]).exists()


def simulated_second(login: list[str]) -> int:
    command = [*login, "display clock"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    return int(done.stdout.split()[0].split(":")[2])


class SlowLab:
    """A lab whose traffic takes ten times as long to simulate as it lasts."""

    def __init__(self) -> None:
        self.timeline = SimpleNamespace(now_ns=0)

    def advance(self, duration_ns: int) -> None:
        self.timeline.now_ns += duration_ns
        time.sleep(duration_ns / NS_PER_S * 10)


def test_a_lab_that_falls_behind_the_wall_clock_says_so_once():
    notices: list[str] = []

    async def watch() -> None:
        pump = asyncio.create_task(run_freely(SlowLab(), notices.append))
        await asyncio.sleep(1.5)
        pump.cancel()

    asyncio.run(watch())
    assert len(notices) == 1
    assert "slower than the wall clock" in notices[0]


def test_answers_are_json_lines_and_the_end_of_stdin_is_the_end(testbed_file):
    command = [sys.executable, "-m", "labtests", "simlab", "serve", str(testbed_file), "--driven"]
    requests = '{"now": true, "id": 1}\n{"advance_s": 0.25, "id": 2}\nnonsense\n[]\n'
    done = subprocess.run(command, input=requests, capture_output=True, text=True, timeout=60)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert messages[0]["ready"] is True
    assert messages[1:3] == [{"now_s": 0.0, "id": 1}, {"now_s": 0.25, "id": 2}]
    assert [sorted(message) for message in messages[3:]] == [["error"], ["error"]]
    assert not Path(messages[0]["directory"]).exists()


def test_the_same_lab_runs_in_a_thread_for_tests(testbed_file):
    testbed = load(testbed_file)
    with InProcessLab(testbed, seed=1) as simulation:
        simulation.clock.sleep(0.5)
        assert simulation.clock.now_s() == 0.5
        with pytest.raises(SimulationFailed, match="none of dead-counter"):
            simulation.fault(kind="fire", device="S1")
        address = simulation.devices["S1"]
        assert simulation.reroute(testbed).device("S1").management.port == address["port"]
        with socket.create_connection((address["host"], address["port"]), 5) as raw:
            assert raw.recv(4) == b"SSH-"
        directory = simulation.directory
    assert not directory.exists()
    simulation.close()


def test_a_platform_without_a_face_names_the_file_to_write(testbed_file):
    testbed = load(testbed_file)
    strange = replace(testbed, devices=(replace(testbed.devices[0], platform="vax"),))
    with pytest.raises(CannotSimulate, match=r"write labtests/simlab/faces/vax\.py"):
        InProcessLab(strange, seed=1)


class Asked(RunningLab):
    """A lab that counts what it is asked."""

    def __init__(self) -> None:
        super().__init__({"devices": {}, "password": "", "directory": "."})
        self.requests: list[dict[str, Any]] = []
        self.now_s = 0.0

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        self.now_s += request.get("advance_s", 0.0)
        return {"now_s": self.now_s}


def test_a_lab_is_asked_for_its_time_once_and_tells_it_with_each_sleep() -> None:
    lab = Asked()
    assert [lab.clock.now_s() for _ in range(3)] == [0.0] * 3
    lab.clock.sleep(1.5)
    assert [lab.clock.now_s() for _ in range(3)] == [1.5] * 3
    assert lab.requests == [{"now": True}, {"advance_s": 1.5}]
