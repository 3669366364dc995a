"""Frames on wires: a chain per port of what it has sent and its far end has not yet received.

A frame that starts at time s on a link of r ps per byte leaves the port free at s + (frame + 20) r
(20: preamble and gap, the cable's overhead_bytes) and is wholly at the far end one propagation
later: store and forward, full duplex, nothing is pre-empted.

Most frames for a host change nothing but its counters: packets of a message that come in their
order, unmarked, and parts of datagrams. Those are silent: they need no event of their own, but are
handed over, each with its own time, before the next frame that is not silent, and before anybody
looks. Nobody can tell the difference, and a quarter of all events is saved. A second chain leads
through the others, the loud ones. Where frames may be lost, or for a switch, none is silent.
(Nor is a PFC frame that tells a NIC to stop an event: stops.py.)

What happens at the far end: arrivals.py.
"""

from labtests.network.arithmetic import random_below
from labtests.network.compiled import compiled, inlined
from labtests.network.events import arrival_slot, schedule, set_up
from labtests.network.impairments import spare_ps
from labtests.network.packets import frame_of
from labtests.network.rows import clock_at, flow_at, packet_at, port_at, slot_at
from labtests.network.tables import (
    CE,
    NEVER,
    NONE,
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
def take_for_silent(t: State, k: int) -> bool:
    """Whether packet k, now put on a wire, will move nothing but counters at its end. What comes
    in order behind it is known then."""
    packet = packet_at(t, k)
    if packet.kind == UDP_FRAGMENT:
        return True
    if packet.kind != RC_DATA:
        return False
    flow = flow_at(t, packet.flow)
    if packet.psn != flow.wired_psn:
        return False
    flow.wired_psn += 1
    return bool(flow.quiet and packet.part == 0 and packet.ecn != CE)


@inlined
def announce(t: State, p: int, k: int) -> None:
    """Packet k, put on port p's wire, has an event at its end, or waits for one that has."""
    port = port_at(t, p)
    if take_for_silent(t, k) and port.silent_run < MOST_SILENT:
        port.silent_run += 1
        return
    port.silent_run = 0
    if port.loud_head == NONE:
        port.loud_head = k
        set_up(t, arrival_slot(t, p), packet_at(t, k).at)
    else:
        packet_at(t, port.loud_tail).next_loud = k
    port.loud_tail = k
    packet_at(t, k).next_loud = NONE


@compiled
def random_gap(t: State, gap_ppm: int, frame_ps: int) -> int:
    """How much later than it could a NIC starts its next frame: equally likely up to the most."""
    return int(random_below(t, frame_ps * gap_ppm // 1_000_000 + 1))


@compiled
def start_unevenly(t: State, p: int, k: int, wire_bytes: int) -> None:
    """Packet k starts on port p now, whose bytes do not last whole picoseconds, or which waits for
    a while behind it."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    if port.rest_parts:
        port.busy_until += spare_ps(t, p, wire_bytes)
        packet.at = port.busy_until + port.propagation_ps
    gap_ppm = port.gap_ppm
    if packet.kind == TCP_DATA and port.host != NONE:
        gap_ppm = max(gap_ppm, TCP_GAP_PPM)
    if gap_ppm:
        port.busy_until += random_gap(t, gap_ppm, wire_bytes * port.ps_per_byte)


@inlined
def start_frame(t: State, p: int, k: int) -> None:
    """Packet k starts on port p now: when that is free again, and when the packet arrives."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    wire_bytes = packet.frame_bytes + port.overhead_bytes
    port.busy_until = clock_at(t, 0).now + wire_bytes * port.ps_per_byte
    packet.at = port.busy_until + port.propagation_ps
    if port.uneven or packet.kind == TCP_DATA:
        start_unevenly(t, p, k, wire_bytes)


@compiled
def show_going(t: State, p: int) -> None:
    """The frame that lets port p's peer go on, alone on the wire, is a packet from now on."""
    port = port_at(t, p)
    clock = clock_at(t, 0)
    k = frame_of(t, port.going, 0)
    clock.free_packets += 1
    packet = packet_at(t, k)
    packet.at = slot_at(t, arrival_slot(t, p)).wakes
    packet.next = packet.next_loud = NONE
    port.going = NONE
    port.wire_head = port.wire_tail = port.loud_head = port.loud_tail = k


@inlined
def put_on_wire(t: State, p: int, k: int) -> None:
    """Packet k starts on port p now, behind what is on the wire."""
    start_frame(t, p, k)
    port = port_at(t, p)
    if port.going != NONE:
        show_going(t, p)
    packet = packet_at(t, k)
    packet.next = NONE
    if port.wire_head == NONE:
        port.wire_head = k
        if not port.silence:
            set_up(t, arrival_slot(t, p), packet.at)
    else:
        packet_at(t, port.wire_tail).next = k
    port.wire_tail = k
    if port.silence:
        announce(t, p, k)


@inlined
def wake_behind(t: State, p: int) -> None:
    """A frame has started on port p now: the port wakes when it is through, if it has another."""
    port = port_at(t, p)
    if clock_at(t, 0).due == p:
        clock_at(t, 0).due = NONE
    more = port.backlog or port.pfc_pending
    if more and slot_at(t, p).wakes == NEVER:
        set_up(t, p, port.busy_until)
    else:
        schedule(t, p, port.busy_until if more else NEVER)


@inlined
def transmit(t: State, p: int, k: int) -> None:
    """Packet k starts on port p now; the next one when it is through."""
    put_on_wire(t, p, k)
    wake_behind(t, p)
