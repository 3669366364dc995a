"""What another user has put where labtests writes is not written through."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.private_files import NotPrivate, expect_safe_way, write_private
from labtests.network.pictures import gallery
from labtests.transport.ssh.file_transfer import CountedSftp

ROOT = Path(__file__).parents[2]
STRANGER = 65534
PRECIOUS = "precious"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")

Place = Callable[[str], Path]


@pytest.fixture
def linked(tmp_path: Path) -> Place:
    """A link of this name, in a folder that everybody may write, to a file of the user's."""
    tmp_path.chmod(0o755)
    shared, victim = tmp_path / "shared", tmp_path / "victim"
    shared.mkdir()
    shared.chmod(0o1777)
    victim.write_text(PRECIOUS)

    def link(name: str) -> Path:
        place = shared / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(victim)
        for each in (place, *place.parents):
            if each == shared:
                break
            os.chown(each, STRANGER, STRANGER, follow_symlinks=False)
        return place

    return link


@pytest.fixture
def untouched(tmp_path: Path) -> Callable[[], bool]:
    return lambda: (tmp_path / "victim").read_text() == PRECIOUS


def drawn() -> Any:
    return SimpleNamespace(name="x", svg="<svg/>", rows=())


@as_root
@pytest.mark.parametrize("name", ["out.svg", "theirs/out.svg"])
def test_a_plot_is_not_drawn_through_a_link(
    linked: Place, untouched: Callable[[], bool], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made = {
        "network.cases": SimpleNamespace(
            load=lambda file: SimpleNamespace(seed=1),
            run=lambda case, seed, onlooker: SimpleNamespace(duration_ms=1, planned_ms=1),
        ),
        "network.cases.drawing": SimpleNamespace(svg=lambda figures, **words: "<svg/>"),
        "network.cases.printing": SimpleNamespace(lines=lambda figures: ["what came out"]),
    }
    monkeypatch.setattr("labtests.cli.network.simulation", made.__getitem__)
    words = ["network", "run", "case", "--plot", str(linked(name))]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, untouched()) == (2, True), done.output
    assert done.stdout == "what came out\n"


@as_root
@pytest.mark.parametrize("name", ["x.svg", "docs/figures/x.svg"])
def test_a_figure_is_not_drawn_through_a_link(
    linked: Place, untouched: Callable[[], bool], name: str
) -> None:
    with pytest.raises((NotPrivate, gallery.LabError)):
        gallery.write(drawn(), linked(name).parent)
    assert untouched()


@as_root
def test_a_page_is_not_written_through_a_link(linked: Place, tmp_path: Path) -> None:
    page = "<!-- measured x -->\n```text\nold\n```\n"
    place = linked("page.md")
    (tmp_path / "victim").write_text(page)
    with pytest.raises((NotPrivate, gallery.LabError)):
        gallery.quote(place, [drawn()])
    assert (tmp_path / "victim").read_text() == page


@as_root
def test_a_figure_is_drawn_in_a_folder_of_ones_own(tmp_path: Path) -> None:
    file = gallery.write(drawn(), tmp_path / "docs" / "figures")
    assert file.read_text() == "<svg/>"


@as_root
@pytest.mark.parametrize("option", ["--html", "--junitxml", "--log-file"])
@pytest.mark.parametrize("name", ["report", "theirs/report"])
def test_pytest_s_reports_are_not_written_through_a_link(
    linked: Place, untouched: Callable[[], bool], tmp_path: Path, option: str, name: str
) -> None:
    done = _planned(tmp_path, f"{option}={linked(name)}")
    assert (done.returncode, untouched()) == (pytest.ExitCode.USAGE_ERROR, True), done.stdout
    assert "remedy" in done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


@as_root
@pytest.mark.parametrize("listing", ["--collect-only", "--fixtures", "--setup-plan"])
def test_nor_by_a_listing(
    linked: Place, untouched: Callable[[], bool], tmp_path: Path, listing: str
) -> None:
    done = _planned(tmp_path, listing, f"--junitxml={linked('report')}")
    assert (done.returncode, untouched()) == (pytest.ExitCode.USAGE_ERROR, True), done.stdout


@as_root
def test_pytest_s_reports_are_written_where_everybody_may_but_nobody_has(
    linked: Place, tmp_path: Path
) -> None:
    """No other user can put a link there meanwhile: a file of ours is there from the start."""
    shared = linked("other").parent
    words = [f"--html={shared / 'r.html'}", f"--junitxml={shared / 'j.xml'}"]
    done = _planned(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "</body>" in (shared / "r.html").read_text()
    assert "</testsuite>" in (shared / "j.xml").read_text()
    assert sorted(each.name for each in shared.iterdir()) == ["j.xml", "other", "r.html"]


def _planned(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Nothing but the start and the end of pytest."""
    (folder / "test_nothing.py").write_text("def test_nothing() -> None: ...\n")
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", str(folder), "--run-dir", str(folder / "run")]
    command += ["--testbed", str(ROOT / "testbeds/h3c-s6550-cx4.yaml"), "--dry-run", "--plan"]
    return subprocess.run(
        [*command, *words, str(folder / "test_nothing.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LABTESTS_STATE_DIR": str(folder / "state")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@as_root
def test_a_file_of_a_host_is_not_got_through_a_link(
    linked: Place, untouched: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = CountedSftp.__new__(CountedSftp)
    monkeypatch.setattr(client, "getfo", lambda remote, file, *_: file.write(b"theirs"))
    with pytest.raises((NotPrivate, OSError)):
        client.get("/etc/hosts", str(linked("hosts")))
    assert untouched()


@as_root
def test_a_link_of_a_stranger_in_the_middle_of_the_way_is_not_passed(tmp_path: Path) -> None:
    """~/out leads to /tmp/out, which is gone after a restart, and which a stranger then links to a
    folder of ours: neither the first nor the last of these places is his."""
    mine, everybody = tmp_path / "mine", tmp_path / "open"
    mine.mkdir(mode=0o700)
    everybody.mkdir()
    everybody.chmod(0o1777)
    (mine / "target").mkdir()
    (mine / "target" / "run.json").write_text("precious")
    (mine / "out").symlink_to(everybody / "out")
    (everybody / "out").symlink_to(mine / "target")
    os.chown(everybody / "out", STRANGER, STRANGER, follow_symlinks=False)
    for act in (expect_safe_way, lambda path: write_private(path, "{}")):
        with pytest.raises(NotPrivate, match="belongs to another user"):
            act(mine / "out" / "run.json")
    assert (mine / "target" / "run.json").read_text() == "precious"
