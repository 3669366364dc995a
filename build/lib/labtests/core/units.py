"""One unit per quantity inside labtests: bytes, bits per second, seconds (integer ns in simlab).

Tools print MiB/sec, Gb/sec, cells and pause quanta. Those words stop at the parser, which calls
one of the functions below.
"""

import math
from typing import NewType

Bytes = NewType("Bytes", int)
BitsPerSecond = NewType("BitsPerSecond", float)


def mib_per_second(value: float) -> BitsPerSecond:
    """perftest's default unit (`[MB/sec]` or `[MiB/sec]`, same number): 2**20 bytes per second."""
    return BitsPerSecond(value * 2**20 * 8)


def gbit_per_second(value: float) -> BitsPerSecond:
    """perftest with --report_gbits, and link speeds: 10**9 bits per second."""
    return BitsPerSecond(value * 1e9)


IP_BYTES, UDP_BYTES = 20, 8
"""Headers."""


def packets_of(datagram_bytes: int, mtu_bytes: int) -> int:
    """How many packets a UDP datagram of this payload is. Fragments carry multiples of 8 bytes
    (RFC 791); the UDP header is in the first. 65 500 B at an MTU of 1500 B: 45, at 9000: 8."""
    whole = datagram_bytes + UDP_BYTES
    in_each = (mtu_bytes - IP_BYTES) // 8 * 8
    return 1 if whole <= mtu_bytes - IP_BYTES else math.ceil(whole / in_each)


def dscp_of_tos(tos: int) -> int:
    """The upper six bits of the IPv4 TOS byte (RFC 2474)."""
    return tos >> 2
