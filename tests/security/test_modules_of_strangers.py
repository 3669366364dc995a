"""A module that somebody has put into the current directory is run by no process of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labtests.network import code_folder
from labtests.simlab.control import LabProcess, SimulationFailed

ROOT = Path(__file__).parents[2]
_END = "raise SystemExit(3)\n"
IMPORTED_EARLY = ("click", "yaml", "multiprocessing", "numba", "labtests")


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory is a stranger's; this file is there when a module of it has run."""
    shared, ran = tmp_path / "shared", tmp_path / "ran"
    shared.mkdir()
    for name in IMPORTED_EARLY:
        (shared / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write('{name} ')\n" + _END)
    monkeypatch.chdir(shared)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return ran


@pytest.mark.parametrize("path", ["checkout", "none", "empty entries"])
def test_a_simulated_lab_runs_no_module_of_the_current_directory(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv(
        "PYTHONPATH", {"checkout": str(ROOT), "none": "", "empty entries": ":"}[path]
    )
    with pytest.raises(SimulationFailed, match=r"no-testbed\.yaml"):
        LabProcess(tmp_path / "no-testbed.yaml", seed=1)
    assert not ran.exists()


def test_compiling_runs_no_module_of_the_current_directory(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/none")
    with pytest.raises(code_folder.CompilingFailed, match="/dev/null"):
        code_folder._fill_elsewhere()
    assert not ran.exists()


def test_processes_that_validate_run_no_module_of_the_current_directory(
    ran: Path, tmp_path: Path
) -> None:
    """multiprocessing starts them by `python -c`."""
    script = tmp_path / "validating.py"
    script.write_text(
        "from labtests.network.reference import validation\n"
        "if __name__ == '__main__':\n"
        "    validation._begin, validation._work = type, abs\n"
        "    validation._seconds = lambda data, task: 1.0\n"
        "    print(list(validation._spread(None, (-3,), 1)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, ran.exists()) == ("[3]\n", False), done.stderr
