"""`labtests tune`: goals, bounds, the search and what it ends with."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
import yaml
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.errors import LabError, WrongOption
from labtests.profile.reader import load as load_profile
from labtests.study.bounds import ALPHA, KMAX, KMIN, broken, ranges, round_trip_us
from labtests.study.goals import conflicts, sentence, standings
from labtests.study.ledger import rows_of
from labtests.study.points import case_of
from labtests.study.reader import base_of
from labtests.study.tuning import Search, SearchPlan, starts

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "docs" / "studies"
PROFILE = STUDIES / "small-profile.yaml"
PATTERNS = "incast-2-local,incast-4-local,ring-6,all-to-all-4,burst-8-16k,incast-2-4k"


@pytest.fixture
def case(tmp_path):
    file = tmp_path / "case.yaml"
    text = (STUDIES / "small.yaml").read_text().replace("duration_ms: 4", "duration_ms: 0.4")
    file.write_text(text.replace("warmup_ms: 2", "warmup_ms: 0.2"))
    return file


@pytest.fixture(scope="module")
def large():
    return base_of(STUDIES / "leaf-25g.yaml", None, STUDIES / "leaf-25g-profile.yaml")


def options(case, out, *more):
    given = ["--case", case, "--patterns", PATTERNS, "--trials", 2, "--jobs", 2, "--out", out]
    return [*map(str, [PROFILE, *given, *more])]


def run(*arguments):
    return CliRunner().invoke(main, ["tune", *map(str, arguments)], prog_name="labtests")


def test_goals_are_met_or_missed_by_their_bounds():
    good = {f"p{n}": (0.951, 0.0, 39.0) for n in range(10)}
    assert [each.met for each in standings(good)] == [True, True, True]
    assert [each.short for each in standings(good)] == [0, 0, 0]
    one_slow = {**good, "p0": (0.96, 0.01, 79.0)}
    assert [each.met for each in standings(one_slow)] == [True, True, True]
    two_slow = {**one_slow, "p1": (0.96, 0.01, 79.0)}
    assert [each.met for each in standings(two_slow)] == [True, True, False]
    bad = {**good, "p3": (0.90, 0.05, 160.0)}
    found = standings(bad)
    assert [each.met for each in found] == [False, False, False]
    assert [each.missing for each in found] == [("p3",)] * 3
    assert found[0].short == pytest.approx(0.1)  # twice the bound, of one in ten
    assert sentence(found[2], bad).startswith("latency: MISSED: worst p3 160 us (goal: 80)")


def test_conflicts_name_the_goals_that_no_setting_meets_together():
    slow = standings({"p": (1.0, 0.0, 100.0)})
    lazy = standings({"p": (0.5, 0.0, 10.0)})
    assert conflicts([slow, lazy]) == [
        "throughput and latency: each is met by some settings, both by none"
    ]
    assert conflicts([slow]) == ["latency: met by none of 1 settings that keep the rules"]
    assert conflicts([standings({"p": (1.0, 0.0, 10.0)})]) == []


def test_bounds_are_those_of_document_004(large):
    case = case_of(large.tree({}), "case")
    found = ranges(case, large.profile({}), timers=False, given={})
    round_us = round_trip_us(case, large.profile({}))
    assert found[KMIN].low == 256
    assert found[KMIN].high == pytest.approx(25e9 / 8e6 * round_us, rel=0.01)
    assert found[KMAX].high == 250_000  # 80 us at 25 Gbit/s
    assert 3 < round_us < 5


def test_the_product_grows_with_the_frames_of_the_profile(large):
    case = case_of(large.tree({}), "case")
    least = round_trip_us(case, large.profile({}))
    jumbo = large.profile({"profile.mtu_bytes": 9000})
    assert round_trip_us(case, jumbo) == pytest.approx(least + 4 * 7500 * 8 / 25e3)
    grown = ranges(case, jumbo, timers=False, given={})[KMIN]
    assert grown.high == pytest.approx(25e9 / 8e6 * round_trip_us(case, jumbo), rel=0.01)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({ALPHA: 4.0, "profile.buffer.headroom_cells": 816}, "egress-too-small"),
        ({ALPHA: 1 / 256, KMAX: 250_000}, "kmax-out-of-reach"),
        ({KMIN: 100_000}, "kmin-above-product"),
        ({KMAX: 400_000}, "kmax-intolerable"),
        ({"profile.buffer.headroom_cells": 300}, "headroom-too-small"),
        (
            {
                "profile.dcqcn.reaction_point.alpha_timer_us": 4,
                "profile.dcqcn.notification_point.cnp_interval_us": 50,
            },
            "alpha-decays-between-cnps",
        ),
    ],
)
def test_a_setting_that_breaks_a_rule_is_not_proposed(large, values, rule):
    given = {KMIN: 5000, KMAX: 200_000, **values}
    case = case_of(large.tree(given), "case")
    assert any(each.startswith(rule) for each in broken(case, large.profile(given)))
    fine = {KMIN: 5000, KMAX: 200_000}
    assert broken(case_of(large.tree(fine), "case"), large.profile(fine)) == []


def test_published_settings_are_scaled_to_the_rate(large):
    found = starts(large)
    assert found["HPCC's DCQCN"][KMIN] == 100_000
    assert found["DCQCN"][KMAX] == 125_000  # 200 kB at 40 Gbit/s
    assert len(found) == 6


def test_a_tuning_ends_with_a_profile_and_a_page_and_goes_on(case, tmp_path):
    out = tmp_path / "out"
    shown = run(*options(case, out))
    assert shown.exit_code == 0, shown.stderr
    assert "8 settings tried; proposed: " in shown.stdout
    assert "on patterns that the search never saw:" in shown.stdout
    assert "4 patterns are searched, 2 are kept for the check" in shown.stderr
    tuned = load_profile(out / "small-tuned.yaml")
    assert tuned.name == "small-tuned"
    assert tuned.form.lossless == [3]
    page = (out / "page.html").read_text()
    assert "How sharp the optimum is" in page
    assert "http" not in re.sub(r'xmlns="[^"]*"|http-equiv', "", page)
    runs = len(rows_of(out))
    again = run(*options(case, out))
    assert again.stdout == shown.stdout
    assert len(rows_of(out)) == runs
    more = run(*options(case, out, "--trials", 3))
    assert "9 settings tried" in more.stdout


def test_a_tuning_that_is_killed_goes_on(case, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "labtests", "tune", *options(case, out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and process.poll() is None:
        if (out / "runs.jsonl").exists() and len(rows_of(out)) >= 27:  # 24 are of named settings
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {each["key"] for each in rows_of(out)}
    shown = run(*options(case, out))
    assert shown.exit_code == 0, shown.stderr
    assert kept < {each["key"] for each in rows_of(out)}
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{out / 'search.sqlite'}")
    assert not [t for t in study.trials if t.state == optuna.trial.TrialState.RUNNING]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--bound", "kmax=100:50"], "0 < LOW <= HIGH"),
        (["--bound", "kmin=abc"], "is not NAME=LOW:HIGH"),
        (["--bound", "speed=1:2"], "a name of kmin, kmax"),
        (["--patterns", "incast-2-locall,ring-6,ring-12"], "no pattern incast-2-locall"),
        (["--patterns", "ring-6"], "at least 3"),
        (["--patterns", "ring-6,ring-6,ring-6"], "ring-6 is given twice"),
        (["--patterns", "ring-6,,ring-6"], "an empty name"),
        (["--patterns", "ring-6,ring-5,incst-2-local"], "did you mean incast-2-local?"),
        (["--bound", "kmin=1:inf"], "two numbers, 0 < LOW <= HIGH"),
        (["--bound", "kmin=1:2", "--bound", "kmin=3:4"], "kmin is given twice"),
        (["--bound", "pmax=0.2:0.4"], "pmax: from 0.2 to 0.4: no whole number is in between"),
        (["--bound", "alpha=0.3:0.31"], "alpha: from 0.3 to 0.31: no power of two is in between"),
        (["--minutes", "nan"], "nan"),
        (["--storage", "sqlite:////nowhere/at/all.sqlite"], "unable to open database file"),
        (["--testbed", "incast-5to1"], "one of them"),
        (["--scheduler", "tcp://127.0.0.1:9"], "leave out --jobs"),
    ],
)
def test_mistakes_are_said_in_a_sentence(case, tmp_path, more, said):
    shown = run(*options(case, tmp_path / "out", *more))
    assert shown.exit_code == 2
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_scheduler_that_is_not_there_is_said(case, tmp_path):
    given = ["--case", case, "--patterns", PATTERNS, "--out", tmp_path / "out"]
    shown = run(PROFILE, *given, "--scheduler", "tcp://127.0.0.1:9")
    assert shown.exit_code == 2
    assert "no scheduler answers" in shown.stderr


@pytest.mark.parametrize(
    ("bounds", "rule"),
    [
        (("kmin=6000:7000", "kmax=3000:4000"), "high_bytes: is less than low_bytes"),
        (("headroom=1:2",), "headroom-too-small"),
    ],
)
def test_bounds_without_a_sound_setting_are_said_before_anything_is_run(
    case, tmp_path, bounds, rule
):
    more = [word for each in bounds for word in ("--bound", each)]
    shown = run(*options(case, tmp_path / "out", *more))
    assert shown.exit_code == 2
    assert re.search(r"none of 2\d\d settings within these bounds keeps all rules", shown.stderr)
    assert "; the last one: " in shown.stderr
    assert rule in shown.stderr
    assert "setting 1" not in shown.stderr
    assert rows_of(tmp_path / "out") == []


def test_bounds_that_contradict_are_said(large):
    case, profile = case_of(large.tree({}), "case"), large.profile({})
    with pytest.raises(WrongOption, match="--bound increase: this profile has no such variable"):
        ranges(case, profile, timers=False, given={"increase": (1, 2)})
    slow = {
        **large.case_tree,
        "links": [{**link, "length_m": 100_000.0} for link in large.case_tree["links"]],
    }
    with pytest.raises(WrongOption, match=r"kmax: from \S+ to 250000: nothing is in between"):
        ranges(case_of(slow, "case", references=False), profile, timers=False, given={})


def test_a_bound_holds_for_what_was_tried_before_and_for_what_is_published(case, tmp_path):
    out = tmp_path / "out"
    assert run(*options(case, out)).exit_code == 0
    within = ["--bound", "kmin=4000.5:6000", "--bound", "alpha=0.1:0.6", "--trials", 3]
    shown = run(*options(case, out, *within))
    assert shown.exit_code == 0, shown.stderr
    tuned = load_profile(out / "small-tuned.yaml").form
    assert 4001 <= tuned.ecn[0].kmin_bytes <= 6000
    assert tuned.buffer.ingress.alpha in (0.125, 0.25, 0.5)
    for line in shown.stdout.splitlines():
        if line.startswith("best for "):
            assert 4001 <= int(re.search(r"kmin_bytes (\d+)", line)[1]) <= 6000
    assert "outside-of-bounds: kmin_bytes 3125" in (out / "page.html").read_text()


def test_a_share_that_misses_its_goal_is_not_rounded_to_it():
    found = {"p": (0.99, 0.0111, 10.0)}
    line = sentence(standings(found)[1], found)
    assert line.startswith("pauses: MISSED: worst p: pauses in 1.11% of the time (goal: 1 %)")


def test_a_search_over_other_patterns_is_another_search(case, tmp_path):
    out = tmp_path / "out"
    one = PATTERNS.split(",")
    for names in (one, [*one[:-1], "incast-2-remote"], [*one[1:], "incast-2-remote"]):
        shown = run(*options(case, out, "--patterns", ",".join(names), "--trials", 1))
        assert shown.exit_code == 0, shown.stderr
    summaries = optuna.get_all_study_summaries(f"sqlite:///{out / 'search.sqlite'}")
    assert len(summaries) == 2  # the last name of six is not searched, but kept for the check


def test_a_profile_without_marking_is_refused_with_its_place(case, tmp_path):
    file = tmp_path / "plain.yaml"
    tree = yaml.safe_load(PROFILE.read_text())
    del tree["ecn"]
    file.write_text(yaml.safe_dump(tree))
    shown = run(file, "--case", case, "--out", tmp_path / "out")
    assert shown.exit_code == 2
    assert f"{file}:1:1: ecn: a profile to tune has one entry" in shown.stderr


def test_a_full_disk_is_a_sentence_and_loses_nothing(case, tmp_path):
    code = (  # compiled modules would be cut short as well, and stay so for others
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000));"
        "sys.dont_write_bytecode = True;"
        "from labtests.__main__ import main; main(sys.argv[1:], prog_name='labtests')"
    )
    out = tmp_path / "out"
    text = PATTERNS.replace(",", "\n  - ")
    (tmp_path / "sweep.yaml").write_text(
        f"name: s\ncase: {case}\nvary:\n  switch.ecn.0.low_bytes: {{values: [9000, 20000, 9999]}}\n"
        f"patterns:\n  - {text}\nmeasure: [throughput]\nseeds: [1, 2, 3]\n"
    )
    given = ["sweep", str(tmp_path / "sweep.yaml"), "--out", str(out)]
    command = [sys.executable, "-c", code, *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 2
    assert re.search(
        r"runs.jsonl: File too large\n  remedy: \d+ finished runs are kept", done.stderr
    )
    assert len(rows_of(out)) > 5


def test_a_storage_that_fails_on_the_way_is_a_sentence_and_loses_nothing(
    case, tmp_path, monkeypatch
):
    def full(*_):
        try:
            raise OSError("(sqlite3.OperationalError) database or disk is full\n[SQL: ...]")
        except OSError as error:
            raise optuna.exceptions.StorageInternalError("during the commit.") from error

    out = tmp_path / "out"
    monkeypatch.setattr(optuna.study.Study, "ask", full)
    shown = run(*options(case, out))
    assert shown.exit_code == 2
    assert "search.sqlite: (sqlite3.OperationalError) database or disk is full\n" in shown.stderr
    assert "finished runs are kept: make room" in shown.stderr
    assert "Traceback" not in shown.stderr
    monkeypatch.undo()
    assert run(*options(case, out)).exit_code == 0


def test_an_unknown_storage_is_a_lab_error():
    plan = SearchPlan(
        ranges={},
        patterns=(),
        seeds=(1,),
        trials=0,
        minutes=None,
        sampler="nsga2",
        storage="no url",
        title="x",
    )
    with pytest.raises(LabError, match=r"--storage no url: Could not parse"):
        Search(plan, None, print)


def test_a_place_for_the_profile_that_is_not_there_is_told_before_the_search(case, tmp_path):
    shown = run(*options(case, tmp_path / "out", "--write", tmp_path / "none" / "p.yaml"))
    assert shown.exit_code == 2
    assert f"--write: {tmp_path / 'none'} is not there" in shown.stderr
    assert not (tmp_path / "out").exists()
