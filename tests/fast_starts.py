"""Runs of pytest and of labtests that start fast, from a stem that all tests of a process share."""

import atexit
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from labtests.core.stem import Stem
from labtests.faults.running import DRY_RUN


@cache
def stem() -> Stem:
    """It ends with this process."""
    made = Stem(*DRY_RUN)
    atexit.register(made.close)
    return made


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """The exit status (-9: killed) of "pytest" or "labtests" with these words, as somebody types
    them in that folder, and what was printed."""
    return stem().run([sys.executable, "-m", *argv], cwd=cwd, env=env)
