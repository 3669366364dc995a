"""Expensive runs are made once, two at a time, while other tests of this folder go on."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from story_lab import Bench, open_bench
from story_runs import TESTBED, Run, run

DRY = ("suites", "--testbed", TESTBED, "--dry-run")
RUNS = {
    "good": DRY,
    "again": DRY,
    "other seed": (*DRY, "-k", "pfc", "--seed", "2"),
    "no controls": (*DRY, "-k", "pfc", "--no-controls", "--html=mine/page.html",
                    "--self-contained-html", "--junit-xml=mine/junit.xml"),
    "plan": (*DRY, "--plan"),
}  # fmt: skip


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], "Future[Run]"]]:
    """A run by name, begun when it is first asked for; the other long ones follow it."""
    futures: dict[str, Future[Run]] = {}
    with ThreadPoolExecutor(max_workers=2) as pool:

        def begin(name: str) -> "Future[Run]":
            for each in (name, *RUNS):
                if each not in futures:
                    folder = tmp_path_factory.mktemp(each.replace(" ", "-")) / "project"
                    futures[each] = pool.submit(run, folder, *RUNS[each])
            return futures[name]

        yield begin


@pytest.fixture
def good(begun) -> Run:
    """All three suites, as `make run` does."""
    return begun("good").result()


@pytest.fixture
def again(begun) -> Run:
    """The same once more."""
    return begun("again").result()


@pytest.fixture
def other_seed(begun) -> Run:
    return begun("other seed").result()


@pytest.fixture
def no_controls(begun) -> Run:
    return begun("no controls").result()


@pytest.fixture
def plan(begun) -> Run:
    return begun("plan").result()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """An open lab of this process's own, with nothing wrong yet."""
    opened = open_bench(tmp_path)
    try:
        yield opened
    finally:
        try:
            opened.lab.close()
        finally:
            opened.simulated.close()
