"""DCBX of a whole lab: hosts take over what the switch tells, and a lab that cannot is skipped."""

import json
from pathlib import Path
from typing import Any

from platform_runs import ROOT, run_pytest

OFF = "mlxconfig -y -d 0000:03:00.0 set LLDP_NB_RX_MODE_P1=0"


def run(folder: Path, *options: str) -> dict[str, Any]:
    """On links of 1 Gb/s, which make fewer packets."""
    told = run_pytest("h3c-s6550-cx4", folder, {10: 1}, ROOT, "suites/test_dcbx.py", *options)
    (test,) = told["tests"]
    return dict(test)


def test_hosts_take_over_what_the_switch_tells_and_all_is_put_back(tmp_path: Path) -> None:
    test = run(tmp_path)
    assert test["outcome"] == "pass", test["verdicts"]
    controls = [each for each in test["verdicts"] if each["role"] == "control"]
    assert [each["outcome"] for each in controls] == ["fail"] * 4
    unwilling, overwritten = controls[0]["because"], controls[3]["because"]
    for sender, port in (("ServerA enp3s0f0np0", 14), ("ServerB ens6f0np0", 15)):
        at = f"S6550 Twenty-FiveGigE1/0/{port} tells PFC on 0,1"
        assert f"{at}, and PFC on none is in force at {sender}" in unwilling
        assert f"{at}, which {sender} has in force, and 3,5 was asked for" in overwritten
    before, after = (
        json.loads((tmp_path / "run" / f"state-{when}.json").read_text())
        for when in ("before", "after")
    )
    assert before["devices"] == after["devices"]


def test_hosts_whose_firmware_speaks_none_skip_it_with_the_parameter(tmp_path: Path) -> None:
    typed = json.dumps({"kind": "somebody", "device": "ServerB", "command": OFF})
    test = run(tmp_path, "--fault", typed)
    assert test["outcome"] == "skipped"
    assert "ServerB ens6f0np0 takes nothing over by DCBX: LLDP_NB_RX_MODE of its" in json.dumps(
        test
    )
