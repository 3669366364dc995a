"""What traffic can be asked for: RDMA over reliable connections, UDP, TCP."""

from dataclasses import dataclass
from typing import Literal

from labtests.network.settings import within

RETRANSMISSION_UNIT_PS = 4_096_000
"""4.096 us: the unit of the local ACK timeout (InfiniBand specification 9.7.6.1.3)."""


DEFAULT_TTL = 64
"""Linux's IPv4 default (net.ipv4.ip_default_ttl). Every switch takes 1; at 0 a packet is dropped.
ACKs and CNPs of a flow start with the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OuterHeaders:
    """What a VXLAN tunnel between two hosts adds: 50 B (tunnels.py), and a DSCP, which is the inner
    one or 0. The ECN field is that of the inner packet, as Linux copies it in any case; CE comes
    back unless `loses_marks`."""

    inherits_dscp: bool = True
    loses_marks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """What packets of any kind carry. `source_port` is UDP's or TCP's, the first of several flows';
    None: 49152 and on. `pcp`: the priority in their 802.1Q tag; None: they have none. `control_pcp`
    is that of ACK, NAK and read requests: the flow's unless given. `outer`: hosts send UDP
    and TCP of this flow through a VXLAN tunnel between them."""

    ttl: int = DEFAULT_TTL
    source_port: int | None = None
    pcp: int | None = None
    control_pcp: int | None = None
    outer: "OuterHeaders | None" = None

    def __post_init__(self) -> None:
        within("TTL", self.ttl, 1, 255)
        within("source port", self.source_port or 0, 0, 65535)
        within("PCP", self.pcp or 0, 0, 7)
        within("control PCP", self.control_pcp or 0, 0, 7)
        if self.pcp is None and self.control_pcp is not None:
            raise ValueError("control_pcp without pcp: both ends are on the VLAN, or neither is")


@dataclass(frozen=True, slots=True, kw_only=True)
class RcRequest(Headers):
    """RDMA over reliable connections from `device`'s port to the host with address `destination`.

    - `verb`: read moves the data the other way.
    - `qps`: each keeps `tx_depth` messages outstanding (reads: at most 16) and ends after
      `messages` of them, if given.
    - `size_bytes` instead of `messages`: of all queue pairs together. Messages are dealt to them in
      turn, the last one is as short as what is left; a queue pair that gets none is not made.
    - `nak_repeat_us`: how long a receiver waits before it asks again for a missing packet.
    - `timeout_exponent`: the retransmission time-out is 4.096 us * 2**exponent (InfiniBand: local
      ACK timeout; `-u` of perftest, default 14: 67.1 ms); 0: never. Tried `retry_limit` times.
    - `ack_every_packets`: an ACK after so many packets, and when the requester can send no more;
      None: after each message.
    - `header_bytes` around a packet's payload: Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4 +
      FCS 4 (1086 B frames in document 000).
    - `control_tos` of ACK, NAK and read requests: the flow's unless given.
    - `go_back`: what is sent again after a loss, from the lost packet on or the whole message.
    - `recovery`: go_back_n.py or selective_repeat.py; for the latter `reorder_packets`: so many may
      overtake one before that is asked for.
    - `ecn`: packets are ECT(0), not-ECT, or have the two low bits of `tos`.
    """

    device: str
    interface: str
    destination: str
    tos: int
    verb: Literal["send", "write", "read"] = "send"
    message_bytes: int = 65536
    tx_depth: int = 128
    qps: int = 1
    mtu_bytes: int = 1024
    messages: int | None = None
    size_bytes: int | None = None
    nak_repeat_us: int = 16_000
    retry_limit: int = 7
    timeout_exponent: int = 14
    ack_every_packets: int | None = None
    header_bytes: int = 62
    control_tos: int | None = None
    go_back: Literal["packet", "message"] = "packet"
    recovery: Literal["go-back-n", "selective"] = "go-back-n"
    reorder_packets: int = 0
    ecn: Literal["on", "off", "tos"] = "on"

    def __post_init__(self) -> None:
        Headers.__post_init__(self)
        within("TOS", self.tos, 0, 255)
        within("control TOS", self.control_tos or 0, 0, 255)
        within("header bytes", self.header_bytes, 0, 255)
        within("message bytes", self.message_bytes, 1, 2**31)
        within("MTU", self.mtu_bytes, 256, 4096)
        within("tx depth", self.tx_depth, 1, 2**15)
        within("queue pairs", self.qps, 1, 2**14)
        within("time-out exponent", self.timeout_exponent, 0, 31)
        within("packets per ACK", self.ack_every_packets or 1, 1, 2**31)
        within("size bytes", self.size_bytes or 1, 1, 2**50)
        within("reorder packets", self.reorder_packets, 0, 4000)
        if self.recovery == "selective" and (self.verb == "read" or self.go_back == "message"):
            raise ValueError("selective repeat is for send and write, and never goes back")
        if self.size_bytes is not None and self.messages is not None:
            raise ValueError("size_bytes and messages: one of them")
        if self.ack_every_packets is not None and self.go_back == "message":
            raise ValueError("go-back-0 acknowledges whole messages: no ack_every_packets")

    def shares_bytes(self) -> tuple[int | None, ...]:
        """What each queue pair sends before it ends; None: it does not end."""
        if self.size_bytes is None:
            size = None if self.messages is None else self.messages * self.message_bytes
            return (size,) * self.qps
        messages = -(-self.size_bytes // self.message_bytes)
        missing = messages * self.message_bytes - self.size_bytes
        used = min(messages, self.qps)
        whole = [(messages - n - 1) // self.qps + 1 for n in range(used)]
        shares = [count * self.message_bytes for count in whole]
        shares[(messages - 1) % self.qps] -= missing
        return tuple(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class UdpRequest(Headers):
    """UDP datagrams at a payload rate, fragmented to the MTU of the port.

    `send_queue_datagrams`: what the socket holds before the application blocks. `arrivals`: the
    application writes at equal intervals, or at random ones with that mean (Poisson). Packets have
    the whole TOS, ECN bits included, as Linux sends it.
    """

    device: str
    interface: str
    destination: str
    tos: int
    rate_bits_per_s: float
    datagram_bytes: int = 65500
    send_queue_datagrams: int = 4
    arrivals: Literal["periodic", "poisson"] = "periodic"
    mtu_bytes: int = 1500

    def __post_init__(self) -> None:
        Headers.__post_init__(self)
        within("MTU", self.mtu_bytes, 68, 9978)
        within("TOS", self.tos, 0, 255)
        within("bits per second", self.rate_bits_per_s, 1, 1e13)
        within("datagram bytes", self.datagram_bytes, 1, 65507)
        within("send queue", self.send_queue_datagrams, 1, 2**20)


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpRequest(Headers):
    """`streams` TCP connections that send as fast as they can.

    `ecn`: both ends have agreed on ECN (RFC 3168; Linux: `net.ipv4.tcp_ecn=1`). The ECN bits of
    `tos` are TCP's own to set, as on Linux.
    """

    device: str
    interface: str
    destination: str
    tos: int
    streams: int = 1
    ecn: bool = False

    def __post_init__(self) -> None:
        Headers.__post_init__(self)
        within("TOS", self.tos, 0, 255)
        within("streams", self.streams, 1, 1024)
