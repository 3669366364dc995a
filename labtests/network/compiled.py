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
CALLS: list[Any] = []
"""What stands in a caller for those of them that are called."""


def _made(function: Function, inline: bool) -> Any:
    """Without the wrapper that C would call: it has a copy of all that is inlined, and nobody
    calls it. (Python's is there: tests call what the network's Python does not.)"""
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    return numba().njit(forceinline=inline, **options)(function)


def _numba(inline: bool) -> Callable[[Function], Function]:
    def decorate(function: Function) -> Function:
        FUNCTIONS.append(_made(function, inline))
        return cast(Function, FUNCTIONS[-1])

    return decorate


def _called(function: Function) -> Function:
    """numba clears room for a call's result where a function begins, whether it then calls or not;
    with a function of nothing else between them, copied into its caller, only where it calls."""
    apart = _numba(inline=False)(function)

    def call(*arguments: Any) -> Any:
        return apart(*arguments)

    CALLS.append(_made(cast(Function, call), inline=True))
    return cast(Function, CALLS[-1])


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


entered: Callable[[Function], Function] = _plain if INTERPRETED else _numba(inline=False)
"""Decorator of those functions of the event loop that Python calls (ahead.py)."""
compiled: Callable[[Function], Function] = _plain if INTERPRETED else _called
"""Of those that only others of them call."""
inlined: Callable[[Function], Function] = _plain if INTERPRETED else _numba(inline=True)
"""The same for those that most events pass through: copied into their callers. A call costs about
as much as the work of a short function, so this makes the loop faster by half."""
