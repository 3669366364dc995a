"""A whole pytest run whose tests shout the password: no file and no terminal has it afterwards."""

import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from recorded import lines_of

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SECRET = "Tr0ub4dor&3<horse>"
WRITTEN = ("Tr0ub4dor", "horse&gt;", "&3<horse")  # and what escaping would leave of it
TESTBED = """\
name: lab
defaults: {user: root, password_env: LAB_PASSWORD}
devices:
  A: {platform: connectx, management: {host: 127.0.0.1}, ports: {eth0: {}}}
"""


@dataclass
class Shouted:
    """What is left of the run."""

    terminal: str
    folder: Path


@pytest.fixture(scope="module")
def shouted(tmp_path_factory: pytest.TempPathFactory) -> Shouted:
    project = tmp_path_factory.mktemp("project")
    (project / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (project / "lab.yaml").write_text(TESTBED)
    shutil.copy(HERE / "leaking_suite.py", project / "test_leaks.py")
    words = "-m pytest test_leaks.py --testbed lab.yaml --run-dir out -l -rA --tb=long -vv "
    words += "--log-level=DEBUG -W default -p no:cacheprovider"
    variables = {"LAB_PASSWORD": SECRET, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    done = subprocess.run(
        [
            sys.executable,
            *words.split(),
            "--log-level=DEBUG",
            "-W",
            "default",
            "-p",
            "no:cacheprovider",
        ],
        cwd=project,
        env={**os.environ, **variables, "LABTESTS_STATE_DIR": str(project / "state")},
        capture_output=True,
        umask=0,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout.decode()
    return Shouted((done.stdout + done.stderr).decode(), project / "out")


def test_the_suite_did_run_and_is_reported(shouted: Shouted) -> None:
    assert "could not log in with ***" in shouted.terminal
    names = {file.name for file in shouted.folder.iterdir()}
    assert {"report.html", "junit.xml", "run.json", "journal.jsonl.gz"} <= names
    assert "could not log in with ***" in (shouted.folder / "run.json").read_text()
    assert "everything" in shouted.terminal  # -l did show the locals


@pytest.mark.parametrize("file", ["report.html", "junit.xml", "run.json", "journal.jsonl.gz"])
def test_no_file_has_the_secret(shouted: Shouted, file: str) -> None:
    text = "\n".join(lines_of(shouted.folder / file))
    assert [word for word in WRITTEN if word in text] == []


def test_the_terminal_has_no_secret(shouted: Shouted) -> None:
    assert [line for line in shouted.terminal.splitlines() if WRITTEN[0] in line] == []


def test_the_terminal_obeys_nothing_that_a_device_said(shouted: Shouted) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shouted.terminal)
    assert "␛]0;owned␇" in shouted.terminal


def test_every_file_of_the_run_is_private_although_the_umask_was_0(shouted: Shouted) -> None:
    found = {
        p: stat.S_IMODE(p.lstat().st_mode) for p in (shouted.folder, *shouted.folder.rglob("*"))
    }
    assert {m for p, m in found.items() if p.is_file()} == {0o600}
    assert {m for p, m in found.items() if p.is_dir()} == {0o700}


def test_junit_is_xml_that_can_be_read(shouted: Shouted) -> None:
    tree = ElementTree.parse(shouted.folder / "junit.xml")
    assert {case.get("name") for case in tree.findall(".//testcase")} >= {
        "test_asserts",
        "test_skips",
    }
    assert tree.find(".//property[@name='property']") is not None


def test_the_page_lets_only_its_own_script_run(shouted: Shouted) -> None:
    page = (shouted.folder / "report.html").read_text()
    policy = re.search(r'<head><meta http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", policy[1])
    assert "unsafe-inline" not in policy[1].replace("style-src 'unsafe-inline'", "")


def dom_of(page: Path, profile: Path) -> str:
    """The document after a browser has run everything in it that runs."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("no Chromium on PATH: install one to see the report in a browser")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    words = [browser, *options, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout


def test_the_page_works_in_a_browser_and_nothing_of_a_device_runs(
    shouted: Shouted, tmp_path: Path
) -> None:
    dom = dom_of(shouted.folder / "report.html", tmp_path / "profile")
    assert "data-owned" not in dom
    assert "--print-line" in dom  # our own script has run
    assert SECRET not in dom


def test_nothing_runs_without_the_policy_either(shouted: Shouted, tmp_path: Path) -> None:
    """pytest-html would write the id of a test as it is: its rows are not in the page."""
    page = (shouted.folder / "report.html").read_text()
    file = tmp_path / "open.html"
    file.write_text(re.sub("<meta http-equiv[^>]*>", "", page))
    assert "data-owned" not in dom_of(file, tmp_path / "profile")
