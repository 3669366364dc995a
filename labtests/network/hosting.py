"""A NIC: which packet goes out next, and what arriving packets mean.

The eight priorities are served round robin by packets (ETS `vendor`); inside a priority, control
packets first, then the flows in turn. Data packets are made when their turn comes: the NIC holds
none back.
"""

from labtests.network.arithmetic import lowest_bit
from labtests.network.compiled import compiled, inlined
from labtests.network.datagrams import next_udp_packet, receive_udp, wake_udp
from labtests.network.flows import host_priority, take_ready
from labtests.network.packets import free_packet, take
from labtests.network.receiving import is_discarded, store
from labtests.network.reliable import next_rc_packet, receive_roce, refresh, resume_rc, wake_rc
from labtests.network.rows import (
    clock_at,
    flow_at,
    lane_at,
    packet_at,
    port_at,
    queue_at,
)
from labtests.network.streams import (
    next_tcp_packet,
    receive_segment,
    receive_tcp_ack,
    wake_tcp,
)
from labtests.network.tables import (
    DISCARDING,
    NONE,
    RC,
    ROCE_LAST,
    STORING,
    TCP_DATA,
    UDP,
    UDP_FRAGMENT,
    State,
)


@compiled
def socket_packet(t: State, f: int) -> int:
    """As flow_packet(), of a UDP or TCP flow."""
    if flow_at(t, f).kind == UDP:
        return next_udp_packet(t, f)
    return next_tcp_packet(t, f)


@inlined
def flow_packet(t: State, f: int) -> int:
    """The next packet of flow f, or NONE if it may not send after all."""
    if flow_at(t, f).kind != RC:
        return socket_packet(t, f)
    k = next_rc_packet(t, f)
    refresh(t, f)
    return k


@inlined
def queue_packet(t: State, q: int) -> int:
    """The next packet of NIC queue q, or NONE."""
    if queue_at(t, q).head != NONE:
        return take(t, q)
    while queue_at(t, q).ready_head != NONE:
        k = flow_packet(t, take_ready(t, q))
        if k != NONE:
            return k
    return NONE


@inlined
def following(mask: int, turn: int) -> int:
    """The first number behind `turn`, round the clock of eight, whose bit in `mask` > 0 is set."""
    behind = mask >> (turn + 1)
    return int(turn + 1 + lowest_bit(behind) if behind else lowest_bit(mask))


@inlined
def note_turn(t: State, p: int, i: int, k: int) -> None:
    """Packet k of priority i is the next one that NIC port p sends."""
    port_at(t, p).turn = i
    lane_at(t, 8 * p + i).tx_packets += 1
    lane_at(t, 8 * p + i).tx_bytes += packet_at(t, k).frame_bytes


@inlined
def next_from_host(t: State, p: int) -> int:
    """The next packet that NIC port p sends, or NONE."""
    port = port_at(t, p)
    now = clock_at(t, 0).now
    mask = port.backlog if port.up else 0
    while mask:
        i = following(mask, port.turn)
        if queue_at(t, 8 * p + i).paused_until <= now:
            k = queue_packet(t, 8 * p + i)
            if k != NONE:
                note_turn(t, p, i, k)
                return k
        mask &= ~(1 << i)
    return NONE


@inlined
def take_in(t: State, k: int) -> None:
    """Packet k is at its host."""
    packet = packet_at(t, k)
    f = packet.flow
    if packet.kind <= ROCE_LAST:
        receive_roce(t, f, k)
    elif packet.kind == UDP_FRAGMENT:
        receive_udp(t, f, k)
    elif packet.kind == TCP_DATA:
        receive_segment(t, f, k)
    else:
        receive_tcp_ack(t, f, k)
    free_packet(t, k)


@compiled
def is_kept_back(t: State, p: int, i: int, k: int) -> bool:
    """Whether NIC port p stores packet k of priority i, or has no room for it."""
    buffered = port_at(t, p).buffered
    if buffered & DISCARDING and is_discarded(t, 8 * p + i, k):
        return True
    if buffered & STORING:
        store(t, p, i, k)
    return bool(buffered & STORING)


@inlined
def receive_at_host(t: State, p: int, k: int) -> None:
    """Packet k has arrived at NIC port p."""
    packet = packet_at(t, k)
    host = port_at(t, p).host
    i = host_priority(t, host, packet.dscp, packet.pcp)
    lane = lane_at(t, 8 * p + i)
    lane.rx_packets += 1
    lane.rx_bytes += packet.frame_bytes
    if port_at(t, p).buffered == 0 or not is_kept_back(t, p, i, k):
        take_in(t, k)


@compiled
def wake_flow(t: State, f: int) -> None:
    """A timer of flow f is due."""
    kind = flow_at(t, f).kind
    if kind == RC:
        wake_rc(t, f)
    elif kind == UDP:
        wake_udp(t, f)
    else:
        wake_tcp(t, f)


@inlined
def packet_at_once(t: State, f: int) -> int:
    """The next packet of RC flow f, if its pace allows it now and its NIC port has nothing else to
    do; NONE: it has to wait, for its pace or for its turn."""
    flow = flow_at(t, f)
    p = flow.lane >> 3
    port = port_at(t, p)
    now = clock_at(t, 0).now
    busy = port.backlog | port.pfc_pending
    free = busy == 0 and port.up and port.busy_until <= now
    if free and flow.send_at <= now and queue_at(t, flow.lane).paused_until <= now:
        k = next_rc_packet(t, f)
        if k != NONE:
            note_turn(t, p, flow.lane & 7, k)
        return k
    resume_rc(t, f)
    return NONE
