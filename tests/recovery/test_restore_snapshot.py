"""`labtests restore SNAPSHOT` makes a served lab as the snapshot has it, whoever changed it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from recovery_lab import Project, opened

from labtests.__main__ import main
from labtests.inventory import Endpoint
from labtests.journal import unfinished_runs
from labtests.records import PfcSetting, TrustSetting

OUT = Endpoint(device="S6550", interface="Twenty-FiveGigE1/0/13")
NIC = Endpoint(device="ServerB", interface="ens6f0np0")
WRONG = {
    (OUT, "pfc"): PfcSetting(mode="on", priorities=frozenset({3, 4})),
    (NIC, "trust"): TrustSetting(source="dscp"),
    (NIC, "reaction_point"): frozenset({1}),
}


def test_the_lab_is_as_in_the_snapshot_and_stays_so(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hands, testbed = CliRunner(), str(project.testbed_file)
    taken = hands.invoke(main, ["snapshot", "--testbed", testbed, "--out", "good.json"])
    assert taken.exit_code == 0, taken.output
    with opened(project.testbed) as lab:
        for (at, setting), value in WRONG.items():
            lab.change(at, setting, value)
        lab.ahead.keep()
    hands.invoke(main, ["snapshot", "--testbed", testbed, "--out", "bad.json"])
    told = hands.invoke(main, ["diff", "good.json", "bad.json"])
    assert (told.exit_code, f"{OUT} pfc" in told.output) == (1, True), told.output

    back = hands.invoke(main, ["restore", "good.json"])
    assert (back.exit_code, "the lab is as in good.json" in back.output) == (0, True), back.output
    hands.invoke(main, ["snapshot", "--testbed", testbed, "--out", "after.json"])
    assert hands.invoke(main, ["diff", "good.json", "after.json"]).exit_code == 0
    again = hands.invoke(main, ["restore", "good.json"])
    assert "(0 changes;" in again.output
    assert unfinished_runs() == []
