"""What can be set and read of a port's pauses: timing, counters."""

from dataclasses import dataclass
from typing import NamedTuple

LONGEST_QUANTA = 65535
"""The time field of a pause frame has 16 bits (IEEE 802.3 31B)."""
QUANTUM_BITS = 512
GIGABIT = 1_000_000_000
RESPONSE_QUANTA = {10: 60, 25: 80, 40: 118, 100: 394, 400: 905}
"""Longest response to a pause by rate in Gbit/s, in quanta (IEEE 802.1Qbb, Annex O)."""


def longest_response_ns(rate_bits_per_s: int) -> float:
    """The longest response to a pause that IEEE 802.1Qbb (Annex O) allows at this rate, in ns."""
    quanta = RESPONSE_QUANTA.get(rate_bits_per_s // GIGABIT)
    if quanta is None:
        rates = ", ".join(f"{rate}G" for rate in RESPONSE_QUANTA)
        raise ValueError(
            f"no standard response time at {rate_bits_per_s} bit/s: known at {rates}; give it in ns"
        )
    return quanta * QUANTUM_BITS / rate_bits_per_s * 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTiming:
    """How a port pauses and obeys.

    - `quanta` of 512 bit times in each xoff: 65535 is what switches and NICs send.
    - `refresh_share`: a pause that lasts is sent again after this share of its time (0.5); None:
      never, so it ends with its quanta.
    - `response_ns`: from the arrival of a pause, or an xon, until it takes effect; the frame then
      in progress is finished. 0 unless given; what the standard allows: longest_response_ns().
    """

    quanta: int = LONGEST_QUANTA
    refresh_share: float | None = 0.5
    response_ns: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.quanta <= LONGEST_QUANTA:
            raise ValueError(f"pause quanta {self.quanta} is not 1..{LONGEST_QUANTA}")
        if self.refresh_share is not None and not 0 < self.refresh_share <= 1:
            raise ValueError(f"refresh share {self.refresh_share} is not above 0 and up to 1")
        if not 0 <= self.response_ns <= 1e9:
            raise ValueError(f"response {self.response_ns} ns is not 0..1e9")


class PauseCounters(NamedTuple):
    """Pause frames of a port, PFC and 802.3x together: frames, not priorities."""

    rx_frames: int = 0
    tx_frames: int = 0
