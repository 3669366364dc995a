"""One simulated lab per module and testbed; a run of the whole catalogue has to be asked for."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from faults_bench import Bench, open_bench

WHOLE = "--whole-catalogue"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(WHOLE, action="store_true", help="every row, not one of each cause")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "whole_catalogue: only run with --whole-catalogue")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Rows that stand for no cause by themselves are left to `make faults`."""
    if config.getoption(WHOLE, default=False):
        return
    left_out = [item for item in items if item.get_closest_marker("whole_catalogue")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Bench]]:
    """The lab of a testbed, opened when it is first asked for."""
    opened: dict[str, Bench] = {}
    with ExitStack() as stack:

        def bench(testbed: str) -> Bench:
            if testbed not in opened:
                folder = tmp_path_factory.mktemp(testbed)
                opened[testbed] = stack.enter_context(open_bench(testbed, folder))
            return opened[testbed]

        yield bench
