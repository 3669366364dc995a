"""The calendar: every thing that can happen next has one slot with the time it wakes.

Slots: port p starts its next frame (p); a frame arrives at the far end of port p (ports + p);
port p refreshes its pauses (2 ports + p); flow f has something due (3 ports + f).

The earliest slot is found by a knock-out tournament. Match n is played by the winners of matches
2n and 2n + 1; slot s enters as "match" leaves + s; match 1 is the final. The earlier time wins, of
equal ones the lower slot, so the order of events is defined. Moving a slot replays log2(slots)
matches at most.
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.rows import clock_at, match_at, port_at
from labtests.simlab.network.tables import State

FINAL = 1


@compiled
def wakes(t: State, slot: int) -> int:
    """When this slot wakes."""
    return int(match_at(t, clock_at(t, 0).leaves + slot).wakes)


@compiled
def schedule(t: State, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps, and not at any other time."""
    node = clock_at(t, 0).leaves + slot
    match_at(t, node).wakes = time
    while node > FINAL:
        node >>= 1
        match = match_at(t, node)
        left = match_at(t, 2 * node)
        right = match_at(t, 2 * node + 1)
        best = left if left.wakes <= right.wakes else right
        if match.winner == best.winner and match.wakes == best.wakes:
            return  # nothing changes above
        match.winner = best.winner
        match.wakes = best.wakes


@compiled
def wake_by(t: State, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps at the latest."""
    if wakes(t, slot) > time:
        schedule(t, slot, time)


@compiled
def wake_port(t: State, p: int) -> None:
    """Port p looks for a frame to send as soon as it is free."""
    wake_by(t, p, max(clock_at(t, 0).now, port_at(t, p).busy_until))
