"""kill -9 of a run that has put a switch into RoCE mode: it is in the mode of before again."""

from pathlib import Path

import pytest
from recovery_lab import ROOT, Project, ServedLab, everything, opened

SWITCH = "SN2700"
SUITE = """
import os
import signal


def test_it(incast):
    incast.roce_mode("lossy")
    incast.roce_mode("lossless")
    incast.trust_dscp()
    incast.pfc_at_hosts(3)
    os.kill(os.getpid(), signal.SIGKILL)
"""
BY_HAND = {"off": "", "lossless": "nv set qos roce && nv config apply -y"}


@pytest.mark.parametrize("before", list(BY_HAND))
def test_a_killed_run_leaves_the_switch_in_the_mode_of_before(
    before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    lab = ServedLab(tmp_path / "lab", ROOT / "testbeds" / "cumulus-cx5.yaml")
    project = Project(tmp_path / "project", lab, forked=True)
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(project.state / "labtests"))
    lab.output(SWITCH, BY_HAND[before] or "true")
    project.suite(SUITE)
    with opened(project.testbed) as devices:
        found = everything(devices)
        assert project.pytest()[0] == -9
        changed = {name for name, value in everything(devices).items() if value != found[name]}
        assert any(name.startswith(SWITCH) for name in changed)
        code, said = project.labtests("restore")
        assert code == 0, said
        assert "roce_mode" in said
        assert everything(devices) == found
    assert lab.end() == 0, lab.text
