"""How tc reads and words handles, rates and sizes (iproute2: tc_util.c, lib/utils_math.c)."""

import re
from dataclasses import dataclass

_HANDLE = re.compile(r"([0-9a-f]{1,4}):?")
_CLASS = re.compile(r"([0-9a-f]{0,4}):([0-9a-f]{0,4})")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?)([a-z]*)")
_RATE_UNITS = {"": 1, "bit": 1, "bps": 8} | {
    f"{letter}{inch}{unit}": base**power * bits
    for power, letter in enumerate("kmgt", start=1)
    for inch, base in (("", 1000), ("i", 1024))
    for unit, bits in (("bit", 1), ("bps", 8))
}
_SIZE_UNITS = {"": 1.0, "b": 1.0} | {
    unit: factor
    for power, letter in enumerate("kmg", start=1)
    for unit, factor in (
        (letter, 1024.0**power),
        (f"{letter}b", 1024.0**power),
        (f"{letter}bit", 1024.0**power / 8),
    )
}
_TICKS_PER_US = 15.625  # 64 ns a tick: /proc/net/psched since Linux 2.6.31


@dataclass(frozen=True, slots=True, order=True)
class Id:
    """The name of a class, `1:10`; of a qdisc when the minor number is 0."""

    major: int
    minor: int = 0

    def __str__(self) -> str:
        return f"{self.major:x}:{self.minor:x}" if self.minor else f"{self.major:x}:"


def read_handle(text: str) -> int | None:
    """The major number of a qdisc's name; None when it is none."""
    match = _HANDLE.fullmatch(text)
    return int(match[1], 16) if match else None


def read_class(text: str) -> Id | None:
    """The name of a class; None when it is none."""
    match = _CLASS.fullmatch(text)
    if match is None:
        return None
    return Id(int(match[1] or "0", 16), int(match[2] or "0", 16))


def read_rate(text: str) -> int | None:
    """Bits per second, whole bytes per second at that; None when it is no rate."""
    match = _NUMBER.fullmatch(text.lower())
    if match is None or match[2] not in _RATE_UNITS:
        return None
    return int(float(match[1]) * _RATE_UNITS[match[2]] / 8) * 8


def read_size(text: str) -> int | None:
    """Bytes; None when it is no size."""
    match = _NUMBER.fullmatch(text.lower())
    if match is None or match[2] not in _SIZE_UNITS:
        return None
    return int(float(match[1]) * _SIZE_UNITS[match[2]])


def rate_words(bits_per_s: int) -> str:
    """`200Mbit`: a unit that would lose digits is not taken below 1000 of it."""
    rate, units = bits_per_s, ["", "K", "M", "G", "T"]
    while len(units) > 1 and rate >= 1000 and (rate % 1000 == 0 or rate >= 1_000_000):
        rate /= 1000  # type: ignore[assignment]  # as tc: what is left over is rounded when printed
        rate = int(rate)
        units.pop(0)
    return f"{rate}{units[0]}bit"


def size_words(size: int) -> str:
    """`1Mb`, `400000b`."""
    for unit, letter, tolerance in ((1 << 20, "M", 1024), (1 << 10, "K", 16)):
        whole = round(size / unit)
        if size >= unit and abs(unit * whole - size) < tolerance:
            return f"{whole}{letter}b"
    return f"{size}b"


def shown_burst(bits_per_s: int, burst_bytes: int) -> int:
    """What is left of a burst when tc has turned it into ticks of the rate and back."""
    bytes_per_us = bits_per_s / 8e6
    ticks = int(int(burst_bytes / bytes_per_us) * _TICKS_PER_US)
    return int(bytes_per_us * int(ticks / _TICKS_PER_US))


def send_ticks(bits_per_s: int, size_bytes: int) -> int:
    """How long so much takes at this rate."""
    return int(int(8e6 * size_bytes / bits_per_s) * _TICKS_PER_US)
