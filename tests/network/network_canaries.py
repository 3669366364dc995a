"""Guard rows before and behind every table of every network that a test makes.

Compiled code reaches rows by address (rows.py): nothing else notices a row that is not there.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from labtests.network import layout, tables

GUARD_ROWS = 16
"""8 * NONE + i, and as far behind."""
PATTERN = 0xA5


def _tables_of(dtype: np.dtype) -> str:
    return " or ".join(n for n, d in tables.TABLE_TYPES.items() if d.names == dtype.names)


class Canaries:
    """Makes tables in place of layout.table, and keeps them all."""

    def __init__(self) -> None:
        self._blocks: list[tuple[np.dtype, Any]] = []

    def table(self, dtype: np.dtype, rows: int) -> Any:
        block = np.full((rows + 2 * GUARD_ROWS) * dtype.itemsize, PATTERN, np.uint8)
        self._blocks.append((dtype, block))
        inner = block[GUARD_ROWS * dtype.itemsize : -GUARD_ROWS * dtype.itemsize]
        inner[:] = 0
        return inner.view(dtype).view(np.recarray)

    def in_place_of_tables(self, patch: pytest.MonkeyPatch) -> None:
        own = layout.table
        for name, module in list(sys.modules.items()):
            if name.startswith("labtests.network.") and vars(module).get("table") is own:
                patch.setattr(module, "table", self.table)

    def damaged(self) -> list[str]:
        """Which tables something was written outside of, and at which end; looked at once."""
        found = []
        for dtype, block in self._blocks:
            guard = GUARD_ROWS * dtype.itemsize
            for end, part in (("before", block[:guard]), ("behind", block[-guard:])):
                if (part != PATTERN).any():
                    found.append(f"{end} {_tables_of(dtype)}")
        self._blocks.clear()
        return found


@pytest.fixture(autouse=True)
def canaries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canaries]:
    """No test writes outside of a table."""
    guards = Canaries()
    guards.in_place_of_tables(monkeypatch)
    yield guards
    assert guards.damaged() == []
