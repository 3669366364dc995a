"""Suites on a testbed of one platform, as subprocesses: what they say, and that all is put back."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fast_starts

from labtests.faults.running import BARE
from labtests.report import read_run

ROOT = Path(__file__).parents[2]


def run(testbed: str, folder: Path, suites: str, *options: str, gbit: int = 1) -> dict[str, Any]:
    """Suites of the project, on slower links, which make fewer packets. (At 1 Gb/s, marks would
    come too seldom.)"""
    return run_pytest(testbed, folder, {25: gbit}, ROOT, "suites", "-k", suites, *options)


def run_pytest(
    testbed: str, folder: Path, gbit: Mapping[int, int], where: Path, *words: str
) -> dict[str, Any]:
    """A dry run of a testbed whose links are so much slower; what its run.json says."""
    text = (ROOT / "testbeds" / f"{testbed}.yaml").read_text()
    for told, instead in gbit.items():
        text = re.sub(rf"\b(speed_gbit_per_s: ){told}\b", rf"\g<1>{instead}", text)
    (folder / "lab.yaml").write_text(text)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    words = ("--testbed", str(folder / "lab.yaml"), "--dry-run", "--run-dir", str(folder / "run"),
             *words)  # fmt: skip
    code, said = fast_starts.run(
        ["pytest", *BARE, *words], cwd=where, env=clean | {"PYTHONPATH": str(ROOT)}
    )
    assert code in (0, 1), said
    read: dict[str, Any] = read_run(folder / "run")
    return read


def expect_passed(told: dict[str, Any], folder: Path, switch: str, suites: str) -> None:
    """Each of these suites, with its controls red; and the switch is as before."""
    outcomes = {test["id"].partition("::")[2]: test["outcome"] for test in told["tests"]}
    assert len(outcomes) == suites.count(" or ") + 1
    assert set(outcomes.values()) == {"pass"}, outcomes
    for test in told["tests"]:
        controls = [each for each in test["verdicts"] if each["role"] == "control"]
        assert {each["outcome"] for each in controls} == {"fail"}, test["id"]
    before, after = (
        json.loads((folder / "run" / f"state-{when}.json").read_text())
        for when in ("before", "after")
    )
    assert before["devices"][switch] == after["devices"][switch]


def expect_loss_is_red(testbed: str, folder: Path, switch: str, port: str) -> None:
    """Queue 5 of the egress port drops two packets of a thousand: S1 fails and names it."""
    loss = {"kind": "drop-packets", "device": switch, "port": port, "queue": 5}
    fault = json.dumps(loss | {"per_million": 2000})
    (test,) = run(testbed, folder, "s1", "--fault", fault)["tests"]
    main = [each for each in test["verdicts"] if each["role"] == "main"]
    assert test["outcome"] == "fail"
    assert any("queue 5 dropped_packets grew" in each["because"] for each in main)
