"""RC queue pairs, packets of one path MTU (white paper S20; InfiniBand spec 9.7). What they do
about losses: recovery.py; about CNPs: congestion.py.

For send and write the requester is the data's source; for read it is the data's receiver, and its
read requests open the source's window one message at a time. Control packets always run from the
data's receiver to its source: ACK after each message (or each `ack_packets` packets, and when the
sender has said that nothing follows), NAK with the expected PSN at the first packet
out of sequence (again after the repeat time, should the retransmission be lost too), read
requests, CNPs. The requester's timer ends a flow with status 12 after `retry_limit` retries
without any progress. PSNs do not wrap here.

With go-back-0 (`whole_messages`; Guo et al., SIGCOMM 2016) a missing packet costs its whole
message: the receiver forgets what it has of it and asks for its first packet.
"""

from labtests.network.compiled import compiled, entered, inlined
from labtests.network.congestion import hasten, next_look, pace
from labtests.network.delays import note_delay
from labtests.network.flows import make_ready, pace_flow_by, wake_flow_by
from labtests.network.following import release_followers
from labtests.network.notifying import (
    notify,
    poll_notification,
    receive_cnp,
    send_control,
)
from labtests.network.packets import end_flow, new_packet
from labtests.network.recovery import (
    answer_nak,
    meet_gap,
    note_arrival,
    psn_to_send,
    start_again,
)
from labtests.network.rows import clock_at, flow_at, host_at, packet_at
from labtests.network.selective_repeat import take_stored
from labtests.network.streams import WINDOW_SIZE
from labtests.network.tables import (
    ACTIVE,
    CE,
    NEVER,
    NONE,
    RC_ACK,
    RC_CNP,
    RC_DATA,
    RC_NAK,
    RC_READ_REQUEST,
    SELECTIVE,
    State,
)

ASKS, LAST = 1, 2
"""Of a data packet's `part`: it asks for an ACK; it is the last of its message."""
MAX_OUTSTANDING_READS = 16
"""max_rd_atomic of ConnectX."""
RETRY_EXCEEDED = 12
"""IBV_WC_RETRY_EXC_ERR (rdma-core, verbs.h)."""


@entered
def window_end(t: State, f: int) -> int:
    """The first PSN that the source of a send or write may not send yet."""
    flow = flow_at(t, f)
    per_message = flow.packets_per_message
    end = (flow.una_psn // per_message + flow.depth_messages) * per_message
    if flow.recovery == SELECTIVE:
        end = min(end, flow.una_psn + WINDOW_SIZE)
    return int(min(end, flow.total_psn))


@inlined
def refresh(t: State, f: int) -> None:
    """Flow f is in its NIC's chain if it may send now, or wakes when it may."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE or (flow.next_psn >= flow.window_psn and not flow.lost):
        return
    if flow.send_at <= clock_at(t, 0).now:
        make_ready(t, f)
    else:
        pace_flow_by(t, f, next_look(t, f))


@compiled
def arm_timeout(t: State, f: int) -> None:
    """The retransmission timer starts (anew)."""
    flow = flow_at(t, f)
    flow.timeout_at = clock_at(t, 0).now + flow.timeout_ps
    wake_flow_by(t, f, flow.timeout_at)


@inlined
def ends_message(t: State, f: int, psn: int) -> bool:
    """Whether this packet is the last of its message. (A division once a message, not a packet.)"""
    flow = flow_at(t, f)
    if not flow.last_psn - flow.packets_per_message < psn <= flow.last_psn:
        flow.last_psn = psn + flow.packets_per_message - 1 - psn % flow.packets_per_message
    return bool(psn == flow.last_psn or psn + 1 == flow.total_psn)


@inlined
def last_frame_bytes(t: State, f: int, psn: int) -> int:
    """The size of the packet that ends a message; the last message of all may be shorter."""
    flow = flow_at(t, f)
    return int(flow.tail_frame_bytes if psn + 1 == flow.total_psn else flow.last_frame_bytes)


@compiled
def whole_messages(t: State, f: int, psn: int) -> int:
    """How many messages end below `psn`, the last of all among them."""
    flow = flow_at(t, f)
    per_message = flow.packets_per_message
    return int((psn + per_message - 1 if psn == flow.total_psn else psn) // per_message)


@inlined
def next_rc_packet(t: State, f: int) -> int:
    """The next data packet of flow f, or NONE if it may not send after all. Then refresh()."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE or (flow.next_psn >= flow.window_psn and not flow.lost):
        return NONE
    if flow.send_at > clock_at(t, 0).now:
        return NONE
    psn = psn_to_send(t, f)
    last = ends_message(t, f, psn)
    size = last_frame_bytes(t, f, psn) if last else flow.frame_bytes
    k = new_packet(t, RC_DATA, f, size, flow.pcp)
    packet = packet_at(t, k)
    packet.psn = psn
    packet.born = clock_at(t, 0).now
    packet.part = LAST if last else 0
    packet.dscp = flow.dscp
    packet.ecn = flow.ecn
    packet.target = flow.target
    flow.next_psn = max(flow.next_psn, psn + 1)
    if flow.ack_packets and flow.next_psn >= window_end(t, f):
        packet.part |= ASKS  # nothing follows: asks for an ACK
    if psn < flow.sent_psn:
        flow.retransmits += 1
        packet.part |= ASKS if flow.recovery == SELECTIVE else 0
    flow.sent_psn = max(flow.sent_psn, psn + 1)
    if flow.timeout_at == NEVER and not flow.read:
        arm_timeout(t, f)
    pace(t, f, packet.frame_bytes)
    return k


@compiled
def request_reads(t: State, f: int) -> None:
    """The requester of a read keeps its window of outstanding messages full."""
    flow = flow_at(t, f)
    per_message = flow.packets_per_message
    window = min(flow.depth_messages, MAX_OUTSTANDING_READS)
    last = min(flow.expected_psn // per_message + window, whole_messages(t, f, flow.total_psn))
    while flow.life == ACTIVE and flow.requested < last:
        flow.requested += 1
        send_control(t, f, RC_READ_REQUEST, (flow.requested - 1) * per_message)
        if flow.timeout_at == NEVER:
            arm_timeout(t, f)


@compiled
def complete_message(t: State, f: int) -> None:
    """The receiver has a whole message: acknowledge it, or ask for the next one."""
    flow = flow_at(t, f)
    if not flow.read:
        if not flow.ack_packets:
            send_control(t, f, RC_ACK, flow.expected_psn)
        return
    flow.retries = 0
    flow.timeout_at = NEVER
    if flow.expected_psn >= flow.total_psn:
        end_flow(t, f)
        return
    request_reads(t, f)
    if flow.life == ACTIVE:
        arm_timeout(t, f)


@inlined
def deliver(t: State, f: int, last: bool) -> None:
    """The packet that was expected has come; `last` of its message or not."""
    flow = flow_at(t, f)
    flow.expected_psn += 1
    flow.nak_sent = 0
    if last:
        size = flow.tail_bytes if flow.expected_psn == flow.total_psn else flow.message_bytes
        if not flow.whole_messages:
            size -= (size - 1) // flow.payload_bytes * flow.payload_bytes
        flow.delivered_bytes += size
        if flow.expected_psn == flow.total_psn:
            release_followers(t, f)
        complete_message(t, f)
    elif not flow.whole_messages:
        flow.delivered_bytes += flow.payload_bytes


@inlined
def count_delay(t: State, f: int, born: int) -> None:
    """A data packet of flow f, sent at `born`, is counted by how long it took, if any are."""
    flow = flow_at(t, f)
    if flow.delay_row != NONE:
        flow.echo_born = born
        note_delay(t, flow.delay_row, clock_at(t, 0).now - born)


@inlined
def deliver_stored(t: State, f: int, part: int) -> None:
    """The packets that were kept behind the one just delivered are, too; it may ask for an ACK."""
    flow = flow_at(t, f)
    while take_stored(t, f):
        deliver(t, f, ends_message(t, f, flow.expected_psn))
    if part & ASKS and not flow.ack_packets:
        send_control(t, f, RC_ACK, flow.expected_psn)


@compiled
def coalesce(t: State, f: int, asked: int) -> None:
    """A packet in order has come: an ACK goes with every `ack_packets`-th, and when asked for."""
    flow = flow_at(t, f)
    flow.unacknowledged += 1
    if asked or flow.unacknowledged >= flow.ack_packets:
        flow.unacknowledged = 0
        send_control(t, f, RC_ACK, flow.expected_psn)


@inlined
def take_in_order(t: State, f: int, part: int) -> None:
    """The packet that was expected has come."""
    flow = flow_at(t, f)
    deliver(t, f, (part & LAST) != 0)
    if flow.recovery == SELECTIVE:
        deliver_stored(t, f, part)
    if flow.ack_packets and not flow.read:
        coalesce(t, f, part & ASKS)


@compiled
def take_data(t: State, f: int, k: int) -> None:
    """A data packet of flow f has reached its receiver, which may have to tell somebody."""
    flow = flow_at(t, f)
    packet = packet_at(t, k)
    if packet.psn == flow.expected_psn:
        take_in_order(t, f, packet.part)
    elif packet.psn > flow.expected_psn:
        asked = meet_gap(t, f, packet.psn)
        if asked and packet.ecn == CE and host_at(t, flow.target).np_in_order:
            notify(t, f)
    else:
        host_at(t, flow.target).duplicate_request += 0 if flow.read else 1
        if packet.part and not flow.read:
            send_control(t, f, RC_ACK, flow.expected_psn)


@inlined
def receive_data(t: State, f: int, k: int) -> None:
    """A data packet of flow f has reached its receiver. (Most move its counters, and no more.)"""
    flow = flow_at(t, f)
    packet = packet_at(t, k)
    count_delay(t, f, packet.born)
    expected = packet.psn == flow.expected_psn
    if packet.ecn == CE and (expected or not host_at(t, flow.target).np_in_order):
        notify(t, f)
    if expected and packet.part == 0 and flow.quiet:
        flow.expected_psn += 1
        flow.nak_sent = 0
        flow.delivered_bytes += flow.payload_bytes
    else:
        take_data(t, f, k)


@compiled
def acknowledge(t: State, f: int, psn: int) -> None:
    """The source learns that everything below `psn` has arrived."""
    flow = flow_at(t, f)
    if psn <= flow.una_psn or flow.read:
        return
    flow.una_psn = psn
    flow.window_psn = window_end(t, f)
    note_arrival(t, f, psn)
    flow.next_psn = max(flow.next_psn, psn)
    flow.retries = 0
    if psn >= flow.total_psn:
        end_flow(t, f)
    if psn < flow.sent_psn:
        arm_timeout(t, f)
    else:
        flow.timeout_at = NEVER


@inlined
def receive_roce(t: State, f: int, k: int) -> None:
    """A RoCE packet of flow f has reached its NIC."""
    packet = packet_at(t, k)
    if packet.ecn == CE:
        host_at(t, packet.target).np_ecn_marked += 1
    if packet.kind == RC_DATA:
        receive_data(t, f, k)
        return
    if packet.kind == RC_CNP:
        receive_cnp(t, f)
        return
    flow = flow_at(t, f)
    if flow.read and packet.kind != RC_ACK:
        flow.window_psn = min(max(flow.window_psn, packet.part), flow.total_psn)
    if packet.kind == RC_ACK and flow.trip_row != NONE:
        note_delay(t, flow.trip_row, clock_at(t, 0).now - packet.born)
    if packet.kind in (RC_ACK, RC_NAK):
        told = packet.kind == RC_NAK and flow.recovery == SELECTIVE
        acknowledge(t, f, packet.part if told else packet.psn)
    if packet.kind == RC_NAK:
        answer_nak(t, f, packet.psn)
    refresh(t, f)


@compiled
def time_out(t: State, f: int) -> None:
    """Nothing has come back for the whole retransmission time."""
    flow = flow_at(t, f)
    flow.retries += 1
    if flow.retries > flow.retry_limit:
        flow.error = RETRY_EXCEEDED
        end_flow(t, f)
        return
    requester = flow.target if flow.read else flow.source
    host_at(t, requester).local_ack_timeout += 1
    if flow.read:
        send_control(t, f, RC_NAK, flow.expected_psn)
    else:
        start_again(t, f)
    arm_timeout(t, f)


@compiled
def wake_rc(t: State, f: int) -> None:
    """Flow f looks at its timers and sets the next one."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE:
        return
    if flow.read and flow.requested == 0:
        request_reads(t, f)
    if flow.timeout_at <= clock_at(t, 0).now:
        time_out(t, f)
    elif flow.timeout_at != NEVER:
        wake_flow_by(t, f, flow.timeout_at)
    if flow.cnp_due != NEVER:
        poll_notification(t, f)
    hasten(t, f)
    refresh(t, f)


@inlined
def resume_rc(t: State, f: int) -> None:
    """The pace of flow f allows its next packet, or its rate has grown while it waited."""
    if flow_at(t, f).send_at > clock_at(t, 0).now:
        hasten(t, f)
    refresh(t, f)
