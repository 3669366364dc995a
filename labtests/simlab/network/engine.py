"""The event loop: ports start frames, frames arrive, ports' timers and flows wake.

A frame that starts at time s on a link of r ps per byte leaves the port free at s + (frame + 20) r
(20: preamble and gap, the cable's overhead_bytes) and is wholly at the far end one propagation
later: store and forward, full duplex, nothing is pre-empted.
"""

from labtests.simlab.network.arithmetic import DRAWS, random_below
from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.events import next_slot, schedule, wake_by
from labtests.simlab.network.hosting import next_from_host, receive_at_host, wake_flow
from labtests.simlab.network.packets import free_packet
from labtests.simlab.network.pause_frames import pause_frame
from labtests.simlab.network.pausing import forget_pauses, next_expiry, receive_pause
from labtests.simlab.network.rows import (
    clock_at,
    packet_at,
    port_at,
    queue_at,
)
from labtests.simlab.network.switching import (
    LINK_DOWN_DROP,
    count_drop,
    next_from_switch,
    receive_at_switch,
    take_from_switch,
)
from labtests.simlab.network.tables import NEVER, NONE, PAUSE, State
from labtests.simlab.network.timers import wake_timers

SPARE_PACKETS = 64
"""An event makes at most this many packets: a read's first window of requests, and a few."""


@compiled
def random_gap(t: State, gap_ppm: int, frame_ps: int) -> int:
    """How much later than it could a NIC starts its next frame: equally likely up to the most."""
    return int(random_below(t, frame_ps * gap_ppm // 1_000_000 + 1))


@compiled
def transmit(t: State, p: int, k: int) -> None:
    """Packet k starts on port p now."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    wire_bytes = packet.frame_bytes + port.overhead_bytes
    port.busy_until = clock_at(t, 0).now + wire_bytes * port.ps_per_byte
    packet.at = port.busy_until + port.propagation_ps
    if port.gap_ppm:
        port.busy_until += random_gap(t, port.gap_ppm, wire_bytes * port.ps_per_byte)
    packet.next = NONE
    if packet.kind != PAUSE:
        port.tx_packets += 1
        port.tx_bytes += packet.frame_bytes
    if port.wire_head == NONE:
        port.wire_head = k
        wake_by(t, clock_at(t, 0).ports + p, packet.at)
    else:
        packet_at(t, port.wire_tail).next = k
    port.wire_tail = k
    more = port.backlog or port.pfc_pending
    schedule(t, p, port.busy_until if more else NEVER)


@compiled
def serve(t: State, p: int) -> None:
    """Port p is free: it starts its next frame, or sleeps until something changes."""
    port = port_at(t, p)
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
def is_lost(t: State, p: int) -> bool:
    """Whether the frame that arrives at port p is corrupted: each one independently of others."""
    return bool(random_below(t, DRAWS) < port_at(t, p).lost_draws)


@compiled
def arrive(t: State, p: int) -> None:
    """The first frame on port p's wire is at the far end."""
    port = port_at(t, p)
    k = port.wire_head
    port.wire_head = packet_at(t, k).next
    wire = clock_at(t, 0).ports + p
    schedule(t, wire, NEVER if port.wire_head == NONE else packet_at(t, port.wire_head).at)
    peer = port.peer
    if port_at(t, peer).lost_draws and is_lost(t, peer):
        port.lost_on_wire += packet_at(t, k).kind != PAUSE
        free_packet(t, k)
    elif packet_at(t, k).kind == PAUSE:
        receive_pause(t, peer, k)
    elif port_at(t, peer).host == NONE:
        receive_at_switch(t, peer, k)
    else:
        receive_at_host(t, peer, k)


@compiled
def advance(t: State, until: int) -> bool:
    """Everything up to `until` ps has happened; False: it stopped early for want of packets."""
    clock = clock_at(t, 0)
    ports = clock.ports
    while clock.free_packets > SPARE_PACKETS:
        slot = next_slot(t, until)
        if slot == NONE:
            clock.now = until
            return True
        if slot < ports:
            serve(t, slot)
        elif slot < 2 * ports:
            arrive(t, slot - ports)
        elif slot < 3 * ports:
            wake_timers(t, slot - 2 * ports)
        else:
            wake_flow(t, slot - 3 * ports)
    return False


@compiled
def cut_port(t: State, p: int) -> None:
    """Port p's link is down: what is on its wire, or queued in a switch for it, is lost."""
    port = port_at(t, p)
    port.up = 0
    while port.wire_head != NONE:
        k = port.wire_head
        port.wire_head = packet_at(t, k).next
        port.lost_on_wire += packet_at(t, k).kind != PAUSE
        free_packet(t, k)
    schedule(t, clock_at(t, 0).ports + p, NEVER)
    forget_pauses(t, p)
    for i in range(8):
        while port.host == NONE and queue_at(t, 8 * p + i).head != NONE:
            k = take_from_switch(t, 8 * p + i)
            count_drop(t, 8 * p + i, k, LINK_DOWN_DROP)
