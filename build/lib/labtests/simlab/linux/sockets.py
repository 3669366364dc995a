"""A UDP socket with a buffer of a given size, and a program that reads it now and then.

The kernel doubles the size that was asked for and counts a packet with its overhead against it
(socket(7)). The program here empties the socket at each turn; between two turns no more datagrams
stay than the buffer holds, and the others are lost in the host.
"""

from dataclasses import dataclass, field

from labtests.network import TcpFlow, UdpFlow
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.processes import HostProcess

TURN_BYTES = 62_500  # at line rate: how long the reader is away; chosen, not measured
LEAST_BYTES = 2304  # what the kernel makes of less (SOCK_MIN_RCVBUF, x86-64)
OVERHEAD_BYTES = 832  # of one packet of 1500 B in memory: 2304 in all (skb->truesize, x86-64)


def turn_ns(mbit_per_s: int) -> int:
    """How long the reader is away at a port of this speed: 50 µs at 10 Gbit/s."""
    return 8000 * TURN_BYTES // max(mbit_per_s, 1)


@dataclass(slots=True, kw_only=True)
class ReceiveSocket:
    """The receiving end of one flow. `lost` never shrinks."""

    flow: UdpFlow
    asked_bytes: int
    datagram_bytes: int
    since_ns: int
    turn_ns: int  # how long the reader is away at a time
    _lost: int = field(default=0, init=False)

    @property
    def holds(self) -> int:
        """Datagrams between two turns; one always gets in."""
        buffer = max(2 * self.asked_bytes, LEAST_BYTES)
        return max(buffer // (self.datagram_bytes + OVERHEAD_BYTES), 1)

    def lost(self, now_ns: int) -> int:
        """Datagrams that found it full until now."""
        turns = (now_ns - self.since_ns) // self.turn_ns + 1
        self._lost = max(self._lost, self.flow.received_datagrams - turns * self.holds)
        return self._lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A queue pair of a program that rdma_cm has connected, as resource tracking sees it."""

    port: NicPort
    process: HostProcess
    number: int
    source: str  # address:port
    destination: str


@dataclass(frozen=True, slots=True)
class ClosedSocket:
    """Where a flow came to, and how many of its datagrams had come when its program closed it."""

    flow: UdpFlow
    read_datagrams: int

    @property
    def refused(self) -> int:
        """Datagrams that came when there was no port any more."""
        return self.flow.received_datagrams - self.read_datagrams


@dataclass(slots=True)
class Sockets:
    """What a host's IP stack knows and its network card does not."""

    narrow: list[ReceiveSocket] = field(default_factory=list)  # may lose what they cannot hold
    closed: list[ClosedSocket] = field(default_factory=list)
    pings_out: list[UdpFlow] = field(default_factory=list)  # the kernel counts them as no UDP
    pings_in: list[UdpFlow] = field(default_factory=list)
    requests_out: int = 0  # echo requests that are no packets in the network, and answers to them
    answers_in: int = 0
    requests_in: int = 0
    tcp: list[TcpFlow] = field(default_factory=list)  # that this host sends
    connected: list[Connected] = field(default_factory=list)  # by rdma_cm
    tcp_ecn: int = 1  # net.ipv4.tcp_ecn; a kernel's own default is 2: only when asked
