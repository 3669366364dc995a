"""iperf3's numbers: three significant digits with a unit, and what `-b 7.8G` means.

Format and factors: esnet/iperf src/units.c (bytes by 1024, bits by 1000), held against recordings.
"""

import re

_LABELS = ("", "K", "M", "G", "T")
_RATE_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def byte_count(count: float) -> str:
    """`2.91 GBytes`, ` 968 MBytes`, `0.00 Bytes`."""
    return _scaled(count, 1024) + "Bytes"


def bit_rate(bits_per_s: float) -> str:
    """`8.32 Gbits`, of which the row makes `/sec`."""
    return _scaled(bits_per_s, 1000) + "bits"


def _scaled(value: float, base: int) -> str:
    exponent = 0
    while abs(value) >= base and exponent < len(_LABELS) - 1:
        value /= base
        exponent += 1
    if value < 9.995:
        shown = f"{value:4.2f}"
    elif value < 99.95:
        shown = f"{value:4.1f}"
    else:
        shown = f"{value:4.0f}"
    return f"{shown} {_LABELS[exponent]}"


def rate(text: str) -> float | None:
    """Bits a second of `-b`: `10g`, `7.8G`, `100M`, plain bits; None when it is none of these."""
    return _suffixed(text.partition("/")[0], _RATE_FACTORS)


def size(text: str) -> float | None:
    """Bytes of `-l` and `-n`: K, M and G are powers of 1024."""
    return _suffixed(text, _SIZE_FACTORS)


def _suffixed(text: str, factors: dict[str, int]) -> float | None:
    match = re.fullmatch(r"([0-9]*\.?[0-9]+|[0-9]+\.)([kmgtKMGT]?)", text)
    return None if match is None else float(match[1]) * factors[match[2].lower()]
