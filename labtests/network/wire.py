"""Frames on wires: a chain per port of what it has sent and its far end has not yet received.

A frame that starts at time s on a link of r ps per byte leaves the port free at s + (frame + 20) r
(20: preamble and gap, the cable's overhead_bytes) and is wholly at the far end one propagation
later: store and forward, full duplex, nothing is pre-empted.

Most frames for a host change nothing but its counters: packets of a message that come in their
order, unmarked, and parts of datagrams. Those are silent: they need no event of their own, but are
handed over, each with its own time, before the next frame that is not silent, and before anybody
looks. Nobody can tell the difference, and a quarter of all events is saved. A second chain leads
through the others, the loud ones. Where frames may be lost, or for a switch, none is silent.
"""

from labtests.network.arithmetic import random_below
from labtests.network.compiled import compiled, entered, inlined
from labtests.network.events import schedule, set_up
from labtests.network.hosting import receive_at_host
from labtests.network.impairments import is_damaged, spare_ps
from labtests.network.packets import free_packet
from labtests.network.pausing import receive_pause
from labtests.network.rows import clock_at, flow_at, packet_at, port_at
from labtests.network.switching import receive_at_switch
from labtests.network.tables import (
    CE,
    NEVER,
    NONE,
    PAUSE,
    RC_DATA,
    TCP_DATA,
    UDP_FRAGMENT,
    State,
)

MOST_SILENT = 64
"""So many frames at most wait for one that is not silent: they take places in the pool."""
TCP_GAP_PPM = 2000
"""Behind a TCP segment a host's port waits at random, up to this part of the segment's time on the
wire. (Clocks of real ports differ by up to 200.) It is the port that waits: of several connections
the next one would else fill the gap of the one before."""


@inlined
def is_silent(t: State, p: int, k: int) -> bool:
    """Whether packet k, now put on port p's wire, will move nothing but counters at its end."""
    packet = packet_at(t, k)
    if packet.kind == UDP_FRAGMENT:
        return True
    if packet.kind != RC_DATA:
        return False
    flow = flow_at(t, packet.flow)
    if packet.psn != flow.wired_psn:
        return False
    flow.wired_psn += 1
    if flow.read or flow.whole_messages or flow.ack_packets or flow.recovery:
        return False
    return bool(packet.part == 0 and packet.ecn != CE)


@inlined
def announce(t: State, p: int, k: int) -> None:
    """Packet k, put on port p's wire, has an event at its end, or waits for one that has."""
    port = port_at(t, p)
    if is_silent(t, p, k) and port.silent_run < MOST_SILENT:
        port.silent_run += 1
        return
    port.silent_run = 0
    if port.loud_head == NONE:
        port.loud_head = k
        schedule(t, clock_at(t, 0).ports + p, packet_at(t, k).at)
    else:
        packet_at(t, port.loud_tail).next_loud = k
    port.loud_tail = k
    packet_at(t, k).next_loud = NONE


@compiled
def random_gap(t: State, gap_ppm: int, frame_ps: int) -> int:
    """How much later than it could a NIC starts its next frame: equally likely up to the most."""
    return int(random_below(t, frame_ps * gap_ppm // 1_000_000 + 1))


@inlined
def start_frame(t: State, p: int, k: int) -> None:
    """Packet k starts on port p now: when that is free again, and when the packet arrives."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    wire_bytes = packet.frame_bytes + port.overhead_bytes
    port.busy_until = clock_at(t, 0).now + wire_bytes * port.ps_per_byte
    if port.rest_parts:
        port.busy_until += spare_ps(t, p, wire_bytes)
    packet.at = port.busy_until + port.propagation_ps
    gap_ppm = port.gap_ppm
    if packet.kind == TCP_DATA and port.host != NONE:
        gap_ppm = max(gap_ppm, TCP_GAP_PPM)
    if gap_ppm:
        port.busy_until += random_gap(t, gap_ppm, wire_bytes * port.ps_per_byte)


@inlined
def put_on_wire(t: State, p: int, k: int) -> None:
    """Packet k starts on port p now, behind what is on the wire."""
    start_frame(t, p, k)
    port = port_at(t, p)
    packet = packet_at(t, k)
    packet.next = NONE
    if port.wire_head == NONE:
        port.wire_head = k
        if not port.silence:
            schedule(t, clock_at(t, 0).ports + p, packet.at)
    else:
        packet_at(t, port.wire_tail).next = k
    port.wire_tail = k
    if port.silence:
        announce(t, p, k)


@inlined
def receive(t: State, p: int, k: int) -> None:
    """Packet k, that port p has sent, is wholly at the far end."""
    peer = port_at(t, p).peer
    packet = packet_at(t, k)
    if port_at(t, peer).impaired and is_damaged(t, peer, k):
        return
    if packet.kind == PAUSE:
        receive_pause(t, peer, k)
    elif port_at(t, peer).host == NONE:
        receive_at_switch(t, peer, k)
    else:
        receive_at_host(t, peer, k)


@inlined
def hand_over(t: State, p: int) -> None:
    """Every frame of port p that has arrived by now is received, at its time."""
    port = port_at(t, p)
    clock = clock_at(t, 0)
    now = clock.now
    while port.wire_head != NONE and packet_at(t, port.wire_head).at <= now:
        k = port.wire_head
        packet = packet_at(t, k)
        port.wire_head = packet.next
        if port.loud_head == k:
            port.loud_head = packet.next_loud
        clock.now = packet.at
        receive(t, p, k)
    clock.now = now


@inlined
def arrive(t: State, p: int) -> None:
    """The first frame on port p's wire that is not silent is at the far end."""
    port = port_at(t, p)
    k = port.wire_head
    if port.silence:
        hand_over(t, p)
        following = port.loud_head
    else:
        following = port.wire_head = packet_at(t, k).next
    if following != NONE:
        set_up(t, clock_at(t, 0).ports + p, packet_at(t, following).at)
    elif port.planned != NONE:
        set_up(t, clock_at(t, 0).ports + p, port.planned_at)
    if not port.silence:
        receive(t, p, k)


@compiled
def settle(t: State) -> None:
    """Silent frames that have arrived by now are received: somebody is going to look."""
    for p in range(clock_at(t, 0).ports):
        if port_at(t, p).silence:
            hand_over(t, p)


@entered
def break_silence(t: State, p: int) -> None:
    """No frame on port p's wire is silent, now and from now on: some may be lost on it, or
    find no room at its end."""
    hand_over(t, p)
    port = port_at(t, p)
    port.silence = 0
    port.loud_head = NONE
    if port.wire_head != NONE:
        schedule(t, clock_at(t, 0).ports + p, packet_at(t, port.wire_head).at)


@compiled
def lose_wire(t: State, p: int) -> None:
    """What is on port p's wire is lost. From now on no frame on it is silent: receivers may expect
    other packets than those that were sent."""
    port = port_at(t, p)
    hand_over(t, p)
    while port.wire_head != NONE:
        k = port.wire_head
        port.wire_head = packet_at(t, k).next
        port.lost_on_wire += packet_at(t, k).kind != PAUSE
        free_packet(t, k)
    port.loud_head = NONE
    port.silence = 0
    schedule(t, clock_at(t, 0).ports + p, NEVER)
