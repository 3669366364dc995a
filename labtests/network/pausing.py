"""Pauses obeyed, by NIC and switch alike (IEEE 802.1Qbb, 802.3x).

Whoever receives a pause frame, and obeys the pauses of a priority that it names (with PFC on for
it, or at an asymmetric switch port), starts no frame of that priority from `response` behind the
arrival until the frame's time has passed or an xon takes effect (which takes the same response);
the frame in progress is finished. An 802.3x frame holds the whole port. How pauses are sent:
pause_frames.py.
"""

from typing import Any

from labtests.network.arithmetic import lowest_bit
from labtests.network.compiled import compiled, entered, inlined
from labtests.network.events import timer_slot, wake_by, wake_port
from labtests.network.packets import free_packet
from labtests.network.pause_frames import (
    EMPTY_BIT,
    LINK_BIT,
    NAMELESS_BIT,
    PRIORITY_BITS,
    time_of,
)
from labtests.network.rows import (
    clock_at,
    control_at,
    guard_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
    switch_at,
)
from labtests.network.shaping import conforms_at
from labtests.network.tables import (
    HEEDS_ANY,
    LINK,
    LINK_OBEY,
    LINK_SEND,
    LONGEST_QUANTA,
    NEVER,
    NONE,
    WANTS_SOURCE,
    State,
)


@inlined
def settle_pause(account: Any, moment: int) -> None:
    """Account a pause of a lane, or a link, that has run out by `moment`."""
    if account.paused_since != NONE and account.paused_until <= moment:
        account.paused_ps += account.paused_until - account.paused_since
        account.transitions += 1
        account.paused_since = NONE


@inlined
def note_pause(account: Any, moment: int, duration_ps: int) -> None:
    """A lane, or a link, is held for `duration_ps` from `moment` on, not as it was before."""
    settle_pause(account, moment)
    if account.paused_since == NONE and duration_ps > 0:
        account.paused_since = moment
    account.paused_until = moment + duration_ps
    settle_pause(account, moment)


@inlined
def paused_queue(t: State, p: int, i: int) -> int:
    """The egress queue that a pause of priority i holds: the NIC's i, or the switch's map of it."""
    if port_at(t, p).switch == NONE:
        return 8 * p + i
    return 8 * p + int(switch_at(t, port_at(t, p).switch).dot1p_lp[i])


@compiled
def longest_pause(t: State, p: int, q: int) -> int:
    """Until when the pauses of all priorities that a switch's map leads to queue q last."""
    until = 0
    for j in range(8):
        if paused_queue(t, p, j) == q:
            until = max(until, lane_at(t, 8 * p + j).paused_until)
    return int(until)


@inlined
def hold_queue(t: State, p: int, i: int) -> None:
    """The egress queue of priority i is held as long as the longest pause that concerns it."""
    q = paused_queue(t, p, i)
    until = lane_at(t, 8 * p + i).paused_until
    if port_at(t, p).switch != NONE:
        until = longest_pause(t, p, q)
    queue_at(t, q).paused_until = until
    port_at(t, p).held |= 1 << (q & 7)


@inlined
def hold_from(t: State, p: int, i: int, moment: int, duration_ps: int) -> None:
    """Port p starts no frame of priority i for `duration_ps` from `moment`; 0 lets it go on."""
    port = port_at(t, p)
    note_pause(lane_at(t, 8 * p + i), moment, duration_ps)
    hold_queue(t, p, i)
    if port.backlog and duration_ps < LONGEST_QUANTA * port.quantum_ps:
        wake_port(t, p)  # else it has nothing to start, or to wait for, or has to wait for longer


@entered
def hold(t: State, p: int, i: int, duration_ps: int) -> None:
    """Port p starts no frame of priority i for `duration_ps` from now; 0 lets it go on."""
    hold_from(t, p, i, clock_at(t, 0).now, duration_ps)


@entered
def hold_link(t: State, p: int, moment: int, duration_ps: int) -> None:
    """Port p starts no frame but pauses for `duration_ps` from `moment`; 0 lets it go on."""
    note_pause(control_at(t, p), moment, duration_ps)
    for i in range(8):
        queue_at(t, 8 * p + i).paused_until = moment + duration_ps
    port_at(t, p).held = 0xFF
    wake_port(t, p)


@inlined
def obey_priority(t: State, p: int, i: int, moment: int, quanta: int) -> None:
    """Port p is told at `moment` to stop priority i for so long, or to go on; it does, where on."""
    port = port_at(t, p)
    if port.pfc_obeyed >> i & 1 and port.link_pause & (LINK_SEND | LINK_OBEY) == 0:
        hold_from(t, p, i, moment, quanta * port.quantum_ps)


@inlined
def obey_told(t: State, p: int, i: int, moment: int, quanta: int) -> None:
    """As obey_priority(), of a frame that was no packet (stops.py), and has left its place in the
    pool."""
    clock_at(t, 0).free_packets += 1
    control_at(t, p).rx_frames += 1
    lane_at(t, 8 * p + i).pfc_rx_frames += 1
    obey_priority(t, p, i, moment, quanta)


@inlined
def obey_stop(t: State, p: int) -> None:
    """Port p has been told to stop a priority, by a frame that was no event (stops.py)."""
    port = port_at(t, p)
    wire = port_at(t, port.peer)
    moment = wire.stop_at
    wire.stop_at = NEVER
    obey_told(t, p, wire.stopped, moment, LONGEST_QUANTA)


@inlined
def obey(t: State, p: int, k: int, moment: int) -> None:
    """Pause frame k takes effect on port p at `moment`, where it is on; the frame is no more."""
    port = port_at(t, p)
    vector = packet_at(t, k).psn
    if vector & (LINK_BIT | EMPTY_BIT):
        heeded = port.link_pause & HEEDS_ANY or (vector & LINK_BIT and port.link_pause & LINK_OBEY)
        if heeded:
            hold_link(t, p, moment, packet_at(t, k).part * port.quantum_ps)
    else:
        named = vector & PRIORITY_BITS
        while named:
            i = lowest_bit(named)
            named &= named - 1
            obey_priority(t, p, i, moment, time_of(t, k, i))
    free_packet(t, k)


@inlined
def note_heard(t: State, p: int, k: int, i: int, now: int) -> None:
    """Port p has received pause frame k, which names priority i."""
    lane_at(t, 8 * p + i).pfc_rx_frames += 1
    if port_at(t, p).guard and time_of(t, k, i) > 0:
        guard_at(t, 8 * p + i).pause_seen_at = now


@compiled
def receive_pause(t: State, p: int, k: int) -> None:
    """Port p has received pause frame k; it takes effect after the response time."""
    control = control_at(t, p)
    packet = packet_at(t, k)
    if packet.psn & NAMELESS_BIT and port_at(t, p).link_pause & WANTS_SOURCE:
        free_packet(t, k)
        return
    if port_at(t, port_at(t, p).peer).stop_at <= clock_at(t, 0).now:
        obey_stop(t, p)
    control.rx_frames += 1
    control.pfc_rx_frames += (packet.psn >> LINK) & 1
    now = clock_at(t, 0).now
    if packet.cells and control.response_ps == 0:  # most
        i = lowest_bit(packet.psn)
        note_heard(t, p, k, i, now)
        obey_priority(t, p, i, now, packet.part)
        free_packet(t, k)
        return
    named = packet.psn & PRIORITY_BITS
    while named:
        note_heard(t, p, k, lowest_bit(named), now)
        named &= named - 1
    if control.response_ps == 0:
        obey(t, p, k, now)
        return
    packet.at = now + control.response_ps
    packet.next = NONE
    if control.waiting_head == NONE:
        control.waiting_head = k
        wake_by(t, timer_slot(t, p), packet.at - 1)
    else:
        packet_at(t, control.waiting_tail).next = k
    control.waiting_tail = k


@compiled
def obey_waiting(t: State, p: int) -> None:
    """The frames whose response time is over take effect.

    Looked at one picosecond early: a frame that would start at that very moment does not, a frame
    that started before it is in progress.
    """
    control = control_at(t, p)
    now = clock_at(t, 0).now
    while control.waiting_head != NONE and packet_at(t, control.waiting_head).at <= now + 1:
        k = control.waiting_head
        control.waiting_head = packet_at(t, k).next
        obey(t, p, k, packet_at(t, k).at)
    if control.waiting_head != NONE:
        wake_by(t, timer_slot(t, p), packet_at(t, control.waiting_head).at - 1)


@compiled
def forget_pauses(t: State, p: int) -> None:
    """Port p's link is down: no pause holds it, and it holds nobody."""
    control = control_at(t, p)
    while control.waiting_head != NONE:
        k = control.waiting_head
        control.waiting_head = packet_at(t, k).next
        free_packet(t, k)
    port_at(t, p).pfc_pending = 0
    control.link_told = 0
    hold_link(t, p, clock_at(t, 0).now, 0)
    for i in range(8):
        lane_at(t, 8 * p + i).xoff = 0
        hold(t, p, i, 0)


@compiled
def next_expiry(t: State, p: int) -> int:
    """When the first held queue of port p that has work may go on by itself, or NEVER.

    Held: by a pause, or by its rate limit.
    """
    earliest = NEVER
    now = clock_at(t, 0).now
    waiting = port_at(t, p).backlog
    while waiting:
        i = lowest_bit(waiting)
        waiting &= waiting - 1
        until = queue_at(t, 8 * p + i).paused_until
        if port_at(t, p).limited >> i & 1:
            until = max(until, conforms_at(t, 8 * p + i))
        if until > now:
            earliest = min(earliest, until)
    return int(earliest)
