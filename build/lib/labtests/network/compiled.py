"""How the physics is compiled: numba where allowed, plain Python where asked.

`LABTESTS_INTERPRETED=1` runs the very same functions as ordinary Python, thousands of times slower,
with the same result to the last bit. That is how a debugger sees them and how tests compare.

Python's callers find them compiled ahead on the disk: code_folder.py.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from labtests.network.code_folder import code_folder, complete_folder
from labtests.network.compiler import numba

INTERPRETED = os.environ.get("LABTESTS_INTERPRETED", "") == "1"

Function = TypeVar("Function", bound=Callable[..., object])

FUNCTIONS: list[Any] = []
"""All that are compiled, as numba's dispatchers."""


def _numba(inline: bool) -> Callable[[Function], Function]:
    compiler = numba()  # not needed when interpreted

    def decorate(function: Function) -> Function:
        made: Any = compiler.njit(nogil=True, error_model="numpy", forceinline=inline)(function)
        FUNCTIONS.append(made)
        return cast(Function, made)

    return decorate


def keep_in(folder: Path) -> None:
    """Compiled code is taken from this folder, and put there when it is not in it yet."""
    settings = numba().config
    earlier, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        for function in FUNCTIONS:
            function.enable_caching()
    finally:
        settings.CACHE_DIR = earlier


def _keep_nothing(_signature: object, _code: object) -> None:
    """In place of numba's saving: others read the folder too."""


@cache
def use_compiled() -> None:
    """Compiled code comes from the disk from now on; a process of its own has put it there."""
    if INTERPRETED:
        return
    keep_in(complete_folder())
    for function in FUNCTIONS:
        function._cache.save_overload = _keep_nothing


def must_be_compiled() -> bool:
    """Whether `use_compiled` is going to take its minute."""
    return not INTERPRETED and not os.path.lexists(code_folder())


def _plain(function: Function) -> Function:
    return function


compiled: Callable[[Function], Function] = _plain if INTERPRETED else _numba(inline=False)
"""Decorator of every function of the event loop."""
inlined: Callable[[Function], Function] = _plain if INTERPRETED else _numba(inline=True)
"""The same for those that most events pass through: copied into their callers. A call costs about
as much as the work of a short function, so this makes the loop faster by half."""
