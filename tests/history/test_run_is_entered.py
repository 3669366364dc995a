"""A run enters itself when it has ended; no trouble with the history is a run's."""

import socket
import time

import pytest
from click.testing import CliRunner
from nights import Night, written

from labtests.__main__ import main
from labtests.history.background import background
from labtests.history.entering import enter_run
from labtests.history.store import FILE, VARIABLE, History
from labtests.report import read_run


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "reports" / "lab", Night(day=1))


@pytest.fixture(autouse=True)
def _nothing_asked(monkeypatch):
    monkeypatch.delenv("LABTESTS_HISTORY", raising=False)


def kept(where) -> int:
    with History.open(str(where)) as history:
        return len(history.summaries())


def test_beside_the_runs_unless_told(folder, tmp_path):
    said: list[str] = []
    enter_run(folder, tmp_path / "reports", said.append)
    assert said == []
    assert kept(tmp_path / "reports" / FILE) == 1


def test_where_the_environment_says(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("LABTESTS_HISTORY", str(tmp_path / "elsewhere.sqlite"))
    enter_run(folder, tmp_path / "reports", pytest.fail)
    assert kept(tmp_path / "elsewhere.sqlite") == 1
    assert not (tmp_path / "reports" / FILE).exists()


def test_nowhere_when_it_is_off_or_the_run_was_told_where_to_write(folder, tmp_path, monkeypatch):
    enter_run(folder, None, pytest.fail)
    monkeypatch.setenv("LABTESTS_HISTORY", "off")
    enter_run(folder, tmp_path / "reports", pytest.fail)
    assert not list(tmp_path.rglob("*.sqlite"))


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://labtests:hunter22@127.0.0.1:1/x",
        "/proc/history",
        "nothing://at/all",
        "postgresql://h:xx/d",
        "postgresql://127.0.0.1:1/d?user=u&password=hunter22",
    ],
)
def test_what_is_wrong_with_the_history_is_said_and_nothing_else_happens(
    folder, tmp_path, monkeypatch, where
):
    monkeypatch.setenv("LABTESTS_HISTORY", where)
    said: list[str] = []
    enter_run(folder, tmp_path / "reports", said.append)
    assert said[0].startswith("the run is not in the history: ")
    assert said[-1] == f"  later: labtests history import {folder}"
    assert "hunter22" not in "".join(said)


def test_half_a_pair_of_surrogates_keeps_no_red_run_out(tmp_path):
    night = written(tmp_path / "reports" / "lab", Night(day=2, outcome="fail"))
    text = (night / "run.json").read_text().replace('"problem": ""', '"problem": "\\ud83d"')
    (night / "run.json").write_text(text)
    enter_run(night, tmp_path / "reports", pytest.fail)
    assert kept(tmp_path / "reports" / FILE) == 1


def test_folders_are_imported_again_and_again(folder, tmp_path):
    where = str(tmp_path / "all.sqlite")
    ask = ["history", "import", "--history", where, str(folder)]
    assert f"entered: {folder}" in CliRunner().invoke(main, ask).output
    again = CliRunner().invoke(main, ask)
    assert (again.exit_code, f"was there: {folder}" in again.output) == (0, True)
    assert kept(where) == 1


def test_one_broken_folder_keeps_no_other_out(folder, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    where = str(tmp_path / "all.sqlite")
    ask = ["history", "import", "--history", where, str(broken), str(folder)]
    ended = CliRunner().invoke(main, ask)
    assert ended.exit_code == 1
    assert "not entered: " in ended.output
    assert f"entered: {folder}" in ended.output
    assert kept(where) == 1


def test_a_server_that_does_not_answer_is_waited_for_once_and_not_long(folder, monkeypatch):
    """The page asks it first; the end of the run does not try again, and says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/x"
        monkeypatch.setenv(VARIABLE, where)
        began_s = time.monotonic()
        past = background(where, read_run(folder), folder)
        said: list[str] = []
        enter_run(folder, None, said.append, problem=past.problem)
        took_s = time.monotonic() - began_s

    assert 0 < took_s < 10
    assert said[0].startswith("the run is not in the history: history postgresql+psycopg://u@127")
    assert said[-1] == f"  later: labtests history import {folder}"
