"""The lab of testbeds/linux-lab.yaml in simulation, and hands on the switch's shell."""

from collections.abc import Callable
from pathlib import Path

import pytest
from switch_bench import SimulatedBox

from labtests.inventory import Testbed, load
from labtests.simlab.lab import SimulatedLab

TESTBED = Path(__file__).parents[2] / "testbeds" / "linux-lab.yaml"


@pytest.fixture(scope="session")
def testbed() -> Testbed:
    return load(TESTBED)


@pytest.fixture
def make_box(testbed: Testbed) -> Callable[..., SimulatedBox]:
    def make(*, seed: int = 1) -> SimulatedBox:
        return SimulatedBox(SimulatedLab(testbed, seed=seed))

    return make


@pytest.fixture
def box(make_box: Callable[..., SimulatedBox]) -> SimulatedBox:
    return make_box()
