"""What pytest gets from labtests: options, fixtures, markers, verdict labels, and the report.

Without `--testbed` it does nothing at all.
"""

import os
from contextlib import ExitStack

import pytest

from labtests.core.errors import InventoryError, WrongOption
from labtests.core.private_files import NotPrivate
from labtests.core.signals import as_ctrl_c
from labtests.experiment import Incast
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.pytest_plugin.fixtures import incast, lab, needs_lab, required, ring, testbed
from labtests.pytest_plugin.folder import reserve_reports
from labtests.pytest_plugin.options import (
    MARKERS,
    add_options,
    asked_testbed,
    expect_possible,
    known_testbeds,
    only_lists,
)
from labtests.pytest_plugin.outcomes import Labels
from labtests.pytest_plugin.run import RUN, Run

PRIVATE_UMASK = 0o077

__all__ = ["Incast", "Lab", "Testbed", "incast", "lab", "required", "ring", "testbed"]


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """`pytest --help` shows them under "labtests"."""
    add_options(parser, pluginmanager)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read the testbed file and open the run folder, before the reporters look for their paths."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    path = asked_testbed(config)
    if path is None:
        return
    try:
        reserve_reports(config)  # a listing writes them, too
    except NotPrivate as error:
        raise pytest.UsageError(str(error)) from None
    if only_lists(config):
        return
    expect_possible(config)
    _keep_private(config)
    try:
        run = Run.begin(config)
    except (InventoryError, NotPrivate, WrongOption) as error:
        known = "" if path.exists() else f"\ntestbeds/ has: {known_testbeds(config) or 'no file'}"
        raise pytest.UsageError(f"{error}{known}") from None
    config.stash[RUN] = run
    config.pluginmanager.register(Labels(run), "labtests-labels")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that needs a lab needs to know which one, and has the time that its phases take."""
    run = config.stash.get(RUN, None)
    for item in filter(needs_lab, items):
        if run is not None:
            _give_time(item, run.asked.test_limit_s(run.lab))
        elif not only_lists(config):
            raise pytest.UsageError(
                f"{item.nodeid} needs a lab: --testbed FILE (and --dry-run for a simulated one), "
                "or --labtests-testbed FILE where that name is somebody else's; "
                f"testbeds/ has: {known_testbeds(config) or 'no file'}"
            )
    if run is not None:
        _expect_own_names(items, config)


def _expect_own_names(items: list[pytest.Item], config: pytest.Config) -> None:
    """What a test has found is kept under its id: of two with the same, one would be lost. Pytest
    gives files outside of its rootdir none of their own."""
    first: dict[str, pytest.Item] = {}
    for item in items:
        other = first.setdefault(item.nodeid, item)
        if other is not item:
            raise pytest.UsageError(
                f"two tests have the id {item.nodeid}: in {other.path} and in {item.path} "
                f"(pytest's rootdir is {config.rootpath})\n"
                "  remedy: --rootdir FOLDER, a folder that both are in; and name no test twice"
            )


def pytest_sessionstart(session: pytest.Session) -> None:
    """A cancelled job (SIGTERM) or a dropped ssh (SIGHUP) restores and reports, like Ctrl-C."""
    if session.config.stash.get(RUN, None) is not None:
        handlers = ExitStack()
        handlers.enter_context(as_ctrl_c())
        session.config.add_cleanup(handlers.close)


def _give_time(item: pytest.Item, limit_s: float) -> None:
    """pytest-timeout's limit is for tests of this project; a lab takes longer the longer it is
    asked to send. A limit that somebody asks for holds."""
    asked = item.config.getoption("timeout", None) is not None or item.get_closest_marker("timeout")
    if item.config.pluginmanager.hasplugin("timeout") and not asked:
        item.add_marker(pytest.mark.timeout(limit_s))


def _keep_private(config: pytest.Config) -> None:
    """Also what other plugins write into the run folder (JUnit, the HTML page) is the owner's."""
    earlier = os.umask(PRIVATE_UMASK)

    def back() -> None:
        os.umask(earlier)

    config.add_cleanup(back)
