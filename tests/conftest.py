"""For every test: an example of hypothesis is not red because somebody else uses the machine, what
one test has used as a password is not hidden in the output of the next, and several processes
(`make test`, pytest-xdist) share the files of tests, the longest first; of the tests that run whole
labs some are drawn, anew for each commit, and begun until the time for them is over."""

import hashlib
import math
import re
import time

import fast_starts
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
        "test_killed_in_roce_mode",
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

RUN_WHOLE_PROGRAMS = frozenset(
    {
        "test_apply_obstacles",
        "test_check_command",
        "test_check_goes_red",
        "test_labtests_at_the_door",
        "test_lease_races",
        "test_links_of_strangers",
        "test_linuxlab_faults",
        "test_linuxlab_sudo",
        "test_network_agreement",
        "test_network_workloads",
        "test_profile_in_force",
        "test_profile_served",
        "test_proof",
        "test_rough_handling",
        "test_settings_of_strangers",
        "test_simlab_process",
        "test_story_streams",
        "test_study_sweeps",
        "test_suite_connection",
        "test_switches_by_hand",
        "test_ways_to_devices",
        "test_wheel",
    }
)
"""Files of which each test takes seconds: labtests as a user starts it, or a lab that is served."""

ON_EACH_PLATFORM = re.compile(
    r"test_suites_pass_with_their_controls_red_and_all_is_put_back"
    r"\[(s1 |s2 |as inst|ecn|watchd|roce)"
)
"""S1-S3 and a platform's own suites, which are always run."""

ONE_IN = dict.fromkeys(RUN_WHOLE_LABS, 30) | dict.fromkeys(RUN_WHOLE_PROGRAMS, 3)
"""So many tests of a file are one that is drawn; faults and healthy labs are drawn beside them."""

ENDS_S = pytest.StashKey[float]()
"""When the time for tests that were drawn is over, in seconds of time.monotonic()."""

settings.register_profile("labtests", deadline=None)
settings.load_profile("labtests")


@pytest.fixture(autouse=True)
def _no_password_used_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labtests.core.output, "_used", set())


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labtests' own tests")
    group.addoption("--whole", action="store_true", help="all tests, none is left to the draw")
    group.addoption("--draw", metavar="SEED", help="instead of the commit's name")
    group.addoption(
        "--within",
        metavar="MINUTES",
        type=float,
        default=math.inf,
        help="drawn tests begin until then; those that cannot are told as left out",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before xdist starts its processes."""
    if getattr(session.config.option, "numprocesses", None):
        fast_starts.share()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ENDS_S] = time.monotonic() + 60 * config.getoption("--within")


def pytest_report_header(config: pytest.Config) -> str:
    if config.getoption("--whole"):
        return "all tests, those that run whole labs too"
    drawn = "1 in 30 of the tests that run whole labs, 1 in 3 of those that run whole programs"
    return (
        f"{drawn}, faults and healthy labs: --draw {seed_of(config)}; "
        "all of them: --whole, make faults, make healthy"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if _is_drawn(item) and time.monotonic() > item.config.stash[ENDS_S]:
        pytest.skip(f"left out: {item.config.getoption('--within'):g} minutes were over (--within)")


def _is_drawn(item: pytest.Item) -> bool:
    """Whether some commits go without it."""
    return item.path.stem in ONE_IN and not ON_EACH_PLATFORM.match(item.name)


def _wins(seed: str, item: pytest.Item) -> bool:
    number = hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest()[0]
    return not _is_drawn(item) or number % ONE_IN[item.path.stem] == 0


def _left_out(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    """Of many files, those that lost the draw; whoever asks for one file means all of it."""
    if config.getoption("--whole") or len({item.path for item in items}) == 1:
        return []
    seed = seed_of(config)
    return [item for item in items if not _wins(seed, item)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One process runs a file, whose fixtures are its own; long rooms do not begin last."""
    if left_out := _left_out(config, items):
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    order = {room: number for number, room in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: (_is_drawn(item), order.get(item.path.parent.name, len(order))))
    for item in items:
        room = item.path.parent.name
        together = room if room in ONE_PROCESS else f"{room}/{item.path.stem}"
        together = WHOLE_RUNS.get(item.path.stem, together)
        item.add_marker(pytest.mark.xdist_group(together))
