"""What `make test` draws: by the commit's name, or by --draw; the same in all processes."""

import subprocess
from functools import cache
from pathlib import Path

import pytest


def seed_of(config: pytest.Config) -> str:
    """The same for all processes of a run, another one for the next commit."""
    return str(config.getoption("--draw") or _commit(config.rootpath))


@cache
def _commit(root: Path) -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    said = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "0"
