"""What one message tells, before anybody looks at how it fits to those before it."""

from typing import Any, NamedTuple

from labtests.capabilities.streams import StreamMeaning
from labtests.core.output import quoted_excerpt

MOST = 2**64


class Unreadable(ValueError):
    """A message, or a value in it, is not what its protocol says. The text says why."""


class ToldValues(NamedTuple):
    """The values of one path at one moment of the device's clock, in seconds since 1970, and a
    sentence for each that is no number. A value is an integer, of an alarm a text."""

    path: str
    device_s: float
    values: list[tuple[StreamMeaning, int | str]]
    unread: list[str]

    def take(self, meaning: StreamMeaning, path: str, value: Any) -> None:
        """One of them. A word that stands for no number is never 0."""
        known = str(value) if meaning.alarm else whole_number(value)
        if known is None:
            self.unread.append(f"{path} is {quoted_excerpt(str(value))}, which is no count")
        else:
            self.values.append((meaning, known))


def whole_number(value: Any) -> int | None:
    """A count, also as RFC 7951 and redis write it: as text. None where it is none."""
    if type(value) is int:
        return value if 0 <= value < MOST else None
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) <= 20:
        return whole_number(int(value))
    return int(value) if type(value) is float and value >= 0 and value.is_integer() else None
