"""The compiled network is put on the disk by one process as a whole; all others only read it."""

import importlib
import os
import pickle
import pkgutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import pytest
from network_star import Lab

from labtests import network
from labtests.network import code_folder
from labtests.network.ahead import OF_INTEGERS, SAMPLING
from labtests.network.compiled import CALLS, FUNCTIONS
from labtests.network.forwarding import remainder

ADDING = """
import numba

@numba.njit(cache=True)
def add(a, b):
    return a + b
"""


def _said_by(folder: Path, cache: Path, call: str) -> str:
    """What a process of its own prints of a call, with its compiled code in this cache."""
    done = subprocess.run(
        [sys.executable, "-c", f"from adding import add; print({call})"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


def test_two_writers_of_numba_s_cache_leave_code_of_other_types_behind(tmp_path: Path) -> None:
    """Why there is a folder of our own. Both found an empty index, so both chose the number 1; one
    was the last to write the index, the other the last to write the code."""
    (tmp_path / "adding.py").write_text(ADDING)
    integers, floats = tmp_path / "integers", tmp_path / "floats"
    assert _said_by(tmp_path, integers, "add(1, 2)") == "3"
    assert _said_by(tmp_path, floats, "add(1.5, 2.0)") == "3.5"
    code = {cache: next(cache.rglob("*.nbc")) for cache in (integers, floats)}
    assert code[integers].name == code[floats].name

    code[floats].write_bytes(code[integers].read_bytes())

    assert _said_by(tmp_path, floats, "add(1.5, 2.0)") == "3"


def test_of_several_at_once_one_fills_the_folder_and_all_find_it_whole(tmp_path: Path) -> None:
    folder, filled, seen = tmp_path / "numba-0a-1b", [], []

    def compile_into(unfinished: Path) -> None:
        filled.append(unfinished)
        unfinished.mkdir()
        for number in range(50):
            (unfinished / str(number)).touch()

    def run() -> None:
        code_folder.fill(folder, compile_into)
        seen.append(len(list(folder.iterdir())))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [50] * 8
    assert len(filled) == 1
    assert {found.name for found in tmp_path.iterdir()} == {folder.name, code_folder.LOCK}


DIES = """
import os, signal, sys
from pathlib import Path
from labtests.network.code_folder import fill

def compile_into(folder):
    folder.mkdir()
    (folder / "half").touch()
    os.kill(os.getpid(), signal.SIGKILL)

fill(Path(sys.argv[1]), compile_into)
"""


def test_who_dies_while_it_compiles_leaves_no_folder_and_no_lock(tmp_path: Path) -> None:
    folder = tmp_path / "numba-0a-1b"
    died = subprocess.run([sys.executable, "-c", DIES, str(folder)], timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL
    assert not folder.exists()

    def compile_into(unfinished: Path) -> None:
        assert not unfinished.exists()
        unfinished.mkdir()

    code_folder.fill(folder, compile_into)
    assert list(folder.iterdir()) == []


def test_code_of_older_sources_goes_and_that_of_other_machines_stays(tmp_path: Path) -> None:
    for name in ("numba-00", "numba-00-1b", "numba-0a-2c"):
        (tmp_path / name).mkdir()
    code_folder.fill(tmp_path / "numba-0a-1b", lambda unfinished: unfinished.mkdir())
    kept = {"numba-0a-1b", "numba-0a-2c", code_folder.LOCK}
    assert {found.name for found in tmp_path.iterdir()} == kept


@pytest.mark.parametrize(
    ("name", "told"),
    [("numba-0a-1b.unfinished", pytest.raises(FileExistsError)), ("numba-00-1b", nullcontext())],
)
def test_a_pipe_in_the_way_is_not_waited_for(tmp_path: Path, name: str, told: Any) -> None:
    """In a folder of a whole group: rmtree of Python 3.11 opened it, under the lock, for ever."""
    os.mkfifo(tmp_path / name)
    with told:
        code_folder.fill(tmp_path / "numba-0a-1b", lambda unfinished: unfinished.mkdir())
    assert (tmp_path / name).is_fifo()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in ("numba-00-1b", "numba-0a-1b.unfinished"):
        (tmp_path / name).mkdir()
        os.chown(tmp_path / name, 12345, -1)
    with pytest.raises(FileExistsError):
        code_folder.fill(tmp_path / "numba-0a-1b", lambda unfinished: unfinished.mkdir())
    (tmp_path / "numba-0a-1b.unfinished").rmdir()
    code_folder.fill(tmp_path / "numba-0a-1b", lambda unfinished: unfinished.mkdir())
    assert (tmp_path / "numba-00-1b").is_dir()


def test_a_compiler_that_crashes_is_said_with_its_signal_and_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashing = tmp_path / "python"
    crashing.write_text("#!/bin/sh\necho 'Fatal: in the compiler' >&2\nkill -s SEGV $$\n")
    crashing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crashing))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.raises(code_folder.CompilingFailed, match="SIGSEGV") as told:
        code_folder.complete_folder()
    assert "Fatal: in the compiler" in str(told.value)
    assert "remedy: labtests simlab warm" in str(told.value)


def test_a_change_of_a_source_or_of_its_time_is_another_folder(tmp_path: Path) -> None:
    source = tmp_path / "engine.py"
    source.write_text("a = 1\n")
    names = [code_folder.fingerprint(tmp_path)]
    source.write_text("a = 2\n")
    names.append(code_folder.fingerprint(tmp_path))
    os.utime(source, (0, 0))  # numba goes by it
    names.append(code_folder.fingerprint(tmp_path))
    (tmp_path / "marking.py").touch()
    names.append(code_folder.fingerprint(tmp_path))
    assert len(set(names)) == 4
    assert names[-1] == code_folder.fingerprint(tmp_path)


def test_who_runs_the_network_writes_nothing_into_the_folder(star: Lab) -> None:
    star(2).run_ms(0.01)
    folder = code_folder.code_folder()
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    assert any(file.suffix == ".nbc" for file in before)

    assert remainder(np.int16(5), 3) == 2  # types that nothing was compiled for

    assert remainder.stats.cache_misses  # type: ignore[attr-defined]
    remainder.stats.cache_misses.clear()  # type: ignore[attr-defined]
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before


def test_each_index_leads_to_code_of_the_types_that_it_says() -> None:
    looked_at = 0
    for index in code_folder.code_folder().rglob("*.nbi"):
        with index.open("rb") as file:
            pickle.load(file)  # numba's version
            _, entries = pickle.loads(file.read())
        assert len(set(entries.values())) == len(entries), index
        for (types, *_), name in entries.items():
            assert pickle.loads((index.parent / name).read_bytes())[3].args == types, name
            looked_at += 1
    assert looked_at > 100


def _modules() -> list[ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(network.__path__)]
    return [importlib.import_module(f"labtests.network.{name}") for name in names]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of all in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def test_all_that_python_calls_is_compiled_ahead() -> None:
    """Compiled code is called from elsewhere than compiled code by these names only."""
    called = set()
    everything = (*FUNCTIONS, *CALLS)
    for module in _modules():
        compiled = {n: f for n, f in vars(module).items() if any(f is one for one in everything)}
        own = {f.py_func.__code__ for f in FUNCTIONS}
        source = compile(Path(str(module.__file__)).read_text(), str(module.__file__), "exec")
        skipped = {(code.co_name, code.co_firstlineno) for code in own}
        for code in _codes(source):
            if code.co_name != "<module>" and (code.co_name, code.co_firstlineno) not in skipped:
                called |= {compiled[name] for name in code.co_names if name in compiled}
    assert {f.py_func.__name__ for f in called} == {
        f.py_func.__name__ for f in (*OF_INTEGERS, SAMPLING)
    }


def test_the_network_stands_by_itself() -> None:
    """It runs, with its cases and references, where nothing of a lab's is installed."""
    named = "import labtests.network.pictures.gallery, labtests.network.reference.validation, sys"
    of_labs = {"paramiko", "asyncssh", "netmiko", "pytest", "pandas", "labtests.simlab"}
    done = subprocess.run(
        [sys.executable, "-c", f"{named}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert of_labs & set(done.stdout.split()) == set()
