"""What careless, hostile and many clients do to a lab that others are in."""

import os
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_lab import INTERFACES, RECEIVER, ServedLab, Terminal, password_environment

FLOOD = f"while true; do ethtool -S {INTERFACES['ServerA']}; done"


@pytest.fixture(autouse=True)
def _still_answering(served: ServedLab) -> Iterator[None]:
    """Whatever a test does to it, the lab answers the next client at once."""
    yield
    started = time.monotonic()
    assert served.output("ServerA", "hostname") == "ServerA\n"
    assert " UTC " in served.output("S6550", "display clock")
    assert time.monotonic() - started < 5


def test_twenty_at_once_are_all_answered(served: ServedLab) -> None:
    commands = {"ServerA": "sleep 0.5; hostname", "ServerB": "hostname", "S6550": "display clock"}
    many = [
        (device, served.start(device, command))
        for _ in range(7)
        for device, command in commands.items()
    ]
    for device, process in many:
        text = process.communicate(timeout=30)[0]
        assert process.returncode == 0
        assert text == f"{device}\n" or " UTC " in text


def test_clients_that_vanish_in_the_middle_of_output(served: ServedLab) -> None:
    for _ in range(3):
        client = served.start("ServerA", f"timeout 3 sh -c '{FLOOD}'")
        assert client.stdout is not None
        client.stdout.read(3000)
        client.kill()
        client.communicate()
    with Terminal(served.ssh("S6550")) as terminal:
        terminal.read(r">$")
        terminal.type("display interface\r", "More")
        os.kill(terminal.pid, signal.SIGKILL)


def test_a_client_that_does_not_read_costs_no_memory(served: ServedLab) -> None:
    before = resident_mib(served)
    client = served.start("ServerA", f"timeout 3 bash -c '{FLOOD}'")
    time.sleep(2)
    assert resident_mib(served) - before < 60
    client.kill()
    client.communicate()


def resident_mib(served: ServedLab) -> int:
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024  # type: ignore[index]


@pytest.mark.parametrize("device", ["ServerA", "S6550"])
@pytest.mark.parametrize("terminal", ["-tt", "-T"])
def test_garbage_typed_into_a_session(served: ServedLab, device: str, terminal: str) -> None:
    noise = random.Random(7).randbytes(20_000).replace(b"\x04", b"")
    done = subprocess.run(
        served.ssh(device, options=[terminal]),
        input=noise + b"\x03\r\rquit\r\nexit\r\n\x04",
        capture_output=True,
        timeout=20,
    )
    assert b"Traceback" not in done.stdout + done.stderr
    assert done.returncode != 255  # ended by the device, not broken


def test_very_long_lines(served: ServedLab) -> None:
    words = "y" * 100_000
    assert served.output("ServerA", f"echo {words} | wc -c") == "100001\n"
    assert "% Unrecognized command" in served.output("S6550", f"display {words}")
    big = "line\n" * 100_000
    assert served.run("ServerA", "wc -l", input=big).stdout == "100000\n"
    assert served.run("ServerA", "cat", input="no end").stdout == "no end"
    odd = served.run("ServerA", "echo a\x0bb\xa0c\u2003d")  # blanks, but not to a shell
    assert odd.stdout == "a\x0bb\xa0c\u2003d\n"


def test_what_is_not_ssh_and_what_never_finishes_its_login(served: ServedLab) -> None:
    address = ("127.0.0.1", served.ports["ServerA"])
    with socket.create_connection(address) as noise:
        noise.sendall(random.Random(1).randbytes(5000))
    half_open = [socket.create_connection(address) for _ in range(30)]
    assert served.output("ServerA", "hostname") == "ServerA\n"
    for each in half_open:
        each.close()


@pytest.mark.parametrize(
    ("user", "password"), [("root", "wrong"), ("nobody", None), ("admin2", None)]
)
def test_wrong_credentials_do_not_get_in(
    served: ServedLab, tmp_path: Path, user: str, password: str | None
) -> None:
    environment = password_environment(tmp_path, password or served.password)
    options = {
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "NumberOfPasswordPrompts": "1",
        "LogLevel": "ERROR",
        "User": user,
        "Port": str(served.ports["ServerB"]),
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    done = subprocess.run(
        ["ssh", *words, "127.0.0.1", "whoami"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=20,
    )
    assert (done.returncode, done.stdout) == (255, "")
    assert "Permission denied" in done.stderr


def test_nothing_is_forwarded(served: ServedLab) -> None:
    done = subprocess.run(
        served.ssh("ServerA", options=["-W", "127.0.0.1:22"]),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 255
    assert "open failed" in done.stderr


def test_it_listens_on_loopback_only(served: ServedLab) -> None:
    folder = Path(f"/proc/{served.process.pid}/fd")
    own = {str(each.readlink()) for each in folder.iterdir() if each.is_symlink()}
    listening = []
    for family in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{family}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] in ("0A", "07") and f"socket:[{fields[9]}]" in own:
                listening.append(fields[1])
    assert len(listening) == len(served.ports)
    assert {address.split(":")[0] for address in listening} == {"0100007F"}


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedLab]:
    """Another lab beside the first. One of its tools has a mistake of ours."""
    folder = tmp_path_factory.mktemp("second")
    broken = folder / "broken.py"
    broken.write_text(
        "from labtests.__main__ import main\n"
        "from labtests.simlab.linux import toolbox\n"
        "toolbox.TOOLS['broken'] = lambda call: 1 // 0\n"
        "main(prog_name='labtests')\n"
    )
    lab = ServedLab(folder / "lab", program=(str(broken),))
    yield lab
    lab.tidy()
    if lab.process.poll() is None:
        lab.end()


def test_two_labs_do_not_touch_each_other(served: ServedLab, second: ServedLab) -> None:
    assert set(second.ports.values()).isdisjoint(served.ports.values())
    second.output("ServerA", "echo here > /tmp/only")
    assert served.run("ServerA", "cat /tmp/only").returncode == 1


def test_one_program_that_fails_fails_alone(second: ServedLab) -> None:
    """A mistake of ours in one emulated command must not end everybody's lab."""
    assert second.run("ServerA", "broken").returncode != 0
    assert second.run("ServerA", "sleep 0.1; broken").returncode != 0
    assert second.output("ServerA", "hostname") == "ServerA\n"


def test_control_c_ends_a_lab_with_clients_in_it(second: ServedLab) -> None:
    assert second.run("ServerA", "broken").returncode != 0
    running = second.start("ServerA", "sleep 100")
    with Terminal(second.ssh("ServerB")) as terminal:
        terminal.read(r"# $")
        assert second.end(signal.SIGINT) == 0
        terminal.read("<end>|closed")
    assert running.wait(timeout=10) != 0
    shown = re.findall(r"^(\w+Error|Traceback)", second.text, re.MULTILINE)
    of_the_broken_tool = ["Traceback", "ZeroDivisionError"]
    assert shown[:2] == of_the_broken_tool
    assert shown == of_the_broken_tool * (len(shown) // 2)  # here, and in tests before


def test_simulated_time_keeps_up_with_the_wall_clock(served: ServedLab) -> None:
    """Two flows at 10G: loosely, because the machine that runs the tests may be busy."""
    for host, port in (("ServerA", 18901), ("ServerB", 18902)):
        served.start("ServerC", f"ib_send_bw -D 2 -p {port}")
        served.wait_for("ServerC", "ss -tln", f":{port}")
        served.start(host, f"ib_send_bw -D 2 -p {port} {RECEIVER}")
    clock = "cut -d' ' -f1 /proc/uptime"
    started, before = time.monotonic(), float(served.output("ServerC", clock))
    time.sleep(1.5)
    simulated_s = float(served.output("ServerC", clock)) - before
    assert simulated_s > 0.2 * (time.monotonic() - started)
