"""What a run writes is its owner's alone, and ends up nowhere else."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, expect_owned, private_folder, write_private
from labtests.journal import read_changes, state_folder, unfinished_runs
from labtests.journal.append_only import NotWritten, Pages
from labtests.pytest_plugin.folder import made
from labtests.transport.transcript import Transcript

STRANGER = 54321  # a user id that is not ours


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    earlier = os.umask(request.param)
    yield request.param
    os.umask(earlier)


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is there belongs to somebody else, who is not root either."""
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER + 1)
    real = os.stat_result

    def foreign(found: os.stat_result) -> os.stat_result:
        values = list(found)
        values[4] = STRANGER
        return real(values)

    for name in ("stat", "lstat"):
        earlier = getattr(Path, name)
        monkeypatch.setattr(Path, name, lambda self, e=earlier, **k: foreign(e(self, **k)))


def test_a_run_folder_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o777)
    for folder in (tmp_path / "new" / "run", there):
        made(folder)
        assert mode(folder) == 0o700
        Transcript(folder / "journal.jsonl").close()
        Pages(folder / "changes.jsonl", fresh=True).close()
        write_private(folder / "run.json", "{}")
        assert {mode(file) for file in folder.iterdir()} == {0o600}


def test_a_file_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text("old")
    file.chmod(0o666)
    write_private(file, "new")
    assert (file.read_text(), mode(file)) == ("new", 0o600)


@pytest.mark.usefixtures("stranger")
def test_a_run_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError, match=f"belongs to another user \\({STRANGER}\\)"):
        made(tmp_path)


def test_a_folder_into_which_others_could_have_written_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "anything").touch()
    folder.chmod(0o777)
    with pytest.raises(pytest.UsageError, match="others may have written"):
        made(folder)
    assert mode(folder) == 0o777  # left alone


def test_a_run_folder_that_is_a_link_or_has_links_is_refused(tmp_path: Path) -> None:
    target, link, folder = tmp_path / "target", tmp_path / "link", tmp_path / "folder"
    target.mkdir()
    link.symlink_to(target)
    with pytest.raises(pytest.UsageError, match="is not a folder"):
        made(link)
    for name in (
        "run.json",
        "report.html",
        "junit.xml",
        "tests",
        "journal.jsonl",
        "journal.jsonl.gz",
    ):
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / "victim")
        with pytest.raises(pytest.UsageError, match="symbolic link"):
            made(folder)
        (folder / name).unlink()
        folder.rmdir()
    assert not (tmp_path / "victim").exists()
    assert not list(target.iterdir())


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("precious")
    link.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        write_private(link, "x")
    with pytest.raises(OSError, match="symbolic links"):
        Transcript(link)
    with pytest.raises(NotWritten):
        Pages(link, fresh=False)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "made")
    with pytest.raises(OSError, match="symbolic links"):
        Transcript(dangling)
    assert victim.read_text() == "precious"
    assert not (tmp_path / "made").exists()


def test_a_pipe_or_a_device_is_no_file_to_write(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(NotPrivate, match="not a file of this user"):
            write_private(tmp_path / "pipe", "x")
    finally:
        os.close(reader)


def test_what_somebody_else_could_have_registered_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`labtests restore` sends commands because of these files."""
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    private_folder(state_folder())
    private_folder(state_folder() / "unfinished")
    assert unfinished_runs() == []
    (state_folder() / "unfinished").chmod(0o777)
    with pytest.raises(NotPrivate, match="chmod go-w"):
        unfinished_runs()


def test_a_change_journal_that_others_can_write_is_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "changes.jsonl"
    file.write_text("{}\n")
    file.chmod(0o666)
    with pytest.raises(NotPrivate, match="not believed"):
        read_changes(file)
    file.chmod(0o600)
    with pytest.raises(LabError, match="not a change journal"):
        read_changes(file)


@pytest.mark.usefixtures("stranger")
def test_a_change_journal_of_another_user_is_not_believed(tmp_path: Path) -> None:
    with pytest.raises(NotPrivate, match=f"owner {STRANGER}"):
        expect_owned(tmp_path)
