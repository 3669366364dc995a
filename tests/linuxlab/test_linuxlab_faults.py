"""Whole runs on a lab of namespaces in which something happens meanwhile: a cable is pulled, a host
stands still. Real parts, so these take as long as the traffic. Root only."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from linux_labs import in_namespace, loaded, traces

from labtests.inventory import Testbed
from labtests.linuxlab import command
from labtests.linuxlab.ledger import ledger_of
from labtests.report import read_run

pytestmark = pytest.mark.usefixtures("machine")

ROOT = Path(__file__).parent.parent.parent
SUITE = ROOT / "suites" / "test_below_bottleneck.py"
MAIN_TRAFFIC = re.compile(r"experiment '.*': traffic for")
ENDS_WITHIN_S = 150.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, machine: None) -> Iterator[Testbed]:
    """The lab of testbeds/linux-lab.yaml under another name and other management addresses."""
    name = f"faults-{os.getpid()}"
    text = (ROOT / "testbeds" / "linux-lab.yaml").read_text()
    text = text.replace("linux-lab", name).replace("10.255.71.", f"10.251.{os.getpid() % 250}.")
    file = tmp_path_factory.mktemp("lab") / f"{name}.yaml"
    file.write_text(text)
    testbed = loaded(file)
    command.up(testbed, lambda _: None)
    yield testbed
    command.down(name, lambda _: None)
    assert traces(name) == []


@dataclass(frozen=True)
class Ran:
    """How a run ended."""

    code: int
    said: str
    test: dict[str, Any]

    @property
    def outcome(self) -> str:
        outcome: str = self.test["outcome"]
        return outcome

    @property
    def told(self) -> str:
        """Every verdict, for whoever reads the red test."""
        return "\n".join(f"{v['phase']}: {v['question']}: {v}" for v in self.test["verdicts"])

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Those of the main phase, not of the control."""
        last = self.test["phases"][-1]["name"]
        return [verdict for verdict in self.test["verdicts"] if verdict["phase"] == last]


def run_while(lab: Testbed, folder: Path, happens: Callable[[], None]) -> Ran:
    """One suite; when its main traffic has run for a second, something happens."""
    words = [sys.executable, "-m", "pytest", str(SUITE), "--testbed", str(lab.file)]
    words += ["--lab-seconds", "6", "--idle-s", "1", "--run-dir", str(folder / "run")]
    environment = {**os.environ, "LABTESTS_STATE_DIR": str(folder / "state")}
    said = []
    with subprocess.Popen(
        words,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if MAIN_TRAFFIC.search(line):
                time.sleep(1.5)
                happens()
        code = process.wait(ENDS_WITHIN_S)
    [test] = read_run(folder / "run")["tests"]
    return Ran(code, "".join(said), test)


def test_a_cable_pulled_during_a_run_is_no_pass_and_is_told(lab: Testbed, tmp_path: Path) -> None:
    def pull() -> None:
        in_namespace(lab.name, "sw", "ip", "link", "set", "swp1", "down")

    try:
        ran = run_while(lab, tmp_path, pull)
    finally:
        in_namespace(lab.name, "sw", "ip", "link", "set", "swp1", "up")
    assert ran.code != 0
    assert ran.outcome in ("fail", "inconclusive"), ran.told
    assert "the lab is not as it was found: h1:eth1 link up, sw:swp1 link up" in ran.said


def test_a_receiver_that_stands_still_for_ten_seconds_and_comes_back_is_blamed_for_its_loss(
    lab: Testbed, tmp_path: Path
) -> None:
    def freeze() -> None:
        pids = processes_of(lab, "h3")
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(10)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    ran = run_while(lab, tmp_path, freeze)
    assert "lab restored: " in ran.said
    [said] = [
        v["because"] for v in ran.verdicts if v["question"] == "Was this load carried without loss?"
    ]
    # the switch is innocent; on a busy machine nothing may be proven
    assert ran.outcome in ("pass", "inconclusive"), ran.told
    assert "grew by" not in said
    if ran.outcome == "pass":
        lost = re.search(r"IP stack of h3: [^;]*udp_in_errors \+([0-9]+)", said)
        assert lost is not None, said
        assert int(lost[1]) > 1000


def processes_of(lab: Testbed, device: str) -> list[int]:
    """Everything that runs on a host: the processes in the PID namespace of its sshd."""
    ledger = ledger_of(lab.name)
    assert ledger is not None
    namespace = Path(f"/proc/{ledger.runners[device][0]}/ns/pid_for_children").readlink()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (entry / "ns" / "pid").readlink() == namespace:
                found.append(int(entry.name))
    assert found
    return found
