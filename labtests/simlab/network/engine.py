"""The event loop: ports start frames, frames arrive, pauses are refreshed, flows wake.

A frame that starts at time s on a link of r ps per byte leaves the port free at s + (frame + 20) r and is
wholly at the far end one propagation later: store and forward, full duplex, nothing is pre-empted.
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import schedule, wake_by
from labtests.simlab.network.hosting import next_from_host, receive_at_host, wake_flow
from labtests.simlab.network.packets import free_packet
from labtests.simlab.network.pausing import (
    hold,
    next_expiry,
    pause_frame,
    receive_pause,
    refresh_pauses,
)
from labtests.simlab.network.switching import (
    LINK_DOWN_DROP,
    count_drop,
    next_from_switch,
    receive_at_switch,
    take_from_switch,
)
from labtests.simlab.network.tables import NEVER, NONE, OVERHEAD_BYTES, PAUSE, Tables

SPARE_PACKETS = 64
"""An event makes at most this many packets: a read's first window of requests, and a few."""


@compiled
def transmit(t: Tables, p: int, k: int) -> None:
    """Packet k starts on port p now."""
    port = t.port[p]
    packet = t.packet[k]
    port.busy_until = t.clock[0].now + (packet.frame_bytes + OVERHEAD_BYTES) * port.ps_per_byte
    packet.at = port.busy_until + port.propagation_ps
    packet.next = NONE
    if packet.kind != PAUSE:
        port.tx_packets += 1
        port.tx_bytes += packet.frame_bytes
    if port.wire_head == NONE:
        port.wire_head = k
        wake_by(t, t.clock[0].ports + p, packet.at)
    else:
        t.packet[port.wire_tail].next = k
    port.wire_tail = k
    more = port.backlog or port.pfc_pending
    schedule(t, p, port.busy_until if more else NEVER)


@compiled
def serve(t: Tables, p: int) -> None:
    """Port p is free: it starts its next frame, or sleeps until something changes."""
    port = t.port[p]
    if port.pfc_pending and port.up:
        k = pause_frame(t, p)
    elif port.host == NONE:
        k = next_from_switch(t, p)
    else:
        k = next_from_host(t, p)
    if k == NONE:
        schedule(t, p, next_expiry(t, p) if port.up else NEVER)
    else:
        transmit(t, p, k)


@compiled
def arrive(t: Tables, p: int) -> None:
    """The first frame on port p's wire is at the far end."""
    port = t.port[p]
    k = port.wire_head
    port.wire_head = t.packet[k].next
    wire = t.clock[0].ports + p
    schedule(t, wire, NEVER if port.wire_head == NONE else t.packet[port.wire_head].at)
    peer = port.peer
    if t.packet[k].kind == PAUSE:
        receive_pause(t, peer, t.packet[k].psn, t.packet[k].part)
        free_packet(t, k)
    elif t.port[peer].host == NONE:
        receive_at_switch(t, peer, k)
    else:
        receive_at_host(t, peer, k)


@compiled
def advance(t: Tables, until: int) -> bool:
    """Everything up to `until` ps has happened; False: it stopped early for want of packets."""
    clock = t.clock[0]
    ports = clock.ports
    while clock.free_packets > SPARE_PACKETS:
        slot = t.winner[1]
        time = t.wake[slot]
        if time > until:
            clock.now = until
            return True
        clock.now = time
        if slot < ports:
            serve(t, slot)
        elif slot < 2 * ports:
            arrive(t, slot - ports)
        elif slot < 3 * ports:
            refresh_pauses(t, slot - 2 * ports)
        else:
            wake_flow(t, slot - 3 * ports)
    return False


@compiled
def cut_port(t: Tables, p: int) -> None:
    """Port p's link is down: frames on its wire, and queued for it in a switch, are lost and counted."""
    port = t.port[p]
    port.up = 0
    while port.wire_head != NONE:
        k = port.wire_head
        port.wire_head = t.packet[k].next
        port.lost_on_wire += t.packet[k].kind != PAUSE
        free_packet(t, k)
    schedule(t, t.clock[0].ports + p, NEVER)
    for i in range(8):
        t.lane[8 * p + i].xoff = 0
        hold(t, p, i, 0)
        while port.host == NONE and t.queue[8 * p + i].head != NONE:
            k = take_from_switch(t, 8 * p + i)
            count_drop(t, p, 8 * p + i, k, LINK_DOWN_DROP)
    port.pfc_pending = 0
