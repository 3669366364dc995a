"""Testbed and profile files of other users: one that was found dials nobody, and one that was named
only when nobody but its owner can change it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from handed import STRANGER, TESTBED, Dialled, as_root, given_to

from labtests.__main__ import main
from labtests.core.private_files import NotPrivate
from labtests.core.trusted_files import chosen
from labtests.linuxlab import command
from labtests.transport.ssh import connecting

pytestmark = pytest.mark.usefixtures("own_state")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def nobody_answers(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    found = Dialled()
    monkeypatch.setattr(connecting, "dialled", found)
    return found


@pytest.fixture
def open_to_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user stands in a folder like /tmp, in which there are testbed and profile files."""
    folder = tmp_path / "scratch"
    for name, text in (("testbeds", TESTBED), ("profiles", "")):
        (folder / name).mkdir(parents=True)
        (folder / name / "x.yaml").write_text(text)
    (folder / "profiles" / "x.yaml").write_text((ROOT / "profiles" / "mtu-9000.yaml").read_text())
    folder.chmod(0o1777)
    monkeypatch.chdir(folder)
    return folder


FOUND = [
    ("who",),
    ("lock",),
    ("unlock", "--force"),
    ("who", "x"),
    ("check", "--testbed", "x"),
    ("snapshot", "--testbed", "x"),
    ("plan", str(ROOT / "profiles" / "mtu-9000.yaml"), "--testbed", "x"),
    ("apply", str(ROOT / "profiles" / "mtu-9000.yaml"), "--testbed", "x"),
    ("restore", "--testbed", "x"),
]


@as_root
@pytest.mark.parametrize("words", FOUND, ids=" ".join)
def test_nobody_is_dialled_because_of_a_file_that_a_stranger_has_put_in_the_way(
    open_to_all: Path, nobody_answers: Dialled, words: tuple[str, ...]
) -> None:
    given_to(STRANGER, open_to_all / "testbeds", open_to_all / "testbeds" / "x.yaml")
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, nobody_answers.hosts) == (2, []), done.output
    assert "belongs to another user (12345)" in done.output
    assert "name it by its path: ./testbeds/x.yaml" in done.output


@as_root
def test_nobody_is_dialled_because_of_a_profile_that_a_stranger_has_put_in_the_way(
    open_to_all: Path, nobody_answers: Dialled
) -> None:
    given_to(STRANGER, open_to_all / "profiles", open_to_all / "profiles" / "x.yaml")
    done = CliRunner().invoke(main, ["apply", "x", "--testbed", "x"])
    assert (done.exit_code, nobody_answers.hosts) == (2, []), done.output
    assert "./profiles/x.yaml" in done.output


@as_root
@pytest.mark.parametrize("words", [("up",), ("down",), ("status",), ("down", "linux-lab")])
def test_no_lab_of_namespaces_is_a_strangers(
    open_to_all: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    file = open_to_all / "testbeds" / "linux-lab.yaml"
    file.write_text((ROOT / "testbeds" / "linux-lab.yaml").read_text())
    asked: list[object] = []

    def noted(what: object, say: object) -> int:
        asked.append(what)
        return 0

    for name in ("up", "down", "status"):
        monkeypatch.setattr(command, name, noted)
    assert CliRunner().invoke(main, ["linuxlab", *words]).exit_code == 0
    assert len(asked) == 1
    given_to(STRANGER, file)
    done = CliRunner().invoke(main, ["linuxlab", *words])
    assert (done.exit_code, len(asked)) == (2, 1), done.output
    assert "belongs to another user" in done.output


@as_root
def test_no_suite_runs_on_a_testbed_that_a_stranger_has_put_in_the_way(open_to_all: Path) -> None:
    given_to(STRANGER, open_to_all / "testbeds" / "x.yaml")
    words = [sys.executable, "-m", "pytest", "-p", "labtests.pytest_plugin", "--testbed", "x"]
    done = subprocess.run(words, cwd=open_to_all, capture_output=True, text=True, timeout=120)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert "belongs to another user (12345)" in done.stderr


@as_root
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
@pytest.mark.parametrize("text", ["./testbeds/x.yaml", "testbeds/x.yaml"])
def test_a_file_of_another_user_is_dialled_when_it_is_named_by_its_path(
    open_to_all: Path, nobody_answers: Dialled, mode: int, text: str
) -> None:
    """A shared checkout, or what a job runner has checked out for a container's root."""
    (open_to_all / "testbeds" / "x.yaml").chmod(mode)
    given_to(STRANGER, open_to_all / "testbeds", open_to_all / "testbeds" / "x.yaml")
    CliRunner().invoke(main, ["who", text])
    assert nobody_answers.hosts == ["192.0.2.66"]


@pytest.mark.parametrize("words", FOUND[:-1], ids=" ".join)
def test_ones_own_file_is_dialled_where_everybody_may_write(
    open_to_all: Path, nobody_answers: Dialled, words: tuple[str, ...]
) -> None:
    """Also with the umask 002 that many have: those of one's group are trusted."""
    (open_to_all / "testbeds" / "x.yaml").chmod(0o664)
    CliRunner().invoke(main, words)
    assert nobody_answers.hosts == ["192.0.2.66"]


@pytest.mark.parametrize("owner", [os.geteuid(), pytest.param(STRANGER, marks=as_root)])
@pytest.mark.parametrize("text", ["x", "./testbeds/x.yaml"])
def test_a_file_that_everybody_can_write_is_dialled_by_nobody(
    open_to_all: Path, nobody_answers: Dialled, owner: int, text: str
) -> None:
    given_to(owner, open_to_all / "testbeds" / "x.yaml")
    (open_to_all / "testbeds" / "x.yaml").chmod(0o666)
    done = CliRunner().invoke(main, ["who", text])
    assert (done.exit_code, nobody_answers.hosts) == (2, []), done.output
    assert "remedy: look" in done.output


@as_root
def test_a_strangers_link_is_followed_to_no_file_of_ones_own(open_to_all: Path) -> None:
    """Another lab would be unlocked."""
    (open_to_all / "testbeds").chmod(0o1777)
    other = open_to_all.parent / "other.yaml"
    other.write_text(TESTBED)
    link = open_to_all / "testbeds" / "y.yaml"
    link.symlink_to(other)
    assert chosen(link, named=False) == TESTBED.encode()
    given_to(STRANGER, link)
    with pytest.raises(NotPrivate, match="another user"):
        chosen(link, named=False)


def test_a_file_in_a_folder_where_everybody_can_put_another_is_dialled_by_nobody(
    open_to_all: Path, nobody_answers: Dialled
) -> None:
    (open_to_all / "testbeds").chmod(0o777)
    done = CliRunner().invoke(main, ["who", "./testbeds/x.yaml"])
    assert (done.exit_code, nobody_answers.hosts) == (2, []), done.output
    assert "lets everybody replace" in done.output


@as_root
def test_what_dials_nobody_reads_any_file(open_to_all: Path) -> None:
    given_to(STRANGER, open_to_all / "testbeds", open_to_all / "testbeds" / "x.yaml")
    for words in (["validate", "x"], ["inventory", "show", "x"]):
        assert CliRunner().invoke(main, words).exit_code == 0


def test_the_testbeds_of_this_repository_may_be_dialled() -> None:
    for file in sorted((ROOT / "testbeds").glob("*.yaml")):
        assert chosen(file, named=False) == file.read_bytes()
