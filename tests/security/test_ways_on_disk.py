"""A farm of links, and folders in which others may rename what is ours."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import labtests.core.private_files
from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, private_folder, write_private
from labtests.core.trusted_files import NotAFile
from labtests.journal.unfinished import unfinished_runs
from labtests.transport.ssh.settings import SshSettings, settings_of

STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of ours into which nothing was meant to be written."""
    folder = tmp_path / "victim"
    folder.mkdir()
    return folder


@as_root
def test_no_run_folder_is_made_where_another_user_could_put_another_in_its_place(
    tmp_path: Path,
) -> None:
    theirs = tmp_path / "reports"
    theirs.mkdir()
    os.chown(theirs, STRANGER, STRANGER)
    for run in (theirs / "run", theirs / "lab" / "run"):
        with pytest.raises(NotPrivate, match="12345"):
            private_folder(run)
    assert list(theirs.iterdir()) == []


@pytest.mark.parametrize(("mode", "fits"), [(0o777, False), (0o1777, True), (0o755, True)])
def test_a_folder_open_to_all_needs_the_sticky_bit(tmp_path: Path, mode: int, fits: bool) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    if fits:
        private_folder(shared / "lab" / "run")
        return
    with pytest.raises(NotPrivate, match="0777"):
        private_folder(shared / "lab" / "run")


def test_what_is_above_the_code_is_trusted_with_its_reports_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a job runner's /builds: who may replace the checkout may replace the code."""
    builds = tmp_path / "builds"
    builds.mkdir()
    builds.chmod(0o777)
    (builds / "labtests").mkdir()
    (builds / "labtests" / "private.py").touch()
    monkeypatch.setattr(
        labtests.core.private_files, "__file__", str(builds / "labtests" / "private.py")
    )
    private_folder(builds / "reports" / "run")
    (builds / "reports").chmod(0o777)
    with pytest.raises(NotPrivate, match="0777"):
        private_folder(builds / "reports" / "another")


@as_root
def test_no_run_folder_is_made_behind_a_link_of_another_user(tmp_path: Path, victim: Path) -> None:
    link = tmp_path / "lab"
    link.symlink_to(victim)
    private_folder(link / "mine")  # a link of ours
    os.lchown(link, STRANGER, STRANGER)
    with pytest.raises(NotPrivate):
        private_folder(link / "theirs")
    assert [entry.name for entry in victim.iterdir()] == ["mine"]


@as_root
def test_what_stands_behind_a_link_of_another_user_is_not_believed(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is ours; which of our folders it is, is not."""
    (victim / "unfinished").mkdir()
    link = tmp_path / "state"
    link.symlink_to(tmp_path)
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(link / "victim"))
    assert unfinished_runs() == []
    os.lchown(link, STRANGER, STRANGER)
    with pytest.raises(NotPrivate):
        unfinished_runs()


def test_a_pipe_in_place_of_a_page_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rendered.html")
    with pytest.raises(OSError, match="No such device"):
        write_private(tmp_path / "rendered.html", "page")


def test_a_process_that_has_used_a_password_leaves_no_core_file() -> None:
    code = (
        "import os, resource\n"
        "from labtests.transport.ssh.passwords import password_named\n"
        "password_named('LAB_PASSWORD')\n"
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0])\n"
        "os.abort()"
    )
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    done = subprocess.run(
        [sys.executable, "-c", code.replace("os.abort", "print")],
        env={**os.environ, "LAB_PASSWORD": "hunter2-hunter3"},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
    )
    assert done.stdout.strip() == "0", done.stderr


# -- ~/.ssh/config: a ProxyCommand in it is run ----------------------------------------------------


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".ssh" / "config"
    file.parent.mkdir()
    file.write_text("Host *\n  ProxyCommand evil\n")
    file.chmod(0o600)
    return file


def asked() -> SshSettings:
    return settings_of("x", None, None, honoured=True)


def test_an_own_config_is_read_also_through_a_link(config: Path, tmp_path: Path) -> None:
    config.rename(tmp_path / "dotfile")
    config.symlink_to(tmp_path / "dotfile")
    assert asked().get("proxycommand") == "evil"


@pytest.mark.parametrize("mode", [0o666, 0o622, 0o620])
def test_a_config_that_others_can_write_is_refused(config: Path, mode: int) -> None:
    config.chmod(mode)
    with pytest.raises(NotPrivate, match="config"):
        asked()


@as_root
def test_a_config_of_another_user_is_refused(config: Path) -> None:
    os.chown(config, STRANGER, STRANGER)
    with pytest.raises(NotPrivate, match="config"):
        asked()


def test_a_config_that_includes_itself_or_never_ends_is_no_bomb(config: Path) -> None:
    config.write_text(f"Include {config}\n" * 8 + "Host *\n  Port 7\n")
    with pytest.raises(LabError, match="Too many recursive configuration includes"):
        asked()
    config.write_text("# much\n" * 300_000)
    with pytest.raises(NotAFile):
        asked()


@as_root
def test_a_link_put_on_the_way_meanwhile_gets_no_folder_of_ours(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first look a stranger's link appears; before the last it is gone."""
    (victim / "run").mkdir(mode=0o755)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)

    def looked(path: Path) -> None:
        (shared / "x").symlink_to(victim)
        os.chown(shared / "x", STRANGER, STRANGER, follow_symlinks=False)
        monkeypatch.setattr(labtests.core.private_files, "expect_safe_way", lambda path: None)

    monkeypatch.setattr(labtests.core.private_files, "expect_safe_way", looked)
    with pytest.raises(NotPrivate, match="link of another user"):
        private_folder(shared / "x" / "run")
    assert (victim / "run").stat().st_mode & 0o777 == 0o755
