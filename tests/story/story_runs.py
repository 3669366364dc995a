"""pytest itself as a child process, on a copy of this repository's suites: what a user types."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fast_starts
from recorded import lines_of
from story_lab import ROOT, TESTBED_FILE

from labtests.faults.running import BARE
from labtests.report import read_run

COPIED = ("conftest.py", "pyproject.toml", "suites", "testbeds")
TESTBED = TESTBED_FILE.stem
ENDS_WITHIN_S = 600.0  # every suite, on a busy machine


def project(folder: Path) -> Path:
    """A copy of what a run needs, so that reports/ of this repository stays as it is."""
    folder.mkdir(parents=True)
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "tests").mkdir()  # pyproject.toml names it
    return folder


@dataclass
class Run:
    """One pytest process, ended. `folder` is the one that it named."""

    project: Path
    exit_code: int
    terminal: str
    folder: Path

    @property
    def json(self) -> dict[str, Any]:
        return read_run(self.folder)

    @property
    def journal(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in lines_of(self.folder / "journal.jsonl.gz")]

    def test(self, part: str) -> dict[str, Any]:
        """The record of the one test whose id has this part."""
        (found,) = [test for test in self.json["tests"] if part in test["id"]]
        return found


class Started:
    """A pytest process that runs, begun anew as a user's is. Its words go to a file, which can be
    looked at meanwhile."""

    def __init__(self, folder: Path, *options: str, **variables: str) -> None:
        self.project = folder if folder.exists() else project(folder)
        self._words = self.project / "terminal.txt"
        with self._words.open("wb") as words:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options],
                cwd=self.project,
                env=_environment(variables),
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def said(self) -> str:
        return self._words.read_text(errors="replace")

    def wait_for(self, words: str) -> None:
        """It has printed these words."""
        deadline_s = time.monotonic() + ENDS_WITHIN_S
        while words not in self.said():
            assert self._child.poll() is None, self.said()
            assert time.monotonic() < deadline_s, self.said()
            time.sleep(0.02)

    def interrupt(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def ended(self) -> Run:
        """It has ended by itself."""
        try:
            code = self._child.wait(ENDS_WITHIN_S)
        finally:
            self._child.kill()
            self._child.wait()
        return _ended(self.project, code, self.said())


def run(folder: Path, *options: str, **variables: str) -> Run:
    """pytest with these options, to its end; forked, which takes half of the time."""
    here = folder if folder.exists() else project(folder)
    words = ["pytest", *BARE, *options]
    return _ended(here, *fast_starts.run(words, cwd=here, env=_environment(variables)))


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    return clean | {"COLUMNS": "200", **more}


def _ended(project: Path, code: int, said: str) -> Run:
    named = re.findall(r"run folder:? (\S+)", said)
    folder = project / (named[-1] if named else "reports/none")
    return Run(project, code, said, folder.resolve())


def descendants(pid: int) -> dict[int, str]:
    """Processes that a process has started, by id, with their command lines."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    found: dict[int, str] = {}
    parents = {pid}
    while parents:
        children = {int(p): a for p, parent, a in rows if int(parent) in parents}
        found |= children
        parents = set(children)
    return found


def alive(pid: int) -> bool:
    """Whether a process with this id is there, and no zombie."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
