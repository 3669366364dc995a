"""Runs of pytest and of labtests that start fast: forked from a process that has imported all.

    python fast_starts.py       tasks as JSON lines on stdin, exit statuses (-9: killed) on stdout

A task has argv (program first), cwd, env, and output, the file that gets what it prints.
"""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
IMPORTED = (
    *("labtests.pytest_plugin", "labtests.drivers.comware", "labtests.drivers.connectx"),
    *("labtests.history.background", "labtests.history.entering", "labtests.transport.ssh.cli"),
)
FORKED = (
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
    *("-p", "no:hypothesispytest"),
)
"""For a run of pytest, where warnings are errors; hypothesis would be imported when it ends."""


class FastStarts:
    """The process that forks, seen from outside."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], output: Path
    ) -> tuple[int, str]:
        """The exit status of "pytest" or "labtests" with these words, and what it printed."""
        task = {"argv": list(argv), "cwd": str(cwd), "env": dict(env), "output": str(output)}
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(task) + "\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline()), output.read_text(errors="replace")

    def close(self) -> None:
        """It has ended."""
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait()
        assert self._parent.stdout is not None
        self._parent.stdout.close()


@cache
def of_this_process() -> FastStarts:
    """One for all tests of this process; it ends with it."""
    made = FastStarts()
    atexit.register(made.close)
    return made


def main() -> None:
    """Fork for each task, one after the other."""
    import pytest

    from labtests.__main__ import main as command_line

    for name in IMPORTED:
        __import__(name)
    for line in sys.stdin:
        task = json.loads(line)
        printed, printing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(printed)
            become(task, printing)
            program, *words = task["argv"]
            sys.exit(pytest.main(words) if program == "pytest" else command_line(words))
        os.close(printing)
        with os.fdopen(printed, "rb") as said:
            Path(task["output"]).write_bytes(said.read())
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


def become(task: Mapping[str, Any], printing: int) -> None:
    """This process is as if it had been started for the task."""
    os.setsid()
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(printing, 1)
    os.dup2(printing, 2)
    os.close(printing)
    os.environ.clear()
    os.environ.update(task["env"])
    os.chdir(task["cwd"])
    sys.path.insert(0, task["cwd"])


if __name__ == "__main__":
    main()
