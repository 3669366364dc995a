"""What a device prints: Jinja templates that look like the recording they were made from.

`{{ values | columns(14, 5) }}` is a row of a table: the values in columns of these widths
(negative: right-aligned), the rest appended, without trailing blanks.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def columns(values: Iterable[Any], *widths: int) -> str:
    """A row of a table."""
    texts = [str(value) for value in values]
    placed = [
        text.ljust(width) if width > 0 else text.rjust(-width)
        for text, width in zip(texts, widths, strict=False)
    ]
    return "".join([*placed, *texts[len(widths) :]]).rstrip()


def ruled(heads: Iterable[str], rows: Iterable[Iterable[Any]], margin: str = "") -> list[str]:
    """A table with a ruler under each head; its columns are as wide as what is in them."""
    lines = [tuple(heads), *(tuple(map(str, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return [
        margin + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]


def dotted(text: str) -> str:
    """A MAC address in parts of four digits; anything else as it is."""
    digits = re.sub("[-:.]", "", text).lower()
    whole = re.fullmatch("[0-9a-f]{12}", digits) is not None
    return ".".join(re.findall("....", digits)) if whole else text


def bitmap(numbers: Iterable[int]) -> int:
    """Queues, or priorities, as the bits of a number."""
    return sum(1 << number for number in numbers)


@cache
def screens(folder: Path) -> Environment:
    """The templates of a platform, each compiled once."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
    )
    environment.filters["columns"] = columns
    environment.filters |= {"dotted": dotted, "bitmap": bitmap}
    return environment


def render(folder: Path, screen: str, **values: Any) -> str:
    """What the device prints."""
    return screens(folder).get_template(f"{screen}.j2").render(values)
