"""The pool of packets: rows of one table, free ones chained. Queues are chains through it too."""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.tables import DRAINING, ENDED, MIN_FRAME_BYTES, NONE, Tables


@compiled
def new_packet(t: Tables, kind: int, flow: int, frame_bytes: int) -> int:
    """A packet of `frame_bytes` with FCS (padded to the Ethernet minimum), not yet in any queue."""
    clock = t.clock[0]
    k = clock.free_packet
    packet = t.packet[k]
    clock.free_packet = packet.next
    clock.free_packets -= 1
    clock.used_packets += 1
    packet.next = NONE
    packet.kind = kind
    packet.flow = flow
    packet.frame_bytes = max(frame_bytes, MIN_FRAME_BYTES)
    packet.ecn = 0
    packet.part = 0
    packet.lane = NONE
    if flow != NONE:
        t.flow[flow].in_flight += 1
    return k


@compiled
def free_packet(t: Tables, k: int) -> None:
    """Packet k is no more: it was received, or lost."""
    clock = t.clock[0]
    packet = t.packet[k]
    if packet.flow != NONE:
        t.flow[packet.flow].in_flight -= 1
    packet.next = clock.free_packet
    clock.free_packet = k
    clock.free_packets += 1
    clock.used_packets -= 1


@compiled
def append(t: Tables, q: int, k: int) -> None:
    """Packet k is the last of queue q, and the queue's port knows that it has work."""
    queue = t.queue[q]
    t.packet[k].next = NONE
    if queue.head == NONE:
        queue.head = k
        t.port[q >> 3].backlog |= 1 << (q & 7)
    else:
        t.packet[queue.tail].next = k
    queue.tail = k
    queue.packets += 1


@compiled
def take(t: Tables, q: int) -> int:
    """The first packet of queue q, taken out."""
    queue = t.queue[q]
    k = queue.head
    queue.head = t.packet[k].next
    t.packet[k].next = NONE
    queue.packets -= 1
    if queue.head == NONE and queue.ready_head == NONE:
        t.port[q >> 3].backlog &= ~(1 << (q & 7))
    return k


@compiled
def end_flow(t: Tables, f: int) -> None:
    """Flow f sends nothing any more."""
    flow = t.flow[f]
    if flow.life != ENDED:
        t.clock[0].active_flows -= 1
    flow.life = ENDED


@compiled
def may_send_new(t: Tables, f: int) -> bool:
    """Whether the application behind flow f still runs."""
    return t.flow[f].life != ENDED and t.flow[f].life != DRAINING
