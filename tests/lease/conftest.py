"""A folder for a lease on this machine, and a toy lab whose one box writes down what it is sent."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lease_lab import Emulated
from leased_box import PLATFORM

from labtests.inventory import load
from labtests.simlab.lab import SimulatedLab

TESTBED = Path(__file__).parents[2] / "testbeds" / "h3c-s6550-cx4.yaml"


@pytest.fixture
def host() -> Emulated:
    """A host of a simulated lab, whose shell is emulated and whose time a test moves."""
    return Emulated(SimulatedLab(load(TESTBED), seed=1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lease"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """The same where other accounts can reach it; pytest's folders are for one only."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        yield Path(above) / "lease"


@pytest.fixture
def toy_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("labtests.lab.lab", "labtests.lease.holding"):
        monkeypatch.setattr(f"{place}.driver_module", lambda platform: PLATFORM)
