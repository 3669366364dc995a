"""What a fifth attacker did on the runner's own machine: compiled code, a lease that is lost, files
of host keys, journals, references."""

import os
from pathlib import Path

import pytest
from handed import STRANGER, as_root, given_to

from labtests.core.private_files import NotPrivate, write_private
from labtests.network import code_folder

pytestmark = pytest.mark.usefixtures("own_state")


# -- the compiled network --------------------------------------------------------------------------


@pytest.fixture
def open_to_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As /tmp: everybody may make files in it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared))
    monkeypatch.setattr(code_folder, "_fill_elsewhere", lambda: pytest.fail("it was compiled"))
    return shared


def _compile(folder: Path) -> None:
    folder.mkdir()
    (folder / "index").write_text("of ours")


@as_root
def test_compiled_code_of_another_user_is_not_run(open_to_all: Path) -> None:
    theirs = code_folder.code_folder()
    theirs.mkdir()
    given_to(STRANGER, theirs)
    with pytest.raises(code_folder.CompilingFailed, match=r"12345(.|\n)*remedy(.|\n)*NUMBA_CACHE"):
        code_folder.complete_folder()


@as_root
def test_nor_is_that_of_a_folder_that_another_user_can_replace(
    open_to_all: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = open_to_all / "numba_cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(theirs))
    code_folder.fill(code_folder.code_folder(), _compile)
    given_to(STRANGER, theirs)
    with pytest.raises(code_folder.CompilingFailed, match="12345"):
        code_folder.complete_folder()
    with pytest.raises(NotPrivate, match="12345"):
        code_folder.fill(theirs / "numba-0a-1b", _compile)


def test_nor_is_that_of_a_folder_that_others_can_write_or_of_a_link(open_to_all: Path) -> None:
    ours = code_folder.code_folder()
    code_folder.fill(ours, _compile)
    assert code_folder.complete_folder() == ours
    ours.chmod(0o777)
    with pytest.raises(code_folder.CompilingFailed, match="0777"):
        code_folder.complete_folder()
    ours.rename(open_to_all / "elsewhere")
    ours.symlink_to(open_to_all / "elsewhere")
    with pytest.raises(code_folder.CompilingFailed, match="no folder of yours"):
        code_folder.complete_folder()


def test_a_lock_that_is_a_link_empties_no_file(open_to_all: Path) -> None:
    victim = open_to_all / "authorized_keys"
    victim.write_text("ssh-ed25519 AAAA me\n")
    (open_to_all / code_folder.LOCK).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        code_folder.fill(open_to_all / "numba-0a-1b", _compile)
    assert victim.read_text() == "ssh-ed25519 AAAA me\n"


def test_nothing_is_compiled_through_a_link(open_to_all: Path) -> None:
    elsewhere = open_to_all / "elsewhere"
    elsewhere.mkdir()
    (open_to_all / "numba-0a-1b.unfinished").symlink_to(elsewhere)
    with pytest.raises(FileExistsError):
        code_folder.fill(open_to_all / "numba-0a-1b", _compile)
    assert list(elsewhere.iterdir()) == []


def test_compiled_code_is_for_nobody_else_to_write_whatever_the_umask(tmp_path: Path) -> None:
    earlier = os.umask(0)
    try:
        code_folder.fill(tmp_path / "cache" / "numba-0a-1b", _compile)
    finally:
        os.umask(earlier)
    made = [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    assert len(made) == 4
    assert not any(each.stat().st_mode & 0o022 for each in made)


def test_beside_a_source_that_others_can_write_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    beside = tmp_path / "package" / "__pycache__"
    beside.mkdir(parents=True)
    assert code_folder.code_folder(beside.parent).parent == beside
    beside.chmod(0o777)
    assert code_folder.code_folder(beside.parent).parent == tmp_path / "mine" / "labtests"


@as_root
def test_a_file_of_another_user_is_refused_as_it_was(open_to_all: Path) -> None:
    theirs = open_to_all / "report.html"
    theirs.write_text("theirs")
    given_to(STRANGER, theirs)
    with pytest.raises(NotPrivate, match="no file of this user"):
        write_private(theirs, "ours")
    assert theirs.read_text() == "theirs"
