"""Switches of three vendors on one way: suites and one profile mean the same on all of them."""

import json
from pathlib import Path

from click.testing import CliRunner
from platform_runs import ROOT, run_pytest

from labtests.__main__ import main

TESTBED = "three-vendors"
ON_THE_WAY = {
    "leaf-h3c": "HundredGigE1/0/25",
    "spine-sonic": "Ethernet4",
    "leaf-nexus": "Ethernet1/2",
}


def test_an_incast_through_three_vendors_loses_nothing_and_all_is_put_back(tmp_path: Path) -> None:
    words = ("suites", "-k", "s1")
    (test,) = run_pytest(TESTBED, tmp_path, {25: 1, 100: 5}, ROOT, *words)["tests"]
    assert test["outcome"] == "pass", test["verdicts"]
    controls = [each for each in test["verdicts"] if each["role"] == "control"]
    assert {each["outcome"] for each in controls} == {"fail"}
    changed = {change["device"] for change in test["changes"]}
    assert changed == {"srv1", "srv2", "srv4", *ON_THE_WAY}
    before, after = (
        json.loads((tmp_path / "run" / f"state-{when}.json").read_text())["devices"]
        for when in ("before", "after")
    )
    assert before == after


def test_one_profile_is_applied_to_switches_of_three_vendors(tmp_path: Path) -> None:
    words = ["apply", str(ROOT / "profiles" / "lossless-25g.yaml"), "--dry-run"]
    words += ["--testbed", str(ROOT / "testbeds" / f"{TESTBED}.yaml")]
    done = CliRunner().invoke(main, [*words, "--run-dir", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    for device, port in ON_THE_WAY.items():
        for setting in ("ecn", "scheduling", "pfc"):
            assert f"{device}: {port} {setting} changed\n" in done.output
    assert " settings changed and read back\n" in done.output
