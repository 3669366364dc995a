"""For every test: an example of hypothesis is not red because somebody else uses the machine, what
one test has used as a password is not hidden in the output of the next, and several processes
(`make test`, pytest-xdist) share the files of tests, the longest first; of the tests that run whole
labs some are drawn, anew for each commit."""

import hashlib

import pytest
from drawing import seed_of
from hypothesis import settings

import labtests.core.output

LONGEST_FIRST = (
    "linuxlab",
    "story",
    "recovery",
    "endtoend",
    "cases",
    "faults",
    "lease",
    "snapshot",
)
ONE_PROCESS = frozenset({"linuxlab"})
"""Rooms of which no two files run at once: real traffic needs the machine's CPUs."""

WHOLE_RUNS = dict.fromkeys(
    ("test_story_labels", "test_story_plan", "test_story_whole_run"), "story of whole runs"
)
"""Files that look at the same runs, each of which is made once a process."""

RUN_WHOLE_LABS = frozenset(
    {
        "test_background_noise",
        "test_breaking",
        "test_breaking_platforms",
        "test_dcbx",
        "test_drawn_mutations",
        "test_dry_run",
        "test_ended_restore",
        "test_every_sender",
        "test_kept_apply",
        "test_killed_runner",
        "test_lease_by_hand",
        "test_network_references",
        "test_restore_snapshot",
        "test_scenarios",
        "test_nexus",
        "test_ring",
        "test_cumulus",
        "test_dot1p",
        "test_onyx",
        "test_sonic",
        "test_story_honesty",
        "test_story_options",
        "test_story_restoring",
        "test_story_sent",
        "test_story_signals",
        "test_study_cluster",
        "test_study_tuning",
        "test_three_vendors",
        "test_two_switches",
        "test_watched_labs",
        "test_wheel_dry_run",
    }
)
"""Files of which each test takes many seconds."""

ONE_IN = 30  # of them; six faults and six healthy labs are drawn beside them

settings.register_profile("labtests", deadline=None)
settings.load_profile("labtests")


@pytest.fixture(autouse=True)
def _no_password_used_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labtests.core.output, "_used", set())


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labtests' own tests")
    group.addoption("--whole", action="store_true", help="all tests, none is left to the draw")
    group.addoption("--draw", metavar="SEED", help="instead of the commit's name")


def pytest_report_header(config: pytest.Config) -> str:
    if config.getoption("--whole"):
        return "all tests that run whole labs"
    seed = seed_of(config)
    drawn = f"1 in {ONE_IN} of the tests that run whole labs, six faults and six healthy labs"
    return f"{drawn}: --draw {seed}; all of them: --whole, make faults, make healthy"


def _drawn(seed: str, item: pytest.Item) -> bool:
    return hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest()[0] % ONE_IN == 0


def _left_out(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    """Of many files, those that lost the draw; whoever asks for one file means all of it."""
    if config.getoption("--whole") or len({item.path for item in items}) == 1:
        return []
    seed = seed_of(config)
    costly = [item for item in items if item.path.stem in RUN_WHOLE_LABS]
    return [item for item in costly if not _drawn(seed, item)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One process runs a file, whose fixtures are its own; long rooms do not begin last."""
    if left_out := _left_out(config, items):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    order = {room: number for number, room in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(item.path.parent.name, len(order)))
    for item in items:
        room = item.path.parent.name
        together = room if room in ONE_PROCESS else f"{room}/{item.path.stem}"
        together = WHOLE_RUNS.get(item.path.stem, together)
        item.add_marker(pytest.mark.xdist_group(together))
