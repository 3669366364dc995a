"""What CI draws: by the commit's name, or by --draw; the same in all processes.

python tests/drawing.py    the suites that `.ci/run` runs: S1 to S3, and as many that are drawn
"""

import subprocess
from functools import cache
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).parents[1]
ALWAYS = ("test_s1_pfc", "test_s2_dcqcn", "test_s3_reaction_point")
DRAWN_SUITES = 6


def seed_of(config: pytest.Config) -> str:
    """The same for all processes of a run, another one for the next commit."""
    return str(config.getoption("--draw") or _commit(config.rootpath))


def suites(seed: str) -> list[str]:
    """Of the folder `suites`, by the names of their files."""
    others = sorted({file.stem for file in (ROOT / "suites").glob("test_*.py")} - set(ALWAYS))
    return [*ALWAYS, *Random(f"suites {seed}").sample(others, DRAWN_SUITES)]


@cache
def _commit(root: Path) -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    said = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "0"


if __name__ == "__main__":
    print(" or ".join(suites(_commit(ROOT))))
