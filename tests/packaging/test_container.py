"""The container file: what it copies is there, and its build is tried where a builder is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "Containerfile"


def test_what_it_copies_is_there_and_sent_to_the_builder():
    copied = [line.split()[1:-1] for line in FILE.read_text().splitlines() if line[:4] == "COPY"]
    names = {name for names in copied for name in names}
    assert all((ROOT / name).exists() for name in names)
    sent = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    assert sent == names


def test_its_extras_are_those_of_the_project():
    (asked,) = re.findall(r"/source\[([^]]+)\]", FILE.read_text())
    part = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
    there = set(re.findall(r"^([a-z-]+) = \[", part.partition("\n[")[0], re.MULTILINE))
    assert set(asked.split(",")) == there - {"legacy-ssh"}  # which holds paramiko back


@pytest.mark.timeout(1800)
def test_it_is_built_where_a_builder_is():
    builder = next((b for b in ("podman", "docker") if shutil.which(b) and _works(b)), None)
    if builder is None:
        pytest.skip("no podman or docker that works is here: the image was not built")
    build = [builder, "build", "-q", "-f", str(FILE), "-t", "labtests-test", str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stderr
    run = [builder, "run", "--rm", "labtests-test", "--version"]
    told = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)
    assert told.stdout.startswith("labtests, version ")


def _works(builder: str) -> bool:
    try:
        return not subprocess.run([builder, "info"], capture_output=True, timeout=20).returncode
    except subprocess.TimeoutExpired:
        return False
