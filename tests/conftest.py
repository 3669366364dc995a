"""For every test: an example of hypothesis is not red because somebody else uses the machine, what
one test has used as a password is not hidden in the output of the next, and several processes
(`make test`, pytest-xdist) share the files of tests, the longest first; of the tests that run whole
labs or take long some are drawn, anew for each commit, and begun until the time for them is over.
"""

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

ALIKE = dict.fromkeys(
    ("test_story_labels", "test_story_plan", "test_story_whole_run"), "story of whole runs"
) | dict.fromkeys(
    ("test_class_names", "test_cut_texts", "test_leases_links_and_nesting", "test_one_door"),
    "all of the code",
)
"""Files that look at the same runs, or at the same trees: what is made once a process."""

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

TAKE_LONG = frozenset(
    {
        "test_a_case_of_more_than_a_mebibyte_is_read",
        "test_a_chance_below_one_in_a_million_is_not_rounded_up",
        "test_a_remedy_that_the_packet_network_refutes_is_withdrawn",
        "test_a_run_tells_what_was_not_met",
        "test_a_value_becomes_the_intended_commands_or_none",
        "test_another_seed_gives_other_figures_and_the_same_verdicts",
        "test_another_user_reads_no_file_and_reaches_no_socket_of_a_served_lab",
        "test_any_value_in_any_place_gives_a_page",
        "test_at_any_moment_every_packet_is_somewhere_and_the_memory_adds_up",
        "test_bash_completes_commands",
        "test_ctrl_c_keeps_the_seeds_that_are_done",
        "test_ctrl_c_shows_what_came_out_so_far",
        "test_every_answer_is_read_or_refused_with_a_sentence",
        "test_every_case_is_there_once_and_none_is_forged",
        "test_every_packet_is_delivered_or_dropped_and_counted_once",
        "test_every_pattern_is_a_case_that_can_run",
        "test_every_picture_agrees_with_its_closed_forms",
        "test_interpreted_and_compiled_pauses_agree",
        "test_interpreted_and_compiled_runs_agree_to_the_last_bit",
        "test_names_of_many_tests_take_no_longer_each",
        "test_netmiko_configures_pfc_and_wred",
        "test_no_pattern_stands_still_over_a_text",
        "test_no_row_ends_a_command_in_a_traceback",
        "test_no_value_anywhere_crashes_the_reader_or_the_network",
        "test_processes_that_validate_run_no_module_of_the_current_directory",
        "test_prometheus_is_answered_until_a_signal",
        "test_seeds_run_on_processes_and_give_the_same_figures",
        "test_several_runners_enter_at_once",
        "test_silence_changes_nothing_at_any_moment",
        "test_ten_times_the_flows_are_ten_times_the_work",
        "test_the_books_are_kept_and_all_comes_to_rest",
        "test_the_documented_cases_are_the_files_and_run",
        "test_the_figures_do_not_depend_on_the_number_of_processes",
        "test_the_gate_keeps_results_and_goes_on_where_it_was",
        "test_the_network_stands_by_itself",
        "test_the_same_seed_gives_the_same_run_to_the_last_packet",
        "test_two_real_dry_runs",
        "test_two_writers_of_numba_s_cache_leave_code_of_other_types_behind",
        "test_what_they_run_runs_from_end_to_end",
        "test_with_headroom_by_the_bound_nothing_lossless_is_dropped_and_all_stays_in_order",
    }
)
"""Tests that take ten seconds of a CPU and more, of files that are always run."""

ON_EACH_PLATFORM = re.compile(
    r"test_suites_pass_with_their_controls_red_and_all_is_put_back"
    r"\[(s1 |s2 |as inst|ecn|watchd|roce)"
)
"""S1-S3 and a platform's own suites, which are always run."""

ONE_IN = (
    dict.fromkeys(RUN_WHOLE_LABS, 30)
    | dict.fromkeys(RUN_WHOLE_PROGRAMS, 6)
    | dict.fromkeys(TAKE_LONG, 6)
)
"""Of so many tests, of a file or of this name, one is drawn; faults and healthy labs have draws of
their own."""

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
    drawn = "1 in 30 of the tests that run whole labs, 1 in 6 of those that run whole programs"
    return (
        f"{drawn} or take long, faults and healthy labs: --draw {seed_of(config)}; "
        "all of them: --whole, make faults, make healthy"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if _is_drawn(item) and time.monotonic() > item.config.stash[ENDS_S]:
        pytest.skip(f"left out: {item.config.getoption('--within'):g} minutes were over (--within)")


def _one_in(item: pytest.Item) -> int:
    """Of so many commits one runs it."""
    if ON_EACH_PLATFORM.match(item.name):
        return 1
    of_all = ONE_IN.get(item.name.partition("[")[0], 1)
    return max(ONE_IN.get(item.path.stem, 1), of_all)


def _is_drawn(item: pytest.Item) -> bool:
    return _one_in(item) > 1


def _wins(seed: str, item: pytest.Item) -> bool:
    number = hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest()[0]
    return number % _one_in(item) == 0


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
        together = ALIKE.get(item.path.stem, together)
        item.add_marker(pytest.mark.xdist_group(together))
