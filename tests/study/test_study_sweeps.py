"""`labtests sweep`: points, what is kept, what a kill leaves, mistakes with their place."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.errors import InventoryError, LabError
from labtests.study import tables, varying
from labtests.study.form import SweepFile
from labtests.study.ledger import FILE, StudyLedger, rows_of
from labtests.study.reader import load
from labtests.study.working import LocalWorkers, Task, workers

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "docs" / "studies" / "small.yaml"
SWEEP = """\
name: tiny
case: {case}
vary:
  switch.ecn.0.low_bytes: {{values: [20000, 100000]}}
  switch.ecn.0.high_bytes: {{values: [90000, 400000]}}
patterns: [incast-2-local]
measure: [throughput, latency_us]
"""


@pytest.fixture
def sweep_file(tmp_path):
    case = tmp_path / "case.yaml"
    text = SMALL.read_text().replace("duration_ms: 4", "duration_ms: 0.4")
    case.write_text(text.replace("warmup_ms: 2", "warmup_ms: 0.2"))
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP.format(case=case))
    return file


def run(*arguments):
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)], prog_name="labtests")


def mistakes(file, text):
    file.write_text(text)
    with pytest.raises(InventoryError) as caught:
        load(file)
    return caught.value.mistakes


def of(method, vary, **more):
    return SweepFile.model_validate(
        {"name": "x", "case": "x", "measure": ["x"], "method": method, "vary": vary, **more}
    )


def test_a_sweep_keeps_every_point_and_says_why_one_failed(sweep_file, tmp_path):
    out = tmp_path / "out"
    shown = run(sweep_file, "--out", out, "--jobs", 1)
    assert shown.exit_code == 1
    assert "tiny: 4 runs, 1 failed" in shown.stdout
    assert "high_bytes: is less than low_bytes (100000)" in shown.stdout
    assert "4 of 4 runs, 1 failed" in shown.stderr
    table = pd.read_parquet(out / "points.parquet")
    assert len(table) == 4
    assert table["throughput"].notna().sum() == 3
    assert (table["throughput"].dropna() > 0).all()
    page = (out / "page.html").read_text()
    assert "is less than low_bytes" in page
    assert "<script" not in page
    before = (out / FILE).read_bytes()
    assert run(sweep_file, "--out", out, "--jobs", 1).exit_code == 1
    assert (out / FILE).read_bytes() == before  # nothing was run twice
    assert "4 of them finished" in run(sweep_file, "--out", out, "--plan").stdout
    assert "3 of them finished" in run(sweep_file, "--out", out, "--plan", "--again").stdout
    assert run(sweep_file, "--out", out, "--jobs", 1, "--again").exit_code == 1
    again = (out / FILE).read_bytes().removeprefix(before)
    assert [json.loads(line)["values"] for line in again.splitlines()] == [
        row["values"] for row in rows_of(out) if "failed" in row
    ]


def test_a_plan_runs_nothing_that_is_kept(sweep_file, tmp_path):
    shown = run(sweep_file, "--plan", "--out", tmp_path / "out")
    assert "tiny: 4 runs (1 patterns, 1 seeds), 0 of them finished" in shown.stdout
    assert "s a run)" in shown.stdout
    assert not (tmp_path / "out").exists()


def test_show_names_the_best_and_what_matters(sweep_file, tmp_path):
    run(sweep_file, "--out", tmp_path / "out", "--jobs", 1)
    shown = run("show", tmp_path / "out", "--table", tmp_path / "t.csv")
    assert "throughput: best" in shown.stdout
    assert "3 points are too few to say what matters" in shown.stdout
    plain = pd.read_csv(tmp_path / "t.csv")
    assert len(plain) == 4
    run("show", tmp_path / "out", "--table", tmp_path / "t.parquet")
    packed = pd.read_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(packed, plain, check_dtype=False)
    drawn = run("show", tmp_path / "out", "--figures", tmp_path / "figures", "--as", "svg")
    files = sorted((tmp_path / "figures").iterdir())
    assert drawn.stdout.endswith("".join(f"{file}\n" for file in reversed(files)))
    assert all(file.read_text().startswith("<svg ") for file in files)
    front = tmp_path / "figures" / "front-throughput-latency_us.svg"
    assert ">latency_us against throughput<" not in front.read_text()
    run("show", tmp_path / "out", "--figures", tmp_path / "titled", "--as", "svg", "--caption")
    titled = tmp_path / "titled" / front.name
    assert ">latency_us against throughput<" in titled.read_text()


def test_a_sweep_that_is_killed_at_any_time_goes_on_where_it_was(sweep_file, tmp_path):
    text = sweep_file.read_text().replace("[20000, 100000]", "[10000, 20000, 30000, 40000, 50000]")
    sweep_file.write_text(text + "seeds: [1, 2, 3, 4]\n")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "labtests", "sweep", str(sweep_file), "--out", str(out)]
    rounds = 0
    while rounds < 4:
        process = subprocess.Popen([*command, "--jobs", "2"], stderr=subprocess.DEVNULL)
        seen = len(rows_of(out)) if (out / FILE).exists() else 0
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if (out / FILE).exists() and len(rows_of(out)) >= seen + 6:
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        rounds += 1
        with (out / FILE).open("ab") as file:
            file.write(b'{"key": "torn')
    assert subprocess.run([*command, "--jobs", "2"], check=False, timeout=120).returncode == 0
    lines = [json.loads(line) for line in (out / FILE).read_text().splitlines() if line[-1] == "}"]
    keys = [line["key"] for line in lines]
    assert len(keys) == len(set(keys)) == 40


def _kills_itself(_):
    os.kill(os.getpid(), signal.SIGKILL)


def _kills_itself_once(file):
    if not file.exists():
        file.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"measured": {"x": 1.0}}


def _is_bad(_):
    raise ValueError("no such thing")


def test_closed_workers_leave_no_thread_that_wakes_a_closed_pipe_at_the_end():
    at = LocalWorkers(1)
    assert dict(at.outcomes([Task("fine", dict, ())])) == {"fine": {}}
    before = set(threading.enumerate())
    at.close()
    left = [each.name for each in set(threading.enumerate()) & before if "Executor" in repr(each)]
    assert left == []


def test_a_killed_worker_and_a_bad_point_stop_nothing(tmp_path):
    mark = tmp_path / "mark"
    tasks = [
        Task("bad", _is_bad, (1,)),
        Task("killer", _kills_itself, (1,)),
        *(Task(f"n{n}", _kills_itself_once, (mark,)) for n in range(20)),
    ]
    with workers(None, 2) as at:
        found = dict(at.outcomes(tasks[2:]))
        found |= dict(at.outcomes([*tasks[:2], *tasks[3:]]))
    assert found["bad"]["failed"] == "ValueError: no such thing"
    assert found["killer"]["failed"].startswith("its process was ended twice")
    assert [found[f"n{n}"] for n in range(20)] == [{"measured": {"x": 1.0}}] * 20


def test_workers_end_with_their_parent(sweep_file, tmp_path):
    sweep_file.write_text(sweep_file.read_text() + f"seeds: {list(range(100))}\n")
    command = [sys.executable, "-m", "labtests", "sweep", str(sweep_file), "--jobs", "2"]
    process = subprocess.Popen([*command, "--out", str(tmp_path / "o")], stderr=subprocess.DEVNULL)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (tmp_path / "o" / FILE).exists():
        time.sleep(0.05)
    time.sleep(1)
    pids = children.read_text().split()
    process.kill()
    process.wait()
    assert len(pids) >= 2
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(map(_lives, pids)):
        time.sleep(0.1)
    assert not any(map(_lives, pids))


def _lives(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_two_sweeps_into_one_folder_are_refused(tmp_path):
    with StudyLedger(tmp_path / "out"), pytest.raises(LabError, match="being written by another"):
        StudyLedger(tmp_path / "out")


def test_a_full_disk_is_said_and_what_was_before_is_kept(tmp_path):
    with StudyLedger(tmp_path / "out") as ledger:
        ledger.add({"key": "a", "values": {}})
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, ledger._pages._file)
        os.close(full)
        with pytest.raises(LabError, match=r"No space left on device\n  remedy: 1 finished runs"):
            ledger.add({"key": "b", "values": {}})
    assert [each["key"] for each in rows_of(tmp_path / "out")] == ["a"]


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("ecn.0.low_bytes", "ecn.0.low_byte", "vary.switch.ecn.0.low_byte: "),
        ("ecn.0.low", "ecn.7.low", "there is no such key: 7: the list has 1 (0 to 0)"),
        ("switch.ecn.0.low", "links.16.low", "there is no such key: 16: the list has 16 (0 to 15)"),
        ("[20000, 100000]", "[]", "must have at least 1 entry"),
        ("{values: [20000, 100000]}", "{from: 9, to: 2, steps: 3}", "9 is above to (2)"),
        ("{values: [20000, 100000]}", "{from: 0, to: 2, steps: 3, scale: log}", "above 0 on a log"),
        ("{values: [20000, 100000]}", "{from: 1, to: 2}", "a grid needs it"),
        ("[20000, 100000]", "[-5]", "-5: switch.ecn[0].low_bytes: must be at least 0"),
        ("incast-2-local", "incast-2-locall", "did you mean incast-2-local?"),
        ("incast-2-local", "incast-39-mixed", "does not fit"),
        ("switch.ecn.0.low_bytes", "seed", "vary.seed: a run has one of `seeds`: list them there"),
        ("latency_us", "latenz", "latenz is not measured"),
        ("name: tiny", "name: tiny\nmethod: random", "random needs it"),
        ("name: tiny", "name: tiny\nmethodd: random", "methodd"),
        ("[incast-2-local]", "[incast-2-local, incast-2-local]", "patterns[1]: incast-2-local is"),
        ("vary:", "vary:\n  switch.ecn: {values: [[]]}", "switch.ecn.0.low_bytes: lies in"),
        ("ecn.0.high_bytes", "ecn.00.low_bytes", "switch.ecn.00.low_bytes: lies in or over"),
        ("name: tiny", "name: tiny\nseeds: [1, 2, 1]", "seeds[2]: 1 is given twice"),
        ("[throughput, latency_us]", "[throughput, throughput]", "measure[1]: throughput is"),
    ],
)
def test_mistakes_are_said_with_their_place(sweep_file, was, becomes, said):
    text = sweep_file.read_text()
    assert was in text
    found = mistakes(sweep_file, text.replace(was, becomes, 1))
    assert any(said in each for each in found), found
    assert all(each.startswith(f"{sweep_file}:") for each in found)


def test_mistakes_of_all_kinds_are_said_at_once(sweep_file):
    text = sweep_file.read_text().replace("[20000, 100000]", "[-5]").replace("2-local", "2-locall")
    text = text.replace("{values: [90000, 400000]}", "{from: 9, to: 2, steps: 3}")
    found = " ".join(mistakes(sweep_file, text.replace("latency_us", "latenz")))
    for each in ("low_bytes: -5", "9 is above to (2)", "no pattern incast-2-locall", "latenz is"):
        assert each in found


def test_a_point_that_failed_says_which_key_was_out_of_its_bounds(sweep_file, tmp_path):
    sweep_file.write_text(sweep_file.read_text().replace("[20000, 100000]", "[1, -5, 2]"))
    shown = run(sweep_file, "--out", tmp_path / "out", "--jobs", 1)
    assert "switch.ecn[0].low_bytes: must be at least 0" in shown.stdout


def test_points_that_come_out_the_same_are_one(sweep_file):
    text = sweep_file.read_text().replace("[20000, 100000]", "[20000, 20000, 30000]")
    sweep_file.write_text(text.replace("{values: [90000, 400000]}", "{from: 7, to: 9, steps: 9}"))
    assert load(sweep_file).jobs_count == len(list(load(sweep_file).jobs())) == 6
    shown = of("random", {"a": {"from": 5, "to": 7}}, points=50)
    assert sorted(each["a"] for each in varying.points(shown)) == [5, 6, 7]


def test_a_scheduler_has_an_address(sweep_file, tmp_path):
    shown = run(sweep_file, "--out", tmp_path / "out", "--scheduler", "")
    assert shown.exit_code == 2
    assert "--scheduler: an address, as tcp://HOST:PORT" in shown.stderr


def test_a_case_that_is_not_there_is_said(sweep_file):
    found = mistakes(sweep_file, sweep_file.read_text().replace("case.yaml", "other.yaml"))
    assert "other.yaml" in found[0]
    assert "No such file" in found[0]


def test_grids_lists_and_ranges():
    two = {"a": {"values": [1, 2]}, "b": {"from": 10, "to": 1000, "steps": 3, "scale": "log"}}
    assert [each["b"] for each in varying.points(of("grid", two))] == [10, 100, 1000] * 2
    pairs = {"a": {"values": [1, 2]}, "b": {"values": [5, 6]}}
    assert list(varying.points(of("list", pairs))) == [{"a": 1, "b": 5}, {"a": 2, "b": 6}]


@pytest.mark.parametrize("method", ["random", "latin-hypercube"])
def test_random_points_are_the_same_for_the_same_seed(method):
    vary = {"a": {"from": 0.0, "to": 1.0}, "b": {"from": 5, "to": 9}}
    first, again = (list(varying.points(of(method, vary, points=50))) for _ in "ab")
    assert first == again
    assert all(isinstance(each["b"], int) and 5 <= each["b"] <= 9 for each in first)
    if method == "latin-hypercube":
        assert sorted(int(each["a"] * 50) for each in first) == list(range(50))


def test_ten_thousand_points_are_made_kept_and_shown_in_time(tmp_path):
    began = time.monotonic()
    vary = {"a": {"from": 0.0, "to": 1.0}, "b": {"from": 0.0, "to": 1.0}}
    made = list(varying.points(of("latin-hypercube", vary, points=10_000)))
    rows = [
        {"key": str(n), "values": each, "measured": {"x": each["a"] * each["b"], "y": each["a"]}}
        for n, each in enumerate(made)
    ]
    (tmp_path / "out").mkdir(mode=0o700)
    (tmp_path / "out" / FILE).write_text("".join(json.dumps(each) + "\n" for each in rows))
    (tmp_path / "out" / FILE).chmod(0o600)
    shown = run("show", tmp_path / "out", "--page", tmp_path / "page.html")
    assert "10000 runs, 0 failed; 10000 points" in shown.stdout
    assert "together: a with b" in shown.stdout
    assert (tmp_path / "page.html").stat().st_size < 3_000_000
    assert time.monotonic() - began < 60


def test_the_front_has_what_no_other_point_beats():
    points = pd.DataFrame({"throughput": [1.0, 0.9, 0.8, 0.9], "latency_us": [9.0, 5.0, 6.0, 5.5]})
    front = tables.pareto(points, ["throughput", "latency_us"])
    assert sorted(front.index) == [0, 1]


def test_what_matters_is_the_share_of_the_variance():
    rows = [(a, b) for a in range(4) for b in range(4)]
    points = pd.DataFrame({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    points["x"] = points["a"].astype(float)
    assert tables.sensitivities(points, ["a", "b"], "x") == pytest.approx({"a": 1.0, "b": 0.0})
    points["x"] = (points["a"] % 2 == points["b"] % 2).astype(float)
    assert tables.interactions(points, ["a", "b"], "x")["a", "b"] == pytest.approx(1.0)


def test_a_figure_that_is_everywhere_the_same_is_explained_by_nothing():
    points = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "x": [4986.827] * 4})
    points.loc[0, "x"] += 1e-9  # what sums of floats leave
    assert tables.sensitivities(points, ["a", "b"], "x") == {"a": 0.0, "b": 0.0}
    points.loc[2:, "x"] = 100.0
    assert tables.sensitivities(points, ["a", "b"], "x")["a"] == pytest.approx(1.0)


def test_a_key_of_the_case_that_undoes_one_of_the_profile_is_a_mistake(sweep_file):
    text = sweep_file.read_text()
    profile = SMALL.with_name("small-profile.yaml")
    vary = f"profile: {profile}\nvary:\n  profile.ecn.0.kmin_bytes: {{values: [20000, 30000]}}\n"
    both = text.replace("vary:\n", vary)
    found = mistakes(sweep_file, both)
    problem = "sets what profile.ecn.0.kmin_bytes sets: one of them would undo the other"
    assert [each.partition(".low_bytes: ")[2] for each in found] == [problem]
    there_and_back = both.replace("[20000, 30000]", "[20000, 30000, 20000]")
    assert mistakes(sweep_file, there_and_back) == found
    apart = both.replace("kmin_bytes", "pmax_percent").replace("[20000, 30000]", "[1, 2]")
    sweep_file.write_text(apart)
    assert load(sweep_file).jobs_count == 8


@pytest.mark.parametrize(
    ("part", "more", "wrong"),
    [
        ("{from: 5000.0, to: 10000.0, steps: 4}", "", "6666.66666667"),
        ("{from: 5000.0, to: 10000.0, steps: 3}", "", ""),
        ("{from: 5000, to: 10000, steps: 4}", "", ""),
        ("{from: 5000.0, to: 10000.0, steps: 1}", "", ""),
        ("{from: 5000.0, to: 10000.0}", "method: random\npoints: 3\n", "6909.83"),
        ("{from: 5000, to: 10000}", "method: random\npoints: 3\n", ""),
    ],
)
def test_whole_ends_of_a_range_of_floats_do_not_make_it_whole(sweep_file, part, more, wrong):
    text = f"name: tiny\ncase: case.yaml\n{more}measure: [throughput]\nvary:\n"
    text += f"  switch.ecn.0.low_bytes: {part}\n"
    if not wrong:
        sweep_file.write_text(text)
        assert load(sweep_file).jobs_count > 0
        return
    (line,) = mistakes(sweep_file, text)
    assert f"must be a whole number, not the number {wrong}" in line
