"""Priority flow control, both directions, NIC and switch alike (IEEE 802.1Qbb; formulas §4).

A PFC frame is a 64 B frame that goes before everything else, behind the frame in progress. It
carries a time in quanta of 512 bit times for one priority; 65535 is xoff, 0 is xon. Whoever
receives it, with PFC on for that priority, starts no frame of it until the time has passed or an
xon comes; the frame in progress is finished. A pause that lasts is sent again after half its time,
so it never runs out by itself.
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import schedule, wake_by, wake_port
from labtests.simlab.network.packets import new_packet
from labtests.simlab.network.rows import (
    clock_at,
    guard_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
    switch_at,
)
from labtests.simlab.network.shaping import conforms_at
from labtests.simlab.network.tables import MIN_FRAME_BYTES, NEVER, NONE, PAUSE, State


@compiled
def request_pause_frame(t: State, p: int, i: int) -> None:
    """Port p tells its peer the present state (xoff or xon) of priority i as soon as it can."""
    port_at(t, p).pfc_pending |= 1 << i
    wake_port(t, p)


@compiled
def pause_frame(t: State, p: int) -> int:
    """The next pending PFC frame of port p."""
    port = port_at(t, p)
    i = 0
    while not (port.pfc_pending >> i) & 1:
        i += 1
    port.pfc_pending &= ~(1 << i)
    lane = lane_at(t, 8 * p + i)
    lane.pfc_tx_frames += 1
    k = new_packet(t, PAUSE, NONE, MIN_FRAME_BYTES)
    packet_at(t, k).psn = i
    if lane.xoff:
        packet_at(t, k).part = port.pause_quanta
        lane.refresh_at = clock_at(t, 0).now + port.pause_quanta * port.quantum_ps // 2
        wake_by(t, 2 * clock_at(t, 0).ports + p, lane.refresh_at)
    return k


@compiled
def refresh_pauses(t: State, p: int) -> None:
    """Ask for the frames of pauses that still last and are half over."""
    now = clock_at(t, 0).now
    earliest = NEVER
    for i in range(8):
        lane = lane_at(t, 8 * p + i)
        if lane.xoff and lane.refresh_at <= now:
            request_pause_frame(t, p, i)
        elif lane.xoff:
            earliest = min(earliest, lane.refresh_at)
    schedule(t, 2 * clock_at(t, 0).ports + p, earliest)


@compiled
def settle_pause(t: State, lane_row: int) -> None:
    """Account a pause that has run out by now."""
    lane = lane_at(t, lane_row)
    if lane.paused_since != NONE and lane.paused_until <= clock_at(t, 0).now:
        lane.paused_ps += lane.paused_until - lane.paused_since
        lane.transitions += 1
        lane.paused_since = NONE


@compiled
def paused_queue(t: State, p: int, i: int) -> int:
    """The egress queue that a pause of priority i holds: the NIC's i, or the switch's map of it."""
    if port_at(t, p).switch == NONE:
        return 8 * p + i
    return int(8 * p + switch_at(t, port_at(t, p).switch).dot1p_lp[i])


@compiled
def hold(t: State, p: int, i: int, duration_ps: int) -> None:
    """Port p starts no frame of priority i for `duration_ps` from now; 0 lets it go on."""
    now = clock_at(t, 0).now
    lane = lane_at(t, 8 * p + i)
    settle_pause(t, 8 * p + i)
    if lane.paused_since == NONE and duration_ps > 0:
        lane.paused_since = now
    lane.paused_until = now + duration_ps
    settle_pause(t, 8 * p + i)
    queue_at(t, paused_queue(t, p, i)).paused_until = lane.paused_until
    wake_port(t, p)


@compiled
def receive_pause(t: State, p: int, i: int, quanta: int) -> None:
    """Port p has received a PFC frame for priority i."""
    lane_at(t, 8 * p + i).pfc_rx_frames += 1
    if port_at(t, p).guard and quanta > 0:
        guard_at(t, 8 * p + i).pause_seen_at = clock_at(t, 0).now
    if (port_at(t, p).pfc_on >> i) & 1:
        hold(t, p, i, quanta * port_at(t, p).quantum_ps)


@compiled
def next_expiry(t: State, p: int) -> int:
    """When the first held queue of port p that has work may go on by itself, or NEVER.

    Held: by a pause, or by its rate limit.
    """
    earliest = NEVER
    now = clock_at(t, 0).now
    for i in range(8):
        if (port_at(t, p).backlog >> i) & 1:
            until = queue_at(t, 8 * p + i).paused_until
            if port_at(t, p).limited >> i & 1:
                until = max(until, conforms_at(t, 8 * p + i))
            if until > now:
                earliest = min(earliest, until)
    return earliest
