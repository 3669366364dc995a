"""Options that are numbers take neither nan nor inf, which no bound refuses."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main

ROOT = Path(__file__).parents[2]
CASE = ROOT / "docs/cases/incast.yaml"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    "command",
    [
        ["network", "run", str(CASE), "--plot", "x.svg", "--width-mm"],
        ["check", "h3c-s6550-cx4", "--idle-s"],
        ["watch", "h3c-s6550-cx4", "--dry-run", "--seconds"],
        ["tune", "x", "--case", "y", "--minutes"],
    ],
)
def test_no_number_is_refused_at_once(command, value):
    shown = CliRunner().invoke(main, [*command, value], prog_name="labtests")
    assert shown.exit_code == 2
    assert f"Invalid value for '{command[-1]}'" in shown.stderr


def is_caught(number, pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> number - 1 & 1


def test_seeds_that_are_ended_before_one_is_done_are_said(tmp_path):
    case = tmp_path / "case.yaml"
    case.write_text(CASE.read_text().replace("duration_ms: 20", "duration_ms: 200000"))
    command = [sys.executable, "-m", "labtests", "network", "run", str(case), "--seeds", "2"]
    process = subprocess.Popen([*command, "--jobs", "1"], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not is_caught(signal.SIGTERM, process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "ended before a run was done: there is nothing to show" in said
