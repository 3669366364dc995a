"""A setting that somebody else has changed since this run asked for it."""

from pathlib import Path

import pytest
from leased_box import LEVEL, PORT, Box, toy_lab

import labtests.experiment.settings as module
from labtests.experiment.settings import DeviceSettings, SettingSeen, set_by_others
from labtests.lab.lab import Lab

pytestmark = pytest.mark.usefixtures("toy_platform")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(module, "kind_of", lambda name: LEVEL)
    return toy_lab(Box(tmp_path / "box", "ours"), None)


def told(lab: Lab) -> tuple[str, ...]:
    now = SettingSeen(at=PORT, setting="level", value=lab.current(PORT, LEVEL))
    return set_by_others(lab, DeviceSettings(settings=(now,), queues={}))


@pytest.mark.parametrize("found", [3, 0])
def test_it_is_named_also_where_nothing_had_to_be_sent(lab: Lab, tmp_path: Path, found: int):
    (tmp_path / "box").write_text(f"before {found}\n")
    with lab.restoring():
        lab.change(PORT, LEVEL, 3)
        assert told(lab) == ()
        with (tmp_path / "box").open("a") as box:
            box.write("stranger 9\n")
        (said,) = told(lab)
        assert "level of here p1 was changed externally before the phase: 3 was asked for" in said
        assert said.endswith("now it is 9")
        (tmp_path / "box").write_text("ours 3\n")  # who changed it has put it back
    assert lab.in_force == {}
    assert told(lab) == ()
