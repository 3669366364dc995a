"""Ctrl-C and a cancelled job: the lab is put back, everything is reported, nothing is left."""

import json
import signal
import xml.etree.ElementTree as ET

import pytest
from story_runs import TESTBED, Run, Started, alive, descendants, project, run

THREE = ("s1_pfc", "s2_dcqcn", "s3_reaction_point")
DRY = (*(f"suites/test_{name}.py" for name in THREE), "--testbed", TESTBED, "--dry-run")


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_a_signal_in_mid_traffic_restores_reports_and_leaves(tmp_path, number, word):
    started = Started(tmp_path / "project", *DRY)
    started.wait_for("experiment 'PFC on': traffic")
    helpers = descendants(started.pid)
    assert len([a for a in helpers.values() if "labtests simlab serve" in a]) == 1
    started.interrupt(number)
    run = started.ended()
    assert run.exit_code == 2, run.terminal
    assert not [pid for pid in helpers if alive(pid)]
    reported_as_cut_off(run, f"interrupted by {word}")
    put_back(run)


def reported_as_cut_off(run: Run, why: str) -> None:
    recorded = run.json
    assert (recorded["exit_code"], recorded["problem"]) == (2, why)
    assert [(t["outcome"], t["error"]) for t in recorded["tests"]] == [("error", why)]
    assert [len(t["phases"]) for t in recorded["tests"]] == [1]  # the control was over
    assert [nodeid.rpartition("::")[2] for nodeid in recorded["not_run"]] == [
        "test_dcqcn_slows_an_rdma_incast_without_loss",
        "test_a_sender_without_reaction_point_drops_in_its_own_queue_only",
    ]
    suite = ET.parse(run.folder / "junit.xml").getroot().find("testsuite")
    assert [suite.get(n) for n in ("tests", "failures", "skipped")] == ["3", "1", "2"]
    assert [skipped.get("message") for skipped in suite.iter("skipped")] == [f"not run: {why}"] * 2
    (failure,) = suite.iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("error", why)
    page = (run.folder / "report.html").read_text()
    assert why in page
    assert "1 ERROR" in page
    assert " passed" not in run.terminal.splitlines()[-1]
    assert "1 error in " in run.terminal
    assert "Traceback" not in run.terminal
    assert f"run folder: {run.folder}" in run.terminal


def put_back(run: Run) -> None:
    """Each setting's last change leads back to what it was; the tools were ended before."""
    ended, first, last = set(), {}, {}
    for line in run.journal:
        if line["kind"] == "start":
            ended.add(line["process"])
        elif line["kind"] == "signal" and line["signal"] == "close":
            ended.discard(line["process"])
        elif line["kind"] == "note" and line["text"].startswith(("change ", "undo ")):
            assert not line["text"].startswith("undo ") or not ended
            what, _, values = line["text"].partition(": from ")
            earlier, _, wanted = values.partition(" to ")
            setting = what.partition(" ")[2]
            first.setdefault(setting, earlier)
            last[setting] = wanted
    assert not ended
    assert len(first) >= 7
    assert first == last


def test_a_second_kind_of_signal_does_not_stop_the_putting_back(tmp_path):
    """CI systems send INT and, soon after, TERM."""
    started = Started(tmp_path / "project", *DRY)
    started.wait_for("control 'PFC off at the switch': traffic")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
        started.interrupt(number)
    run = started.ended()
    assert run.exit_code == 2, run.terminal
    assert run.json["problem"].startswith("interrupted by ")
    put_back(run)


def test_a_ctrl_c_while_the_lab_is_being_opened_leaves_no_process(tmp_path):
    started = Started(tmp_path / "project", *DRY)
    started.wait_for("suites/test_s1_pfc.py")
    helpers = {}
    while not helpers:
        helpers = descendants(started.pid)
    started.interrupt(signal.SIGINT)
    run = started.ended()
    assert run.exit_code == 2, run.terminal
    assert not [pid for pid in helpers if alive(pid)]
    assert json.loads((run.folder / "run.json").read_text())["tests"][0]["outcome"] == "error"


SUITE = """
import os, signal
from labtests.pytest_plugin.outcomes import Labels
from labtests.pytest_plugin.run import Run

def signalled_in(hook):
    def hooked(self, *args):
        os.kill(os.getpid(), signal.SIGTERM)
        return hook(self, *args)
    return hooked

def test_a(): pass

def test_b(): pass

owner = next(each for each in (Labels, Run) if hasattr(each, os.environ["PLACE"]))
setattr(owner, os.environ["PLACE"], signalled_in(getattr(owner, os.environ["PLACE"])))
"""


@pytest.mark.parametrize(
    ("place", "code", "outcomes"),
    [
        ("_add_evidence", 2, ["pass"]),
        ("body", 0, ["pass", "pass"]),
        ("_finish", 0, ["pass", "pass"]),
        ("_enter", 0, ["pass", "pass"]),
    ],
)
def test_a_signal_while_it_is_told_ends_no_report(tmp_path, place, code, outcomes):
    """What a test has found is kept, and all files are there: there is nothing to put back."""
    (project(tmp_path / "project") / "suites" / "test_told.py").write_text(SUITE)
    words = ("suites/test_told.py", "--testbed", TESTBED, "--dry-run")
    ended = run(tmp_path / "project", *words, PLACE=place)
    assert ended.exit_code == code, ended.terminal
    assert "Traceback" not in ended.terminal
    assert [test["outcome"] for test in ended.json["tests"]] == outcomes
    assert ended.json["problem"] == ("interrupted by SIGTERM" if code else "")
    assert {"report.html", "junit.xml", "journal.jsonl.gz"} <= {
        file.name for file in ended.folder.iterdir()
    }
    assert (ended.project / "reports" / "history.sqlite").exists()


TWICE = """
import os, signal
import pytest

def test_a():
    os.kill(os.getpid(), signal.SIGINT)

told = pytest.ExceptionInfo.getrepr

def told_while_it_comes_again(*args, **more):
    os.kill(os.getpid(), signal.SIGINT)
    return told(*args, **more)

pytest.ExceptionInfo.getrepr = told_while_it_comes_again
"""


def test_a_second_ctrl_c_while_pytest_words_the_first_ends_no_report(tmp_path):
    (project(tmp_path / "project") / "suites" / "test_told.py").write_text(TWICE)
    words = ("suites/test_told.py", "--testbed", TESTBED, "--dry-run")
    ended = run(tmp_path / "project", *words)
    assert ended.exit_code == 2, ended.terminal
    assert "Traceback" not in ended.terminal
    assert ended.json["problem"] == "interrupted by Ctrl-C"
