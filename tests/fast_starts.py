"""Runs of pytest and of labtests that start fast: by one stem for all tests, in all processes."""

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from labtests.core import stem
from labtests.faults.running import DRY_RUN

OF_ALL_ENV = "STEM_OF_THE_TESTS"


@cache
def path() -> str:
    """Of the stem's socket; one that is grown here ends with this process."""
    if of_all := os.environ.get(OF_ALL_ENV):
        return of_all
    made = stem.Stem(*DRY_RUN)
    atexit.register(made.close)
    return made.path


def share() -> None:
    """Processes that are started from now on have this one's."""
    os.environ[OF_ALL_ENV] = path()


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """The exit status (-9: killed) of "pytest" or "labtests" with these words, as somebody types
    them in that folder, and what was printed."""
    return stem.run(path(), [sys.executable, "-m", *argv], cwd=cwd, env=env)
