"""Runs and rows that labtests has not written: told with their place, and never a traceback."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from nights import S1, Night, written
from sqlalchemy import text

from labtests.__main__ import main
from labtests.history.records import of_folder
from labtests.history.store import History, _engine, _url

FACT = "tests[0].verdicts[0].facts[0]"
ODD: list[tuple[str, Any, str]] = [
    ("exit_code", 10**30, "not a whole number"),
    ("exit_code", True, "not a number"),
    ("seed", "1", "not a number"),
    ("faults", 7, "not a list of texts"),
    ("faults", [7], "not a list of texts"),
    ("started", "yesterday", "not a moment"),
    ("started", 20261101, "not a text"),
    ("backend", "hardware, nearly", "not one of hardware"),
    ("backend", None, "not one of hardware"),
    ("problem", ["x"], "not a text"),
    ("lab.name", 7, "not a text"),
    ("tests[0].outcome", "green", "not one of pass"),
    ("tests[0].duration_s", "1 s", "not a number"),
    ("tests[0].verdicts", {"question": ""}, "not a list"),
    ("tests[0].verdicts[0]", 7, "not an object"),
    ("tests[0].verdicts[0].role", "m" * 17, "longer than 16"),
    (f"{FACT}.measured", "0", "not a number"),
    (f"{FACT}.margin", True, "not a number"),
    (f"{FACT}.unit", 3, "not a text"),
    ("tests[0].phases[0].counters[0].increase", "0", "not a number"),
    ("tests[0].phases[0].settings[0].value", None, ""),
]


def put(run: Any, place: str, value: Any) -> None:
    """A value at a place such as tests[0].outcome."""
    *way, last = place.replace("[", ".[").split(".")
    for step in way:
        run = run[int(step[1:-1])] if step.startswith("[") else run[step]
    run[int(last[1:-1]) if last.startswith("[") else last] = value


def odd_run(folder: Path, place: str, value: Any) -> Path:
    made = written(folder, Night(day=1))
    run = json.loads((made / "run.json").read_text())
    put(run, place, value)
    (made / "run.json").write_text(json.dumps(run))
    return made


@pytest.mark.parametrize(
    ("place", "value", "what"), ODD, ids=[f"{p}-{n}" for n, (p, *_) in enumerate(ODD)]
)
def test_a_value_of_another_kind_is_told_with_its_place(tmp_path, place, value, what):
    where, folder = str(tmp_path / "h.sqlite"), odd_run(tmp_path / "lab", place, value)
    ended = CliRunner().invoke(main, ["history", "import", "--history", where, str(folder)])
    if not what:  # null is nothing, everywhere
        assert (ended.exit_code, ended.output) == (0, f"entered: {folder}\n")
        return
    assert ended.exit_code == 1, ended.output
    assert f"{folder / 'run.json'}: {place} is " in ended.output
    assert what in ended.output
    with History.open(where) as history:
        assert history.summaries() == []


@pytest.mark.parametrize("said", [b"{nope", b"[\xff]", b"[" + b"{}," * 200_000 + b"{}]"])
def test_a_check_that_cannot_be_read_leaves_the_rest_of_the_run(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    for day in (1, 2):
        made = written(tmp_path / "reports" / "lab", Night(day=day))
        (made / "check.json").write_bytes(said)
    runs = sorted(map(str, (tmp_path / "reports" / "lab").iterdir()))
    for words, told in (
        (["history", "import", *runs], f"entered: {runs[0]}"),
        (["history", "show", runs[0]], "PASS"),
        (["compare", *runs], "no difference"),
        (["prune", "--keep", "1d", "--keep-red", "--list"], "kept 1 run;"),
    ):
        ended = CliRunner().invoke(main, words, env={"LABTESTS_HISTORY": "h.sqlite"})
        assert ended.exit_code == 0, (words, ended.output, ended.exc_info)
        assert told in ended.output


def test_numbers_that_are_none_are_not_known_and_a_margin_of_nothing_is_none(where, tmp_path):
    nan, huge = float("nan"), 1e308
    for place, value in ((f"{FACT}.measured", nan), ("tests[0].duration_s", huge)):
        folder = odd_run(tmp_path / place, place, value)
        with History.open(where) as history:
            assert history.enter(of_folder(folder))
    fact = of_folder(tmp_path / f"{FACT}.measured" / "20261101-020000-000001").tests[0]
    assert fact.verdicts[0].facts[0].measured is None
    assert fact.verdicts[0].facts[0].margin is None


def test_a_run_of_dash_k_is_not_whole(tmp_path):
    assert of_folder(odd_run(tmp_path, "whole", value=True)).whole
    assert not of_folder(odd_run(tmp_path / "k", "command_line", "pytest suites -k s1")).whole


COMMANDS = (
    ["history", "list"],
    ["history", "show", "1"],
    ["history", "trend", "--all"],
    ["history", "flaky"],
    ["compare", "1", "2"],
    ["site", "--out", "site"],
    ["metrics", "write", "labtests.prom"],
)
ROWS = (
    "UPDATE runs SET exit_code = 'x' WHERE id = 1",
    "UPDATE runs SET state = 'no blob' WHERE id = 1",
    "UPDATE runs SET started = 7.5, testbed = x'00ff' WHERE id = 1",
    "UPDATE runs SET state = x'789c8b8e050001150089' WHERE id = 1",  # packed []
    "UPDATE tests SET duration_s = 'long' WHERE id = 1",
    "UPDATE tests SET outcome = 'green'",
    "UPDATE facts SET measured = 9e999, margin = 'left'",
    "UPDATE facts SET measured = 'x'",
    "UPDATE phases SET counters = x'00'",
    "DELETE FROM tests",
)


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_no_row_ends_a_command_in_a_traceback(tmp_path, monkeypatch, row):
    monkeypatch.chdir(tmp_path)
    where = str(tmp_path / "h.sqlite")
    with History.open(where) as history:
        for day in (1, 2, 3, 4, 5, 6):
            history.enter(of_folder(written(tmp_path / "lab", Night(day=day, left=0.2 + day / 99))))
    engine = _engine(_url(where))
    with engine.begin() as connection:
        connection.execute(text(row))
    engine.dispose()
    told = []
    for words in COMMANDS:
        ended = CliRunner().invoke(main, words, env={"LABTESTS_HISTORY": where})
        assert isinstance(ended.exception, SystemExit | None), (words, ended.exc_info)
        told += [ended.output] if ended.exit_code == 2 else []
    harmless = row.startswith(("UPDATE tests SET outcome", "DELETE"))
    assert bool(told) is not harmless
    assert all("the history has a row that labtests has not written: table" in t for t in told)


def test_an_outcome_that_nobody_knows_is_no_green(tmp_path):
    run = of_folder(written(tmp_path, Night(day=1)))
    odd = replace(run, tests=tuple(replace(test, outcome="green") for test in run.tests))
    assert odd.outcome == "error"
    assert replace(run, tests=(*run.tests, odd.tests[0])).outcome == "error"


def test_a_wrong_clock_makes_no_newest_run(where, tmp_path):
    """It stands where it was entered, and is told."""
    ahead = (("started", "2999-01-01T02:00:00+05:00"), ("ended", "2999-01-01T02:04:00+05:00"))
    nights = [Night(day=1), Night(day=2), Night(day=3, other="fail", more=ahead), Night(day=4)]
    with History.open(where) as history:
        for night in nights:
            history.enter(of_folder(written(tmp_path / "lab", night)))
        assert [each.number for each in history.summaries()] == [4, 3, 2, 1]
        figures = history.margins(testbed="three-servers", backend="hardware")
        assert [row["run"] for row in figures if row["test"] == S1] == [1, 2, 3, 4]
    told = CliRunner().invoke(main, ["history", "list", "--history", where]).output.splitlines()
    assert "2998-12-31 21:00 (a clock was ahead)" in told[1]
    out = str(tmp_path / "m.prom")
    CliRunner().invoke(main, ["metrics", "write", "--history", where, out])
    assert "labtests_run_passed" in Path(out).read_text()


def test_a_history_that_is_off_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LABTESTS_HISTORY", "off")
    for words in COMMANDS:
        ended = CliRunner().invoke(main, words)
        assert ended.exit_code == 2
        assert "the history is off (LABTESTS_HISTORY=off)" in ended.output
    assert not (tmp_path / "off").exists()


def test_who_only_reads_makes_no_history(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABTESTS_HISTORY", raising=False)
    for words in COMMANDS:
        ended = CliRunner().invoke(main, words)
        assert ended.exit_code == 2
        assert "reports/history.sqlite: there is no history" in ended.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", ["?mode=memory&uri=true", "?uri=true", "?"])
def test_a_file_of_sqlite_has_no_options(tmp_path, monkeypatch, more):
    """In memory nothing would be kept of a run that is said to be entered."""
    monkeypatch.chdir(tmp_path)
    folder = written(tmp_path / "lab", Night(day=1))
    words = ["history", "import", "--history", f"sqlite:///file:h.sqlite{more}", str(folder)]
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    assert "a file of SQLite has no options" in ended.output
    assert [each.name for each in tmp_path.iterdir()] == ["lab"]


def test_who_only_reads_makes_no_history_by_url(tmp_path):
    file = tmp_path / "h.sqlite"
    ended = CliRunner().invoke(main, ["history", "list", "--history", f"sqlite:///{file}"])
    assert (ended.exit_code, file.exists()) == (2, False)
    assert "there is no history" in ended.output
    with History.open(f"sqlite:///{file}"):
        assert file.exists()


def test_less_than_no_lines_are_refused():
    for words in (["history", "list", "--most", "-1"], ["compare", "--most", "-1", "a", "b"]):
        ended = CliRunner().invoke(main, words)
        assert ended.exit_code == 2
        assert "-1 is not in the range" in ended.output
