"""Some of the points of `make break`, one of each of some ways; all of them take minutes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench import bench_of, journal_of
from breaking import break_at, tally
from recovery_lab import ROOT, ServedLab
from ways import ABOUT_DEVICES, AT_COMMANDS, CHANGING, WAYS, chosen


def expect_put_back(lab: ServedLab, folder: Path) -> None:
    """Broken in one point of each of some ways, the lab is as it was."""
    with bench_of(lab, folder) as bench:
        points = chosen(journal_of(bench), seed=1, quick=True)
        tried = [break_at(bench, point, number) for number, point in enumerate(points)]
    print(f"\nbroken runs: {list(tally(tried))[-1]} (`make break` tries more)")  # noqa: T201
    assert len({point.way for point in points}) >= 4
    assert [str(each) for each in tried if not each.survived] == []
    assert max(each.changed for each in tried) >= 2  # it was a broken lab


def test_runs_broken_in_some_ways_are_put_back(
    served: ServedLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", "as it was")
    expect_put_back(served, tmp_path)
    assert os.environ["LABTESTS_STATE_DIR"] == "as it was"


def test_make_break_starts_by_itself() -> None:
    """With nothing on the path but what the script puts there."""
    bare = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    script = [sys.executable, str(ROOT / "tests" / "recovery" / "breaking.py"), "--help"]
    done = subprocess.run(script, env=bare, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_points_are_spread_over_the_whole_journal() -> None:
    lines = ["begun", *["change", "made"] * 6, "folded", *["undoing", "undone"] * 5, "ended"]
    points = chosen(lines, seed=1)
    assert len(points) == sum(way.tries for way in WAYS.values()) >= 30
    assert {point.way for point in points} == set(WAYS)
    assert {point.line for point in points} >= ABOUT_DEVICES
    for name, way in WAYS.items():
        mine = [point for point in points if point.way == name]
        assert {point.how for point in mine} == set(way.hows[: way.tries])
    assert all(p.line in CHANGING for p in points if p.how in AT_COMMANDS)
    assert chosen(lines, seed=2) != points
