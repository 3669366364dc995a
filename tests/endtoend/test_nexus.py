"""The suites on a Nexus: the experiments pass with their controls red, and a fault is not green."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DISCARDS = {
    "kind": "nic-discards",
    "device": "ServerC",
    "port": "enp59s0f0",
    "per_million": 50_000,
    "counted": "rx_discards_phy",
}


def run(folder: Path, suites: str, *options: str, gbit: int = 1) -> dict[str, Any]:
    """On slower links, which make fewer packets. (At 1 Gb/s, marks would come too seldom.)"""
    text = (ROOT / "testbeds" / "nexus-cx5.yaml").read_text()
    (folder / "lab.yaml").write_text(
        text.replace("speed_gbit_per_s: 25", f"speed_gbit_per_s: {gbit}")
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "suites", "-p", "no:cacheprovider", "-k", suites,
         "--testbed", str(folder / "lab.yaml"), "--dry-run", "--run-dir", str(folder / "run"),
         *options],
        cwd=ROOT, env=clean | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    told: dict[str, Any] = json.loads((folder / "run" / "run.json").read_text())
    return told


@pytest.mark.parametrize(
    ("suites", "gbit"),
    [("s1 or classification or scheduling", 1), ("s2 or s3", 5), ("watchdog", 1)],
)
def test_suites_pass_with_their_controls_red_and_all_is_put_back(
    suites: str, gbit: int, tmp_path: Path
) -> None:
    told = run(tmp_path, suites, gbit=gbit)
    outcomes = {test["id"].partition("::")[2]: test["outcome"] for test in told["tests"]}
    assert len(outcomes) == suites.count(" or ") + 1
    assert set(outcomes.values()) == {"pass"}, outcomes
    for test in told["tests"]:
        controls = [each for each in test["verdicts"] if each["role"] == "control"]
        assert {each["outcome"] for each in controls} == {"fail"}, test["id"]
    before, after = (
        json.loads((tmp_path / "run" / f"state-{when}.json").read_text())
        for when in ("before", "after")
    )
    assert before["devices"]["N9K"] == after["devices"]["N9K"]


def test_packets_that_the_receiver_s_nic_discards_are_not_green(tmp_path: Path) -> None:
    (test,) = run(tmp_path, "s1", "--fault", json.dumps(DISCARDS))["tests"]
    assert test["outcome"] == "fail"
    assert any("ServerC enp59s0f0" in each["because"] for each in test["verdicts"])


def test_a_queue_of_the_switch_that_loses_packets_is_not_green(tmp_path: Path) -> None:
    loss = {"kind": "drop-packets", "device": "N9K", "port": "Ethernet1/13", "queue": 5}
    (test,) = run(tmp_path, "s1", "--fault", json.dumps(loss | {"per_million": 2000}))["tests"]
    main = [each for each in test["verdicts"] if each["role"] == "main"]
    assert test["outcome"] == "fail"
    assert any("queue 5 dropped_packets grew" in each["because"] for each in main)
