"""`labtests new suite`: a file that runs, and nothing of anybody's written over. Whether it passes
is tried in tests/story and, with a wheel, in tests/packaging."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labtests.__main__ import main
from labtests.cli.new import skeleton

ROOT = Path(__file__).parents[2]


def new(*words: str) -> Result:
    return CliRunner().invoke(main, ["new", "suite", *words], prog_name="labtests")


@pytest.mark.parametrize("name", ["half_load", "half-load", "test_half_load"])
def test_it_writes_a_suite_of_that_name(tmp_path: Path, name: str) -> None:
    told = new(name, str(tmp_path / "mine"))
    assert told.exit_code == 0, told.stderr
    file = tmp_path / "mine" / "test_half_load.py"
    assert file.read_text() == skeleton("half_load")
    assert "def test_half_load(incast):" in file.read_text()
    assert f"pytest {file} --testbed FILE --dry-run" in told.stdout


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("mine")
    (tmp_path / "test_link.py").symlink_to(tmp_path / "nowhere")
    for name in ("mine", "link"):
        told = new(name, str(tmp_path))
        assert told.exit_code == 2
        assert f"test_{name}.py is there already\n  remedy: " in told.stderr
    assert (tmp_path / "test_mine.py").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["../x", "x.py", "", "test_", "X", "9", "a b", "é", "a" * 61])
def test_a_bad_name_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    told = new("--", name, str(tmp_path / "mine"))
    assert told.exit_code == 2
    assert "names no suite\n  remedy: small letters" in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = new("mine", str(tmp_path / "file" / "below"))
    assert told.exit_code == 2
    assert "cannot be written: " in told.stderr


def test_the_guide_shows_what_is_written() -> None:
    guide = (ROOT / "docs" / "writing-suites.md").read_text(encoding="utf-8")
    assert skeleton("half_load") in guide


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--fixtures", ("incast", "ring", "lab", "testbed", "has to be red", "put back")),
        ("--markers", ("requires(", "skipped")),
    ],
)
def test_pytest_says_it_in_short(tmp_path: Path, option: str, words: tuple[str, ...]) -> None:
    """In an empty folder, without a testbed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "labtests.pytest_plugin", option],
        cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode in (0, 5), done.stderr
    for word in words:
        assert word in " ".join(done.stdout.split())
