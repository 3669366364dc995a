"""Whoever has to wait for the compiler is told so, by a line on stderr or in the progress."""

import json
import sys
from pathlib import Path

import pytest

from labtests.network import code_folder
from labtests.simlab import control, serving

NOTICE = "compiling the packet network (once, about a minute)"


@pytest.fixture
def uncompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing was compiled, and a compiler that takes no time."""
    folder = tmp_path / "code" / "numba-1-1"
    monkeypatch.setattr(code_folder, "code_folder", lambda: folder)
    monkeypatch.setattr(code_folder, "_fill_elsewhere", lambda: folder.mkdir(0o700, parents=True))
    monkeypatch.setattr("labtests.network.compiled.code_folder", lambda: folder)
    (tmp_path / "code").mkdir(0o700)
    tmp_path.chmod(0o700)


def test_who_compiles_says_so_and_who_need_not_is_silent(uncompiled, capfd) -> None:
    code_folder.complete_folder()
    assert capfd.readouterr() == ("", f"{NOTICE}\n")
    code_folder.complete_folder()
    assert capfd.readouterr() == ("", "")


def test_a_driven_lab_says_it_to_its_driver(uncompiled, capsys, monkeypatch) -> None:
    monkeypatch.setattr(
        serving, "SimulatedLab", lambda testbed, seed: code_folder.complete_folder()
    )
    monkeypatch.setattr(serving.asyncio, "run", lambda lab: None)

    async def no_lab(*parts: object) -> None: ...

    monkeypatch.setattr(serving, "_serve", lambda *parts: None)
    for _ in range(2):
        serving.serve(None, Path(), seed=1, driven=True, directory=None)  # type: ignore[arg-type]
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [{"waiting_for": NOTICE}]


def test_the_driver_tells_it_and_waits_on(tmp_path: Path, monkeypatch) -> None:
    said = [
        {"waiting_for": NOTICE},
        {"ready": True, "devices": {}, "password": "", "directory": str(tmp_path / "lab")},
    ]
    script = "".join(f"print({json.dumps(line)!r})\n" for line in said)
    monkeypatch.setattr(control, "_command", lambda *parts: [sys.executable, "-c", script])
    told: list[str] = []
    control.LabProcess(tmp_path / "x.yaml", seed=1, tell=told.append).close()
    assert told == [NOTICE]
