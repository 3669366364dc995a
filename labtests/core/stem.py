"""A stem: a process that has imported what many runs import, and forks for each of them.

    python -m labtests.core.stem SOCKET MODULE ... MODULE:FUNCTION ...

A dry run is two processes, pytest and its simulated lab, and half of what both compute is imports.
Forked they begin at once, and are else as if `python -m` had started them: a session, files, an
environment and a folder of their own. What runs under a stem finds it by its environment
(`SOCKET_ENV`) and starts its lab by it, too. A stem ends when whoever opened it closes it or dies.
It needs Linux (pidfd_open, packets on local sockets).
"""

import gc
import importlib
import json
import os
import random
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from labtests.core.errors import LabError
from labtests.core.interpreter import child_environment, module_command

SOCKET_ENV = "LABTESTS_STEM"
GROWN_WITHIN_S = 600.0  # it may have to compile the packet network
_LONGEST_TASK = 1 << 20  # bytes: an environment, mostly
_FILES = 3


class StemFailed(LabError):
    """It did not begin, or is gone. The text has its words."""


class Branch:
    """A process that a stem has forked, with the part of subprocess.Popen that is needed."""

    def __init__(self, told: socket.socket, pid: int) -> None:
        self._told = told
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """As Popen's."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """As Popen's; -9 also where the stem went first, and all that it knew with it."""
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                self.returncode = int(self._told.recv(64) or b"-9")
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0) from None
            self._told.close()
        return self.returncode

    def kill(self) -> None:
        """As Popen's."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Piped:
    """A branch, or a process, with its stdin and stdout."""

    process: "Branch | subprocess.Popen[bytes]"
    stdin: IO[bytes]
    stdout: IO[bytes]


def start(
    path: str, command: Sequence[str], env: Mapping[str, str], cwd: Path, files: Sequence[int]
) -> Branch:
    """A branch of the stem at this socket, which runs a module_command with these three files.
    Raises OSError where no stem answers."""
    told = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        told.connect(path)
        task = {"command": list(command), "env": dict(env), "cwd": str(cwd)}
        socket.send_fds(told, [json.dumps(task).encode()], list(files))
        if not (pid := told.recv(64)):
            raise ConnectionError("the stem is gone")
    except BaseException:
        told.close()
        raise
    return Branch(told, int(pid))


def start_piped(command: Sequence[str], env: Mapping[str, str], stderr: IO[bytes]) -> Piped:
    """A process in a session of its own: a branch of the stem that this one is under, where there
    is one, else one that begins anew."""
    if path := env.get(SOCKET_ENV):
        with suppress(OSError):
            return _branch(path, command, env, stderr)
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=env,
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    return Piped(child, child.stdin, child.stdout)


def _branch(path: str, command: Sequence[str], env: Mapping[str, str], stderr: IO[bytes]) -> Piped:
    (its_stdin, our_stdin), (our_stdout, its_stdout) = os.pipe(), os.pipe()
    stdin, stdout = os.fdopen(our_stdin, "wb"), os.fdopen(our_stdout, "rb")
    try:
        files = (its_stdin, its_stdout, stderr.fileno())
        return Piped(start(path, command, env, Path.cwd(), files), stdin, stdout)
    except BaseException:
        stdin.close()
        stdout.close()
        raise
    finally:
        os.close(its_stdin)
        os.close(its_stdout)


def run(
    path: str,
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float | None = None,
) -> tuple[int, str]:
    """The exit status (-9: killed) of a branch of the stem at this socket, and what it printed.
    Raises subprocess.TimeoutExpired, when it has been killed, and OSError where no stem answers."""
    with tempfile.TemporaryFile() as output, Path(os.devnull).open("rb") as nothing:
        files = (nothing.fileno(), output.fileno(), output.fileno())
        branch = start(path, command, {**env, SOCKET_ENV: path}, cwd, files)
        try:
            status = branch.wait(timeout_s)
        except BaseException:
            branch.kill()
            branch.wait()
            raise
        output.seek(0)
        return status, output.read().decode(errors="replace")


class Stem:
    """A stem of ours, at the socket `path`. `grown` are modules that it has imported, and functions
    ("module:name") that it has called. Raises StemFailed."""

    def __init__(self, *grown: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="labtests-stem-")
        self.path = str(Path(self._folder.name) / "socket")
        self._process = subprocess.Popen(
            module_command("labtests.core.stem", self.path, *grown),
            env=child_environment({SOCKET_ENV}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if not self._is_ready():
            self._process.terminate()  # it may compile for minutes
            self.close()
            raise StemFailed(f"no process could import {', '.join(grown)}: its words are above")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """It has ended, and has told what it has forked to end."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()
        self._folder.cleanup()

    def _is_ready(self) -> bool:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], GROWN_WITHIN_S)
        return bool(ready and self._process.stdout.readline())


def main(path: str, grown: Sequence[str]) -> None:
    """Import, then fork for each task, until stdin ends."""
    for each in grown:
        module, _, function = each.partition(":")
        found = importlib.import_module(module)
        if function:
            getattr(found, function)()
    gc.collect()
    gc.freeze()  # else each branch looks through, and so copies, all that was imported
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(path)
        door.listen(64)
        with suppress(BrokenPipeError):  # its owner is gone already: stdin says so, too
            os.write(1, b"ready\n")
        _serve(door)


def _serve(door: socket.socket) -> None:
    watched = selectors.DefaultSelector()
    watched.register(sys.stdin.fileno(), selectors.EVENT_READ)
    watched.register(door, selectors.EVENT_READ)
    while True:
        for key, _ in watched.select():
            if key.fileobj is door:
                _fork(watched, door)
            elif key.data is None:
                _end_all(watched)
                return
            else:
                _tell_end(watched, key)


def _end_all(watched: selectors.BaseSelector) -> None:
    for key in watched.get_map().values():
        if key.data is not None:
            os.kill(key.data[0], signal.SIGTERM)


def _fork(watched: selectors.BaseSelector, door: socket.socket) -> None:
    asker, _ = door.accept()
    said, files = b"", list[int]()
    with suppress(OSError):  # who asked is gone
        said, files, _, _ = socket.recv_fds(asker, _LONGEST_TASK, _FILES)
    if len(files) != _FILES:
        asker.close()
        return
    child = os.fork()
    if child == 0:
        for key in list(watched.get_map().values()):
            if key.data is not None:
                _close(key)
        watched.close()
        door.close()
        asker.close()
        _become(json.loads(said), files)
    for file in files:
        os.close(file)
    with suppress(OSError):
        asker.send(str(child).encode())
    watched.register(os.pidfd_open(child), selectors.EVENT_READ, (child, asker))


def _close(key: selectors.SelectorKey) -> None:
    os.close(key.fd)
    key.data[1].close()


def _tell_end(watched: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    child, asker = key.data
    watched.unregister(key.fd)
    _, status = os.waitpid(child, 0)
    with suppress(OSError):
        asker.send(str(os.waitstatus_to_exitcode(status)).encode())
    _close(key)


def _become(task: Mapping[str, Any], files: Sequence[int]) -> None:
    """This process is as if it had been started for the task. Does not return."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.environ.clear()
    os.environ.update(task["env"])
    os.chdir(task["cwd"])
    random.seed()  # from the system: branches must not draw alike
    _, *words = task["command"]
    at = words.index("-m")
    found = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    safe = "-P" in words[:at] or "PYTHONSAFEPATH" in os.environ
    path = [*([] if safe else [task["cwd"]]), *found]
    sys.path[:0] = [each for each in path if each not in sys.path]
    sys.argv = words[at + 1 :]
    for name in (sys.argv[0], f"{sys.argv[0]}.__main__"):
        if not hasattr(sys.modules.get(name), "__path__"):
            sys.modules.pop(name, None)  # it begins anew, and runpy warns of what it would find
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
