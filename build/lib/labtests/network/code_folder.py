"""Where the compiled packet network is kept, and how it gets there: whole, by one process, once.

numba's on-disk cache has no lock. A new signature's file is named by the next number in the index
as it was read; two processes that compile at the same time choose the same name, and an index that
leads to the other's machine code stays on the disk: a call is then refused, or works with arguments
cut to integers (numba issues 4807, 10128; tests/network/test_network_code_folder.py shows it).
And LLVM works for a minute in a process that is there for something else, with its threads,
signals and collections of garbage.

So nobody compiles into a folder that others read. A process of its own, one at a time, fills a
folder beside it and renames that when all is there; whoever runs the network only reads it.

numba looks at the file of a function, not at the files of the functions it calls: after a change in
marking.py the engine from the cache would still mark in the old way. So the folder's name carries a
fingerprint of every file of the package, with the path and time that numba knows it by, and of what
the code was compiled by and for.

The index of a function is a pickle: whoever writes it runs code as whoever reads it. So the folder
is made, and read, only where nobody else can write it or put another in its place.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.interpreter import child_environment, module_command
from labtests.core.output import tell
from labtests.core.private_files import (
    NotPrivate,
    expect_code,
    expect_safe_way,
    open_lock,
    safe_folder,
)
from labtests.network.compiler import numba

PACKAGE = Path(__file__).parent
LOCK = "numba.lock"
_OTHERS_WRITE = 0o022


NOTICE = "compiling the packet network (once, about a minute)"


class CompilingFailed(LabError):
    """The packet network could not be compiled: how it ended, what was said, and the remedy."""


def fingerprint(package: Path) -> str:
    """Of every source file."""
    digest = hashlib.sha256()
    for file in sorted(package.resolve().glob("*.py")):
        digest.update(f"{file} {file.stat().st_mtime}".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _machine() -> str:
    """Of the compiler and the processor: elsewhere numba would not take this code."""
    compiler = numba()
    llvm = compiler.core.config.ll
    features = llvm.get_host_cpu_features().flatten()
    said = (compiler.__version__, sys.implementation.cache_tag, llvm.get_host_cpu_name(), features)
    return hashlib.sha256(repr(said).encode()).hexdigest()[:8]


def _parent(package: Path) -> Path:
    """A folder for compiled code: chosen, else beside the source where only we can write, else the
    user's."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    beside = package / "__pycache__"
    if _is_ours(package, beside):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "labtests"


def _is_ours(package: Path, beside: Path) -> bool:
    try:
        expect_safe_way(beside / LOCK)
    except NotPrivate:
        return False
    owner = os.geteuid() in (0, package.stat().st_uid)
    return owner and os.access(beside if beside.exists() else package, os.W_OK)


def code_folder() -> Path:
    """The folder of this source on this machine. If it is there, everything is in it."""
    return _parent(PACKAGE) / f"numba-{fingerprint(PACKAGE)}-{_machine()}"


def complete_folder() -> Path:
    """The same, after it was filled if need be: half a minute and more, once.

    Raises CompilingFailed, also where others can write."""
    folder = code_folder()
    with _refusing(folder.parent):
        expect_safe_way(folder)
        if not os.path.lexists(folder):
            tell(NOTICE)
            _fill_elsewhere()
        expect_code(folder)
    return folder


@contextmanager
def _refusing(parent: Path) -> Iterator[None]:
    try:
        yield
    except (NotPrivate, OSError) as error:
        raise CompilingFailed(
            f"{error}\n  compiled code is kept in {parent}; another folder: NUMBA_CACHE_DIR=FOLDER"
        ) from error


def _fill_elsewhere() -> None:
    # not run(): that would kill it with a caller whose patience ends, and the next begins anew
    child = subprocess.Popen(
        module_command("labtests.network.warming", options=("-X", "faulthandler")),
        env=child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # ours may be a protocol's
        stderr=subprocess.PIPE,
    )
    _, said = child.communicate()
    if child.returncode == 0:
        return
    ended = f"exit code {child.returncode}"
    if child.returncode < 0:
        ended = signal.Signals(-child.returncode).name
    raise CompilingFailed(
        f"the packet network could not be compiled; the process that does it ended with {ended}:\n"
        f"{said.decode(errors='replace')[-2000:].strip()}\n"
        "  remedy: labtests simlab warm; without a compiler: LABTESTS_INTERPRETED=1 (very slow)"
    )


@contextmanager
def _only_one(parent: Path) -> Iterator[None]:
    """Nobody else fills a folder here meanwhile; the system lets go when we end, however we do."""
    safe_folder(parent)
    with os.fdopen(open_lock(parent / LOCK), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fill(folder: Path, compile_into: Callable[[Path], None]) -> None:
    """The folder is there and complete, by us or by who was first; those of old sources are not."""
    with _only_one(folder.parent):
        if os.path.lexists(folder):
            return
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        _clear(unfinished)
        unfinished.mkdir(mode=0o700)  # not if it is another's, or a link
        compile_into(unfinished / "code")
        _only_ours_to_write(unfinished / "code")
        (unfinished / "code").rename(folder)
        unfinished.rmdir()
        source = folder.name.rpartition("-")[0]
        for other in folder.parent.glob("numba-*"):
            if not other.name.startswith(source):
                _clear(other)


def _clear(folder: Path) -> None:
    """It goes, if it is a folder, and ours: where others may write, they may have put there what
    they like (rmtree waits for the other end of a pipe)."""
    with suppress(FileNotFoundError):
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


def _only_ours_to_write(folder: Path) -> None:
    """Whatever the umask was."""
    for each in (folder, *folder.rglob("*")):
        each.chmod(each.stat().st_mode & ~_OTHERS_WRITE)
