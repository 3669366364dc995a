"""What a stem forks is as a process that began anew: its files, environment, folder and end."""

import io
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from labtests.core import stem as stems
from labtests.core.interpreter import child_environment, module_command
from labtests.core.stem import SOCKET_ENV, Piped, Stem, StemFailed, start_piped

ROOT = Path(__file__).parents[2]
TELLING = """
import json, os, random, sys
print(json.dumps({
    "argv": sys.argv[1:], "cwd": os.getcwd(), "word": os.environ.get("WORD"),
    "leads": os.getsid(0) == os.getpid(), "drawn": random.random(), "parent": os.getppid(),
    "descriptors": len(os.listdir("/proc/self/fd")), "name": __name__, "read": sys.stdin.read(),
}))
sys.exit(int(os.environ.get("STATUS", "0")))
"""
WAITING = "import time\nprint('begun', flush=True)\ntime.sleep(60)\n"
ASKING = """
import os, sys, tempfile
from labtests.core.stem import start_piped
piped = start_piped([sys.executable, "-m", "telling"], dict(os.environ), tempfile.TemporaryFile())
piped.stdin.close()
sys.stdout.write(piped.stdout.read().decode())
sys.exit(piped.process.wait())
"""


@pytest.fixture(scope="module")
def stem() -> Iterator[Stem]:
    with Stem("json", "labtests.core.errors:LabError") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"telling": TELLING, "waiting": WAITING, "asking": ASKING}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def here(folder: Path) -> dict[str, str]:
    return child_environment() | {"PYTHONPATH": f"{ROOT}:{folder}"}


def run(stem: Stem, folder: Path, module: str = "telling", *words: str, **env: str):
    status, said = stems.run(
        stem.path, [sys.executable, "-m", module, *words], cwd=folder, env=here(folder) | env
    )
    return status, json.loads(said) if said.startswith("{") else said


def test_it_has_its_words_files_environment_folder_and_session(stem: Stem, folder: Path) -> None:
    status, told = run(stem, folder, "telling", "a", "b c", WORD="from the task", STATUS="3")
    assert status == 3
    wanted = {"argv": ["a", "b c"], "cwd": str(folder), "word": "from the task", "leads": True}
    wanted |= {"name": "__main__", "read": ""}
    assert {name: told[name] for name in wanted} == wanted
    assert told["parent"] == stem._process.pid
    assert told["descriptors"] == 4, "its three files and the folder that it looks into: no other"


def test_what_the_stem_has_imported_begins_anew_without_a_warning(folder: Path) -> None:
    with Stem("json.tool", "labtests.__main__") as grown:
        for module in ("json.tool", "labtests"):
            status, said = run(grown, folder, module, "--help")
            assert (status, said[:6].lower()) == (0, "usage:")


def test_one_is_not_as_the_one_before(stem: Stem, folder: Path) -> None:
    (first, one), (second, other) = run(stem, folder, WORD="first"), run(stem, folder)
    assert (first, second) == (0, 0)
    assert one["drawn"] != other["drawn"], "random numbers begin anew"
    assert other["word"] is None


def test_it_starts_others_by_the_stem_that_it_came_from(stem: Stem, folder: Path) -> None:
    status, told = run(stem, folder, "asking", STATUS="5")
    assert status == 5
    assert told["parent"] == stem._process.pid


@pytest.mark.parametrize("path", ["", "/nowhere/socket"])
def test_without_a_stem_a_process_begins_anew(path: str, folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    env = here(folder) | ({SOCKET_ENV: path} if path else {})
    with tempfile.TemporaryFile() as stderr:
        piped = start_piped([sys.executable, "-m", "telling"], env, stderr)
        piped.stdin.write(b"words")
        piped.stdin.close()
        told = json.loads(piped.stdout.read())
        piped.stdout.close()
    assert piped.process.wait() == 0
    assert (told["parent"], told["read"]) == (os.getpid(), "words")
    assert told["leads"]


def test_from_the_current_directory_it_imports_where_python_would(
    stem, folder, monkeypatch
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    command, bare = [sys.executable, "-m", "telling"], dict(os.environ)
    assert stems.run(stem.path, command, cwd=folder, env=bare)[0] == 0
    for refused in ((command, child_environment()), (module_command("telling"), bare)):
        status, said = stems.run(stem.path, refused[0], cwd=folder, env=refused[1])
        assert (status, "No module named telling" in said) == (1, True)


def test_one_that_takes_too_long_is_killed(stem: Stem, folder: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        stems.run(
            stem.path,
            [sys.executable, "-m", "waiting"],
            cwd=folder,
            env=here(folder),
            timeout_s=0.5,
        )
    assert run(stem, folder)[0] == 0, "and the stem goes on"


def waiting(stem: Stem, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Piped:
    monkeypatch.chdir(folder)
    env = here(folder) | {SOCKET_ENV: stem.path}
    with tempfile.TemporaryFile() as stderr:
        piped = start_piped([sys.executable, "-m", "waiting"], env, stderr)
    assert piped.stdout.readline() == b"begun\n"
    assert isinstance(piped.process, stems.Branch)
    assert piped.process.poll() is None
    return piped


def close(piped: Piped) -> None:
    piped.stdin.close()
    piped.stdout.close()


def test_it_is_killed_as_a_child_is(stem: Stem, folder: Path, monkeypatch) -> None:
    piped = waiting(stem, folder, monkeypatch)
    with pytest.raises(subprocess.TimeoutExpired):
        piped.process.wait(0.1)
    piped.process.kill()
    assert piped.process.wait(30) == piped.process.poll() == -9
    close(piped)
    piped.process.kill()  # as of Popen: nothing to be done


def test_a_stem_that_ends_tells_its_branches_to_end(folder: Path, monkeypatch) -> None:
    with Stem("json") as stem:
        piped = waiting(stem, folder, monkeypatch)
    assert piped.stdout.read() == b""
    assert piped.process.wait(30) == -9, "nobody knows any more how"
    close(piped)
    assert not Path(stem.path).parent.exists()


def test_a_task_that_is_none_is_passed_over(stem: Stem, folder: Path) -> None:
    with pytest.raises(ConnectionError):
        stems.start(stem.path, ["python"], {}, folder, [])
    with io.FileIO(os.open(os.devnull, os.O_RDWR)) as file:
        branch = stems.start(stem.path, ["python"], {}, folder, [file.fileno()] * 3)
    assert branch.wait(30) == 1, "it has no module: a traceback of its own"
    assert run(stem, folder)[0] == 0


def test_who_asks_and_goes_takes_nobody_along(stem: Stem, folder: Path) -> None:
    """Killed between its words and the answer, or before them."""
    for words in (b"", b"{}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asker:
            asker.connect(stem.path)
            if words:
                socket.send_fds(asker, [words], [0, 1, 2])
    assert run(stem, folder)[0] == 0


def test_what_cannot_be_imported_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StemFailed, match=r"no process could import json, nothing_of_this_name"):
        Stem("json", "nothing_of_this_name")
    assert "No module named 'nothing_of_this_name'" in capfd.readouterr().err
