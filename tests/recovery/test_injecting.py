"""A lab that is served by hand takes faults from its owner."""

import stat
import time
from pathlib import Path

import pytest
from recovery_lab import ServedLab

from labtests.simlab.control import SimulationFailed
from labtests.simlab.injection import NAME, inject

SWITCH, PORT = "S6550", "Twenty-FiveGigE1/0/14"
RUNNING = "display current-configuration"


def test_a_lab_served_by_hand_takes_faults_of_its_owner(served: ServedLab, tmp_path: Path) -> None:
    folder = served.directory
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    served.configure(f"interface {PORT}", "priority-flow-control enable")
    inject(folder, {"kind": "reboot", "device": SWITCH, "seconds": 0.1})
    until_s = time.monotonic() + 10
    while not (shown := served.run(SWITCH, RUNNING).stdout):  # it boots
        assert time.monotonic() < until_s
    assert "return" in shown
    assert "flow-control" not in shown
    with pytest.raises(SimulationFailed, match="'fire', which is none of"):
        inject(folder, {"kind": "fire", "device": SWITCH})
    with pytest.raises(SimulationFailed, match="remedy: give the --directory"):
        inject(tmp_path, {"kind": "cut", "device": SWITCH})
