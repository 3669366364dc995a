"""A pytest that is not the project's own says so in one sentence."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WITHOUT = """
import sys
from importlib import util

whole = util.find_spec
util.find_spec = lambda name, *more: None if name == "pydantic" else whole(name, *more)
import pytest

sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "suites"]))
"""


def test_a_pytest_without_what_labtests_needs_ends_with_one_sentence():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = (done.stdout + done.stderr).strip()
    assert done.returncode == 4
    assert len(said.splitlines()) == 1
    assert "has no pydantic" in said
    assert ".venv/bin/pytest" in said
