"""Faults that come in mid-run, and those that have acted on nothing: told, never silent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labtests.core.interpreter import child_environment
from labtests.inventory import load
from labtests.pytest_plugin.timed_faults import TimedFaults, begins
from labtests.simlab.control import RequestRefused
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.loss_faults import Unheard

A, C, NIC_A, NIC_C = "ServerA", "ServerC", "enp3s0f0np0", "ens6f0np0"
SWITCH, OUT = "S6550", "Twenty-FiveGigE1/0/13"
FREEZE = {"kind": "freeze", "device": A, "seconds": 1}
S = 1_000_000_000


@pytest.fixture(scope="module")
def lab() -> SimulatedLab:
    return SimulatedLab(load(Path(__file__).parents[2] / "testbeds/h3c-s6550-cx4.yaml"), seed=1)


def why(lab: SimulatedLab, fault: dict) -> list[str]:
    return [each["why"] for each in lab.not_met() if each["fault"] == fault]


def says(lab: SimulatedLab, device: str, command: str) -> None:
    lab.devices[device].execute(command, Unheard())


@pytest.mark.parametrize(
    ("fault", "unmet", "command"),
    [
        ({"kind": "dead-counter", "device": A, "port": NIC_A, "counter": "rx_discards_phy"},
         "no counter 'rx_discards_phy' was read", f"ethtool -S {NIC_A}"),
        ({"kind": "dead-counter", "device": SWITCH, "port": OUT, "counter": "queue-drops"},
         "no counter 'queue-drops' was read",
         f"display qos queue-statistics interface {OUT} outbound"),
        ({"kind": "missing-counter", "device": SWITCH, "port": OUT, "counter": "queue-3"},
         "no counter 'queue-3' was read",
         f"display qos queue-statistics interface {OUT} outbound"),
        ({"kind": "hang", "device": A, "command": "uptime"},
         "no command with 'uptime' came", "uptime"),
        ({"kind": "truncate", "device": SWITCH, "command": "display clock"},
         "no command 'display clock' came", "display clock"),
        ({"kind": "remove-tool", "device": A, "tool": "iperf3"},
         "nobody called 'iperf3'", "iperf3 --version"),
        ({"kind": "lie", "device": SWITCH},
         "nothing was configured", f"system-view\ninterface {OUT}\nqos trust dscp"),
        ({"kind": "reboot", "device": C, "command": "uname"},
         "no command with 'uname' came", "uname -r"),
    ],
)  # fmt: skip
def test_a_fault_that_waits_for_somebody_is_not_met_before_he_comes(lab, fault, unmet, command):
    lab.inject(fault)
    assert why(lab, fault) == [unmet]
    says(lab, fault["device"], command)
    assert why(lab, fault) == []
    lab.inject({"kind": "heal", "device": fault["device"]})


@pytest.mark.parametrize(
    ("fault", "unmet"),
    [
        ({"kind": "dead-counter", "device": A, "port": NIC_A, "counter": "nonsense"},
         "no counter 'nonsense' was read"),
        ({"kind": "kill", "device": A, "process": "iperf3"}, "no process 'iperf3' was there"),
        ({"kind": "somebody", "device": SWITCH, "command": "system-view\nno such line"},
         "the device refused it"),
        ({"kind": "somebody", "device": A, "command": "pkill iperf3"}, "the device refused it"),
        ({"kind": "drop-packets", "device": SWITCH, "port": OUT, "queue": 7, "per_million": 9},
         "no packet was dropped by it"),
        ({"kind": "lossy-cable", "device": C, "port": NIC_C, "frames": 1}, "no frame came by"),
        ({"kind": "nic-discards", "device": C, "port": NIC_C, "per_million": 9},
         "no packet was discarded by it"),
        ({**FREEZE, "after_s": 5}, "the run ended within 5 s"),
        ({"kind": "freeze", "device": A, "seconds": 2, "after_s": 0}, None),
    ],
)  # fmt: skip
def test_what_acts_on_nothing_says_why(lab, fault, unmet):
    lab.inject(fault)
    says(lab, A, f"ethtool -S {NIC_A}")
    assert why(lab, fault) == ([] if unmet is None else [unmet])


def test_a_fault_comes_so_many_seconds_later(lab):
    fault = {"kind": "clock", "device": C, "seconds": 60, "after_s": 0.5}
    lab.inject(fault)
    lab.advance(S // 4)
    assert lab.faults[C].defects.clock_ahead_s == 0
    lab.advance(S // 2)
    assert lab.faults[C].defects.clock_ahead_s == 60
    assert why(lab, fault) == []


def test_one_that_the_lab_refuses_later_says_so_and_the_lab_goes_on(lab):
    fault = {"kind": "cpu-limit", "device": A, "share": 2, "after_s": 0.1}
    lab.inject(fault)
    lab.advance(S)
    assert why(lab, fault) == ["a share is between 0 and 1, not 2.0"]


def test_nobody_but_a_run_knows_how_far_it_is(lab):
    with pytest.raises(UnknownFault, match="for a run of pytest"):
        lab.inject({**FREEZE, "at": "experiment"})


class Process:
    def __init__(self) -> None:
        self.suffered: list[dict] = []

    def fault(self, **fault: object) -> None:
        if fault["kind"] == "cut":
            raise RequestRefused("not now")
        self.suffered.append(fault)

    def ask(self, request: dict) -> dict:
        assert request == {"faults_not_met": True}
        return {"faults_not_met": [{"fault": FREEZE, "why": "asleep"}]}


def test_a_fault_comes_with_the_first_line_of_progress_that_begins_so():
    process = Process()
    due = {**FREEZE, "at": "experiment *: traffic", "after_s": 0.3}
    moments = TimedFaults([due, FREEZE, {"kind": "cut", "device": A, "at": "check"},
                       {"kind": "cut", "device": A, "at": "never"}])  # fmt: skip
    assert moments.at_start == [FREEZE]
    lines = ("check: 3 warnings", "control '1': traffic for 1 s", "experiment '2': quiet window")
    for line in (*lines, "experiment '2': traffic for 1 s", "experiment '3': traffic for 1 s"):
        moments.heard(line, process.fault)
    assert process.suffered == [{**FREEZE, "after_s": 0.3}]
    moments.end(process)
    told = [(json.loads(each["fault"])["kind"], each["why"]) for each in moments.not_met]
    assert told == [("cut", "no line of progress began 'never'"), ("cut", "not now"),
                    ("freeze", "asleep")]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "beginning", "is_so"),
    [
        ("experiment 'a (b)': traffic for 5 s", "experiment 'a (b)': traffic", True),
        ("experiment 'a': traffic for 5 s", "experiment *: traffic", True),
        ("control 'a': traffic for 5 s", "experiment *: traffic", False),
        ("an experiment", "experiment", False),
        ("anything", "", True),
    ],
)
def test_the_beginning_of_a_line(line, beginning, is_so):
    assert begins(line, beginning) is is_so


def test_a_run_tells_what_was_not_met(tmp_path):
    """Accepted silently, a mistyped counter left every suite green."""
    root, suite = Path(__file__).parents[2], tmp_path / "test_nothing.py"
    suite.write_text("def test_nothing(lab):\n    assert lab\n")
    typo = {"kind": "dead-counter", "device": A, "port": NIC_A, "counter": "nonsense"}
    late = {"kind": "cut", "device": A, "at": "experiment"}
    words = ["--testbed", str(root / "testbeds/h3c-s6550-cx4.yaml"), "--dry-run", "--idle-s", "0"]
    for fault in (typo, late, {"kind": "clock", "device": C, "seconds": 1}):
        words += ["--fault", json.dumps(fault)]
    ours = {name for name in os.environ if name.startswith(("LABTESTS_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-p", "labtests.pytest_plugin", str(suite),
         "-p", "no:cacheprovider", "--run-dir", str(tmp_path / "run"), *words],
        cwd=tmp_path, env=child_environment(ours), capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = json.loads((tmp_path / "run" / "run.json").read_text())["faults_not_met"]
    assert [(json.loads(each["fault"]), each["why"]) for each in told] == [
        (late, "no line of progress began 'experiment'"),
        (typo, "no counter 'nonsense' was read"),
    ], done.stdout
    for each in told:
        assert f"fault not met: {each['fault']}: {each['why']}" in done.stdout
