"""The same on labs with other switches: drawn, as each takes a minute."""

from pathlib import Path

import pytest
from recovery_lab import ROOT, ServedLab
from test_breaking import expect_put_back


@pytest.mark.parametrize("testbed", ["cumulus-cx5", "onyx-cx5", "nexus-cx5"])
def test_runs_broken_on_another_platform_are_put_back(testbed: str, tmp_path: Path) -> None:
    lab = ServedLab(tmp_path / "other", ROOT / "testbeds" / f"{testbed}.yaml")
    expect_put_back(lab, tmp_path)
    assert lab.end() == 0, lab.text
