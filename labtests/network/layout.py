"""How rows of tables lie in memory, for a processor that fetches a line of 64 bytes at once."""

from typing import Any

import numpy as np

from labtests.network.compiled import INTERPRETED

LINE_BYTES = 64
"""What a processor fetches at once."""
ALIGNED_ROW = 3
"""The row of a table that begins with a line, and with it those of priority 3 in tables by lane:
most RoCE has it."""

_STORED = {"": "i8", "32": "i4", "16": "i2", "8": "i1", "u8": "u1", "f": "f8"}
"""How a column is kept, by what stands behind its name: an integer of so many bits, or a float.
Few of 16: their instructions are long ones to decode."""


def _columns(words: str) -> list[tuple[str, np.dtype]]:
    """Names and types, the widest first, so that there are no gaps. Interpreted (compiled.py),
    integers have 64 bits each: what is compiled reckons with so many, whatever a column keeps."""
    named = (word.partition(":") for word in words.split())
    columns = [(name, _STORED[width]) for name, _, width in named]
    if INTERPRETED:
        columns = [(name, kind if kind == "f8" else "i8") for name, kind in columns]
    return sorted(((n, np.dtype(k)) for n, k in columns), key=lambda column: -column[1].itemsize)


def _next_line(end: int) -> int:
    return -(-end // LINE_BYTES) * LINE_BYTES


def _place(
    places: dict[str, tuple[np.dtype, int]], columns: list[tuple[str, np.dtype]], begin: int
) -> int:
    """The columns lie one behind the other from `begin` on; returns where the last one ends."""
    for name, kind in columns:
        places[name] = kind, begin
        begin += kind.itemsize
    return begin


def record(
    *rest: str,
    lines: tuple[str, ...] = (),
    arrays: tuple[tuple[str, int, str], ...] = (),
    by_lane: bool = False,
) -> np.dtype:
    """A row with these columns. `name` is an integer of 64 bits, `name:32`, `name:16` and `name:8`
    are shorter, `name:u8` is 0 to 255, `name:f` is a float; arrays have a length and a type.

    What is needed together is fetched together: each of `lines` is one of the processor's. They lie
    first, then `arrays`, then `rest`. A row of more than two lines is whole lines long, an odd
    number: equal columns of 2**n rows then do not ask for the same places of a cache. (Two
    lines stay two; a shorter row is as long as its columns.) Of a table `by_lane` all that is true
    of eight rows.
    """
    places: dict[str, tuple[np.dtype, int]] = {}
    end = 0
    for line in lines:
        begin = _next_line(end)
        end = _place(places, _columns(line), begin)
        if end > begin + LINE_BYTES and not INTERPRETED:
            raise ValueError(f"{end - begin} bytes, more than a line: {line}")
    kept = [(name, np.dtype((kind, (length,)))) for name, length, kind in arrays]
    end = _place(places, kept, _next_line(end))
    end = _place(places, _columns(" ".join(rest)), end)
    rows = 8 if by_lane else 1
    used = _next_line(rows * end) // LINE_BYTES
    if used > 1:
        end = (used if used == 2 else used | 1) * LINE_BYTES // rows
    kinds, offsets = zip(*places.values(), strict=True)
    return np.dtype({"names": list(places), "formats": kinds, "offsets": offsets, "itemsize": end})


def table(dtype: np.dtype, rows: int) -> Any:
    """An empty table whose fields are attributes (`t.port[p].busy_until`)."""
    room = np.zeros(rows * dtype.itemsize + LINE_BYTES, np.uint8)
    begin = -(room.ctypes.data + ALIGNED_ROW * dtype.itemsize) % LINE_BYTES
    return room[begin : begin + rows * dtype.itemsize].view(dtype).view(np.recarray)


def grown(old: Any, rows: int) -> Any:
    """The same table with room for `rows` rows."""
    new = table(old.dtype, rows)
    new[: len(old)] = old
    return new
