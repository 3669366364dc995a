"""A packet's way through a switch: classified, routed, admitted or dropped, queued, taken out.

Classification follows the ingress port's trust: dscp -> dot1p -> local precedence (queue) through
the switch's map tables, or from the dot1p of a packet's 802.1Q tag on. A packet without one on a
port that trusts dot1p, and any on a port that trusts nothing, has the port priority 0. Tags stay as
they are on the way. The dot1p is also the PFC priority, hence the ingress group.
"""

from labtests.network.arithmetic import random_below
from labtests.network.compiled import compiled, inlined
from labtests.network.events import wake_port
from labtests.network.forwarding import lose_on_the_way, way_out
from labtests.network.link_pausing import is_link_full, link_may_resume
from labtests.network.marking import (
    DISCARD,
    MARK,
    is_marked_leaving,
    looks_at_leaving,
    red_verdict,
)
from labtests.network.memory import (
    ADMITTED,
    NO_HEADROOM,
    admit,
    book_lossy,
    cells_of,
    is_dynamic,
    is_lossless,
    is_over_limit,
    is_over_own_limit,
    may_resume,
    must_pause,
    release,
)
from labtests.network.packets import append, free_packet, take
from labtests.network.pause_frames import request_pause_frame, tell
from labtests.network.rows import (
    clock_at,
    guard_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
    route_at,
    switch_at,
)
from labtests.network.scheduling import choose_queue
from labtests.network.shaping import pay
from labtests.network.tables import CE, NONE, ROCE_LAST, TRUST_DOT1P, TRUST_DSCP, State

KEPT, OUTPUT_DROP, INPUT_DROP, WRED_DROP, LINK_DOWN_DROP, FAULT_DROP = 0, 1, 2, 3, 4, 5
HEADROOM_DROP = 6
SHUT_QUEUE_DROP, SHUT_INGRESS_DROP = 7, 8


@inlined
def classify(t: State, p: int, dscp: int, pcp: int) -> int:
    """The dot1p (PFC priority) of a packet that arrives at switch port p."""
    trust = port_at(t, p).trust
    if trust == TRUST_DSCP:
        return int(port_at(t, p).dscp_dot1p[dscp])
    return int(pcp) if trust == TRUST_DOT1P and pcp != NONE else 0


@inlined
def class_of(t: State, p: int, k: int, mapped: int) -> int:
    """The queue of packet k, which arrived at port p and is in `mapped` by the maps. A policy of
    the port has one, and a DSCP that the packet has from here on, for each DSCP of packets to UDP
    port 4791 (RoCEv2), and then of all others."""
    edge = port_at(t, p).edge
    if not edge:
        return mapped
    packet = packet_at(t, k)
    row = packet.dscp + (64 if packet.kind > ROCE_LAST and edge == 1 else 0)
    queue = int(port_at(t, p).edge_queue[row])
    if port_at(t, p).edge_dscp[row] != NONE:
        packet.dscp = int(port_at(t, p).edge_dscp[row])
    return mapped if queue == NONE else queue


@compiled
def count_drop(t: State, q: int, k: int, why: int) -> None:
    """Count the drop where it happens (group, queue, port) and at its queue; free the packet."""
    queue = queue_at(t, q)
    queue.dropped_packets += 1
    queue.dropped_bytes += packet_at(t, k).frame_bytes
    if why == HEADROOM_DROP:
        lane_at(t, packet_at(t, k).lane).headroom_drops += 1
    elif why == INPUT_DROP:
        lane_at(t, packet_at(t, k).lane).buffer_drops += 1
    elif why == OUTPUT_DROP:
        queue.tail_dropped += 1
    elif why == WRED_DROP:
        queue.wred_dropped += 1
    elif why == LINK_DOWN_DROP:
        port_at(t, q >> 3).link_down_drops += 1
    elif why == SHUT_QUEUE_DROP:
        port_at(t, q >> 3).watchdog_drops += 1
    elif why == SHUT_INGRESS_DROP:
        port_at(t, packet_at(t, k).lane >> 3).watchdog_drops += 1
    free_packet(t, k)


@compiled
def drop_by_watchdog(t: State, lane: int, q: int) -> int:
    """Whether a guard has shut the ingress priority `lane`, or queue q; counted there if so."""
    ingress = guard_at(t, lane)
    if ingress.drops_ingress:
        ingress.ingress_dropped += 1
        ingress.aggregate_ingress_dropped += 1
        return SHUT_INGRESS_DROP
    shut_by = guard_at(t, q).drops_egress
    if shut_by:
        egress = guard_at(t, shut_by - 1)
        egress.dropped += 1
        egress.aggregate_dropped += 1
        return SHUT_QUEUE_DROP
    return KEPT


@compiled
def odd_fate(t: State, q: int, cells: int) -> int:
    """What a fault of queue q, or a limit of its own, makes of a packet of so many cells."""
    loss = queue_at(t, q).loss_per_million
    if loss and random_below(t, 1_000_000) < loss:
        return FAULT_DROP
    return OUTPUT_DROP if is_over_own_limit(t, q, cells) else KEPT


@inlined
def fate(t: State, p: int, q: int, k: int) -> int:
    """Whether packet k, arriving at port p, is kept in queue q; if so, it is charged and marked."""
    queue = queue_at(t, q)
    packet = packet_at(t, k)
    s = port_at(t, p).switch
    if not port_at(t, q >> 3).up:
        return LINK_DOWN_DROP
    if queue.odd:
        why = odd_fate(t, q, packet.cells)
        if why != KEPT:
            return why
    may_be_over = queue.cells + packet.cells > switch_at(t, s).egress_limit_cells
    if may_be_over and is_over_limit(t, q, packet.lane, packet.cells):
        return OUTPUT_DROP
    verdict = red_verdict(t, q, packet.ecn)
    if verdict == DISCARD:
        return WRED_DROP
    admission = admit(t, s, packet.lane, packet.cells)
    if admission != ADMITTED:
        return HEADROOM_DROP if admission == NO_HEADROOM else INPUT_DROP
    if verdict == MARK:
        packet.ecn = CE
        queue.marked += 1
        port_at(t, q >> 3).ecn_marked += 1
    return KEPT


@inlined
def guarded_fate(t: State, p: int, q: int, k: int) -> int:
    """As fate(), unless a guard has shut the way."""
    if switch_at(t, port_at(t, p).switch).shut:
        why = drop_by_watchdog(t, packet_at(t, k).lane, q)
        if why != KEPT:
            return why
    return fate(t, p, q, k)


@inlined
def is_pressed(t: State, s: int, lane: int) -> bool:
    """Whether the peer of this group's port has to stop sending."""
    if must_pause(t, s, lane):
        return True
    return bool(port_at(t, lane >> 3).link_pause and is_link_full(t, lane >> 3))


@inlined
def enqueue(t: State, s: int, q: int, k: int) -> None:
    """Packet k, for which there is room, is the last of queue q of switch s."""
    queue = queue_at(t, q)
    packet = packet_at(t, k)
    append(t, q, k)
    queue.cells += packet.cells
    queue.peak_cells = max(queue.peak_cells, queue.cells)
    if is_dynamic(t, s) and not is_lossless(t, packet.lane):
        book_lossy(t, q, packet.cells)
    if queue.packets == 1:  # else its port sends, or is held, and wakes at the end of that
        wake_port(t, q >> 3)


@inlined
def receive_at_switch(t: State, p: int, k: int) -> None:
    """Packet k has arrived at switch port p: it is in an egress queue, or dropped and counted."""
    port = port_at(t, p)
    packet = packet_at(t, k)
    switch = switch_at(t, port.switch)
    port.rx_packets += 1
    port.rx_bytes += packet.frame_bytes
    dot1p = classify(t, p, packet.dscp, packet.pcp)
    out = route_at(t, port.switch * clock_at(t, 0).targets + packet.target).port
    if out < 0:
        out = way_out(t, port.switch, k, out)
    packet.ttl -= 1
    if out == NONE or packet.ttl <= 0:
        lose_on_the_way(t, p, k)
        return
    q = 8 * out + class_of(t, p, k, int(switch.dot1p_lp[dot1p]))
    packet.lane = 8 * p + dot1p
    packet.cells = cells_of(t, port.switch, packet.frame_bytes)
    why = guarded_fate(t, p, q, k)
    if why != KEPT:
        count_drop(t, q, k, why)
        return
    enqueue(t, port.switch, q, k)
    lane = lane_at(t, packet.lane)
    if not lane.xoff and is_lossless(t, packet.lane) and is_pressed(t, port.switch, packet.lane):
        lane.xoff = 1
        tell(t, p, dot1p)


@inlined
def take_from_memory(t: State, q: int) -> int:
    """The first packet of queue q leaves the memory."""
    k = take(t, q)
    queue = queue_at(t, q)
    packet = packet_at(t, k)
    queue.cells -= packet.cells
    if queue.packets == 0:
        queue.empty_since = clock_at(t, 0).now
        queue.credit = 0  # it is not saved up
    s = port_at(t, q >> 3).switch
    if is_dynamic(t, s) and not is_lossless(t, packet.lane):
        book_lossy(t, q, -packet.cells)
    release(t, s, packet.lane, packet.cells)
    return k


@inlined
def is_let_go_on(t: State, group: int) -> bool:
    """Whether the peer that this ingress group has stopped may go on; it is not yet told."""
    lane = lane_at(t, group)
    if not lane.xoff or not may_resume(t, port_at(t, group >> 3).switch, group):
        return False
    if not link_may_resume(t, group >> 3):
        return False
    lane.xoff = 0
    return True


@compiled
def take_from_switch(t: State, q: int) -> int:
    """The first packet of queue q leaves the memory, and is not sent."""
    k = take_from_memory(t, q)
    group = packet_at(t, k).lane
    if is_let_go_on(t, group):
        request_pause_frame(t, group >> 3, group & 7)
    return k


@inlined
def next_from_switch(t: State, p: int) -> int:
    """The next packet that switch port p sends, or NONE."""
    q = choose_queue(t, p)
    if q == NONE:
        return NONE
    if port_at(t, p).limited >> (q & 7) & 1:
        pay(t, q)
    k = take_from_memory(t, q)
    group = packet_at(t, k).lane
    if is_let_go_on(t, group):
        if group >> 3 == p:  # which is about to send this packet
            request_pause_frame(t, p, group & 7)
        else:
            tell(t, group >> 3, group & 7)
    queue = queue_at(t, q)
    queue.forwarded_packets += 1
    queue.forwarded_bytes += packet_at(t, k).frame_bytes
    packet = packet_at(t, k)
    if looks_at_leaving(t, q) and is_marked_leaving(t, q, packet.ecn, packet.cells):
        packet.ecn = CE
        queue.marked += 1
        port_at(t, p).ecn_marked += 1
    return k
