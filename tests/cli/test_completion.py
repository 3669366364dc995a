"""What docs/installing.md says of completion, done in bash."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "installing.md"
TRY = """
try() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=()
  _labtests_completion labtests
  echo "${COMPREPLY[@]}"
}
try labtests hi
try labtests history ""
"""


def test_bash_completes_commands(tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    program = tmp_path / "labtests"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m labtests "$@"\n')
    program.chmod(0o755)
    told = re.search(r"`(eval [^`]*bash_source labtests[^`]*)`", DOCUMENT.read_text())
    assert told is not None
    done = subprocess.run(
        [bash, "-c", told[1] + TRY], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["history", "flaky import list show trend"], done.stderr


def test_zsh_and_fish_get_a_script():
    for shell in ("zsh", "fish"):
        done = subprocess.run(
            [sys.executable, "-m", "labtests"], capture_output=True, text=True, check=False,
            env={**os.environ, "_LABTESTS_COMPLETE": f"{shell}_source", "PYTHONPATH": str(ROOT)},
            timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "labtests" in done.stdout
