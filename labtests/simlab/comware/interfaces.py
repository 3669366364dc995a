"""Interface names as Comware reads and abbreviates them.

A full name is a type and a number, `Twenty-FiveGigE1/0/14`. Tables print `WGE1/0/14`. On input the
number may stand apart, case does not matter, and the type may be cut to a unique beginning.
"""

import re
from collections.abc import Iterable

# Abbreviations: GE, XGE, WGE, HGE and FGE are in the recordings; the others from H3C's guides.
_TYPES = {
    "GigabitEthernet": "GE",
    "Ten-GigabitEthernet": "XGE",
    "Twenty-FiveGigE": "WGE",
    "FortyGigE": "FGE",
    "FiftyGigE": "50GE",
    "HundredGigE": "HGE",
    "TwoHundredGigE": "200GE",
    "FourHundredGigE": "400GE",
    "Bridge-Aggregation": "BAGG",
}
_TYPE_AND_NUMBER = re.compile(r"(?P<type>(?:\d+(?=[A-Za-z]))?[A-Za-z-]+)(?P<number>\d+(?:/\d+)*)?")


def short_name(name: str) -> str:
    """As tables print it. A type that has no known abbreviation stays as it is."""
    for full, short in _TYPES.items():
        if name.startswith(full):
            return short + name.removeprefix(full)
    return name


class Ports:
    """The interfaces of one switch, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)

    def read(self, first: str, second: str | None) -> tuple[str | None, int]:
        """The port meant by one or two words, and how many of them it took.

        None with 0 words: this is no interface at all. None with 1: a type without its number.
        None with 2: a number that this switch does not have, or an ambiguous type.
        """
        match = _TYPE_AND_NUMBER.fullmatch(first)
        types = self._types(match["type"]) if match else []
        if match is None or not types:
            return None, 0
        number, taken = match["number"], 1
        if number is None:
            if second is None:
                return None, 1
            number, taken = second, 2
        ports = {name for name in self.names for each in types if name == each + number}
        return (ports.pop(), taken) if len(ports) == 1 else (None, 2)

    def _types(self, text: str) -> list[str]:
        """The types this could be: an abbreviation, or the beginning of one or more types."""
        mine = {re.sub(r"[\d/]+$", "", name) for name in self.names} | set(_TYPES)
        text = text.lower()
        by_short = [full for full, short in _TYPES.items() if short.lower() == text]
        exact = [each for each in mine if each.lower() == text]
        return exact or by_short or [each for each in mine if each.lower().startswith(text)]
