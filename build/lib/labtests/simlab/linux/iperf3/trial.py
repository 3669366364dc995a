"""One test between an iperf3 client and a server: its streams, and what each side sees of them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from labtests.network import TcpFlow, UdpFlow
from labtests.simlab.linux.iperf3.plan import MSS_BYTES, Iperf3Plan
from labtests.simlab.linux.iperf3.rows import IntervalRow
from labtests.simlab.linux.processes import HostProcess
from labtests.simlab.linux.sockets import ClosedSocket, Sockets
from labtests.simlab.linux.streams import Event

NS_PER_S = 1_000_000_000
CLIENT_SOCKETS, SERVER_SOCKETS = (5, 2), (5, 3)  # the first descriptor and the distance
CONGESTION_WINDOW_BYTES = 1024 * MSS_BYTES  # what a fast path settles at; not simulated per stream


Counts = dict[str, int]
"""What a stream has done since the start, as one side knows it, by IntervalRow's names."""
NOTHING = dict.fromkeys(("sent_bytes", "packets", "lost", "retransmits"), 0)


@dataclass(slots=True, kw_only=True, eq=False)
class Iperf3Stream:
    """One connection (or UDP socket) of a test."""

    number: int
    client_port: int
    tcp: TcpFlow | None = None
    udp: UdpFlow | None = None
    lost_in_host: Callable[[], int] = lambda: 0
    receiver: Sockets = field(default_factory=Sockets)

    def close(self) -> None:
        """Its receiver reads no more: what still comes finds no port."""
        if self.udp is not None:
            self.receiver.closed.append(ClosedSocket(self.udp, self.udp.received_datagrams))

    def stop(self) -> None:
        """It sends no more."""
        for flow in (self.tcp, self.udp):
            if flow is not None:
                flow.stop()

    def name(self, side: str) -> str:
        """Its socket number, by which a side's rows name it."""
        first, step = CLIENT_SOCKETS if side == "client" else SERVER_SOCKETS
        if side == "server" and self.number > 1:
            return str(first + step + 2 * (self.number - 1))
        return str(first + step * self.number)

    def sent(self) -> Counts:
        """As its sender counts."""
        if self.udp is not None:
            shown = {"sent_bytes": self.udp.sent_bytes, "packets": self.udp.sent_datagrams}
        elif self.tcp is not None:
            shown = {"sent_bytes": self.tcp.acked_bytes, "retransmits": self.tcp.retransmits}
        else:
            shown = {}
        return NOTHING | shown

    def received(self) -> Counts:
        """As its receiver counts."""
        if self.udp is None:
            return NOTHING | {"sent_bytes": 0 if self.tcp is None else self.tcp.delivered_bytes}
        full = self.lost_in_host()
        lost = max(self.udp.lost_datagrams - self.udp.under_way_datagrams, 0) + full
        arrived = self.udp.received_datagrams
        each = self.udp.received_bytes // arrived if arrived else 0
        read = self.udp.received_bytes - full * each
        return NOTHING | {"sent_bytes": read, "packets": arrived - full + lost, "lost": lost}


@dataclass(slots=True, kw_only=True, eq=False)
class Trial:
    """A test. `changed` is set whenever one of the two sides did something."""

    plan: Iperf3Plan  # the client's; the server learns it
    client: HostProcess
    client_address: str
    server_address: str
    control_port: int
    cookie: str
    jitter_ms: float
    streams: tuple[Iperf3Stream, ...] = ()
    start_ns: int = 0
    running: bool = False
    over: bool = False  # came to its end
    broken: str = ""  # which side left before: "client", "server"
    interrupted: str = ""  # which side was interrupted by a signal
    changed: Event = field(default_factory=Event)

    def sends(self, side: str) -> bool:
        """Whether this side sends the data."""
        return (side == "client") is not self.plan.reverse

    def ends(
        self, side: str, server_port: int, stream: Iperf3Stream
    ) -> tuple[tuple[str, int], tuple[str, int]]:
        """Address and port of this side of a stream, and of the other."""
        client = (self.client_address, stream.client_port)
        server = (self.server_address, server_port)
        return (client, server) if side == "client" else (server, client)

    def counts(self, side: str) -> list[Counts]:
        """All streams as this side sees them now."""
        sending = self.sends(side)
        return [stream.sent() if sending else stream.received() for stream in self.streams]

    def stop(self) -> None:
        """No stream sends any more."""
        for stream in self.streams:
            stream.stop()

    def leave(self, side: str) -> None:
        """The side's program is gone."""
        if not self.over and not self.broken:
            self.broken = side
        self.stop()
        self.changed.set()

    def span(
        self, now: Counts, period_ns: tuple[int, int], before: Counts = NOTHING
    ) -> IntervalRow:
        """What happened between two counts."""
        grown = {name: count - before[name] for name, count in now.items()}
        grown["lost"] = max(grown["lost"], 0)  # an estimate while datagrams are under way
        start_s, end_s = (time_ns / NS_PER_S for time_ns in period_ns)
        return IntervalRow(
            start_s=start_s,
            end_s=end_s,
            seconds=(period_ns[1] - period_ns[0]) / NS_PER_S,
            jitter_ms=self.jitter_ms if self.plan.udp else 0.0,
            congestion_window=0 if self.plan.udp else CONGESTION_WINDOW_BYTES,
            **grown,
        )


def together(spans: list[IntervalRow]) -> IntervalRow:
    """The sum of all streams."""
    return replace(
        spans[0],
        **{name: sum(getattr(span, name) for span in spans) for name in NOTHING},
        jitter_ms=sum(span.jitter_ms for span in spans) / len(spans),
        congestion_window=0,
    )
