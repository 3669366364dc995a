"""A state folder of a test's own, and nobody who answers."""

from pathlib import Path

import pytest
from handed import Dialled

import labtests.lab.lab as lab_room
import labtests.recovery.replay as replay


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    found = Dialled()
    monkeypatch.setattr(replay, "connect", found)
    monkeypatch.setattr(lab_room, "connect_all", lambda devices, *_, **__: found(*devices))
    return found


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
