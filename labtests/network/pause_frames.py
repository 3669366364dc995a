"""Pauses sent, by NIC and switch alike (IEEE 802.1Qbb, 802.3x); obeyed: pausing.py.

A pause frame is a 64 B frame that goes before everything else, behind the frame in progress. A PFC
frame names priorities (its class-enable vector) and for each a time in quanta of 512 bit times: 0
is xon, more is xoff. All priorities that have something to say go into one frame. A pause that
lasts is sent again after the refresh time, before it ends; without a refresh it ends by itself.

An 802.3x frame has one time, for the whole link. A port does one or the other.
"""

from typing import Any

from labtests.network.arithmetic import lowest_bit
from labtests.network.compiled import compiled, entered, inlined
from labtests.network.events import arrival_slot, set_up, timer_slot, wake_by, wake_port
from labtests.network.packets import frame_of, new_packet
from labtests.network.rows import clock_at, control_at, lane_at, packet_at, port_at
from labtests.network.tables import (
    LINK,
    LINK_SEND,
    LONGEST_QUANTA,
    MIN_FRAME_BYTES,
    NEVER,
    NONE,
    PAUSE,
    State,
)
from labtests.network.wire import put_on_wire, wake_behind

LINK_BIT = 1 << LINK
PRIORITY_BITS = LINK_BIT - 1
"""Of a frame's class-enable vector: the eight priorities."""
EMPTY_BIT, NAMELESS_BIT = LINK_BIT << 1, LINK_BIT << 2
"""Of a storm's frames: for no class at all; from the address 0."""
TIME_BITS = 16
TIMES_PER_WORD = 3
"""The eight times of a frame are kept in fields of its packet that are else unused: part, born, and
psn behind the class-enable vector, which is shorter than a time. A frame that frame_of() has made
for one priority, as most are, has `cells` 1 and its time in part, whatever the priority."""


# -- the frame --


@inlined
def set_time(t: State, k: int, i: int, quanta: int) -> None:
    """Frame k, in which no time of priority i was set yet, has this one."""
    packet = packet_at(t, k)
    shifted = quanta << TIME_BITS * (i % TIMES_PER_WORD)
    if i < TIMES_PER_WORD:
        packet.part |= shifted
    elif i < 2 * TIMES_PER_WORD:
        packet.born |= shifted
    else:
        packet.psn |= shifted << TIME_BITS


@inlined
def time_of(t: State, k: int, i: int) -> int:
    """The time in quanta that frame k has for priority i."""
    packet = packet_at(t, k)
    if packet.cells:
        return int(packet.part)
    word = packet.psn >> TIME_BITS
    if i < TIMES_PER_WORD:
        word = packet.part
    elif i < 2 * TIMES_PER_WORD:
        word = packet.born
    return int(word >> TIME_BITS * (i % TIMES_PER_WORD) & 0xFFFF)


# -- sending --


@compiled
def link_stopped(t: State, p: int) -> bool:
    """Whether port p wants its peer to send nothing at all."""
    stopped = 0
    for i in range(8):
        stopped |= lane_at(t, 8 * p + i).xoff
    return bool(stopped != 0)


@compiled
def stop_groups(t: State, p: int) -> None:
    """All groups of port p are stopped, as 802.3x does it (link_pausing.py lets them go on)."""
    for lane in range(8 * p, 8 * p + 8):
        lane_at(t, lane).xoff = 1


@inlined
def request_pause_frame(t: State, p: int, i: int) -> None:
    """Port p tells its peer the present state (xoff or xon) of priority i as soon as it can.

    With 802.3x, of the link as a whole, and only if that has changed.
    """
    if port_at(t, p).link_pause & LINK_SEND:
        if port_at(t, p).host == NONE and lane_at(t, 8 * p + i).xoff:
            stop_groups(t, p)
        if link_stopped(t, p) != (control_at(t, p).link_told == 1):
            port_at(t, p).pfc_pending |= LINK_BIT
    else:
        port_at(t, p).pfc_pending |= 1 << i
    wake_port(t, p)


@inlined
def note_told(account: Any, now: int, duration_ps: int) -> None:
    """A pause of that length (0: an end) is sent now for a lane, or for a link."""
    if account.told_since != NONE:
        account.told_ps += min(now, account.told_until) - account.told_since
    account.told_since = now if duration_ps > 0 else NONE
    account.told_until = now + duration_ps
    account.pfc_tx_frames += 1


@inlined
def quanta_to_tell(t: State, p: int, i: int, stopped: bool) -> int:
    """The time that a frame of port p has for priority i, or the link: a storm's, xoff or xon."""
    control = control_at(t, p)
    if (control.storm >> i) & 1:
        return int(control.storm_quanta)
    return int(port_at(t, p).pause_quanta) if stopped else 0


@inlined
def refresh_later(t: State, p: int, account: Any, stopped: bool) -> None:
    """A pause that was sent now is sent again after the refresh time, if ever."""
    refresh_ps = control_at(t, p).refresh_ps
    account.refresh_at = NEVER
    if stopped and refresh_ps > 0:
        account.refresh_at = clock_at(t, 0).now + refresh_ps
        wake_by(t, timer_slot(t, p), account.refresh_at)


@inlined
def note_state(t: State, p: int, i: int) -> int:
    """Port p tells its peer now how priority i stands; the time that it says is returned."""
    lane = lane_at(t, 8 * p + i)
    quanta = quanta_to_tell(t, p, i, lane.xoff != 0)
    note_told(lane, clock_at(t, 0).now, quanta * port_at(t, p).quantum_ps)
    refresh_later(t, p, lane, lane.xoff != 0)
    return quanta


@compiled
def fill_link_frame(t: State, p: int, k: int) -> None:
    """Frame k is an 802.3x frame with the present state of port p."""
    port = port_at(t, p)
    control = control_at(t, p)
    port.pfc_pending &= ~LINK_BIT
    stopped = link_stopped(t, p)
    quanta = quanta_to_tell(t, p, LINK, stopped)
    packet_at(t, k).psn = LINK_BIT
    packet_at(t, k).part = quanta
    control.link_told = 1 if stopped else 0
    note_told(control, clock_at(t, 0).now, quanta * port.quantum_ps)
    refresh_later(t, p, control, stopped)


@inlined
def fill_priority_frame(t: State, p: int, k: int) -> None:
    """Frame k is a PFC frame with the present state of all priorities of port p that wait."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    packet.psn = port.pfc_pending
    packet.part = 0
    packet.born = 0
    port.pfc_pending = 0
    named = packet.psn & PRIORITY_BITS
    while named:
        i = lowest_bit(named)
        named &= named - 1
        set_time(t, k, i, note_state(t, p, i))
    if packet.psn & EMPTY_BIT:
        packet.part = control_at(t, p).storm_quanta


@compiled
def pause_frame(t: State, p: int) -> int:
    """The next pending pause frame of port p."""
    k = new_packet(t, PAUSE, NONE, MIN_FRAME_BYTES, NONE)
    packet_at(t, k).cells = 0
    control_at(t, p).tx_frames += 1
    if port_at(t, p).pfc_pending & LINK_BIT:
        fill_link_frame(t, p, k)
    else:
        fill_priority_frame(t, p, k)
    return k


@inlined
def is_only_told(t: State, p: int, quanta: int) -> bool:
    """Whether a PFC frame that port p sends now, with that time, need be no packet (stops.py)."""
    port = port_at(t, p)
    if not port.silence or port.uneven:
        return False
    control = control_at(t, port.peer)
    if control.response_ps or control.waiting_head != NONE:
        return False
    if quanta == 0:
        return bool(port.wire_head == NONE and port.going == NONE)
    if quanta != LONGEST_QUANTA or port.stop_at != NEVER:
        return False
    peer = port_at(t, port.peer)
    return bool(peer.planned == NONE and peer.link_pause == 0)


@inlined
def put_told(t: State, p: int, i: int, quanta: int) -> None:
    """As put_on_wire(), of a PFC frame that is no packet."""
    port = port_at(t, p)
    clock = clock_at(t, 0)
    clock.free_packets -= 1
    port.busy_until = clock.now + (MIN_FRAME_BYTES + port.overhead_bytes) * port.ps_per_byte
    arrives_at = port.busy_until + port.propagation_ps
    if quanta:
        port.stop_at = arrives_at
        port.stopped = i
    else:
        port.going = i
        set_up(t, arrival_slot(t, p), arrives_at)


@compiled
def send_pause_frame(t: State, p: int, i: int) -> None:
    """Port p, free now, tells its peer the present state of priority i."""
    quanta = note_state(t, p, i)
    control_at(t, p).tx_frames += 1
    if is_only_told(t, p, quanta):
        put_told(t, p, i, quanta)
    else:
        put_on_wire(t, p, frame_of(t, i, quanta))
    wake_behind(t, p)


@inlined
def tell(t: State, p: int, i: int) -> None:
    """As request_pause_frame(), and at once, where the port is free and nothing else is about to
    happen: a packet that is due now may leave, and change what there is to tell."""
    port = port_at(t, p)
    clock = clock_at(t, 0)
    waits = port.busy_until > clock.now or clock.due != NONE or port.pfc_pending
    if waits or port.link_pause & LINK_SEND or not port.up:
        request_pause_frame(t, p, i)
    else:
        send_pause_frame(t, p, i)


@compiled
def refresh_pauses(t: State, p: int) -> None:
    """Ask for the frames of pauses that still last and are due again."""
    now = clock_at(t, 0).now
    earliest = NEVER
    for i in range(8):
        lane = lane_at(t, 8 * p + i)
        if lane.xoff and lane.refresh_at <= now:
            request_pause_frame(t, p, i)
        elif lane.xoff:
            earliest = min(earliest, lane.refresh_at)
    control = control_at(t, p)
    if control.link_told and control.refresh_at <= now:
        port_at(t, p).pfc_pending |= LINK_BIT
        wake_port(t, p)
    elif control.link_told:
        earliest = min(earliest, control.refresh_at)
    if earliest < NEVER:
        wake_by(t, timer_slot(t, p), earliest)


@entered
def end_storm(t: State, p: int) -> None:
    """Port p's storm is over: nothing says so, the last pause runs out."""
    control = control_at(t, p)
    over = control.storm
    control.storm = 0
    for i in range(8):
        if lane_at(t, 8 * p + i).xoff:
            over &= ~(1 << i)
    if not link_stopped(t, p):
        over |= LINK_BIT
    port_at(t, p).pfc_pending &= ~over


@compiled
def blow(t: State, p: int) -> None:
    """Port p is in a pause storm: another frame, whatever its memory holds."""
    control = control_at(t, p)
    now = clock_at(t, 0).now
    if now >= control.storm_end:
        end_storm(t, p)
        return
    if now >= control.storm_at:
        control.storm_at = now + control.storm_period_ps
        port_at(t, p).pfc_pending |= control.storm
        wake_port(t, p)
    wake_by(t, timer_slot(t, p), min(control.storm_at, control.storm_end))
