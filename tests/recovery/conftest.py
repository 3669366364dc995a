"""One lab, served by hand, for all tests of this folder; each leaves it as it was found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from recovery_lab import Project, ServedLab


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedLab]:
    lab = ServedLab(tmp_path_factory.mktemp("lab"))
    yield lab
    status = lab.end()
    assert (status, "Traceback" in lab.text) == (0, False), lab.text


@pytest.fixture
def project(served: ServedLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, served, forked=True)
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(made.state / "labtests"))
    return made
