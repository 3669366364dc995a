"""A ring of five switches stands still for good, unless they detect that they wait for others."""

import json
from pathlib import Path
from typing import Any

from platform_runs import ROOT, run_pytest

TESTBED = "h3c-ring"


def run(folder: Path, *words: str) -> dict[str, Any]:
    return run_pytest(TESTBED, folder, {10: 1}, ROOT, "suites", *words)


def test_a_deadlock_is_detected_and_released_and_all_is_put_back(tmp_path: Path) -> None:
    (test,) = run(tmp_path, "-k", "deadlock")["tests"]
    assert test["outcome"] == "pass", test["verdicts"]
    controls = [each for each in test["verdicts"] if each["role"] == "control"]
    assert [each["phase"] for each in controls] == ["no detection", "recovered, no detection"]
    assert all("stood still" in each["because"] for each in controls)
    told = [change["command"] for change in test["changes"]]
    assert "priority-flow-control deadlock recover" in "\n".join(told)
    before, after = (
        json.loads((tmp_path / "run" / f"state-{when}.json").read_text())["devices"]
        for when in ("before", "after")
    )
    assert before == after


def test_pfc_off_everywhere_sets_a_locked_ring_free(tmp_path: Path) -> None:
    (test,) = run(tmp_path, "-k", "escape")["tests"]
    assert test["outcome"] == "pass", test["verdicts"]
    controls = [each for each in test["verdicts"] if each["role"] == "control"]
    assert [each["phase"] for each in controls] == ["PFC on", "PFC on again"]


def test_packets_that_a_nic_discards_are_not_green(tmp_path: Path) -> None:
    discards = {
        "kind": "nic-discards",
        "device": "srv3",
        "port": "ens1f0np0",
        "per_million": 50_000,
        "counted": "rx_discards_phy",
    }
    (test,) = run(tmp_path, "-k", "deadlock", "--fault", json.dumps(discards))["tests"]
    assert test["outcome"] == "fail"
    assert any("NIC srv3 ens1f0np0" in each["because"] for each in test["verdicts"])
