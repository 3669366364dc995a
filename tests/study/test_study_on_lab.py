"""`labtests sweep --lab`: points on a lab. Its runs of pytest are stood in for."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.errors import InventoryError, LabError
from labtests.history.records import KeptFact, KeptRun, KeptTest, KeptVerdict
from labtests.inventory import load as load_testbed
from labtests.inventory import located
from labtests.study import on_lab
from labtests.study.ledger import rows_of
from labtests.study.reader import load

SWEEP = """\
name: on-a-lab
profile: {profile}
vary:
  profile.ecn.0.kmin_bytes: {{values: [100000, 300000]}}
  profile.ecn.0.kmax_bytes: {{values: [200000, 400000]}}
measure: [throughput]
"""


@pytest.fixture
def sweep_file(tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP.format(profile=located("lossless-25g", "profiles").absolute()))
    return file


@pytest.fixture
def asked(sweep_file, tmp_path):
    return on_lab.LabSweep(
        sweep=load(sweep_file, on_lab=True),
        testbed=load_testbed(located("h3c-s6550-cx4")),
        folder=tmp_path / "out",
        dry_run=True,
    )


def fact(name, measured, bound, margin, unit=""):
    return KeptFact(name=name, measured=measured, bound=bound, margin=margin, unit=unit, note="")


def kept(outcome="pass", exit_code=0, facts=(), role="main"):
    verdict = KeptVerdict(
        question="q",
        phase="p",
        role=role,
        outcome=outcome,
        as_expected=True,
        because="",
        facts=facts,
    )
    test = KeptTest(
        name="s.py::test_x", title="x", outcome=outcome, duration_s=1, error="", verdicts=(verdict,)
    )
    return KeptRun(
        identity="i", testbed="t", backend="simulated", started="", ended="", problem="", seed="1",
        exit_code=exit_code, faults="[]", whole=True, commit_of_suites="", labtests_version="",
        command_line="", folder="f", state=None, tests=(test,),
    )  # fmt: skip


@pytest.fixture
def pytest_runs(monkeypatch):
    """Each run of pytest ends with the next code of the list; the commands."""
    codes, commands, ended = [], [], []

    def process(command, run_dir, limit_s):
        assert limit_s == 240 * 60
        run_dir.mkdir()
        (run_dir / "run.json").write_text("{}")
        commands.append(command)
        code = codes.pop(0)
        ended.append(code)
        if isinstance(code, BaseException):
            raise code
        return code

    def of_folder(folder):
        if commands and str(folder) in commands[-1] and ended[-1] == 0:
            return kept()
        raise LabError("it has not ended")

    monkeypatch.setattr(on_lab, "_process", process)
    monkeypatch.setattr(on_lab, "of_folder", of_folder)
    monkeypatch.setattr(on_lab, "read_head", lambda _: {"problem": "lab not usable: no"})
    return codes, commands


def test_each_point_is_a_profile_and_a_run_of_its_own(asked, pytest_runs):
    codes, commands = pytest_runs
    codes += [0, 10, 0]
    told = []
    ended = list(on_lab.swept_on_lab(asked, told.append))
    assert "4 runs, 0 of them red, 2 failed" in ended[0]  # one has Kmin above Kmax
    assert any("kmin_bytes" in line for line in ended[1:])
    assert any("exit code 10: lab not usable: no" in line for line in ended[1:])
    assert len(commands) == 3
    assert all("--dry-run" in each for each in commands)
    profiles = [Path(each[each.index("--profile") + 1]).read_text() for each in commands]
    curves = [text.split("kmax_bytes: ")[1][:6] for text in profiles]
    assert curves == ["200000", "400000", "400000"]
    assert on_lab.has_failed(asked)
    list(on_lab.swept_on_lab(asked, told.append))  # nothing is run twice
    assert len(commands) == 3


def test_what_was_interrupted_goes_on_where_it_was(asked, pytest_runs):
    codes, _ = pytest_runs
    codes += [0, KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        list(on_lab.swept_on_lab(asked, lambda _: None))
    assert len(rows_of(asked.folder)) == 1
    codes += [15]
    with pytest.raises(LabError, match="the sweep stops here"):
        list(on_lab.swept_on_lab(asked, lambda _: None))
    assert len(rows_of(asked.folder)) == 1
    codes += [0, 0]
    list(on_lab.swept_on_lab(asked, lambda _: None))
    assert len(rows_of(asked.folder)) == 4


def test_the_lab_is_locked_before_each_point_and_free_after(asked, pytest_runs, monkeypatch):
    codes, commands = pytest_runs
    codes += [0, 0, LabError("broken")]
    heard = []
    monkeypatch.setattr(on_lab, "lock", lambda *args: heard.append(args[1].lasting) or 0)
    monkeypatch.setattr(on_lab, "unlock", lambda *_: heard.append("free"))
    monkeypatch.setattr(on_lab, "expect_put_back", lambda *_, **__: heard.append("looked"))
    real = on_lab.LabSweep(
        sweep=asked.sweep, testbed=asked.testbed, folder=asked.folder, dry_run=False
    )
    with pytest.raises(LabError, match="broken"):
        list(on_lab.swept_on_lab(real, lambda _: None))
    assert heard == ["looked", "265m"] * 3 + ["free"]
    assert all("--under-lock" in each and "--dry-run" not in each for each in commands)


def test_a_lab_that_somebody_else_has_is_not_touched(asked, pytest_runs, monkeypatch):
    monkeypatch.setattr(on_lab, "lock", lambda *_: 15)
    monkeypatch.setattr(on_lab, "expect_put_back", lambda *_, **__: None)
    monkeypatch.setattr(on_lab, "unlock", lambda *_: pytest.fail("it was not ours"))
    real = on_lab.LabSweep(
        sweep=asked.sweep, testbed=asked.testbed, folder=asked.folder, dry_run=False
    )
    with pytest.raises(LabError, match="cannot have the lab"):
        list(on_lab.swept_on_lab(real, lambda _: None))
    assert not pytest_runs[1]


def test_figures_are_the_numbers_that_verdicts_hold_to_bounds():
    facts = (
        fact("total goodput / theoretical maximum", 0.97, ">= 0.95 and <= 1.05", 0.02),
        fact("sw 1/1 priority 3 pfc_tx_frames", 7.0, "<= 11.5", 4.5, "frames"),
        fact("sw 1/1 queue 3 dropped_packets", 3.0, "= 0", -3.0, "packets"),
        fact("A tx_bytes", 9.0, ">= 0.9 of 10 (the tools')", 0.0, "bytes"),
        fact("A: CNPs handled / 2480 got", 1.0, ">= 0.9", 0.1),
        fact("sw 1/1 dropped_ffp", 0.0, "<= 0", 0.0, "packets"),
    )
    assert on_lab.outcome_of(kept("fail", 1, facts))["measured"] == {
        "red_suites": 1.0,
        "dropped_packets": 3.0,
        "total goodput / theoretical maximum (>=)": 0.97,
        "sw 1/1 priority 3 pfc_tx_frames (<=)": 7.0,
    }
    of_control = on_lab.outcome_of(kept(facts=facts, role="control"))
    assert of_control["measured"] == {"red_suites": 0.0, "dropped_packets": 0.0}
    assert "every suite was skipped" in on_lab.outcome_of(kept("skipped"))["failed"]


def test_a_point_whose_time_is_over_is_told_to_end_and_waited_for(tmp_path):
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
        "print('there', flush=True)\ntime.sleep(60)"
    )
    code = on_lab._process([sys.executable, "-c", script], tmp_path / "run-001", 5.0)
    assert code == 143
    assert (tmp_path / "run-001.txt").read_text() == "there\n"


def test_mistakes_of_a_file_for_a_lab_have_their_place(sweep_file):
    text = sweep_file.read_text()
    sweep_file.write_text(text.replace("profile.ecn.0.kmin_bytes", "switch.memory.alpha"))
    with pytest.raises(InventoryError) as caught:
        load(sweep_file, on_lab=True)
    assert "sweep.yaml:4:3" in caught.value.mistakes[0]
    assert "keys begin with profile." in caught.value.mistakes[0]
    sweep_file.write_text("\n".join(line for line in text.splitlines() if "/profiles/" not in line))
    with pytest.raises(InventoryError, match="on a lab a point is a profile"):
        load(sweep_file, on_lab=True)
    sweep_file.write_text(text.replace("kmax_bytes", "kmux_bytes"))
    with pytest.raises(InventoryError, match="kmux_bytes"):
        load(sweep_file, on_lab=True)


def test_what_does_not_go_together_is_said(sweep_file):
    def said(*options):
        words = ["sweep", str(sweep_file), *options]
        return CliRunner().invoke(main, words, prog_name="labtests")

    assert "leave out --jobs" in said("--lab", "h3c-s6550-cx4", "--jobs", "2").output
    assert "--lab TESTBED" in said("--dry-run").output


def test_what_is_the_same_at_every_point_takes_one_line(asked, pytest_runs):
    pytest_runs[0].extend([0, 0, 0])
    list(on_lab.swept_on_lab(asked, lambda _: None))
    shown = CliRunner().invoke(main, ["sweep", "show", str(asked.folder)], prog_name="labtests")
    assert "red_suites: 0 at every point" in shown.output


def test_again_runs_a_point_whose_suites_were_all_skipped(asked, pytest_runs, monkeypatch):
    codes, commands = pytest_runs
    outcomes = iter(["skipped"] * 3 + ["pass"] * 3)
    of_run = {}

    def of_folder(folder):
        if folder not in of_run:
            of_run[folder] = kept(outcome=next(outcomes))
        return of_run[folder]

    monkeypatch.setattr(on_lab, "of_folder", of_folder)
    codes += [0] * 6
    ended = list(on_lab.swept_on_lab(asked, lambda _: None))
    assert any("every suite was skipped" in line for line in ended)
    assert len(commands) == 3
    assert "4 finished" in next(on_lab.planned_on_lab(asked))
    assert "0 finished" in next(on_lab.planned_on_lab(replace(asked, again=True)))
    ended = list(on_lab.swept_on_lab(replace(asked, again=True), lambda _: None))
    assert len(commands) == 6
    assert "1 failed" in ended[0]  # Kmin above Kmax
