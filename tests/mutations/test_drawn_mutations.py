"""A suite is run on a healthy lab, and some mutations of what it asked are judged again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutations import HERE, ROOT, chunk

SUITES = {
    "below_bottleneck": "sonic-cx5",
    "latency": "sonic-cx5",
    "marking": "nexus-cx5",
    "mixed_classes": "cumulus-cx5",
    "overload": "onyx-cx5",
    "s1_pfc": "h3c-s6550-cx4",
    "s2_dcqcn": "two-leaves",
    "victim_flow": "sonic-cx5",
}
SOME = 60


@pytest.mark.parametrize("suite", SUITES)
def test_no_mutation_stays_green_without_a_reason(suite: str, tmp_path: Path) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", f"suites/test_{suite}.py", "--dry-run", "-q",
               "--testbed", f"testbeds/{SUITES[suite]}.yaml", "--run-dir", str(tmp_path / "run"),
               "-p", "capturing", "-p", "no:cacheprovider",
               "--keep-asked", str(tmp_path)]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=clean | {"PYTHONPATH": str(HERE)}, capture_output=True, text=True,
        timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for file in sorted(tmp_path.glob("*.pickle.gz")):
        told = chunk(file, seed=1, number=0, count=SOME)
        assert told.made.total() == SOME
        assert told.sentences == []
