"""The guards of tests/network are round these tests' networks too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "network"))

from network_canaries import canaries  # noqa: F401 - a fixture of every test here

from labtests.network.compiled import use_compiled


def pytest_collection_finish() -> None:
    """What is compiled now takes no test's time."""
    use_compiled()
