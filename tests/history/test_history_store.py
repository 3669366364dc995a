"""Runs are kept whole, once, by several writers at a time, in both databases."""

import json
import multiprocessing
import stat
from pathlib import Path

import pytest
from nights import FIGURE, S1, WEEK, Night, written
from sqlalchemy import create_engine, text

from labtests.core.errors import LabError
from labtests.history import store
from labtests.history.records import NotEntered, of_folder
from labtests.history.store import History, HistoryUnusable, _engine, _url


def test_what_a_run_says_comes_back(where, tmp_path):
    run = of_folder(written(tmp_path / "lab", Night(day=3, left=0.125, dropped=None)))
    with History.open(where) as history:
        assert history.enter(run)
        (found,) = history.summaries()
        assert history.whole(found.number) == run
    assert run.tests[0].phases[0].counters == {
        ("S6550", "XGE1/0/1", "queue", "3", "dropped_packets"): None
    }
    assert run.state is not None
    assert run.state["ServerA", "", "version firmware"] == "16.35.2000"


def test_nothing_is_entered_twice(where, tmp_path):
    run = of_folder(written(tmp_path / "lab", Night(day=1)))
    with History.open(where) as history:
        assert history.enter(run)
        assert not history.enter(run)
        assert len(history.summaries()) == 1


def _enters(where: str, folders: list[str]) -> int:
    with History.open(where) as history:
        return sum(history.enter(of_folder(Path(folder))) for folder in folders)


def test_several_runners_enter_at_once(where, tmp_path):
    """All of them find no history, and each enters all runs."""
    folders = [str(written(tmp_path / "lab", Night(day=day))) for day in range(1, 9)]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        entered = pool.starmap(_enters, [(where, folders)] * 4)
    assert sum(entered) == 8
    with History.open(where) as history:
        assert len(history.summaries()) == 8


@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_a_table_that_is_locked_is_not_waited_for_without_end(where, tmp_path, monkeypatch):
    """As a runner that froze while it wrote, or VACUUM FULL."""
    monkeypatch.setattr(store, "_LIMITS", store._LIMITS.replace("30s", "1s"))
    with History.open(where) as history:
        held = create_engine(history._engine.url)
        with held.connect() as connection:
            connection.execute(text("SET idle_in_transaction_session_timeout = '20s'"))
            connection.execute(text("LOCK TABLE runs"))
            with pytest.raises(HistoryUnusable, match="lock timeout"):
                history.enter(of_folder(written(tmp_path / "lab", Night(day=1))))
        held.dispose()
        assert history.enter(of_folder(tmp_path / "lab" / "20261101-020000-000001"))


@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_a_server_that_was_started_again_is_the_same_history(where, tmp_path):
    """A night holds its history open for hours."""
    with History.open(where) as history:
        history.enter(of_folder(written(tmp_path / "lab", Night(day=1))))
        gone = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        other = create_engine(history._engine.url)
        with other.connect() as connection:
            connection.execute(text(f"{gone} current_database() AND pid <> pg_backend_pid()"))
        other.dispose()
        assert len(history.summaries()) == 1


def test_runs_are_listed_newest_first_by_lab_and_backend(where, tmp_path):
    nights = [*WEEK, Night(day=8, backend="simulated"), Night(day=9, testbed="other")]
    with History.open(where) as history:
        for night in nights:
            history.enter(of_folder(written(tmp_path / "lab", night)))
        assert [each.run.started[8:10] for each in history.summaries(most=3)] == ["09", "08", "07"]
        assert len(history.summaries(testbed="three-servers", backend="hardware")) == 7
        figures = history.margins(testbed="three-servers", backend="hardware")
    assert [row["margin"] for row in figures if row["fact"] == FIGURE] == [n.left for n in WEEK]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"exit_code": None}, "has not ended"),
        ({"tests": []}, "has run no test"),
        ({"command_line": "pytest suites --plan"}, "was a plan"),
        ({"started": None}, "does not say when it started"),
        ({"lab": 7}, "does not say its lab"),
    ],
)
def test_what_is_no_run_is_left_out(tmp_path, more, words):
    folder = written(tmp_path / "lab", Night(day=1, more=tuple(more.items())))
    with pytest.raises(NotEntered, match=words):
        of_folder(folder)


def test_a_broken_run_is_told(tmp_path):
    folder = written(tmp_path / "lab", Night(day=1))
    (folder / "run.json").write_text('{"format": "labtests-run/1", "tests"')
    with pytest.raises(LabError, match="is not JSON"):
        of_folder(folder)


def test_a_lab_whose_state_was_not_taken_is_not_known(tmp_path):
    folder = written(tmp_path / "lab", Night(day=1))
    (folder / "state-before.json").unlink()
    assert of_folder(folder).state is None


def test_the_file_is_for_its_owner_only(tmp_path):
    with History.open(str(tmp_path / "kept" / "history.sqlite")):
        pass
    assert stat.S_IMODE((tmp_path / "kept" / "history.sqlite").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("mysql://host/name", "not in 'mysql'"),
        ("postgresql://labtests:hunter22@127.0.0.1:1/name", "refused"),
        ("nonsense://", "no URL|not in"),
    ],
)
def test_what_cannot_be_a_history_is_told_without_a_password(asked, words):
    with pytest.raises(HistoryUnusable, match=words) as told:
        History.open(asked)
    assert "hunter22" not in str(told.value)
    assert "remedy" in str(told.value)


def test_a_file_that_is_something_else_stays_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all" * 100)
    with pytest.raises(HistoryUnusable, match="not a database"):
        History.open(str(tmp_path / "notes.txt"))
    assert (tmp_path / "notes.txt").read_text() == "no database at all" * 100


def test_tables_of_somebody_else_are_not_touched(where):
    engine = _engine(_url(where))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE runs (mine INTEGER)"))
    engine.dispose()
    with pytest.raises(HistoryUnusable, match="tables of somebody else"):
        History.open(where)


def test_the_history_of_a_newer_labtests_is_told(where, tmp_path):
    with History.open(where):
        pass
    engine = _engine(_url(where))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(HistoryUnusable, match="newer labtests"):
        History.open(where)


def test_a_run_without_a_main_verdict_has_no_figures(where, tmp_path):
    folder = written(tmp_path / "lab", Night(day=1))
    told = json.loads((folder / "run.json").read_text())
    told["tests"][0]["verdicts"] = []
    (folder / "run.json").write_text(json.dumps(told))
    with History.open(where) as history:
        history.enter(of_folder(folder))
        assert history.margins(testbed="three-servers", backend="hardware") == []
        assert history.whole(1).tests[0].name == S1


def test_a_database_is_reached_by_the_drivers_own_url(pg_server):
    assert "postgresql" in str(create_engine(_url(pg_server.format("x"))).url)
