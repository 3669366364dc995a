"""Control packets of RC, and among them the CNPs of the notification point (NP).

All of them run from the data's receiver to its source. A packet that arrives marked CE is answered
with a CNP where np is on for the flow's priority, at most one per `min_time_between_cnps`. What
keeps the interval is the NIC's `cnp_pacing`: each queue pair for itself, or the port as a whole
(then the flow whose packet came at the right moment gets the CNP), or nothing: every marked packet
is answered, whatever the interval. NVIDIA's text says "sent by the port"; the DCQCN paper (Zhu et
al., SIGCOMM 2015) has one timer per flow, which is the default here.

A CNP has a tag where the data has one, with `cnp_802p_prio`, the priority that the NIC sends it in.
"""

from labtests.network.compiled import compiled
from labtests.network.congestion import handle_cnp
from labtests.network.events import wake_port
from labtests.network.flows import host_priority, wake_flow_by
from labtests.network.packets import append, new_packet
from labtests.network.rows import clock_at, flow_at, host_at, packet_at
from labtests.network.tables import (
    NEVER,
    NONE,
    NOT_PACED,
    PACED_BY_PORT,
    RC_ACK,
    RC_CNP,
    RC_READ_REQUEST,
    SELECTIVE,
    State,
)

ACK_FRAME_BYTES = 66
"""Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 + AETH 4 + ICRC 4 + FCS 4."""
REQUEST_FRAME_BYTES = 78
"""CNP (16 reserved bytes) and read request (RETH 16) instead of the AETH."""


@compiled
def send_control(t: State, f: int, kind: int, psn: int) -> None:
    """A control packet of flow f waits in the NIC of the data's receiver."""
    flow = flow_at(t, f)
    host = host_at(t, flow.target)
    dscp = flow.dscp if flow.control_dscp == NONE else flow.control_dscp
    pcp = flow.control_pcp
    i = host_priority(t, flow.target, dscp, pcp)
    size = ACK_FRAME_BYTES
    if kind == RC_CNP:
        dscp = host.cnp_dscp
        pcp = NONE if flow.pcp == NONE else host.cnp_priority
        i = host.cnp_priority
    if kind in (RC_CNP, RC_READ_REQUEST):
        size = REQUEST_FRAME_BYTES
    k = new_packet(t, kind, f, size, pcp)
    packet = packet_at(t, k)
    packet.psn = psn
    packet.part = flow.requested * flow.packets_per_message
    if flow.recovery == SELECTIVE:
        packet.part = flow.expected_psn
    if kind == RC_ACK:
        packet.born = flow.echo_born
    packet.dscp = dscp
    packet.ecn = flow.ecn
    packet.target = flow.source
    append(t, 8 * host.port + i, k)
    wake_port(t, host.port)


@compiled
def may_notify(t: State, f: int) -> bool:
    """Whether a CNP for flow f may go now; if so, it is the last one."""
    flow = flow_at(t, f)
    host = host_at(t, flow.target)
    now = clock_at(t, 0).now
    last = host.last_cnp if host.cnp_pacing == PACED_BY_PORT else flow.last_cnp
    if host.cnp_pacing != NOT_PACED and now - last < host.cnp_interval_ps:
        return False
    flow.last_cnp = now
    host.last_cnp = now
    return True


@compiled
def notify(t: State, f: int) -> None:
    """Notification point: a CE packet of flow f has arrived.

    The CNP goes at once, or, polled (ns3-rdma), at the end of the interval, counted from the flow's
    start.
    """
    flow = flow_at(t, f)
    host = host_at(t, flow.target)
    i = host_priority(t, flow.target, flow.dscp, flow.pcp)
    if not (host.np_on >> i) & 1 or host.forgotten == flow.source + 1:
        return
    if host.np_polled:
        if flow.cnp_due == NEVER:
            polls = (clock_at(t, 0).now - flow.start_at) // host.cnp_interval_ps + 1
            flow.cnp_due = flow.start_at + polls * host.cnp_interval_ps
            wake_flow_by(t, f, flow.cnp_due)
    elif may_notify(t, f):
        host.np_cnp_sent += 1
        send_control(t, f, RC_CNP, 0)


@compiled
def poll_notification(t: State, f: int) -> None:
    """The interval of a polled notification point is over: its CNP goes, or it wakes then."""
    flow = flow_at(t, f)
    if flow.cnp_due > clock_at(t, 0).now:
        wake_flow_by(t, f, flow.cnp_due)
        return
    flow.cnp_due = NEVER
    host_at(t, flow.target).np_cnp_sent += 1
    send_control(t, f, RC_CNP, 0)


@compiled
def receive_cnp(t: State, f: int) -> None:
    """A CNP for flow f has reached the data's source: handled or, with RP off, ignored."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    i = host_priority(t, flow.source, flow.dscp, flow.pcp)
    if (host.rp_on >> i) & 1:
        host.rp_cnp_handled += 1
        if host.one_cnp_in == 0 or host.rp_cnp_handled % host.one_cnp_in == 0:
            handle_cnp(t, f)
    else:
        host.rp_cnp_ignored += 1
