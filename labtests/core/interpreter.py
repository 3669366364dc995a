"""Python, here and as a child of ours, that takes nothing from the current directory.

Anybody may have put a module or settings of one there: it may be /tmp, or another user's folder."""

import importlib
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from labtests.core.errors import LabError

_ROOT = str(Path(__file__).resolve().parents[2])  # a checkout runs without being installed, too
_SAFE = "PYTHONSAFEPATH"
_PACKAGES = frozenset({"asyncssh", "numba", "numpy"})


def module_command(module: str, *words: str, options: Collection[str] = ()) -> list[str]:
    """`python -m module words`, with these options of the interpreter."""
    return [sys.executable, "-P", *options, "-m", module, *words]


def child_environment(without: Collection[str] = ()) -> dict[str, str]:
    """Ours but for these variables; this very labtests is found, and children of the child import
    nothing from the current directory either."""
    ours = {name: value for name, value in os.environ.items() if name not in without}
    path = [_ROOT, *filter(None, ours.get("PYTHONPATH", "").split(os.pathsep))]
    return {**ours, _SAFE: "1", "PYTHONPATH": os.pathsep.join(path)}


@contextmanager
def guarded_children() -> Iterator[None]:
    """The same for those that a library starts meanwhile (multiprocessing)."""
    earlier = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if earlier is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = earlier


@contextmanager
def at_root() -> Iterator[None]:
    """The current directory, of all threads, is meanwhile one that only root writes: for importing
    a library that looks into it."""
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir("/")
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def of_extra(module: str, packages: Collection[str], needs: str, extras: str) -> ModuleType:
    """A module of ours. Raises LabError for one of these packages that is not installed. `needs`:
    how its sentence begins; `extras`: what pip calls them."""
    try:
        return importlib.import_module(f"labtests.{module}")
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise LabError(
            f"{needs} the package {error.name}, which is not installed\n"
            f"  remedy: pip install 'labtests[{extras}]'; in a clone: make setup"
        ) from error


def simulation(module: str) -> ModuleType:
    """A module of the network or the simulated lab. What they import (numba's settings, a linker
    that asyncssh runs) would take files of the current directory."""
    with at_root():
        return of_extra(module, _PACKAGES, "the simulated lab needs", "simlab")
