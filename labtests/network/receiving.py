"""A host that takes packets in more slowly than they arrive: its NIC's receive buffer.

Each priority has a buffer of so many bytes; what is in them goes to the host in the order of
arrival at the host's rate (PCIe, or whatever is slow), one frame after another, in bytes of frames
with FCS. A packet means nothing to the host, and is answered by nobody, before all of it is there.

    xoff   when a priority with PFC (or the whole port with 802.3x) holds >= xoff bytes
    xon    when it holds <= xon bytes
    drop   of any frame that its buffer has no room for (`rx_prioN_discards`)
"""

from labtests.network.arithmetic import random_below
from labtests.network.compiled import compiled, entered
from labtests.network.events import timer_slot, wake_by
from labtests.network.packets import free_packet
from labtests.network.pause_frames import request_pause_frame
from labtests.network.rows import (
    clock_at,
    control_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
)
from labtests.network.tables import LINK_SEND, NEVER, NONE, State

BIT_PS_PER_BYTE = 8_000_000_000_000
"""Picoseconds that a byte takes at 1 bit/s."""


@compiled
def time_to_host(t: State, p: int, frame_bytes: int) -> int:
    """How long a frame takes to the host (ps); NEVER while the host takes nothing."""
    rate = control_at(t, p).host_bits_per_s
    if rate == NONE:
        return 0
    return NEVER if rate == 0 else int(frame_bytes * BIT_PS_PER_BYTE // rate)


@entered
def begin_delivery(t: State, p: int) -> None:
    """The first packet in the buffers of port p begins its way to the host, if there is one."""
    control = control_at(t, p)
    control.delivered_at = NEVER
    if control.buffer_head == NONE:
        return
    takes = time_to_host(t, p, packet_at(t, control.buffer_head).frame_bytes)
    if takes < NEVER:
        control.delivered_at = clock_at(t, 0).now + takes
        wake_by(t, timer_slot(t, p), control.delivered_at)


@compiled
def can_pause(t: State, p: int, i: int) -> bool:
    """Whether port p may ask its peer to stop sending priority i."""
    port = port_at(t, p)
    return bool(port.pfc_on >> i & 1 or port.link_pause & LINK_SEND)


@compiled
def store(t: State, p: int, i: int, k: int) -> None:
    """Packet k of priority i, which has arrived at NIC port p, is in its buffer, or dropped."""
    control = control_at(t, p)
    lane = lane_at(t, 8 * p + i)
    packet = packet_at(t, k)
    if lane.ingress_cells + packet.frame_bytes > control.buffer_size:
        lane.buffer_drops += 1
        free_packet(t, k)
        return
    lane.ingress_cells += packet.frame_bytes
    lane.peak_cells = max(lane.peak_cells, lane.ingress_cells)
    packet.lane = 8 * p + i
    packet.next = NONE
    if control.buffer_head == NONE:
        control.buffer_head = k
        control.buffer_tail = k
        begin_delivery(t, p)
    else:
        packet_at(t, control.buffer_tail).next = k
        control.buffer_tail = k
    if not lane.xoff and lane.ingress_cells >= control.xoff_size and can_pause(t, p, i):
        lane.xoff = 1
        request_pause_frame(t, p, i)


@compiled
def is_discarded(t: State, q: int, k: int) -> bool:
    """Fault: whether the NIC has no room for packet k of lane q, by chance; then it is gone."""
    queue = queue_at(t, q)
    if random_below(t, 1_000_000) >= queue.loss_per_million:
        return False
    queue.dropped_packets += 1
    free_packet(t, k)
    return True


@compiled
def take_delivered(t: State, p: int) -> int:
    """The first packet in the buffers of port p is at the host; the next one begins its way."""
    control = control_at(t, p)
    k = control.buffer_head
    packet = packet_at(t, k)
    control.buffer_head = packet.next
    packet.next = NONE
    lane = lane_at(t, packet.lane)
    lane.ingress_cells -= packet.frame_bytes
    if lane.xoff and lane.ingress_cells <= control.xon_size:
        lane.xoff = 0
        request_pause_frame(t, p, packet.lane & 7)
    begin_delivery(t, p)
    return int(k)
