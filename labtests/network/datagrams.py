"""UDP: a paced application, a bounded send queue, IP fragments, and their reassembly.

The application writes one datagram per interval; the socket holds `backlog_limit` of them. When it
is full the application blocks and goes on, at its own pace, when a datagram has left: what a
paused NIC did not take is never caught up. A Poisson source draws the time to its next datagram
from an exponential distribution with that mean (arithmetic.py). A datagram is lost with any of its
fragments; the receiver counts a failed reassembly when the next datagram begins (Linux: when its
30 s timer or its memory runs out).
"""

from labtests.network.arithmetic import exponential
from labtests.network.compiled import compiled
from labtests.network.flows import make_ready, wake_flow_by
from labtests.network.packets import end_flow, new_packet
from labtests.network.rows import clock_at, flow_at, host_at, packet_at
from labtests.network.tables import (
    ACTIVE,
    DRAINING,
    ENDED,
    NONE,
    UDP_FRAGMENT,
    State,
)
from labtests.network.tunnels import count_ecn, count_out


@compiled
def interval_ps(t: State, f: int) -> int:
    """From one datagram that the application writes to the next."""
    flow = flow_at(t, f)
    if flow.poisson:
        return exponential(t, flow.interval_ps)
    return int(flow.interval_ps)


@compiled
def finish_datagram(t: State, f: int) -> None:
    """The last fragment of a datagram is on its way; a blocked application may write again."""
    flow = flow_at(t, f)
    flow.sent_datagrams += 1
    host_at(t, flow.source).udp_out += 1
    flow.datagram += 1
    flow.fragment = 0
    flow.backlog -= 1
    if flow.blocked and flow.life == ACTIVE:
        flow.blocked = 0
        flow.backlog += 1
        flow.next_datagram = clock_at(t, 0).now + interval_ps(t, f)
        wake_flow_by(t, f, flow.next_datagram)
    if flow.backlog == 0 and flow.life == DRAINING:
        end_flow(t, f)


@compiled
def next_udp_packet(t: State, f: int) -> int:
    """The next fragment of flow f, or NONE."""
    flow = flow_at(t, f)
    if flow.backlog == 0 or flow.life == ENDED:
        return NONE
    last = flow.fragment + 1 == flow.fragments
    size = flow.rest_frame_bytes if last else flow.frame_bytes
    k = new_packet(t, UDP_FRAGMENT, f, size, flow.pcp)
    packet = packet_at(t, k)
    count_out(t, f, flow.source, k)
    packet.psn = flow.datagram
    packet.part = flow.fragment
    packet.dscp = flow.dscp
    packet.ecn = flow.ecn
    packet.target = flow.target
    flow.fragment += 1
    if last:
        finish_datagram(t, f)
    if flow.backlog > 0:
        make_ready(t, f)
    return k


@compiled
def receive_udp(t: State, f: int, k: int) -> None:
    """A fragment of flow f has reached its host."""
    flow = flow_at(t, f)
    packet = packet_at(t, k)
    host = host_at(t, flow.target)
    fragmented = flow.fragments > 1
    host.ip_in += 1
    host.ip_in_bytes += packet.frame_bytes
    count_ecn(t, f, packet.ecn)
    host.reasm_reqds += 1 if fragmented else 0
    if packet.psn != flow.rx_datagram:
        if flow.rx_fragments > 0:
            host.reasm_fails += 1
        flow.rx_datagram = packet.psn
        flow.rx_fragments = 0
    flow.rx_fragments += 1
    if flow.rx_fragments == flow.fragments:
        flow.rx_fragments = 0
        flow.received += 1
        flow.delivered_bytes += flow.datagram_bytes
        host.udp_in += 1
        host.reasm_oks += 1 if fragmented else 0


@compiled
def wake_udp(t: State, f: int) -> None:
    """The application writes the datagram that is due, or finds its socket full."""
    flow = flow_at(t, f)
    if flow.life != ACTIVE or flow.blocked:
        return
    if flow.next_datagram <= clock_at(t, 0).now:
        if flow.backlog == flow.backlog_limit:
            flow.blocked = 1
            return
        flow.backlog += 1
        flow.next_datagram += interval_ps(t, f)
        make_ready(t, f)
    wake_flow_by(t, f, flow.next_datagram)
