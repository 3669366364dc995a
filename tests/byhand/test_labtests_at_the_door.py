"""labtests itself, at a lab where something is wrong: each answer names device, command, remedy."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from driven import driving
from in_process import InProcessLab
from served_lab import INTERFACES, PORTS, ROOT, TESTBED, ServedLab

from labtests.core.errors import CommandRejected, DeviceError, ToolMissing, UnreadableOutput
from labtests.drivers import driver_module
from labtests.inventory import load
from labtests.transport.ssh import connect

A = INTERFACES["ServerA"]


# -- the whole program -----------------------------------------------------------------------------


def written_testbed(served: ServedLab, folder: Path, **management: object) -> Path:
    """The lab's testbed with the addresses where it is really served, as a user would write it."""
    document: dict[str, Any] = yaml.safe_load(TESTBED.read_text())
    for name, device in document["devices"].items():
        device["management"] |= {
            "host": "127.0.0.1",
            "port": served.ports[name],
            "password_env": "BY_HAND",
            "known_hosts": str(served.directory / "known_hosts"),
            "ssh_config": False,
            **management,
        }
    path = folder / "served.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def suites(served: ServedLab, testbed: Path, password: str) -> "subprocess.CompletedProcess[str]":
    command = ("pytest", "suites", "--testbed", str(testbed), "--plan", "-q")
    return subprocess.run(
        [sys.executable, "-m", *command, "-p", "no:cacheprovider"],
        cwd=testbed.parent,
        env={**os.environ, "BY_HAND": password, "WRONG": "wrong", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with the suites but without the project's reports."""
    (tmp_path / "suites").symlink_to(ROOT / "suites")
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    return tmp_path


def test_a_plan_for_the_served_lab_changes_nothing(served: ServedLab, elsewhere: Path) -> None:
    before = served.output("S6550", "display current-configuration")
    done = suites(served, written_testbed(served, elsewhere), served.password)
    assert done.returncode == 0, done.stdout
    assert "priority-flow-control no-drop dot1p" in done.stdout
    assert served.output("S6550", "display current-configuration") == before


def test_every_device_that_cannot_be_used_is_named_with_its_remedy(
    served: ServedLab, elsewhere: Path
) -> None:
    """A changed host key, a port where nobody listens, an unset variable and a wrong password."""
    testbed = written_testbed(served, elsewhere, password_env="WRONG")
    document = yaml.safe_load(testbed.read_text())
    management = {name: device["management"] for name, device in document["devices"].items()}
    known = (served.directory / "known_hosts").read_text().splitlines()
    places, keys = zip(*(line.split(" ", 1) for line in known), strict=True)
    lines = [f"{place} {key}\n" for place, key in zip(places, keys[1:] + keys[:1], strict=True)]
    (elsewhere / "known").write_text("".join(lines))
    management["ServerA"] |= {"known_hosts": "known", "host_keys": "accept-new"}
    management["ServerC"]["password_env"] = "NOT_SET"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        management["ServerB"]["port"] = unused.getsockname()[1]
        testbed.write_text(yaml.safe_dump(document, sort_keys=False))
        done = suites(served, testbed, served.password)
    text = done.stdout + done.stderr
    assert done.returncode == 15, text
    assert "Traceback" not in text
    assert "lab unreachable: 4 of 4 devices cannot be used" in text
    problems = re.findall(r"^(\w+): '(.*?)': (.*)\n  remedy: (.*)", text, re.MULTILINE)
    said = {device: (command, problem, remedy) for device, command, problem, remedy in problems}
    assert set(said) == {"ServerA", "ServerB", "ServerC", "S6550"}
    assert {command.split()[0] for command, _, _ in said.values()} == {"ssh"}
    assert "has another host key than" in said["ServerA"][1]
    assert "ssh-keygen -R '[127.0.0.1]:" in said["ServerA"][2]
    assert "Connection refused" in said["ServerB"][1]
    assert "NOT_SET" in "".join(said["ServerC"])
    assert "refused the login as 'admin': Authentication failed." in said["S6550"][1]
    assert "check user, key_file and password_env in the testbed file" in said["S6550"][2]


# -- one session -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def driven() -> Iterator[InProcessLab]:
    with InProcessLab(load(TESTBED), seed=1) as lab:
        yield lab


@pytest.fixture
def session(driven: InProcessLab) -> Iterator[Any]:
    opened = []

    def open_session(name: str) -> Any:
        device = driven.reroute(load(TESTBED)).device(name)
        kind = driver_module(device.platform).SESSION
        opened.append(connect(device, kind, clock=driven.clock))
        return opened[-1]

    yield open_session
    for each in opened:
        each.close()


def complaint(error: DeviceError, device: str, command: str) -> str:
    """The error as it is printed, which has to name the device, the command and a remedy."""
    text = str(error)
    assert text.startswith(f"{device}: '{command}")
    assert "\n  remedy: " in text
    assert error.remedy
    return text


def test_a_command_the_cli_does_not_know(session: Any) -> None:
    wrong = driving("comware")(session("S6550"))
    with pytest.raises(CommandRejected) as caught:
        wrong.queue_counters("Twenty-FiveGigE1/0/99")
    text = complaint(caught.value, "S6550", "display qos queue-statistics")
    assert "% Wrong parameter found at '^' position." in text


def test_an_output_that_ends_too_early(driven: InProcessLab, session: Any) -> None:
    wrong = driving("comware")(session("S6550"))
    driven.fault(kind="truncate", device="S6550", command="display qos")
    with pytest.raises(UnreadableOutput) as caught:
        wrong.queue_counters(PORTS["ServerC"])
    complaint(caught.value, "S6550", "display qos queue-statistics")


def test_a_tool_that_is_not_on_the_host(driven: InProcessLab, session: Any) -> None:
    wrong = driving("connectx")(session("ServerA"))
    driven.fault(kind="remove-tool", device="ServerA", tool="mlnx_qos")
    with pytest.raises(ToolMissing) as caught:
        wrong.pfc(A)
    assert "mlnx_qos" in complaint(caught.value, "ServerA", "mlnx_qos -i")
