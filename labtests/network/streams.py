"""TCP in the NewReno form (RFC 5681, 6298, 6582), enough to carry iperf3; ECN by RFC 3168.

Sequence numbers count segments of one MSS. Slow start, congestion avoidance, fast retransmit after
three duplicate ACKs, one hole repaired per round trip, retransmission time-out. The receiver keeps
what arrives out of order and acknowledges every second segment, at once when one is missing or the
sender has said that it can send no more: that stands for the delayed-ACK timer.

An ECN-capable connection sends new segments as ECT(0), repeated ones and ACKs as not-ECT. A segment
marked CE makes the receiver set ECE in every ACK until a segment with CWR comes. An ACK with ECE
halves the congestion window like a loss, at most once per window of data, and lets it not grow; the
next new segment carries CWR, as it does after any other cut. The handshake, where both ends agree
on ECN, is not simulated.

Behind each segment its host's port leaves a random gap (wire.py). Without it, equal links are in
step for ever: who once fills the queue also refills each place that becomes free, and others starve
(phase effect; Floyd, Jacobson 1992).
"""

from labtests.network.compiled import compiled
from labtests.network.events import wake_port
from labtests.network.flows import host_priority, make_ready, wake_flow_by
from labtests.network.packets import append, new_packet
from labtests.network.rows import clock_at, flow_at, host_at, packet_at, segment_at
from labtests.network.tables import (
    ACTIVE,
    CE,
    NEVER,
    NO_TUNNEL,
    NONE,
    PS_PER_S,
    TCP_ACK,
    TCP_DATA,
    TUNNEL_LOSING_MARKS,
    State,
)
from labtests.network.tunnels import count_ecn, count_out

MSS_BYTES = 1448
"""1500 - IPv4 20 - TCP 20 - timestamps 12."""
SEGMENT_FRAME_BYTES = 1518
ACK_FRAME_BYTES = 70
"""Ethernet 14 + IPv4 20 + TCP 32 + FCS 4."""
RECEIVE_WINDOW = 2048
"""Segments (about 3 MB: Linux tcp_rmem autotuned)."""
WINDOW_SIZE = 4096
"""Marks kept per flow for segments received out of order; at least the receive window."""
INITIAL_WINDOW = 10.0
MIN_RTO_PS = PS_PER_S // 100
"""Linux has 200 ms, but repairs a lost tail by probes within a few round trips (RFC 8985). Probes
are not modelled; 10 ms stands for both."""
MAX_RTO_PS = 120 * PS_PER_S
NOTHING_FOLLOWS, CUT = 1, 2
"""Bits of a segment's `part`: the window is used up; CWR. That of an ACK is ECE."""


@compiled
def can_send(t: State, f: int) -> bool:
    """Whether window and life of flow f allow one more segment."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE or flow.start_at > clock_at(t, 0).now:
        return False
    window = min(int(flow.cwnd), RECEIVE_WINDOW)
    return bool(flow.resend) or flow.next_psn < flow.una_psn + window


@compiled
def offer(t: State, f: int) -> None:
    """Flow f is in its NIC's chain if it may send."""
    if can_send(t, f):
        make_ready(t, f)


@compiled
def restart_timer(t: State, f: int) -> None:
    """The retransmission timer starts anew."""
    flow = flow_at(t, f)
    flow.timeout_at = clock_at(t, 0).now + flow.rto_ps
    wake_flow_by(t, f, flow.timeout_at)


@compiled
def make_capable(t: State, f: int, k: int) -> None:
    """New segment k of ECN-capable flow f: it may be marked, and says that the window was cut."""
    flow = flow_at(t, f)
    packet_at(t, k).ecn = flow.ecn
    if flow.tell_cut:
        packet_at(t, k).part |= CUT
        flow.tell_cut = 0


@compiled
def next_tcp_packet(t: State, f: int) -> int:
    """The next segment of flow f, or NONE."""
    flow = flow_at(t, f)
    if not can_send(t, f):
        return NONE
    psn = flow.next_psn
    if flow.resend:
        psn = flow.una_psn
        flow.resend = 0
    else:
        flow.next_psn += 1
    fresh = psn >= flow.sent_psn
    if not fresh:
        flow.retransmits += 1
    elif flow.rtt_psn == NONE:
        flow.rtt_psn = psn
        flow.rtt_at = clock_at(t, 0).now
    flow.sent_psn = max(flow.sent_psn, psn + 1)
    if flow.timeout_at == NEVER:
        restart_timer(t, f)
    k = new_packet(t, TCP_DATA, f, SEGMENT_FRAME_BYTES, flow.pcp)
    count_out(t, f, flow.source, k)
    packet = packet_at(t, k)
    packet.psn = psn
    packet.dscp = flow.dscp
    packet.target = flow.target
    packet.part = 0 if can_send(t, f) else NOTHING_FOLLOWS
    if flow.ecn and fresh:
        make_capable(t, f, k)
    offer(t, f)
    return k


@compiled
def acknowledge_stream(t: State, f: int) -> None:
    """The receiver's ACK waits in its NIC."""
    flow = flow_at(t, f)
    flow.unacknowledged = 0
    p = host_at(t, flow.target).port
    k = new_packet(t, TCP_ACK, f, flow.rest_frame_bytes, flow.control_pcp)
    count_out(t, f, flow.target, k)
    packet = packet_at(t, k)
    packet.psn = flow.expected_psn
    packet.part = flow.echo
    packet.dscp = flow.dscp
    packet.target = flow.source
    append(t, 8 * p + host_priority(t, flow.target, flow.dscp, flow.control_pcp), k)
    wake_port(t, p)


@compiled
def receive_segment(t: State, f: int, k: int) -> None:
    """A segment of flow f has reached its receiver."""
    flow = flow_at(t, f)
    packet = packet_at(t, k)
    host_at(t, flow.target).ip_in += 1
    host_at(t, flow.target).ip_in_bytes += packet.frame_bytes
    if packet.part & CUT:
        flow.echo = 0
    count_ecn(t, f, packet.ecn)
    if packet.ecn == CE and flow.tunnel != TUNNEL_LOSING_MARKS:
        flow.echo = 1
    first = flow.window_row
    in_order = packet.psn == flow.expected_psn
    if packet.psn >= flow.expected_psn:
        segment_at(t, first + packet.psn % WINDOW_SIZE).here = 1
    before = flow.expected_psn
    while segment_at(t, first + flow.expected_psn % WINDOW_SIZE).here:
        segment_at(t, first + flow.expected_psn % WINDOW_SIZE).here = 0
        flow.expected_psn += 1
        flow.delivered_bytes += flow.payload_bytes
    flow.unacknowledged += 1
    at_once = bool(packet.part & NOTHING_FOLLOWS) or not in_order or flow.expected_psn > before + 1
    if flow.unacknowledged > 1 or at_once:
        acknowledge_stream(t, f)


@compiled
def measure_rtt(t: State, f: int, psn: int) -> None:
    """Smoothed round-trip time and time-out (RFC 6298), never from a retransmitted segment."""
    flow = flow_at(t, f)
    if flow.rtt_psn == NONE or psn <= flow.rtt_psn:
        return
    sample = float(clock_at(t, 0).now - flow.rtt_at)
    flow.rtt_psn = NONE
    if flow.srtt == 0.0:
        flow.srtt = sample
        flow.rttvar = sample / 2.0
    else:
        flow.rttvar = 0.75 * flow.rttvar + 0.25 * abs(flow.srtt - sample)
        flow.srtt = 0.875 * flow.srtt + 0.125 * sample
    flow.rto_ps = max(MIN_RTO_PS, int(flow.srtt + 4.0 * flow.rttvar))


@compiled
def grow(t: State, f: int, fresh: int) -> None:
    """`fresh` segments were acknowledged: the congestion window follows."""
    flow = flow_at(t, f)
    if flow.in_recovery:
        if flow.una_psn >= flow.recover:
            flow.in_recovery = 0
            flow.cwnd = flow.ssthresh
        else:
            flow.resend = 1
            flow.cwnd = max(flow.cwnd - fresh + 1.0, 1.0)
    elif flow.cwnd < flow.ssthresh:
        flow.cwnd = min(flow.cwnd + fresh, 1.0 * RECEIVE_WINDOW)
    else:
        flow.cwnd = min(flow.cwnd + fresh / flow.cwnd, 1.0 * RECEIVE_WINDOW)


@compiled
def note_cut(t: State, f: int) -> None:
    """The window was cut: marks of what was sent before cut it no more; the receiver is told."""
    flow = flow_at(t, f)
    flow.cut_psn = flow.sent_psn
    flow.tell_cut = flow.ecn


@compiled
def answer_mark(t: State, f: int) -> None:
    """An ACK with ECE: half the window, once per window of data."""
    flow = flow_at(t, f)
    if flow.una_psn >= flow.cut_psn and not flow.in_recovery:
        flow.ssthresh = max(flow.cwnd / 2.0, 2.0)
        flow.cwnd = flow.ssthresh
        note_cut(t, f)


@compiled
def duplicate_ack(t: State, f: int) -> None:
    """Nothing new was acknowledged: the third time in a row the first segment is sent again."""
    flow = flow_at(t, f)
    if flow.in_recovery:
        flow.cwnd += 1.0
        return
    flow.duplicates += 1
    if flow.duplicates == 3 and flow.una_psn >= flow.recover:
        if flow.una_psn >= flow.cut_psn:  # else a mark has halved it for this window of data
            flow.ssthresh = max((flow.sent_psn - flow.una_psn) / 2.0, 2.0)
        note_cut(t, f)
        flow.cwnd = flow.ssthresh + 3.0
        flow.recover = flow.sent_psn
        flow.in_recovery = 1
        flow.resend = 1
        flow.rtt_psn = NONE


@compiled
def receive_tcp_ack(t: State, f: int, k: int) -> None:
    """An ACK of flow f has reached its sender."""
    flow = flow_at(t, f)
    psn = packet_at(t, k).psn
    marked = packet_at(t, k).part
    host_at(t, flow.source).ip_in += 1
    host_at(t, flow.source).ip_in_bytes += packet_at(t, k).frame_bytes
    host_at(t, flow.source).tunnel_in += flow.tunnel != NO_TUNNEL
    if psn > flow.una_psn:
        fresh = psn - flow.una_psn
        flow.una_psn = psn
        flow.next_psn = max(flow.next_psn, psn)
        flow.duplicates = 0
        measure_rtt(t, f, psn)
        if not marked or flow.in_recovery:
            grow(t, f, fresh)
        flow.timeout_at = NEVER
        if flow.life == ACTIVE and psn < flow.sent_psn:
            restart_timer(t, f)
    elif psn < flow.sent_psn:
        duplicate_ack(t, f)
    if marked:
        answer_mark(t, f)
    offer(t, f)


@compiled
def time_out_stream(t: State, f: int) -> None:
    """No ACK for a whole RTO: start again from the first unacknowledged segment, slowly."""
    flow = flow_at(t, f)
    flow.ssthresh = max((flow.sent_psn - flow.una_psn) / 2.0, 2.0)
    note_cut(t, f)
    flow.cwnd = 1.0
    flow.next_psn = flow.una_psn
    flow.recover = flow.sent_psn
    flow.in_recovery = 0
    flow.resend = 0
    flow.duplicates = 0
    flow.rtt_psn = NONE
    flow.rto_ps = min(2 * flow.rto_ps, MAX_RTO_PS)
    restart_timer(t, f)


@compiled
def wake_tcp(t: State, f: int) -> None:
    """Flow f looks at its timer."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE:
        return
    if flow.timeout_at <= clock_at(t, 0).now:
        time_out_stream(t, f)
    elif flow.timeout_at != NEVER:
        wake_flow_by(t, f, flow.timeout_at)
    offer(t, f)
