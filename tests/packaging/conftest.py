"""A wheel of this checkout in an environment of its own, which has the libraries of this one."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("labtests", "suites", "testbeds", "profiles")
Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of the environment."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in NEEDED:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md"):
        shutil.copy(ROOT / name, source / name)
    pip = [_with_pip(folder), "-m", "pip", "-q", "--disable-pip-version-check"]
    _run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)])
    venv.create(folder / "env", with_pip=False)
    (wheel,) = folder.glob("*.whl")
    python = folder / "env" / "bin" / "python"
    _run([*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)])
    (packages,) = (folder / "env" / "lib").glob("*/site-packages")
    (packages / "libraries.pth").write_text(f"{_libraries(folder / 'libraries')}\n")
    return folder / "env" / "bin"


def _libraries(folder: Path) -> Path:
    """Those of this environment, without the labtests that is installed there."""
    folder.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "labtests" not in each.name:
            (folder / each.name).symlink_to(each)
    return folder


def _with_pip(folder: Path) -> str:
    """A Python that has pip: this one, or, where uv has made the environment, one beside it."""
    if (Path(sysconfig.get_path("purelib")) / "pip").is_dir():
        return sys.executable
    try:
        venv.create(folder / "builder", with_pip=True)
    except subprocess.CalledProcessError:
        pytest.skip("this environment has no pip, and this Python no ensurepip")
    return str(folder / "builder" / "bin" / "python")


def _run(words: list[str]) -> None:
    libraries = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}  # setuptools
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=240, env=libraries
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def asked(installed: Path, tmp_path: Path) -> Callable[..., Ended]:
    """Runs a program of the environment in an empty folder, as a user of it would."""

    def ask(*words: str, seconds: float = 240, **variables: str) -> Ended:
        return subprocess.run(
            [str(installed / "python"), "-m", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=seconds, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **variables},
        )  # fmt: skip

    return ask
