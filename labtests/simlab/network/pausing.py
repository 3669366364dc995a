"""Priority flow control, both directions, NIC and switch alike (IEEE 802.1Qbb; formulas §4).

A PFC frame is a 64 B frame that goes before everything else, behind the frame in progress. It carries
a time in quanta of 512 bit times for one priority; 65535 is xoff, 0 is xon. Whoever receives it, with PFC
on for that priority, starts no frame of it until the time has passed or an xon comes; the frame in progress
is finished. A pause that lasts is sent again after half its time, so it never runs out by itself.
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import schedule, wake_by, wake_port
from labtests.simlab.network.packets import new_packet
from labtests.simlab.network.tables import MIN_FRAME_BYTES, NEVER, NONE, PAUSE, Tables


@compiled
def request_pause_frame(t: Tables, p: int, i: int) -> None:
    """Port p tells its peer the present state (xoff or xon) of priority i as soon as it can."""
    t.port[p].pfc_pending |= 1 << i
    wake_port(t, p)


@compiled
def pause_frame(t: Tables, p: int) -> int:
    """The next pending PFC frame of port p."""
    port = t.port[p]
    i = 0
    while not (port.pfc_pending >> i) & 1:
        i += 1
    port.pfc_pending &= ~(1 << i)
    lane = t.lane[8 * p + i]
    lane.pfc_tx_frames += 1
    k = new_packet(t, PAUSE, NONE, MIN_FRAME_BYTES)
    t.packet[k].psn = i
    if lane.xoff:
        t.packet[k].part = port.pause_quanta
        lane.refresh_at = t.clock[0].now + port.pause_quanta * port.quantum_ps // 2
        wake_by(t, 2 * t.clock[0].ports + p, lane.refresh_at)
    return k


@compiled
def refresh_pauses(t: Tables, p: int) -> None:
    """Ask for the frames of pauses that still last and are half over."""
    now = t.clock[0].now
    earliest = NEVER
    for i in range(8):
        lane = t.lane[8 * p + i]
        if lane.xoff and lane.refresh_at <= now:
            request_pause_frame(t, p, i)
        elif lane.xoff:
            earliest = min(earliest, lane.refresh_at)
    schedule(t, 2 * t.clock[0].ports + p, earliest)


@compiled
def settle_pause(t: Tables, lane_row: int) -> None:
    """Account a pause that has run out by now."""
    lane = t.lane[lane_row]
    if lane.paused_since != NONE and lane.paused_until <= t.clock[0].now:
        lane.paused_ps += lane.paused_until - lane.paused_since
        lane.transitions += 1
        lane.paused_since = NONE


@compiled
def paused_queue(t: Tables, p: int, i: int) -> int:
    """The egress queue that a pause of priority i holds: the NIC's i, or the switch's map of it."""
    if t.port[p].switch == NONE:
        return 8 * p + i
    return 8 * p + t.switch[t.port[p].switch].dot1p_lp[i]


@compiled
def hold(t: Tables, p: int, i: int, duration_ps: int) -> None:
    """Port p starts no frame of priority i for `duration_ps` from now; 0 lets it go on."""
    now = t.clock[0].now
    lane = t.lane[8 * p + i]
    settle_pause(t, 8 * p + i)
    if lane.paused_since == NONE and duration_ps > 0:
        lane.paused_since = now
    lane.paused_until = now + duration_ps
    settle_pause(t, 8 * p + i)
    t.queue[paused_queue(t, p, i)].paused_until = lane.paused_until
    wake_port(t, p)


@compiled
def receive_pause(t: Tables, p: int, i: int, quanta: int) -> None:
    """Port p has received a PFC frame for priority i."""
    t.lane[8 * p + i].pfc_rx_frames += 1
    if (t.port[p].pfc_on >> i) & 1:
        hold(t, p, i, quanta * t.port[p].quantum_ps)


@compiled
def next_expiry(t: Tables, p: int) -> int:
    """When the first paused queue of port p that has work may go on by itself, or NEVER."""
    earliest = NEVER
    now = t.clock[0].now
    for i in range(8):
        until = t.queue[8 * p + i].paused_until
        if (t.port[p].backlog >> i) & 1 and until > now:
            earliest = min(earliest, until)
    return earliest
