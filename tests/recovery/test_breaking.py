"""Some of the points of `make break`; all of them take minutes."""

from pathlib import Path

import pytest
from breaking import broken
from recovery_lab import ServedLab


def test_a_run_broken_at_a_journal_write_is_put_back(
    served: ServedLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state" / "labtests"))
    tried = list(broken(served, tmp_path, 3))
    assert len(tried) == 3
    assert [point.wrong for point in tried] == ["", "", ""]
    assert max(point.left_changed for point in tried) > 5  # it was a broken lab
