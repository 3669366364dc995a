"""The pool of packets: rows of one table, free ones chained. Queues are chains through it too."""

from labtests.network.compiled import compiled, inlined
from labtests.network.rows import clock_at, flow_at, packet_at, port_at, queue_at
from labtests.network.tables import ENDED, MIN_FRAME_BYTES, NONE, PAUSE, TAG_BYTES, State


@inlined
def new_packet(t: State, kind: int, flow: int, frame_bytes: int, pcp: int) -> int:
    """A packet of `frame_bytes` with FCS (padded to the Ethernet minimum), not yet in any queue.

    Unless `pcp` is NONE it has an 802.1Q tag with this priority, and is longer by that."""
    clock = clock_at(t, 0)
    k = clock.free_packet
    packet = packet_at(t, k)
    clock.free_packet = packet.next
    clock.free_packets -= 1
    packet.next = NONE
    packet.kind = kind
    packet.flow = flow
    packet.frame_bytes = max(frame_bytes, MIN_FRAME_BYTES)
    packet.ecn = 0
    packet.part = 0
    packet.lane = NONE
    packet.pcp = pcp
    if pcp != NONE:
        packet.frame_bytes += TAG_BYTES
    if flow != NONE:
        flow_at(t, flow).in_flight += 1
        packet.ttl = flow_at(t, flow).ttl
    return int(k)


@inlined
def frame_of(t: State, i: int, quanta: int) -> int:
    """A PFC frame that names priority i alone."""
    k = new_packet(t, PAUSE, NONE, MIN_FRAME_BYTES, NONE)
    packet = packet_at(t, k)
    packet.psn = 1 << i
    packet.cells = 1
    packet.part = quanta
    return k


@inlined
def free_packet(t: State, k: int) -> None:
    """Packet k is no more: it was received, or lost."""
    clock = clock_at(t, 0)
    packet = packet_at(t, k)
    if packet.flow != NONE:
        flow_at(t, packet.flow).in_flight -= 1
    packet.next = clock.free_packet
    clock.free_packet = k
    clock.free_packets += 1


@inlined
def append(t: State, q: int, k: int) -> None:
    """Packet k is the last of queue q, and the queue's port knows that it has work."""
    queue = queue_at(t, q)
    packet_at(t, k).next = NONE
    if queue.head == NONE:
        queue.head = k
        port_at(t, q >> 3).backlog |= 1 << (q & 7)
    else:
        packet_at(t, queue.tail).next = k
    queue.tail = k
    queue.packets += 1


@inlined
def take(t: State, q: int) -> int:
    """The first packet of queue q, taken out."""
    queue = queue_at(t, q)
    k = queue.head
    queue.head = packet_at(t, k).next
    packet_at(t, k).next = NONE
    queue.packets -= 1
    if queue.head == NONE and queue.ready_head == NONE:
        port_at(t, q >> 3).backlog &= ~(1 << (q & 7))
    return int(k)


@compiled
def end_flow(t: State, f: int) -> None:
    """Flow f sends nothing any more."""
    flow = flow_at(t, f)
    if flow.life != ENDED:
        clock_at(t, 0).active_flows -= 1
        flow.ended_at = clock_at(t, 0).now
    flow.life = ENDED
