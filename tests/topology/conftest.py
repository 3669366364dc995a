"""Networks of these tests are in networks.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from labtests.network.compiled import use_compiled


def pytest_collection_finish() -> None:
    """What is compiled now takes no test's time."""
    use_compiled()
