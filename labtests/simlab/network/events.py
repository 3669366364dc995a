"""The calendar: every thing that can happen next has one slot with the time it wakes.

Slots: port p starts its next frame (p); a frame arrives at the far end of port p (ports + p);
port p refreshes its pauses (2 ports + p); flow f has something due (3 ports + f).
The earliest slot is found by a tournament: `winner[node]` is the earlier of its two children, ties
go to the lower slot, so the order of events is defined. Moving a slot replays log2(slots) matches.
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.tables import Tables


@compiled
def schedule(t: Tables, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps, and not at any other time."""
    if t.wake[slot] == time:
        return
    t.wake[slot] = time
    node = (t.winner.size // 2 + slot) >> 1
    while node >= 1:
        left = t.winner[2 * node]
        right = t.winner[2 * node + 1]
        best = left if t.wake[left] <= t.wake[right] else right
        if t.winner[node] == best and best != slot:
            break  # this match has another winner, at an unchanged time: nothing changes above
        t.winner[node] = best
        node >>= 1


@compiled
def wake_by(t: Tables, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps at the latest."""
    if t.wake[slot] > time:
        schedule(t, slot, time)


@compiled
def wake_port(t: Tables, p: int) -> None:
    """Port p looks for a frame to send as soon as it is free."""
    wake_by(t, p, max(t.clock[0].now, t.port[p].busy_until))
