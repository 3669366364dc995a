"""How RED's average falls while a queue is idle: the one of its numbers that a bandwidth decides.

tc makes a table of it from `bandwidth`, `avpkt` and the weight, and the kernel shows the table's
exponent only (`Scell_log`; iproute2 tc/tc_red.c, tc_red_eval_idle_damping). So a bandwidth is
found that gives the same exponent, within a factor of two of the one that was typed.
"""

from math import log

TICKS_PER_S = 15_625_000  # of /proc/net/psched, since Linux 2.6.31
DEFAULT_BITS_PER_S = 10_000_000
"""What tc takes when it is told none."""
_LEAST, _MIDDLE = 512, 384


def idle_exponent(weight: int, average_packet_bytes: int, bits_per_s: int) -> int | None:
    """Scell_log for this bandwidth; None where tc refuses."""
    packet_ticks = 8 * average_packet_bytes / bits_per_s * TICKS_PER_S
    longest = 31 * packet_ticks / _fall(weight)
    return next((n for n in range(32) if longest / 2**n < _LEAST), None)


def bandwidth_for(exponent: int, weight: int, average_packet_bytes: int) -> int:
    """A bandwidth in bit/s from which tc derives this Scell_log."""
    packet_ticks = _MIDDLE * 2.0**exponent * _fall(weight) / 31
    return max(1, round(8 * average_packet_bytes * TICKS_PER_S / packet_ticks))


def _fall(weight: int) -> float:
    """By which the logarithm of the average falls in the time of one packet."""
    return -log(1 - 0.5**weight)
