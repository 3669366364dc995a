"""Lists of numbers as CLIs write them: `0,2-3,5-6`."""

import re
from collections.abc import Iterable
from itertools import groupby

from labtests.drivers.displays.shapes import Unfit

_PART = re.compile("([0-9]{1,2})(?:-([0-9]{1,2}))?")


def numbers_in(text: str, separator: str = ",", *, last: int = 99) -> frozenset[int]:
    """The numbers of a list; none is above `last`. Raises Unfit for any other text."""
    found: set[int] = set()
    for part in re.split(separator, text):
        match = _PART.fullmatch(part)
        first, end = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= end <= last:
            raise Unfit(f"{text!r} is not a list of numbers 0..{last}")
        found.update(range(first, end + 1))
    return frozenset(found)


def written(numbers: Iterable[int]) -> str:
    """The shortest way: ranges joined by commas."""
    ranges = groupby(enumerate(sorted(numbers)), key=lambda each: each[1] - each[0])
    runs = ([number for _, number in run] for _, run in ranges)
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)
