"""What one message tells, before anybody looks at how it fits to those before it."""

from typing import Any, NamedTuple

from labtests.capabilities.streams import StreamMeaning
from labtests.core.output import excerpt, quoted_excerpt
from labtests.core.printable import visible

MOST = 2**64
MOST_PATH = 500
"""Characters of a path that may mean something: the longest of a platform has some 160."""
MOST_PATHS = 32_768
"""Whose meaning is remembered at once: 128 ports with 256 values each."""
_LAST_S = 2**63 / 1e9
"""What 64 bits hold in nanoseconds since 1970."""
_MOST_SAID = 400


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
        if meaning.alarm:
            self.values.append((meaning, said(str(value), _MOST_SAID)))
        elif (known := whole_number(value)) is not None:
            self.values.append((meaning, known))
        else:
            self.refuse(path, f"is {quoted_excerpt(value)}, which is no count")

    def refuse(self, path: str, why: str) -> None:
        """What stands there is left out, and told."""
        self.unread.append(f"{said(path, _MOST_SAID)} {why}")


def said(text: str, most: int) -> str:
    """What a device has said, on one line: without secrets, and nothing in it moves a cursor."""
    return " ".join(visible(excerpt(text, most)).split())


def moment(seconds: float) -> float:
    """A device's time, since 1970. Raises Unreadable for one that it left out, or made up."""
    if not 0 < seconds < _LAST_S:
        raise Unreadable(f"its time is {seconds:g} s since 1970")
    return seconds


def whole_number(value: Any) -> int | None:
    """A count, also as RFC 7951 and redis write it: as text. None where it is none."""
    if type(value) is int:
        return value if 0 <= value < MOST else None
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) <= 20:
        return whole_number(int(value))
    if type(value) is float and 0 <= value < MOST and value.is_integer():
        return int(value)
    return None
