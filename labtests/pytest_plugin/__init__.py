"""What pytest gets from labtests: options, fixtures, markers, verdict labels, and the report.

Without `--testbed` it does nothing at all.
"""

import signal
from collections.abc import Iterator

import pytest

from labtests.errors import InventoryError
from labtests.experiment import Incast
from labtests.inventory import Testbed
from labtests.lab import Lab
from labtests.pytest_plugin import fixtures
from labtests.pytest_plugin.fixtures import incast, lab, testbed
from labtests.pytest_plugin.options import LAB_FIXTURES, MARKERS, add_options, asked_testbed
from labtests.pytest_plugin.outcomes import Labels
from labtests.pytest_plugin.run import RUN, Run

__all__ = ["Incast", "Lab", "Testbed", "incast", "lab", "testbed"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --help` shows them under "labtests"."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read the testbed file and open the run folder, before the reporters look for their paths."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if asked_testbed(config) is None or hasattr(config, "workerinput"):
        return
    try:
        run = Run.begin(config)
    except InventoryError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[RUN] = run
    config.pluginmanager.register(Labels(run), "labtests-labels")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that needs a lab needs to know which one."""
    if config.stash.get(RUN, None) is not None:
        return
    for item in items:
        if _needs_lab(item):
            raise pytest.UsageError(
                f"{item.nodeid} needs a lab: --testbed FILE (and --dry-run for a simulated one)"
            )


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """A cancelled job (SIGTERM) or a dropped ssh (SIGHUP) restores and reports, like Ctrl-C."""
    if session.config.stash.get(RUN, None) is not None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _interrupt)
    return (yield)


def _interrupt(number: int, _: object) -> None:
    for later in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(later, signal.SIG_IGN)  # the restore is not to be interrupted again
    raise KeyboardInterrupt(f"signal {signal.Signals(number).name}")


def _needs_lab(item: pytest.Item) -> bool:
    """Whether it asks for a fixture of ours, not one of its own with the same name."""
    found = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return any(found[n][-1].func.__module__ == fixtures.__name__ for n in LAB_FIXTURES & set(found))
