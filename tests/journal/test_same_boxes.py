"""What an earlier run left changed is found again, however the testbed file spells its hosts."""

from pathlib import Path

import pytest
from toy_lab import begun

from labtests.core.errors import LabError
from labtests.inventory import Testbed, load
from labtests.journal import unfinished_runs
from labtests.journal.unfinished import register


def testbed(folder: Path, name: str, *hosts: str) -> Testbed:
    devices = "".join(
        f"  D{n}: {{platform: linux, management: {{host: '{host}', port: {n + 1}}}}}\n"
        for n, host in enumerate(hosts)
    )
    file = folder / f"{name}.yaml"
    file.write_text(f"name: {name}\ndevices:\n{devices}")
    return load(file)


testbed.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))


@pytest.mark.parametrize(
    ("host", "other", "same"),
    [
        ("labhost", "LabHost", True),
        ("2001:db8::1", "2001:DB8:0::1", True),
        ("10.0.0.1", "10.1", True),
        ("labhost", "labhost2", False),
    ],
)
def test_one_box_is_one_however_it_is_spelled(tmp_path, host, other, same):
    register(
        tmp_path / "changes.jsonl", begun(tmp_path, devices=testbed(tmp_path, "one", host).devices)
    )
    (left,) = unfinished_runs()
    assert left.concerns(testbed(tmp_path, "two", other)) is same


def test_an_entry_that_would_not_be_read_again_is_not_written(tmp_path):
    (box,) = testbed(tmp_path, "one", "h" * 200).devices
    with pytest.raises(LabError, match="6000 devices are more than an entry holds"):
        register(tmp_path / "changes.jsonl", begun(tmp_path, devices=(box,) * 6000))
    assert unfinished_runs() == []
