"""`make test` runs two halves at once: either one's failure is seen last, and Ctrl-C ends both."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = str(Path(__file__).parents[1])
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import side_by_side
halves = {halves!r}
sys.exit(side_by_side.run({{name: [sys.executable, "-c", text] for name, text in halves.items()}}))
"""
GREEN = "print('1 passed')"
RED = "print('FAILED tests/a.py::test_b - no'); import sys; sys.exit(1)"
NONE = "import sys; sys.exit(5)"
ENDLESS = """
import os, time
try:
    open({place!r} + str(os.getpid()), "w").close()
    time.sleep(60)
except KeyboardInterrupt:
    raise SystemExit(2)
"""


def started(first: str, second: str) -> "subprocess.Popen[str]":
    program = PROGRAM.format(folder=FOLDER, halves={"one": first, "two": second})
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [(GREEN, GREEN, 0), (RED, GREEN, 1), (GREEN, RED, 1), (GREEN, NONE, 0), (NONE, NONE, 5)],
)
def test_either_half_that_is_red_is_red_and_said_last(first: str, second: str, code: int) -> None:
    with started(first, second) as process:
        said, _ = process.communicate(timeout=20)
    assert process.returncode == code
    last = said.splitlines()[-3:]
    assert (RED in (first, second)) == any("FAILED tests/a.py::test_b" in line for line in last)
    assert any(line.startswith("two: ") for line in last)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_both(number: signal.Signals, tmp_path: Path) -> None:
    endless = ENDLESS.format(place=f"{tmp_path}/")
    with started(endless, endless) as process:
        until_s = time.monotonic() + 20
        while len(pids := [int(path.name) for path in tmp_path.iterdir()]) < 2:
            assert time.monotonic() < until_s
            time.sleep(0.02)
        process.send_signal(number)
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 2
    assert said.count("exit code 2") == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
