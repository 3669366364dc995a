"""Selective repeat: a receiver keeps packets that come early, and asks for each one that is
missing; its sender sends that one again and goes on (as ConnectX-6 Dx and later can; IRN: Mittal et
al., SIGCOMM 2018).

A packet is missing when one has come that is more than `reorder_packets` behind it: 0 takes every
overtaking for a loss, more is for networks that spray packets. What was asked for is asked for
again after the NAK repeat time. A time-out sends everything again that is not acknowledged. A
sender is at most a window ahead. A packet sent again asks for an ACK.

With packets lost independently with p each is sent 1 / (1 - p) times on average, so the goodput is
(1 - p) of the rate, as long as the window does not close.
"""

from labtests.network.compiled import compiled
from labtests.network.notifying import send_control
from labtests.network.rows import clock_at, flow_at, segment_at
from labtests.network.streams import WINDOW_SIZE
from labtests.network.tables import RC_NAK, State

STORED, LOST = 1, 2
"""Bits of a packet in the flow's window: the receiver has it; the sender is to send it again."""


@compiled
def has(t: State, f: int, psn: int) -> bool:
    """Whether the receiver of flow f has kept this packet."""
    row = flow_at(t, f).window_row + psn % WINDOW_SIZE
    return bool(segment_at(t, row).here & STORED)


@compiled
def ask_between(t: State, f: int, first: int, end: int) -> bool:
    """The receiver of flow f asks for all packets from `first` on, below `end`, that it lacks."""
    asked = False
    for psn in range(first, end):
        if not has(t, f, psn):
            send_control(t, f, RC_NAK, psn)
            asked = True
    return asked


@compiled
def store_early(t: State, f: int, psn: int) -> bool:
    """Packet `psn`, later than the expected one, is kept. Whether something was asked for.

    What was asked for before the last round, a repeat time ago, is asked for again.
    """
    flow = flow_at(t, f)
    now = clock_at(t, 0).now
    if psn - flow.expected_psn >= WINDOW_SIZE:
        return False
    segment_at(t, flow.window_row + psn % WINDOW_SIZE).here |= STORED
    asked = False
    flow.asked_psn = max(flow.asked_psn, flow.expected_psn)
    if now - flow.nak_at >= flow.nak_repeat_ps:
        asked = ask_between(t, f, flow.expected_psn, flow.round_psn)
        flow.nak_at = now
        flow.round_psn = flow.asked_psn
    end = psn - flow.reorder_packets
    if ask_between(t, f, flow.asked_psn, end):
        asked = True
    flow.asked_psn = max(flow.asked_psn, end)
    return asked


@compiled
def take_stored(t: State, f: int) -> bool:
    """Whether the packet that flow f's receiver now expects was kept; it is no more."""
    flow = flow_at(t, f)
    segment = segment_at(t, flow.window_row + flow.expected_psn % WINDOW_SIZE)
    if not segment.here & STORED:
        return False
    segment.here &= ~STORED
    return True


@compiled
def mark_lost(t: State, f: int, psn: int) -> None:
    """The sender of flow f is to send this packet again."""
    flow = flow_at(t, f)
    if not flow.una_psn <= psn < flow.sent_psn:
        return
    segment = segment_at(t, flow.window_row + psn % WINDOW_SIZE)
    if segment.here & LOST:
        return
    segment.here |= LOST
    flow.resend_psn = min(flow.resend_psn, psn) if flow.lost else psn
    flow.lost += 1


@compiled
def take_lost(t: State, f: int) -> int:
    """The first packet that is to be sent again, of at least one."""
    flow = flow_at(t, f)
    first = flow.window_row
    while not segment_at(t, first + flow.resend_psn % WINDOW_SIZE).here & LOST:
        flow.resend_psn += 1
    segment_at(t, first + flow.resend_psn % WINDOW_SIZE).here &= ~LOST
    flow.lost -= 1
    flow.resend_psn += 1
    return int(flow.resend_psn - 1)


@compiled
def forget_lost(t: State, f: int, psn: int) -> None:
    """Packets below `psn` need not be sent again: they have arrived."""
    flow = flow_at(t, f)
    first = flow.window_row
    while flow.lost and flow.resend_psn < psn:
        segment = segment_at(t, first + flow.resend_psn % WINDOW_SIZE)
        if segment.here & LOST:
            segment.here &= ~LOST
            flow.lost -= 1
        flow.resend_psn += 1


@compiled
def resend_all(t: State, f: int) -> None:
    """Everything that is not acknowledged is to be sent again."""
    flow = flow_at(t, f)
    for psn in range(flow.una_psn, flow.sent_psn):
        mark_lost(t, f, psn)
