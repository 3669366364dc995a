"""How the physics is compiled: numba where allowed, plain Python where asked.

`LABTESTS_INTERPRETED=1` runs the very same functions as ordinary Python, thousands of times slower,
with the same result to the last bit. That is how a debugger sees them and how tests compare.

numba's on-disk cache looks at the file of a function, not at the files of the functions it calls:
after a change in marking.py the engine from the cache would still mark in the old way. So the cache
folder's name carries a fingerprint of every file of this package; a change anywhere compiles anew.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

INTERPRETED = os.environ.get("LABTESTS_INTERPRETED", "") == "1"

Function = TypeVar("Function", bound=Callable[..., object])


def _fingerprint(package: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(package.glob("*.py")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder(package: Path) -> Path:
    """A writable folder for compiled code: beside the source, else in the user's cache.

    Compiled code of earlier versions beside the source is removed.
    """
    name = f"numba-{_fingerprint(package)}"
    beside = package / "__pycache__"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / name
    if not os.access(beside if beside.exists() else package, os.W_OK):
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(home) / "labtests" / name
    for earlier in beside.glob("numba-*"):
        if earlier.name != name:
            shutil.rmtree(earlier, ignore_errors=True)
    return beside / name


def _numba(inline: bool) -> Callable[[Function], Function]:
    import numba  # heavy (0.4 s), and not needed when interpreted

    settings: Any = numba.config
    folder = str(_cache_folder(Path(__file__).parent))

    def decorate(function: Function) -> Function:
        earlier, settings.CACHE_DIR = settings.CACHE_DIR, folder
        try:
            made: Any = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(
                function
            )
        finally:
            settings.CACHE_DIR = earlier
        return cast(Function, made)

    return decorate


def _plain(function: Function) -> Function:
    return function


compiled: Callable[[Function], Function] = _plain if INTERPRETED else _numba(inline=False)
"""Decorator of every function of the event loop."""
inlined: Callable[[Function], Function] = _plain if INTERPRETED else _numba(inline=True)
"""The same for those that most events pass through: copied into their callers. A call costs about
as much as the work of a short function, so this makes the loop faster by half."""
