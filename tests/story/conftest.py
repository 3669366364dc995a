"""Expensive runs are made once, two at a time, while other tests of this folder go on."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from story_lab import ELSEWHERE, Bench, open_bench
from story_runs import TESTBED, Run, run

DRY = ("suites", "--ignore", ELSEWHERE, "--testbed", TESTBED, "--dry-run")
RUNS = {
    "good": DRY,
    "once": (*DRY, "-k", "below"),
    "again": (*DRY, "-k", "below"),
    "other_seed": (*DRY, "-k", "pfc", "--seed", "2"),
    "no_controls": (*DRY, "-k", "pfc", "--no-controls", "--html=mine/page.html",
                    "--self-contained-html", "--junit-xml=mine/junit.xml"),
    "plan": (*DRY, "--plan", "--hardware-pace"),
}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def begun(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Run]]:
    """A run by name, ended. All that will be asked for begin with the first test of the folder."""
    asked = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    with ThreadPoolExecutor(max_workers=2) as pool:
        runs: dict[str, Future[Run]] = {
            name: pool.submit(run, tmp_path_factory.mktemp(name) / "project", *options)
            for name, options in RUNS.items()
            if name in asked
        }
        yield lambda name: runs[name].result()


@pytest.fixture
def good(begun) -> Run:
    """Every suite that is not for another kind of lab, as `make run` does."""
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
