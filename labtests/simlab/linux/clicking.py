"""How programs made with click and tabulate print: tables, and complaints about words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import Refused

_PADDING = 2
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def tabulated(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, right: bool = True) -> str:
    """`tablefmt="simple"`: a column of numbers is on the right, a text where `right` says."""
    texts = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(*texts, strict=True)) if texts else [()] * len(heads)
    widths, sides = [], []
    for head, column in zip(heads, columns, strict=True):
        widths.append(max(len(head) + _PADDING, *map(len, column), 0))
        is_number = bool(column) and all(_NUMBER.fullmatch(cell) for cell in column)
        sides.append(str.rjust if right or is_number else str.ljust)
    ruler = ["-" * width for width in widths]
    lines = [
        "  ".join(side(cell, width) for cell, width, side in zip(row, widths, sides, strict=True))
        for row in ([*heads], ruler, *texts)
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def usage(path: str, problem: str) -> Refused:
    """The program ends with this complaint."""
    words = f'Usage: {path} [OPTIONS] COMMAND [ARGS]...\nTry "{path} -h" for help.\n\n'
    return Refused(f"{words}Error: {problem}\n", 2)


def chosen(call: Call, commands: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """The command that is meant, `queue counters`, and the words behind it."""
    given = call.arguments
    for length in range(len(given), 0, -1):
        if (found := commands.get(" ".join(given[:length]))) is not None:
            return found, given[length:]
    known, path = [each.split() for each in commands], [call.name]
    for place, word in enumerate(given):
        if not any(each[: place + 1] == [*given[: place + 1]] for each in known):
            raise usage(" ".join(path), f'No such command "{word}".')
        path.append(word)
    raise usage(" ".join(path), "Missing command.")
