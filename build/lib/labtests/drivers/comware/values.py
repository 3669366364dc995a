"""Values as Comware prints them, and the words it prints where it has none."""

import re

from labtests.drivers.comware.names import printed_port
from labtests.drivers.displays import Notation, ValueKind, numbers_in

NOT_A_NUMBER = re.compile(r"N/A|--?|Overflow|overflow")
"""`--` not supported, `Overflow` more than 14 digits (legend of `display counters rate`), `N/A`."""
COUNTER = rf"(?:[0-9]{{1,40}}|{NOT_A_NUMBER.pattern})"
"""A counter inside a regular expression: digits, or a word that says there is no number."""
NO_NUMBER = "the switch printed no number"


def counted(text: str) -> int | None:
    """A counter's value; None where the switch says that it has none. Never 0 for that."""
    return None if NOT_A_NUMBER.fullmatch(text) else int(text)


def priorities(text: str) -> frozenset[int]:
    """A list of priorities, as the CLI writes it: `0-7`, `5`, `0,2-3,5-6`, `3 5`."""
    return numbers_in(text, r",\s*|\s+", last=7)


COMWARE = Notation().also(
    count=ValueKind(COUNTER, counted),
    none=ValueKind(NOT_A_NUMBER.pattern),
    port=ValueKind(r"\S(?:.*?\S)??", printed_port),
    priorities=ValueKind(r"\S+(?: \S+)*", priorities),
    yes=ValueKind("[YN]", lambda text: text == "Y"),
)
"""How the displays of this switch are declared."""
maybe, many, record = COMWARE.maybe, COMWARE.many, COMWARE.record
