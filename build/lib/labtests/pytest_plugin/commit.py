"""Which commit the suites are of."""

import os
import subprocess
from pathlib import Path

_WITHIN_S = 5


def commit_of(folder: Path) -> str:
    """The commit that is checked out there, with `-dirty` behind it where files differ from it; ""
    where there is none, or no git to ask. Nothing is written."""
    words = ["git", "-C", os.fspath(folder), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        asked = subprocess.run(
            [*words, "--exclude=*"],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            text=True,
            timeout=_WITHIN_S,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
