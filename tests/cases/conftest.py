"""The guards of tests/network are round these tests' networks too."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "network"))

from network_canaries import Canaries

from labtests.simlab.network.compiled import use_compiled


def pytest_collection_finish() -> None:
    """What is compiled now takes no test's time."""
    use_compiled()


@pytest.fixture(autouse=True)
def canaries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canaries]:
    """No test writes outside of a table."""
    guards = Canaries()
    guards.in_place_of_tables(monkeypatch)
    yield guards
    assert guards.damaged() == []
