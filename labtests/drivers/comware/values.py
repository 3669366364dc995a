"""Values as Comware prints them, and the words it prints where it has none."""

import re

from labtests.drivers.comware.names import printed_port
from labtests.drivers.displays import Kind, Notation
from labtests.drivers.parsing import whole_number
from labtests.transport.protocol import Reply

NOT_A_NUMBER = re.compile(r"N/A|--?|Overflow|overflow")
"""`--` not supported, `Overflow` more than 14 digits (legend of `display counters rate`), `N/A`."""

COUNTER = rf"(?:[0-9]+|{NOT_A_NUMBER.pattern})"
"""A counter inside a regular expression: digits, or a word that says there is no number."""


def counted(reply: Reply, text: str, what: str) -> int | None:
    """A counter's value; None where the switch says that it has none. Never 0 for that."""
    if NOT_A_NUMBER.fullmatch(text):
        return None
    return whole_number(reply, text, what)


COMWARE = Notation(
    {
        "count": Kind(COUNTER, counted),
        "yes": Kind(r"[YN]", lambda _, text, __: text == "Y"),
        "none": Kind(NOT_A_NUMBER.pattern),
        "port": Kind(r"\S(?:.*?\S)??", lambda reply, text, _: printed_port(reply, text)),
    }
)
"""How the displays of this switch are declared."""
line, maybe, many, record = COMWARE.line, COMWARE.maybe, COMWARE.many, COMWARE.record
