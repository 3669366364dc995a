"""Values as Comware prints them, and the words it prints where it has none."""

import re

from labtests.drivers.comware.names import UNKNOWN_TYPE, full_name
from labtests.drivers.displays import Kind, Notation, Unfit

NOT_A_NUMBER = re.compile(r"N/A|--?|Overflow|overflow")
"""`--` not supported, `Overflow` more than 14 digits (legend of `display counters rate`), `N/A`."""
COUNTER = rf"(?:[0-9]{{1,40}}|{NOT_A_NUMBER.pattern})"
"""A counter inside a regular expression: digits, or a word that says there is no number."""


def counted(text: str) -> int | None:
    """A counter's value; None where the switch says that it has none. Never 0 for that."""
    return None if NOT_A_NUMBER.fullmatch(text) else int(text)


def _port(text: str) -> str:
    if full := full_name(text):
        return full
    raise Unfit(f"{text!r} is no interface name known here", UNKNOWN_TYPE)


COMWARE = Notation().also(
    count=Kind(COUNTER, counted),
    none=Kind(NOT_A_NUMBER.pattern),
    port=Kind(r"\S(?:.*?\S)??", _port),
    yes=Kind("[YN]", lambda text: text == "Y"),
)
"""How the displays of this switch are declared."""
line, maybe, many, record = COMWARE.line, COMWARE.maybe, COMWARE.many, COMWARE.record
