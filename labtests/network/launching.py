"""A flow's record as its request wants it; where it comes from, goes to and starts: network.py."""

from typing import Any

from labtests.network.requests import (
    RETRANSMISSION_UNIT_PS,
    OuterHeaders,
    RcRequest,
    TcpRequest,
    UdpRequest,
)
from labtests.network.streams import (
    ACK_FRAME_BYTES,
    INITIAL_WINDOW,
    MSS_BYTES,
    RECEIVE_WINDOW,
    WINDOW_SIZE,
)
from labtests.network.tables import (
    ECT_0,
    GO_BACK_N,
    NEVER,
    NO_TUNNEL,
    NONE,
    NOT_ECT,
    PS_PER_S,
    PS_PER_US,
    SELECTIVE,
    TUNNEL,
    TUNNEL_LOSING_MARKS,
)
from labtests.network.tunnels import VXLAN_BYTES

IP_HEADER_BYTES, FRAGMENT_UNIT_BYTES = 20, 8
"""Every fragment but the last carries a multiple of 8 bytes (RFC 791)."""
IP_FRAME_BYTES = 38
"""Ethernet 14 + IPv4 20 + FCS 4 around a fragment's payload."""
UDP_HEADER_BYTES = 8
ENDLESS = 1 << 60
ACKS_LEAST = 1024
"""With selective repeat an ACK goes at least every so many packets."""


def outer_dscp(flow: RcRequest | UdpRequest | TcpRequest) -> int:
    """What switches see of these packets."""
    inherited = flow.outer is None or flow.outer.inherits_dscp
    return flow.tos >> 2 if inherited else 0


def fill_udp(record: Any, flow: UdpRequest) -> None:
    """A paced application behind a socket."""
    whole = flow.datagram_bytes + UDP_HEADER_BYTES
    room = flow.mtu_bytes - IP_HEADER_BYTES
    in_each = room // FRAGMENT_UNIT_BYTES * FRAGMENT_UNIT_BYTES
    fragments = 1 if whole <= room else -(-whole // in_each)
    rest = whole - (fragments - 1) * in_each
    record.fragments = fragments
    record.frame_bytes = in_each + IP_FRAME_BYTES
    record.rest_frame_bytes = rest + IP_FRAME_BYTES
    record.datagram_bytes = flow.datagram_bytes
    record.interval_ps = round(flow.datagram_bytes * 8 * PS_PER_S / flow.rate_bits_per_s)
    record.backlog_limit = flow.send_queue_datagrams
    record.next_datagram = record.start_at
    record.rx_datagram = NONE
    record.ecn = flow.tos & 3
    record.poisson = int(flow.arrivals == "poisson")
    _fill_tunnel(record, flow.outer)
    record.frame_bytes += VXLAN_BYTES if flow.outer else 0
    record.rest_frame_bytes += VXLAN_BYTES if flow.outer else 0


def fill_tcp(record: Any, flow: TcpRequest) -> None:
    """A TCP connection."""
    record.cwnd = INITIAL_WINDOW
    record.ssthresh = float(RECEIVE_WINDOW)
    record.rtt_psn = NONE
    record.rto_ps = PS_PER_S  # RFC 6298: before the first measurement
    record.timeout_at = NEVER
    record.ecn = ECT_0 if flow.ecn else NOT_ECT
    _fill_tunnel(record, flow.outer)
    added = VXLAN_BYTES if flow.outer else 0
    record.payload_bytes = MSS_BYTES - added
    record.rest_frame_bytes = ACK_FRAME_BYTES + added


def _fill_tunnel(record: Any, outer: OuterHeaders | None) -> None:
    if outer is None:
        record.tunnel = NO_TUNNEL
        return
    record.tunnel = TUNNEL_LOSING_MARKS if outer.loses_marks else TUNNEL


def fill_rc(record: Any, flow: RcRequest, size_bytes: int | None) -> None:
    """One queue pair that ends after so many bytes; None: never."""
    packets = max(1, -(-flow.message_bytes // flow.mtu_bytes))
    record.read = int(flow.verb == "read")
    record.packets_per_message = packets
    record.last_psn = packets - 1
    record.payload_bytes = flow.mtu_bytes
    record.message_bytes = flow.message_bytes
    record.frame_bytes = flow.mtu_bytes + flow.header_bytes
    rest = flow.message_bytes - (packets - 1) * flow.mtu_bytes
    record.last_frame_bytes = rest + flow.header_bytes
    record.depth_messages = flow.tx_depth
    _fill_end(record, flow, size_bytes)
    record.window_psn = 0 if record.read else min(flow.tx_depth * packets, record.total_psn)
    record.control_dscp = NONE if flow.control_tos is None else flow.control_tos >> 2
    record.whole_messages = int(flow.go_back == "message")
    record.nak_repeat_ps = flow.nak_repeat_us * PS_PER_US
    record.timeout_ps = NEVER // 2
    if flow.timeout_exponent:
        record.timeout_ps = RETRANSMISSION_UNIT_PS << flow.timeout_exponent
    record.timeout_at = NEVER
    record.ack_packets = flow.ack_every_packets or 0
    _fill_recovery(record, flow, packets)
    followed = record.read or record.whole_messages or record.ack_packets or record.recovery
    record.quiet = int(not followed)
    record.ecn = {"on": ECT_0, "off": NOT_ECT, "tos": flow.tos & 3}[flow.ecn]
    record.retry_limit = flow.retry_limit
    record.last_cnp = -NEVER
    record.cnp_due = NEVER
    record.send_at = record.start_at


def _fill_end(record: Any, flow: RcRequest, size_bytes: int | None) -> None:
    """Where it ends, and how long its last message and its last packet are."""
    packets = int(record.packets_per_message)
    if size_bytes is None:
        record.total_psn = ENDLESS - ENDLESS % packets
        return
    whole, rest = divmod(size_bytes - 1, flow.message_bytes)
    record.tail_bytes = rest + 1
    before, last = divmod(rest, flow.mtu_bytes)
    record.tail_frame_bytes = last + 1 + flow.header_bytes
    record.total_psn = whole * packets + before + 1


def _fill_recovery(record: Any, flow: RcRequest, packets_per_message: int) -> None:
    """What it does about losses. With selective repeat a message may be longer than the window."""
    record.recovery = GO_BACK_N
    if flow.recovery != "selective":
        return
    record.recovery = SELECTIVE
    record.reorder_packets = flow.reorder_packets
    record.window_psn = min(int(record.window_psn), WINDOW_SIZE)
    if packets_per_message > ACKS_LEAST and not flow.ack_every_packets:
        record.ack_packets = ACKS_LEAST
