"""Options, files and boxes that are not as they should be; and pytest's own options, which work."""

import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from story_lab import SOFT_ROCE, TESTBED_FILE, Bench
from story_runs import TESTBED, Run, Started, project, run

from labtests.cli.new import skeleton

DRY = ("--testbed", TESTBED, "--dry-run")
PFC = "test_pfc_holds_a_udp_incast_without_loss"

QUICK = """
def test_one(lab):
    assert lab.backend == "hardware"

def test_two(lab):
    assert lab.backend == "simulated"

def test_three(lab):
    assert lab.backend == "hardware"
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A project with a suite that asks for a lab and is done at once."""
    folder = project(tmp_path / "project")
    (folder / "suites" / "test_quick.py").write_text(QUICK)
    return folder


def expect_usage_error(ended: Run, *words: str) -> None:
    assert ended.exit_code == 4, ended.terminal
    for expected in words:
        assert expected in ended.terminal
    assert "Traceback" not in ended.terminal
    assert "INTERNALERROR" not in ended.terminal


# -- what is shown -------------------------------------------------------------------------------


def test_help_shows_every_option_with_its_variable_and_leaves_nothing(here):
    said = run(here, "--help", *DRY).terminal
    shown = said.partition("labtests: a lossless-Ethernet lab:")[2]
    for option in ("--testbed", "--inventory", "--dry-run", "--plan", "--no-controls", "--run-dir",
                   "--seed", "--lab-seconds", "--soak", "--hardware-pace", "LABTESTS_TESTBED",
                   "LABTESTS_RUN_DIR"):  # fmt: skip
        assert option in shown
    assert not (here / "reports").exists()


def test_markers_and_collection_need_no_lab(here):
    said = run(here, "--markers").terminal
    assert "@pytest.mark.requires(*settings, hosts=(), switches=()): capabilities " in said
    collected = run(here, "suites", "--collect-only", "-q")
    assert collected.exit_code == 0
    assert f"suites/test_s1_pfc.py::{PFC}" in collected.terminal
    planned = run(here, "suites", "--setup-plan", *DRY)
    assert planned.exit_code == 0
    assert "SETUP    S lab" in planned.terminal
    assert not (here / "reports").exists()


# -- what is asked wrongly -----------------------------------------------------------------------


def test_without_a_testbed_the_error_says_what_to_give(here):
    ended = run(here, "suites")
    expect_usage_error(
        ended, "needs a lab: --testbed FILE (and --dry-run for a simulated one)", "incast-5to1"
    )


def test_a_test_outside_of_the_rootdir_is_no_other_one(here, tmp_path):
    """pytest gives those ids without a file: of two, the one that was red was told as passed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, does in (("a", "assert False"), ("b", "pass")):
        (outside / f"test_{name}.py").write_text(f"def test_same(testbed): {does}\n")
    files, dry = [str(outside / f"test_{name}.py") for name in "ab"], (*DRY, "--rootdir", ".")
    expect_usage_error(run(here, *files, *dry), "two tests have the id ::test_same", "--rootdir")
    alone = run(here, files[0], *dry)
    assert alone.exit_code == 1
    assert f"-m pytest {files[0]}::test_same --testbed" in alone.json["tests"][0]["rerun"]


def test_every_mistake_of_a_testbed_file_is_shown_at_once(here):
    wrong = here / "wrong.yaml"
    wrong.write_text("name: x\nname: y\ndevics: {}\n")
    ended = run(here, "suites", "--testbed", "wrong.yaml", "--dry-run")
    expect_usage_error(
        ended,
        "wrong.yaml:1:1: devices: is missing",
        "wrong.yaml:2:1: name: key given twice",
        "wrong.yaml:3:1: devics: unknown key",
    )
    assert not (here / "reports").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--testbed", "nosuch"), "testbeds/ has: cumulus-cx5, h3c-dot1p"),
        ((*DRY, "--fault", "{bad"), "--fault {bad: give a JSON object (Expecting property name"),
        (
            (*DRY, "--fault", "one-frame-is-lost"),
            "is run by: labtests faults run one-frame-is-lost",
        ),
        ((*DRY, "--fault", '{"kind": "nope", "device": "ServerA"}'), "none of dead-counter, "),
        ((*DRY, "--fault", '{"kind": "lldpad"}'), '--fault: "device" is missing (one of ServerA, '),
        ((*DRY, "--fault", '{"device": "S6550"}'), '--fault: "kind" is missing (one of dead-'),
        (
            (*DRY, "--fault", '{"kind": "freeze", "device": "S6550", "seconds": 1}'),
            "'freeze' applies to hosts only; S6550 is a switch",
        ),
        ((*DRY, "--fault", '{"kind": "mtu", "device": "ServerA", "port": "a"}'), 'needs "bytes"'),
        (
            (*DRY, "--fault", '{"kind": "rdma-down", "device": "ServerA", "port": "eth7"}'),
            "ServerA has no port 'eth7' (one of enp3s0f0np0",
        ),
        ((*DRY, "--tolerate", "nonsense"), "no check is called 'nonsense'; there are: reachable"),
        ((*DRY, "--tolerate", ""), "no check is called ''; there are: reachable"),
        ((*DRY, "--seed", "-1"), "--seed -1: give 0 to 2147483648"),
        (("--testbed", TESTBED, "--seed", "3"), "--seed is for a simulated lab: give --dry-run"),
        ((*DRY, "--fault", "[]"), "--fault []: give a JSON object"),
        ((*DRY, "--lab-seconds", "1"), "--lab-seconds 1: give 5 to 3600"),
        ((*DRY, "--soak", "8 hours"), "--soak 8 hours: give 10s to 7d, such as 90s, 30m or 8h"),
        ((*DRY, "--soak", "9s"), "--soak 9s: give 10s to 7d"),
        ((*DRY, "--stream-metrics", "99999"), "--stream-metrics 99999: give a port, 1 to 65535"),
        ((*DRY, "--run-dir", "/proc/nope"), "/proc/nope: cannot create the run folder"),
        ((*DRY, "--run-dir", "earlier"), "earlier holds an earlier run; give another --run-dir"),
    ],
)
def test_a_value_that_no_run_can_have_is_refused(here, options, words):
    (here / "earlier").mkdir()
    (here / "earlier" / "journal.jsonl").write_text("precious\n")
    expect_usage_error(run(here, "suites", *options), words)
    assert not (here / "reports").exists()
    assert (here / "earlier" / "journal.jsonl").read_text() == "precious\n"


# -- pytest's own options ------------------------------------------------------------------------


def test_stopping_early_and_running_the_failed_again_work(here):
    """Begun anew: what the tests fork keeps no cache of what failed."""
    first = Started(here, "suites/test_quick.py", *DRY, "-x").ended()
    assert first.exit_code == 1
    assert "1 failed in " in first.terminal
    assert [t["outcome"] for t in first.json["tests"]] == ["fail"]
    assert [n.rpartition("::")[2] for n in first.json["not_run"]] == ["test_two", "test_three"]
    again = Started(here, "suites/test_quick.py", *DRY, "--lf", "--maxfail=2", "-ra").ended()
    assert [t["id"].rpartition("::")[2] for t in again.json["tests"]] == ["test_one"]
    assert again.folder != first.folder
    assert len(list((here / "reports" / TESTBED).iterdir())) == 2


def test_the_environment_names_testbed_and_run_folder_and_plugins_may_be_off(here):
    ended = run(
        here,
        *("suites", "--dry-run", "-k", "test_two or nothing_else"),
        *("-p", "no:html", "-p", "no:junitxml", "-p", "no:timeout"),
        LABTESTS_TESTBED=TESTBED,
        LABTESTS_RUN_DIR="elsewhere/mine",
    )
    assert ended.exit_code == 0, ended.terminal
    folder = here / "elsewhere" / "mine"
    assert ended.folder == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "<title>" in (folder / "report.html").read_text()  # labtests' own page
    assert not (folder / "junit.xml").exists()
    assert "report: elsewhere/mine/report.html" in ended.terminal


def test_a_lab_test_has_the_time_its_phases_need_and_not_that_of_unit_tests(here):
    """Opening the lab alone takes longer than the limit."""
    only = ("suites/test_quick.py", "-k", "test_two", *DRY)
    assert run(here, *only, "-o", "timeout=0.4").exit_code == 0
    asked = run(here, *only, "--timeout=0.4")
    assert asked.exit_code == 1
    assert asked.test("two")["outcome"] == "error"
    assert "Timeout" in asked.test("two")["error"]


def test_tests_without_a_lab_are_not_disturbed(here):
    own = """
import pytest

@pytest.fixture
def lab():
    return "a lab of its own"

def test_fine(lab):
    assert lab == "a lab of its own"

def test_red():
    assert 1 == 2
"""
    (here / "tests" / "test_own.py").write_text(own)
    ended = run(here, "tests")
    assert ended.exit_code == 1
    assert "1 failed, 1 passed in " in ended.terminal
    assert "labtests:" not in ended.terminal
    assert not (here / "reports").exists()


# -- boxes that are not as they should be --------------------------------------------------------


def elsewhere(folder: Path, bench: Bench | None = None) -> Path:
    """The testbed, with management addresses where nobody listens, or in the lab of a bench."""
    tree = yaml.safe_load(TESTBED_FILE.read_text())
    for port, (name, device) in enumerate(tree["devices"].items(), start=1):
        device["management"] = {"host": "127.0.0.1", "port": port, "ssh_config": False}
        if bench is not None:
            address = bench.simulated.devices[name]
            keys = bench.simulated.directory
            device["management"] |= {"port": address["port"], "user": address["user"],
                                     "key_file": str(keys / "id_ed25519"),
                                     "known_hosts": str(keys / "known_hosts")}  # fmt: skip
    file = folder / "testbeds" / "elsewhere.yaml"
    file.write_text(yaml.safe_dump(tree))
    return file


def test_boxes_that_do_not_answer_end_the_run_with_15(here):
    elsewhere(here)
    ended = run(here, "suites", "--testbed", "elsewhere")
    assert ended.exit_code == 15, ended.terminal
    assert "lab unreachable: 4 of 4 devices cannot be used" in ended.terminal
    for name in ("ServerA", "ServerB", "ServerC", "S6550"):
        assert f"\n{name}: 'ssh -p " in ended.terminal
    assert "Traceback" not in ended.terminal
    assert f"run folder: {ended.folder}" in ended.terminal
    recorded = ended.json
    assert (recorded["backend"], recorded["exit_code"]) == ("hardware", 15)
    assert recorded["problem"].startswith("lab unreachable: ")
    assert [t["outcome"] for t in recorded["tests"]] == ["error"]
    assert len(recorded["not_run"]) > 5
    assert recorded["tests"][0]["id"] not in recorded["not_run"]
    assert "lab unreachable" in (ended.folder / "report.html").read_text()
    (suite,) = ET.parse(ended.folder / "junit.xml").getroot().findall("testsuite")
    cases = suite.findall("testcase")
    assert len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases)
    assert len(cases) == 1 + len(recorded["not_run"]) == int(suite.get("tests"))
    assert all("lab unreachable: 4 of 4" in ET.tostring(case, "unicode") for case in cases)
    assert [case.find("properties/property[@name='backend']").get("value") for case in cases] == [
        "hardware"
    ] * len(cases)


def test_lldpad_makes_a_lab_not_usable_which_is_10(here, bench):
    bench.simulated.fault(kind="lldpad", device="ServerB")
    elsewhere(here, bench)
    ended = run(here, "suites", "--testbed", "elsewhere")
    assert ended.exit_code == 10, ended.terminal
    assert "lab not usable: ServerB: obstacles: lldpad" in ended.terminal
    assert ended.json["problem"].startswith("lab not usable: ServerB: obstacles: lldpad")
    assert ended.json["exit_code"] == 10
    assert "Traceback" not in ended.terminal


CUT = """
import time
from pathlib import Path
from labtests.inventory import Endpoint
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.transport.commands import program

def test_cut_off(incast):
    on = PfcSetting(mode="on", priorities=frozenset({3}))
    incast.set(Endpoint(device="ServerA", interface="enp3s0f0np0"), PFC, on)
    print("ready")
    while not Path("cut").exists():
        time.sleep(0.01)
    incast.lab.transports["ServerB"].run(program("true"))

def test_that_comes_later(incast):
    assert incast.senders
"""


def test_a_box_that_is_lost_in_mid_run_ends_the_session_with_15_and_restores_the_others(
    here, bench
):
    found = bench.settings()
    (here / "suites" / "test_cut.py").write_text(CUT)
    elsewhere(here, bench)
    started = Started(here, "suites/test_cut.py", "--testbed", "elsewhere", "-s")
    started.wait_for("ready")
    assert bench.settings() != found
    bench.simulated.fault(kind="cut", device="ServerB")
    (here / "cut").touch()
    ended = started.ended()
    assert ended.exit_code == 15, ended.terminal
    assert "ServerB: 'true': the SSH session with 127.0.0.1" in ended.terminal
    assert [t["outcome"] for t in ended.json["tests"]] == ["error"]
    assert [n.rpartition("::")[2] for n in ended.json["not_run"]] == ["test_that_comes_later"]
    assert ended.json["backend"] == "simulated"  # by the devices' own account
    others = bench.settings(but="ServerB")
    assert others == {name: text for name, text in found.items() if name in others}


def test_a_suite_for_another_kind_of_lab_is_skipped_with_the_reason(here):
    ended = run(here, SOFT_ROCE, *DRY)
    assert ended.exit_code == 0
    assert [t["outcome"] for t in ended.json["tests"]] == ["skipped"]
    assert "its RDMA devices are not soft-RoCE" in ended.terminal
    assert "PASS" not in ended.terminal


def test_a_value_that_only_the_lab_can_judge_is_a_wrong_option_too(here):
    fault = '{"kind": "cpu-limit", "device": "ServerA", "share": 7}'
    ended = run(here, "suites/test_quick.py", *DRY, "--fault", fault)
    expect_usage_error(ended, "wrong option: --fault: ", "a share is between 0 and 1")


def test_the_suite_with_a_verdict_of_the_docs_runs_where_they_say(here):
    (here / "suites" / "test_half_load.py").write_text(skeleton("half_load"))
    ended = run(here, "suites/test_half_load.py", *DRY)
    assert ended.exit_code == 0, ended.terminal
    asked = [(each["role"], each["question"]) for each in ended.test("half_load")["verdicts"]]
    assert asked == [
        ("control", "Was this load carried without loss?"),
        ("main", "Did hosts and cables do their part?"),
        ("main", "Was this load carried without loss?"),
    ]
    assert "PASS          At 60 % of line rate no queue drops a packet." in ended.terminal


def test_where_nothing_ran_no_verdicts_are_announced(here):
    ended = run(here, "suites/test_quick.py", "-k", "nothing_matches", *DRY)
    assert ended.exit_code == 5
    assert "verdicts (" not in ended.terminal
    assert "run folder: " in ended.terminal
