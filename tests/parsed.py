"""All modules of labtests as trees: who looks at all of the code parses it once in a process."""

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import labtests

CODE = Path(labtests.__file__).parent


@cache
def trees() -> Mapping[Path, ast.Module]:
    """By file. They stay: the collector of garbage need not look at a million nodes again."""
    gc.disable()
    try:
        found = {file: ast.parse(file.read_text("utf-8")) for file in sorted(CODE.rglob("*.py"))}
        gc.freeze()
        return found
    finally:
        gc.enable()
