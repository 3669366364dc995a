"""Expensive runs are made once."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from story_lab import ELSEWHERE, Bench, open_bench
from story_runs import TESTBED, Run, run

DRY = (
    *("suites", "--testbed", TESTBED, "--dry-run"),
    *(f"--ignore={suite}" for suite in ELSEWHERE),
)
RUNS = {
    "good": DRY,
    "once": (*DRY, "-k", "below"),
    "again": (*DRY, "-k", "below"),
    "other_seed": (*DRY, "-k", "s1_pfc", "--seed", "2"),
    "no_controls": (*DRY, "-k", "s1_pfc", "--no-controls", "--html=mine/page.html",
                    "--self-contained-html", "--junit-xml=mine/junit.xml"),
    "plan": (*DRY, "--plan", "--hardware-pace"),
}  # fmt: skip


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A run by name, ended; made when it is first asked for."""

    @cache
    def made(name: str) -> Run:
        return run(tmp_path_factory.mktemp(name) / "project", *RUNS[name])

    return made


@pytest.fixture
def good(begun) -> Run:
    """A whole run of the suites that the story is told by."""
    return begun("good")


@pytest.fixture
def once(begun) -> Run:
    """A short suite."""
    return begun("once")


@pytest.fixture
def again(begun) -> Run:
    """The same once more."""
    return begun("again")


@pytest.fixture
def other_seed(begun) -> Run:
    """S1 with another seed."""
    return begun("other_seed")


@pytest.fixture
def no_controls(begun) -> Run:
    """S1 without its control, and with reports where the user wants them."""
    return begun("no_controls")


@pytest.fixture
def plan(begun) -> Run:
    """Every suite, only planned."""
    return begun("plan")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """An open lab of this process's own, with nothing wrong yet."""
    with open_bench(tmp_path) as opened:
        yield opened
