"""`labtests sweep show` of folders that hold more, less or other than one whole sweep."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.study import charts, tables
from labtests.study.ledger import FILE

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "docs" / "studies" / "small.yaml"
SWEEP = """\
name: tiny
case: case.yaml
vary:
  switch.ecn.0.low_bytes: {values: [20000, 90000]}
patterns: [incast-2-local]
measure: [goodput_gbit_per_s, queue_peak_bytes]
"""


def run(*arguments):
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)], prog_name="labtests")


@pytest.fixture
def sweep_file(tmp_path):
    text = SMALL.read_text().replace("duration_ms: 4", "duration_ms: 0.4")
    (tmp_path / "case.yaml").write_text(text.replace("warmup_ms: 2", "warmup_ms: 0.2"))
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP)
    return file


def of_lines(folder, *lines):
    folder.mkdir(mode=0o700)
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines))
    (folder / FILE).chmod(0o600)
    return folder


def point(number, **more):
    figures = {"values": {"k": number}, "measured": {"x": float(number)}, **more}
    return json.dumps({"key": f"run{number}", **figures})


def test_runs_of_another_case_are_not_mixed_with_those_of_the_last_sweep(sweep_file, tmp_path):
    out = tmp_path / "out"
    assert run(sweep_file, "--out", out, "--jobs", 1).exit_code == 0
    first = run("show", out, "--table", tmp_path / "first.csv").stdout
    case = tmp_path / "case.yaml"
    fast = case.read_text()
    case.write_text(fast.replace("rate_gbit_per_s: 25", "rate_gbit_per_s: 10"))
    assert run(sweep_file, "--out", out, "--jobs", 1).exit_code == 0
    shown = run("show", out, "--table", tmp_path / "second.csv").stdout
    assert shown.startswith("2 runs, 0 failed; 2 points")
    assert "2 other runs are kept in the folder, of what was asked before: not shown" in shown
    assert (pd.read_csv(tmp_path / "second.csv")["goodput_gbit_per_s"] < 10).all()
    case.write_text(fast)  # as it was: its runs are there, and are what is shown
    assert run(sweep_file, "--out", out, "--jobs", 1).exit_code == 0
    again = run("show", out, "--table", tmp_path / "again.csv").stdout
    assert [line for line in again.splitlines() if "other runs" not in line] == first.splitlines()
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "first.csv").read_text()


def test_what_is_not_finished_is_said(sweep_file, tmp_path):
    out = tmp_path / "out"
    run(sweep_file, "--out", out, "--jobs", 1)
    lines = (out / FILE).read_text().splitlines()
    (out / FILE).write_text(f"{lines[0]}\n{lines[1][:40]}\n")
    shown = run("show", out).stdout
    assert shown.startswith("1 of 2 runs, 0 failed; 1 points")
    assert f"{out / FILE}:2: not a run: not counted" in shown
    run(sweep_file, "--out", out, "--jobs", 1)
    assert run("show", out).stdout.startswith("2 runs, 0 failed; 2 points")


@pytest.mark.parametrize(
    "line",
    [
        '{"key": {"a": 1}, "values": {}}',
        '{"key": "x"}',
        '{"key": "x", "values": [1], "measured": 5}',
        '{"key": "x", "values": {"k": 1}, "measured": [5]}',
        '{"key": "x", "values": {"k": 1}, "measured": {"x": "bad"}}',
        '{"key": "x", "values": {"k": 1}, "failed": 3}',
        "[1, 2]",
        "\x00\x7fgarbage",
    ],
)
def test_a_line_that_is_no_run_is_not_counted_and_said(tmp_path, line):
    folder = of_lines(tmp_path / "out", point(1), line, point(2))
    shown = run("show", folder, "--page", tmp_path / "p.html", "--table", tmp_path / "t.csv")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("2 runs, 0 failed; 2 points")
    assert f"{folder / FILE}:2: not a run: not counted" in shown.stdout


def test_what_was_asked_cannot_be_read(tmp_path):
    folder = of_lines(tmp_path / "out", point(1))
    (folder / "asked.json").write_text("{garbage")
    shown = run("show", folder)
    assert shown.exit_code == 2
    assert "asked.json: not what a sweep has written" in shown.stderr
    assert "Traceback" not in shown.output


def test_too_few_points_say_nothing_of_what_matters(tmp_path):
    few = of_lines(tmp_path / "few", *map(point, range(1, 4)))
    shown = run("show", few, "--page", tmp_path / "few.html").stdout
    assert "3 points are too few to say what matters: 16 are needed, 4 of a grid" in shown
    assert "0%" not in shown
    assert "too few to say what matters" in (tmp_path / "few.html").read_text()
    some = of_lines(tmp_path / "some", *map(point, range(1, 6)))
    assert "matters: k 100%" in run("show", some).stdout


def test_no_share_of_the_variance_is_above_all_of_it():
    points = pd.DataFrame({"a": [1.0, 2.0] * 4 + [None] * 8, "x": [0.0, 9.0] * 4 + [5.0] * 8})
    assert 0 <= tables.sensitivities(points, ["a"], "x")["a"] <= 1


def test_a_table_is_csv_or_parquet(tmp_path):
    folder = of_lines(tmp_path / "out", point(1))
    shown = run("show", folder, "--table", tmp_path / "t.xlsx")
    assert shown.exit_code == 2
    assert "t.xlsx: a table is a file that ends in .csv or .parquet" in shown.stderr
    assert not (tmp_path / "t.xlsx").exists()


def test_whole_numbers_on_a_map_are_whole(tmp_path):
    lines = [
        json.dumps({"key": f"{a}{b}", "values": {"a": a, "b": b}, "measured": {"x": a / b}})
        for a in (123456, 800000)
        for b in (5, 20000)
    ]
    folder = of_lines(tmp_path / "out", *lines)
    run("show", folder, "--page", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert ">123456<" in page.replace("\n", "")
    assert "e+05" not in page


def test_what_no_point_has_is_not_a_figure(tmp_path):
    lines = [point(n, measured={"x": None, "y": float(n)}) for n in range(4)]
    shown = run("show", of_lines(tmp_path / "out", *lines)).stdout
    assert "x: not known at any point" in shown
    assert "nan" not in shown


def _drawn(seed, many):
    return pd.DataFrame(np.random.default_rng(seed).random((many, 3)), columns=["a", "b", "x"])


def test_random_points_say_nothing_of_a_key_that_does_nothing():
    shares = [tables.sensitivities(_drawn(n, 24), ["a", "b"], "x")["a"] for n in range(60)]
    assert sum(shares) / len(shares) < 0.12  # what slices of chance alone explain
    together = [tables.interactions(_drawn(n, 80), ["a", "b"], "x")["a", "b"] for n in range(60)]
    assert sum(together) / len(together) < 0.12
    points = _drawn(1, 24)
    points["x"] = points["a"]
    assert tables.sensitivities(points, ["a", "b"], "x")["a"] > 0.85


def test_random_points_that_are_few_say_nothing_of_what_matters():
    said = tables.too_few(_drawn(1, 6), ["a", "b"])
    assert said == "6 points are too few to say what matters: 16 are needed, 4 of a grid"
    assert set(tables.sensitivities(_drawn(1, 6), ["a", "b"], "x").values()) == {0.0}
    assert tables.too_few(_drawn(1, 16), ["a", "b"]) == ""


def test_a_front_is_told_from_the_other_points_without_colours():
    points = pd.DataFrame({"throughput": [1.0, 0.9, 0.8], "latency_us": [9.0, 5.0, 6.0]})
    drawn = charts.front(points, points.iloc[:2], ("throughput", "latency_us"))
    assert drawn.count("<polygon") == 2 + 1  # and in the key of the signs
    assert drawn.count("<circle") == 1 + 1
    assert " red" not in drawn
    assert "2 that no other one beats" in drawn
    assert "1 other point" in drawn


def test_a_missed_goal_is_a_word_too_and_its_figure_is_beside_the_bound():
    svg = charts.ranks([("slow", 0.94), ("fine", 0.99)], 0.95, "throughput", high=True)
    assert ">0.94 missed<" in svg  # red and blue are the same grey
    assert ">0.99<" in svg
    (bound,) = re.findall(r'd="M([\d.]+),[^"]*"[^>]*stroke-dasharray', svg)
    starts = re.findall(r'<text x="([\d.]+)"[^>]*>0\.9[49]', svg)
    assert all(float(start) > float(bound) + 5 for start in starts)
    assert len(starts) == 2


def test_a_run_that_failed_counts_as_what_it_was_when_it_was_run_again(tmp_path):
    failed = json.dumps({"key": "run1", "values": {"k": 1}, "failed": "the lab was away"})
    folder = of_lines(tmp_path / "out", failed, point(2), point(1), failed)
    assert run("show", folder).stdout.startswith("2 runs, 0 failed; 2 points")


def test_numbers_among_words_are_words_in_parquet(tmp_path):
    table = pd.DataFrame({"k": [5, "dynamic", None], "x": [1.0, 2.0, 3.0]})
    tables.write(table, tmp_path / "t.parquet")
    kept = pd.read_parquet(tmp_path / "t.parquet")
    assert kept["k"].dropna().tolist() == ["5", "dynamic"]
    assert kept["x"].tolist() == [1.0, 2.0, 3.0]


def test_show_says_in_which_pattern_a_figure_is_and_how_many_are_as_good(tmp_path):
    lines = [
        json.dumps(
            {"key": f"{k}{p}", "values": {"k": k}, "pattern": p, "measured": {"latency_us": us}}
        )
        for k in range(7)
        for p, us in (("calm", 1.0), ("burst", 9.0 if k else 2.0))
    ]
    folder = of_lines(tmp_path / "out", *lines)
    shown = run("show", folder, "--page", tmp_path / "p.html").stdout
    assert re.search(r"latency_us: best\n +k +latency_us worst in\n +0 +2.0 +burst\n", shown)
    assert "worst in" in (tmp_path / "p.html").read_text()
    equal = of_lines(tmp_path / "equal", *lines[2:])
    assert "latency_us: 9 at every point" in run("show", equal).stdout
    good = [line.replace("9.0", "2.0") for line in lines[:12]]
    some = of_lines(tmp_path / "some", *good, *lines[12:])
    shown = run("show", some, "--page", tmp_path / "p.html").stdout
    assert "latency_us: best (6 points are equally good)" in shown
    assert "6 points are equally good" in (tmp_path / "p.html").read_text()


def test_a_point_without_a_figure_does_not_hide_that_of_the_others(tmp_path):
    first = point(0, measured={"x": None})
    same = [point(number, measured={"x": 5.0}) for number in (1, 2)]
    folder = of_lines(tmp_path / "out", first, *same)
    assert "x: 5 at every point that has it" in run("show", folder).stdout
    whole = of_lines(tmp_path / "whole", *same)
    assert run("show", whole).stdout.endswith("x: 5 at every point\n")


def test_a_key_may_have_numbers_and_words(tmp_path):
    lines = [
        json.dumps(
            {"key": f"{size}{k}", "values": {"size": size, "k": k}, "measured": {"x": k * 1.0}}
        )
        for size in (None, 65536, True)
        for k in (1, 2)
    ]
    folder = of_lines(tmp_path / "out", *lines)
    page = tmp_path / "p.html"
    assert run("show", folder, "--page", page).exit_code == 0
    for word in ("None", "65536", "True"):
        assert f">{word}<" in page.read_text()
    figures = run("show", folder, "--figures", tmp_path / "figures", "--as", "svg")
    assert figures.exit_code == 0
    assert (tmp_path / "figures" / "map-x.svg").exists()


def test_integers_beyond_64_bits_have_room_in_parquet(tmp_path):
    tables.write(pd.DataFrame({"k": [1, 2**63, -(2**70)]}), tmp_path / "t.parquet")
    kept = pd.read_parquet(tmp_path / "t.parquet")["k"]
    assert kept.tolist() == ["1", str(2**63), str(-(2**70))]


@pytest.mark.parametrize("why", [ImportError("too old"), ModuleNotFoundError("not there")])
def test_where_pyarrow_is_of_no_use_points_are_csv(tmp_path, monkeypatch, why):
    def refused(*_, **__):
        raise why

    monkeypatch.setattr(pd.DataFrame, "to_parquet", refused)
    rows = [{"values": {"k": 1}, "pattern": "", "seed": 1, "measured": {"x": 1.0}}]
    assert tables.write_points(rows, tmp_path) == tmp_path / "points.csv"
    assert (tmp_path / "points.csv").read_text().startswith("k,pattern,seed")
    assert not (tmp_path / "points.parquet").exists()


def test_a_map_is_empty_where_a_figure_is_not_known():
    places = [(a, b) for a in (1, 2) for b in (1, 2)]
    points = pd.DataFrame({"a": [a for a, _ in places], "b": [b for _, b in places]})
    points["x"] = [None, 1.0, 2.0, 3.0]
    drawn = charts.heat_map(points, ("a", "b"), "x")
    assert "nan" not in drawn
    assert drawn.count("<rect") == 1 + 3  # the paper's
