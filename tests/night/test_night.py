"""A night runs everything, ends with the worst, leaves labs as found, and says what it left out."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import fast_starts
import pytest
from night_labs import LAB, OTHER, ROOT

from labtests.core.errors import LabError
from labtests.core.stem import SOCKET_ENV
from labtests.history.records import of_folder
from labtests.history.store import History
from labtests.night.command import NightRequest, night, sharded
from labtests.night.form import read_night
from labtests.night.telling import News


@pytest.fixture(autouse=True)
def _nothing_asked(monkeypatch):
    monkeypatch.delenv("LABTESTS_HISTORY", raising=False)
    monkeypatch.delenv("LABTESTS_NOTIFY", raising=False)


@pytest.fixture
def run(tmp_path):
    """The night of a file: its exit code, and what it said."""

    def go(file: Path, **more):
        said: list[str] = []
        asked = {"reports": tmp_path / "reports", "jobs": 0, "shard": "", "only_plan": False}
        code = night(NightRequest(file=str(file), **{**asked, **more}), said.append)
        return code, said

    return go


@pytest.mark.parametrize(
    ("codes", "worst"),
    [((0, 0), 0), ((0, 1), 1), ((1, 10), 10), ((10, 15), 15), ((15, 3), 3), ((0, 77), 77)],
)
def test_the_exit_code_is_that_of_the_worst_run(run, file, stand_ins, codes, worst):
    stand_ins(*({"code": code, "outcome": "pass" if not code else "fail"} for code in codes))
    code, said = run(file(LAB, OTHER))
    assert code == worst
    assert said[-1 - sum(map(bool, codes))].startswith(
        f"labtests, the labs: {codes.count(0)} of 2 runs green"
    )


def test_a_run_without_a_report_is_an_error(run, file, stand_ins, tmp_path):
    stand_ins({"code": 4})
    code, said = run(file(LAB))
    assert code == 4
    (log,) = (tmp_path / "reports" / "nights").iterdir()
    assert any("ERROR: exit code 4, and no run.json" in line for line in said)
    assert said[-1].endswith(f"ERROR, exit code 4; no report, but {log}")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGKILL, 137)])
def test_a_signal_of_the_night_changes_nothing_of_a_run_that_was_told(
    run, file, stand_ins, number, code
):
    """What ends the interpreter when all is written; who else kills a run has an answer to give."""
    stand_ins({"code": 0, "outcome": "pass", "dies_of": number})
    assert run(file(LAB))[0] == code


def test_the_pages_over_the_nights_are_written_when_they_are_there(run, file, stand_ins, tmp_path):
    site = tmp_path / "reports" / "site"
    site.mkdir(parents=True)
    stand_ins({"code": 0, "outcome": "pass"})
    code, _ = run(file(LAB))
    assert code == 0
    assert (site / "index.html").exists()


def test_a_run_that_ran_nothing_is_not_green(run, file, stand_ins):
    """`options: [--collect-only]`, or `--version`: pytest ends with 0."""
    stand_ins({"code": 0}, {"code": 0, "outcome": "skipped"})
    code, said = run(file(LAB, OTHER))
    assert code == 3
    assert any("ERROR: exit code 0, and nothing was run: " in line for line in said)
    assert "labtests, the labs: 0 of 2 runs green (exit code 3)" in said


def test_labs_run_side_by_side_and_one_lab_in_turns(run, file, stand_ins):
    stand_ins(*[{"seconds": 1.0, "outcome": "pass"}] * 3)
    began_s = time.monotonic()
    code, said = run(file(LAB, OTHER, LAB))
    assert code == 0
    turns = [line for line in said if line.startswith("h3c-s6550-cx4")]
    assert ["started" in line for line in turns] == [True, False, True, False]
    other = [place for place, line in enumerate(said) if line.startswith("incast-5to1")]
    first_end = said.index(turns[1])
    assert other[0] < first_end  # it had started before
    assert time.monotonic() - began_s >= 2.0


def test_what_the_budget_has_no_time_for_is_left_out_and_not_green(run, file, stand_ins, tmp_path):
    stand_ins({"outcome": "pass", "took": 600}, {"outcome": "pass"})
    assert run(file(LAB))[0] == 0
    (folder,) = (tmp_path / "reports" / "h3c-s6550-cx4").iterdir()
    with History.open(str(tmp_path / "reports" / "history.sqlite")) as history:
        history.enter(of_folder(folder))
    code, said = run(file(LAB, OTHER, more="budget_minutes: 5\n"))
    assert code == 5
    assert any("LEFT OUT: 10.0 min are expected, and 5.0 min of the budget left" in s for s in said)
    assert "1 of 2 runs green" in said[-2]


def test_runs_are_in_the_history_of_the_reports(run, file, stand_ins, tmp_path):
    stand_ins({"outcome": "pass"})
    run(file(LAB))
    (log,) = (tmp_path / "reports" / "nights").iterdir()
    assert log.read_text() == f"stand-in {tmp_path / 'reports' / 'history.sqlite'}\n"
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_night_goes_on_without_its_history(run, file, stand_ins, tmp_path, monkeypatch):
    (tmp_path / "notes").write_text("no database at all" * 100)
    monkeypatch.setenv("LABTESTS_HISTORY", str(tmp_path / "notes"))
    stand_ins({"outcome": "pass"})
    code, said = run(file(LAB))
    assert code == 0
    assert said[0].startswith("this night goes on without its history: ")
    assert "1 of 1 runs green" in said[-1]


@pytest.fixture
def signals():
    """These signals come to this process, so many seconds from now."""
    timers: list[threading.Timer] = []

    def come(*planned: tuple[float, signal.Signals]) -> None:
        for seconds, number in planned:
            timers.append(threading.Timer(seconds, os.kill, (os.getpid(), number)))
            timers[-1].start()

    yield come
    for timer in timers:
        timer.cancel()


def test_a_signal_ends_all_runs_and_waits_for_them(run, file, stand_ins, tmp_path, signals):
    stand_ins(*[{"seconds": 60, "outcome": "pass"}] * 3)
    signals((1.5, signal.SIGTERM))
    code, said = run(file(LAB, OTHER, LAB))
    assert code == 143
    assert any("SIGTERM: 2 runs are ended" in line for line in said)
    assert "labtests, the labs: 0 of 3 runs green (exit code 143)" in said
    assert sum("LEFT OUT: the night was ended" in line for line in said) == 1
    assert (tmp_path / "reports" / "h3c-s6550-cx4" / "put-back").exists()
    assert (tmp_path / "reports" / "incast-5to1" / "put-back").exists()


def test_a_second_signal_says_what_is_waited_for_and_waits(run, file, stand_ins, tmp_path, signals):
    stand_ins({"seconds": 60, "puts_back_s": 2.0})
    signals((1.0, signal.SIGINT), (2.2, signal.SIGINT))
    code, said = run(file(LAB))
    assert code == 130
    (told,) = [line for line in said if "still putting labs back: run 0 (process " in line]
    assert said[said.index(told) + 1] == "another signal leaves them to end by themselves"
    assert (tmp_path / "reports" / "h3c-s6550-cx4" / "put-back").exists()


def test_a_third_signal_leaves_runs_to_put_back_by_themselves(
    run, file, stand_ins, tmp_path, signals
):
    stand_ins({"seconds": 60, "puts_back_s": 12.0})  # the night ends before it, on a busy machine
    signals((0.8, signal.SIGINT), (1.9, signal.SIGTERM), (3.0, signal.SIGINT))
    began_s = time.monotonic()
    code, said = run(file(LAB))
    put_back = tmp_path / "reports" / "h3c-s6550-cx4" / "put-back"
    assert (code, put_back.exists()) == (130, False)
    assert any("is left to put the lab back by itself" in line for line in said)
    while not put_back.exists():  # it does
        assert time.monotonic() - began_s < 60
        time.sleep(0.05)


def test_a_full_disk_is_no_green_night(run, file, stand_ins, monkeypatch):
    stand_ins({"outcome": "pass"})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("labtests.night.running.open_private", full)
    code, said = run(file(LAB))
    assert code == 3
    assert any("ERROR: [Errno 28] No space left" in line for line in said)


def test_output_that_cannot_be_written_ends_no_night(file, stand_ins, tmp_path):
    """`>> night.log` on a full disk: runs are waited for, and their worst is the exit code."""

    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    stand_ins({"code": 1, "outcome": "fail", "seconds": 0.5}, *[{"outcome": "pass"}] * 2)
    asked = NightRequest(
        file=str(file(LAB, OTHER, LAB)), reports=tmp_path / "reports", jobs=0, shard="",
        only_plan=False,
    )  # fmt: skip
    assert night(asked, full) == 1
    assert len([*(tmp_path / "reports" / "h3c-s6550-cx4").iterdir()]) == 2


def test_a_signal_while_the_end_is_told_loses_nothing_of_it(
    run, file, stand_ins, monkeypatch, signals
):
    def slow(end, _):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.2)
        return [News("red", f"{end.run.testbed.name}: told")]

    monkeypatch.setattr("labtests.night.command.news_of", slow)
    stand_ins({"outcome": "pass"}, {"outcome": "pass"})
    code, said = run(file(LAB, OTHER))
    assert code == 0
    assert said[-2:] == ["  h3c-s6550-cx4: told", "  incast-5to1: told"]


def test_a_plan_runs_nothing(run, file, tmp_path):
    code, said = run(file(LAB), only_plan=True)
    assert code == 0
    assert said[0] == "h3c-s6550-cx4 (simulated): how long is not known"
    assert f"-m pytest suites --testbed {LAB} --run-dir RUN-FOLDER --dry-run" in said[1]
    assert not (tmp_path / "reports").exists()  # no history, either


def test_a_plan_says_that_the_history_is_not_there_that_was_named(run, file, tmp_path, monkeypatch):
    monkeypatch.setenv("LABTESTS_HISTORY", str(tmp_path / "typo.sqlite"))
    _, said = run(file(LAB), only_plan=True)
    assert said[0] == f"{tmp_path / 'typo.sqlite'}: there is no history"
    assert not (tmp_path / "typo.sqlite").exists()


def test_shards_part_labs_and_miss_none(file):
    runs = read_night(str(file(LAB, OTHER, LAB))).runs
    parts = [sharded(runs, f"{n}/2") for n in (1, 2)]
    assert [[run.number for run in part] for part in parts] == [[0, 2], [1]]
    assert sharded(runs, "3/3") == ()
    for wrong in ("0/2", "3/2", "1", "a/b"):
        with pytest.raises(LabError, match="such as 2/5"):
            sharded(runs, wrong)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("night: x\nruns: []\n", "night.yaml:2:7: runs"),
        ("night: x\nruns:\n  - testbed: nowhere\n", "night.yaml:3:14: runs[0].testbed"),
        ("night: x\nruns:\n  - {testbed: LAB, optoins: []}\n", "optoins"),
        ("night: x\nruns:\n  - {testbed: LAB, options: [--run-dir=x]}\n", "given by the night"),
        ("night: x\nruns:\n  - {testbed: LAB, options: [--inventory=x]}\n", "given by the night"),
        ("night: x\nruns:\n  - {testbed: LAB, options: [--labtests-run-dir=x]}\n", "given by the"),
        ("night: x\nruns:\n  - {testbed: LAB, suites: ['']}\n", "runs[0].suites[0]: no such suite"),
        (
            "night: x\nruns:\n  - {testbed: LAB, suites: [suites/nosuch.py]}\n",
            "runs[0].suites[0]: no such suite: suites/nosuch.py",
        ),
        (
            "night: x\nruns:\n  - {testbed: LAB, suites: [suites/test_s1_pfc.py::test_nosuch]}\n",
            "no such test: test_nosuch",
        ),
        (
            "night: x\nruns:\n  - {testbed: LAB, suites: [labtests.nosuch], options: [--pyargs]}\n",
            "no such suite: labtests.nosuch",
        ),
        ("night: x\nnotify: {when: [always]}\nruns:\n  - testbed: LAB\n", "notify.when[0]"),
    ],
)
def test_mistakes_have_their_place(tmp_path, text, words):
    place = tmp_path / "night.yaml"
    place.write_text(text.replace("LAB", str(LAB)))
    with pytest.raises(LabError) as told:
        read_night(str(place))
    assert words in str(told.value)


def test_two_real_dry_runs(tmp_path):
    """One green, one whose fault makes it red; both are in the history."""
    lossy = '{"kind": "drop-packets", "device": "S6550", "port": "Twenty-FiveGigE1/0/13", '
    lossy += '"queue": 3, "per_million": 20000}'
    suite = str(ROOT / "suites" / "test_below_bottleneck.py")
    (tmp_path / "night.yaml").write_text(
        "night: two\nruns:\n"
        f"  - {{testbed: {LAB}, suites: [{suite}], options: [--dry-run]}}\n"
        f"  - {{testbed: {LAB}, suites: [{suite}], options: [--dry-run, --fault, '{lossy}']}}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "labtests", "night", "night.yaml"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False,
        env=dict(os.environ) | {SOCKET_ENV: fast_starts.path()},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 of 2 runs green" in done.stdout
    assert "FAIL" in done.stdout
    with History.open(str(tmp_path / "reports" / "history.sqlite")) as history:
        assert [each.run.outcome for each in history.summaries()] == ["fail", "pass"]
