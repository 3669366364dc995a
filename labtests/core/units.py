"""One unit per quantity inside labtests: bytes, bits per second, seconds (integer ns in simlab).

Tools print MiB/sec, Gb/sec, cells and pause quanta. Those words stop at the parser, which calls
one of the functions below.
"""

from typing import NewType

Bytes = NewType("Bytes", int)
BitsPerSecond = NewType("BitsPerSecond", float)


def mib_per_second(value: float) -> BitsPerSecond:
    """perftest's default unit (`[MB/sec]` or `[MiB/sec]`, same number): 2**20 bytes per second."""
    return BitsPerSecond(value * 2**20 * 8)


def gbit_per_second(value: float) -> BitsPerSecond:
    """perftest with --report_gbits, and link speeds: 10**9 bits per second."""
    return BitsPerSecond(value * 1e9)


def dscp_of_tos(tos: int) -> int:
    """The upper six bits of the IPv4 TOS byte (RFC 2474)."""
    return tos >> 2
