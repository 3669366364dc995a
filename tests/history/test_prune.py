"""What a rule does not keep goes; nothing else does."""

from datetime import UTC, datetime

import pytest
from nights import Night, written

import labtests.history.pruning as pruning
from labtests.core.errors import LabError

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _nothing_unfinished(monkeypatch):
    monkeypatch.setattr(pruning, "unfinished_runs", list)


@pytest.fixture
def reports(tmp_path):
    """Runs of four days: the first is red, the last is the newest."""
    for day, outcome in ((1, "fail"), (2, "pass"), (20, "pass"), (28, "pass")):
        written(tmp_path / "lab", Night(day=day, outcome=outcome))
    (tmp_path / "latest").symlink_to(tmp_path / "lab")
    return tmp_path


def left(reports) -> list[str]:
    return sorted(folder.name[6:8] for folder in (reports / "lab").iterdir())


def run(reports, keep="15d", *, keep_red=False, only_list=False) -> list[str]:
    said: list[str] = []
    rule = pruning.Rule.of(keep, keep_red=keep_red, only_list=only_list)
    pruning.prune(reports, rule, NOW, said.append)
    return said


def test_old_runs_go(reports):
    said = run(reports)
    assert left(reports) == ["20", "28"]
    assert said[-1].startswith("kept 2 runs; freed: 0.0")
    assert said[0] == f"removed: {reports / 'lab' / '20261101-020000-000001'}"


def test_red_ones_may_stay(reports):
    run(reports, keep_red=True)
    assert left(reports) == ["01", "20", "28"]


def test_a_list_removes_nothing(reports):
    assert run(reports, only_list=True)[0].startswith("would remove: ")
    assert left(reports) == ["01", "02", "20", "28"]


def test_the_newest_stays_however_old(reports):
    run(reports, "1d")
    assert left(reports) == ["28"]


def test_a_run_whose_changes_are_not_put_back_stays(reports, monkeypatch):
    class Left:
        journal = reports / "lab" / "20261102-020000-000002" / "changes.jsonl"

    monkeypatch.setattr(pruning, "unfinished_runs", lambda: [Left])
    run(reports)
    assert left(reports) == ["02", "20", "28"]


def test_what_is_no_run_stays(reports, tmp_path):
    elsewhere = tmp_path / "20261101-020000-00000f"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (reports / "lab" / "20251101-020000-00000e").symlink_to(elsewhere)
    (reports / "lab" / "notes").mkdir()
    (reports / "lab" / "20251101-020000-00000d").mkdir()
    (reports / "lab" / "20251101-020000-00000d" / "thesis.txt").touch()
    run(reports)
    assert (elsewhere / "kept").exists()
    assert (reports / "lab" / "notes").exists()
    assert (reports / "lab" / "20251101-020000-00000d" / "thesis.txt").exists()
    assert (reports / "lab" / "20251101-020000-00000e").is_symlink()


def test_an_age_of_another_form_is_told(reports):
    with pytest.raises(LabError, match="such as 30d"):
        run(reports, "a month")
    assert left(reports) == ["01", "02", "20", "28"]
