"""How long packets were under way: counted by logarithm, so that percentiles can be told.

A delay of n ns is counted in bin n below 128; above, its last bits are cut off until it is, and
each cut moves it 64 bins on: bins are at most 1/64 of the delay wide. A group of bins has two more
rows: the longest delay in ps, and the sum of all in ns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from labtests.network.compiled import compiled
from labtests.network.rows import delay_at
from labtests.network.tables import State

HALF = 64
BINS = 64 * 45
LONGEST, SUM = BINS, BINS + 1
ROWS = BINS + 2
"""Of a group. Groups: one way by priority, then round trips by priority."""
ROUND_TRIPS = 8
GROUPS = 16
PERCENTILES = (50, 90, 99, 99.9)


@compiled
def note_delay(t: State, first: int, delay_ps: int) -> None:
    """One packet more of the group whose rows begin there."""
    value = delay_ps // 1000
    delay_at(t, first + SUM).count += value
    if delay_ps > delay_at(t, first + LONGEST).count:
        delay_at(t, first + LONGEST).count = delay_ps
    place = first
    while value >= 2 * HALF:
        value >>= 1
        place += HALF
    delay_at(t, place + value).count += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketDelays:
    """Of the packets of a group, in us. A percentile is the middle of its bin (1/64 wide)."""

    packets: int
    mean_us: float
    percentiles_us: Mapping[str, float]
    longest_us: float


def packet_delays(rows: Any) -> PacketDelays | None:
    """What a group's rows say; None: nothing."""
    counts = rows[:BINS]
    packets = int(counts.sum())
    if packets == 0:
        return None
    reached = np.cumsum(counts)
    longest_us = int(rows[LONGEST]) / 1e6
    found = {}
    for rank in PERCENTILES:
        place = int(np.searchsorted(reached, packets * rank / 100))
        found[str(rank)] = min(_middle_ns(place) / 1000, longest_us)
    return PacketDelays(
        packets=packets,
        mean_us=int(rows[SUM]) / packets / 1000,
        percentiles_us=found,
        longest_us=longest_us,
    )


def _middle_ns(place: int) -> float:
    cuts = max(0, place // HALF - 1)
    value = place - cuts * HALF
    return (value << cuts) + ((1 << cuts) - 1) / 2
