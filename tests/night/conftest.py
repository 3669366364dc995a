"""Nights of stand-ins for pytest: each leaves the run folder that a test asks for, at once."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from labtests.night import running
from labtests.night.form import NightRun

STAND_IN = """
import json, os, pathlib, signal, sys, time
told = json.loads(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
print("stand-in", os.environ["LABTESTS_HISTORY"], flush=True)
began = time.monotonic()
while time.monotonic() - began < told.get("seconds", 0) and not ended:
    time.sleep(0.02)
if ended:
    time.sleep(told.get("puts_back_s", 0))
    (folder.parent).mkdir(parents=True, exist_ok=True)
    (folder.parent / "put-back").touch()
    sys.exit(2)
if "outcome" in told:
    folder.mkdir(parents=True)
    test = {"id": "suites/test_a.py::test_a", "title": "Is a so?", "outcome": told["outcome"],
            "duration_s": told.get("took", 60), "verdicts": [], "phases": []}
    (folder / "run.json").write_text(json.dumps({
        "format": "labtests-run/1", "lab": {"name": told["lab"]}, "backend": "simulated",
        "started": "2026-11-23T02:00:00+00:00", "exit_code": told["code"], "tests": [test]}))
if "dies_of" in told:
    if told["dies_of"] != signal.SIGKILL:
        signal.signal(told["dies_of"], signal.SIG_DFL)
    os.kill(os.getpid(), told["dies_of"])
sys.exit(told["code"])
"""


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """From now on the runs of a night, in the order of its file, do these things."""

    def use(*told: dict[str, object]) -> None:
        def command(run: NightRun, folder: Path) -> list[str]:
            what = {"lab": run.testbed.name, "code": 0, **told[run.number]}
            return [sys.executable, "-c", STAND_IN, json.dumps(what), str(folder)]

        monkeypatch.setattr(running, "command", command)

    return use


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """A night's file with these testbeds."""

    def write(*testbeds: Path, more: str = "") -> Path:
        runs = "".join(f"  - {{testbed: {each}, options: [--dry-run]}}\n" for each in testbeds)
        (tmp_path / "night.yaml").write_text(f"night: the labs\n{more}runs:\n{runs}")
        return tmp_path / "night.yaml"

    return write
