"""The packet network: make it from a wiring, set its boxes, start flows, let time pass, read."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labtests.network import delays
from labtests.network.arithmetic import DRAWS, random_below
from labtests.network.arrivals import break_silence
from labtests.network.compiled import use_compiled
from labtests.network.counting import port_counters
from labtests.network.delays import PacketDelays, packet_delays
from labtests.network.engine import advance, cut_port
from labtests.network.events import wake_port
from labtests.network.fabric import (
    make_tables,
    switch_names,
    with_delays,
    with_edges,
    with_flows,
    with_packets,
    with_segments,
)
from labtests.network.faulty_links import Script, with_script
from labtests.network.flows import choose_lane, unschedule_flow, wake_flow_by
from labtests.network.launching import fill_rc, fill_tcp, fill_udp, outer_dscp
from labtests.network.layout import table
from labtests.network.memory_settings import SwitchMemory
from labtests.network.nic import Nic
from labtests.network.paths import (
    FIRST_SOURCE_PORT,
    IPERF3_PORT,
    ROCE_PORT,
    SOURCE_PORTS,
    TCP_PROTOCOL,
    UDP_PROTOCOL,
    Routing,
    five_tuple_hash,
    tunnel_ends,
    with_routes,
)
from labtests.network.requests import (
    RcRequest,
    TcpRequest,
    UdpRequest,
)
from labtests.network.rows import state_of
from labtests.network.settings import PortCounters, within
from labtests.network.streams import (
    WINDOW_SIZE,
)
from labtests.network.switch import Switch
from labtests.network.tables import (
    ACTIVE,
    CORRUPTING,
    DAMAGED,
    ENDED,
    NEVER,
    NONE,
    PS_PER_NS,
    PS_PER_US,
    RC,
    TABLE_TYPES,
    TCP,
    UDP,
    State,
    Tables,
)
from labtests.network.traffic import RcFlow, TcpFlow, UdpFlow
from labtests.network.wiring import HostPort, Wiring

START_JITTER_PS = 10 * PS_PER_US
"""Flows start within so much after their request: programs never start in step."""


class Network:
    """A simulated network at `now_ns`. Same seed, same calls at the same times: same counters."""

    def __init__(
        self,
        wiring: Wiring,
        *,
        seed: int,
        memory: SwitchMemory | Mapping[str, SwitchMemory] | None = None,
        routing: Routing | None = None,
    ) -> None:
        """`memory` of every switch, or of each by name; others have the default.

        Raises ValueError for a static route that cannot be.
        """
        use_compiled()
        self.wiring = wiring
        given = memory if isinstance(memory, Mapping) else {}
        common = memory if isinstance(memory, SwitchMemory) else SwitchMemory()
        self.memory = {name: given.get(name, common) for name in switch_names(wiring)}
        self.tables: Tables = make_tables(wiring, seed, self.memory)
        self.routing = routing or Routing()
        self._tunnel_ends: tuple[str, ...] = ()
        self.reroute(self.routing)
        self.flow_rows = self.edges = self._segments = 0
        self.counts_delays = False
        self.start_jitter_ps = START_JITTER_PS
        self._numbers: dict[tuple[str, str], int] = {}
        self._found: tuple[Tables, State] | None = None
        self.handed_out = 0  # the state, so often: in between no counter has changed
        self._addresses: dict[str, tuple[str, int]] = {}
        self._own_address: dict[int, str] = {}
        self._nics: dict[tuple[str, str], Nic] = {}
        ports: dict[str, dict[str, int]] = {name: {} for name in switch_names(wiring)}
        for number, port in enumerate(wiring.ports()):
            self._numbers[port.device, port.interface] = number
            if isinstance(port, HostPort):
                host = int(self.tables.port[number].host)
                self._nics[port.device, port.interface] = Nic(self, host)
                self._addresses[port.address] = (port.device, host)
                self._own_address[host] = port.address
            else:
                ports[port.device][port.interface] = number
        self._switches = {
            name: Switch(self, row, name, ports[name]) for row, name in enumerate(ports)
        }

    @property
    def state(self) -> State:
        """What compiled functions take: who asks for it may change anything. The tables are found
        anew when one of them has moved."""
        self.handed_out += 1
        if self._found is None or self._found[0] is not self.tables:
            self._found = self.tables, state_of(self.tables)
        return self._found[1]

    # -- time --

    @property
    def now_ns(self) -> int:
        """The network's time."""
        return int(self.tables.clock[0].now) // PS_PER_NS

    @property
    def idle(self) -> bool:
        """Nothing is in flight and no flow is active: advancing costs nothing."""
        clock = self.tables.clock[0]
        in_flight = len(self.tables.packet) - int(clock.free_packets)
        return bool(in_flight == 0 and clock.active_flows == 0)

    def advance_to(self, time_ns: int) -> None:
        """Everything that happens up to `time_ns` has happened."""
        if time_ns < self.now_ns:
            raise ValueError(f"time does not run backwards: {time_ns} ns < {self.now_ns} ns")
        while not advance(self.state, time_ns * PS_PER_NS):
            self.make_room()

    def make_room(self) -> None:
        """There is room for twice as many packets."""
        self.tables = with_packets(self.tables, 2 * len(self.tables.packet))

    def port_counters(self, device: str, interface: str) -> PortCounters:
        """Frames in and out of a port of a host or a switch."""
        return port_counters(self.tables, self._numbers[device, interface])

    def queue_row(self, switch: str, port: str, queue: int) -> int:
        """The row of an egress queue in the queue table."""
        return 8 * self._numbers[switch, port] + queue

    # -- boxes --

    def nic(self, device: str, interface: str) -> Nic:
        """The NIC port of a host."""
        return self._nics[device, interface]

    def switch(self, device: str) -> Switch:
        """A switch."""
        return self._switches[device]

    def cut(self, device: str, interface: str) -> None:
        """The link of this port is down, both ways; what was on it, and queued for it, is lost."""
        number = self._numbers[device, interface]
        cut_port(self.state, number)
        cut_port(self.state, number ^ 1)

    def restore(self, device: str, interface: str) -> None:
        """The link of this port is up again."""
        number = self._numbers[device, interface]
        for end in (number, number ^ 1):
            self.tables.port[end].up = 1
            wake_port(self.state, end)

    def reroute(self, routing: Routing) -> None:
        """From now on packets are sent on like this; those in queues keep their port.

        Raises ValueError for a static route that cannot be; then nothing has changed.
        """
        former = dict.fromkeys([*self._tunnel_ends, *tunnel_ends(self.wiring, self.routing)])
        self.tables = with_routes(self.tables, self.wiring, list(self.memory), routing, former)
        self.routing, self._tunnel_ends = routing, tuple(former)

    def impair(self, device: str, interface: str, script: Script) -> None:
        """From now on frames that this port sends are lost or corrupted by this script too."""
        number = self._numbers[device, interface]
        break_silence(self.state, number)
        self.tables = with_script(self.tables, number, script)

    def damage_randomly(
        self, device: str, interface: str, per_million: int, *, corrupting: bool
    ) -> None:
        """Fault: that share of the frames that arrive at this port is lost; `corrupting`: counted
        there as CRC errors and discarded."""
        within("per million", per_million, 0, 1_000_000)
        number = self._numbers[device, interface]
        break_silence(self.state, number ^ 1)
        port = self.tables.port[number]
        port.lost_draws = per_million * DRAWS // 1_000_000
        random = CORRUPTING if corrupting else 0
        port.impaired = (DAMAGED if per_million or port.script != NONE else 0) | random

    def opposite(self, device: str, interface: str) -> tuple[str, str]:
        """The port at the other end of the cable."""
        number = self._numbers[device, interface] ^ 1
        return next(end for end, row in self._numbers.items() if row == number)

    def lost_on_wire(self, device: str, interface: str) -> int:
        """Frames sent by this port that a cut, or a bad cable, took from the wire."""
        return int(self.tables.port[self._numbers[device, interface]].lost_on_wire)

    def unlimit(self, host: int, priority: int) -> None:
        """Flows of this host and priority run without a DCQCN limiter."""
        for flow in self.tables.flow[: self.flow_rows]:
            if flow.kind == RC and flow.source == host and flow.lane & 7 == priority:
                flow.limited = 0

    def choose_lanes(self, host: int) -> None:
        """What a host's NIC makes of DSCPs has changed: its flows follow."""
        for row in np.flatnonzero(self.tables.flow["source"][: self.flow_rows] == host):
            choose_lane(self.state, int(row))

    # -- flows --

    def start_rc(
        self, flow: RcRequest, *, after: Sequence[RcFlow] = (), delay_ns: int = 0
    ) -> RcFlow:
        """RDMA traffic starts; `delay_ns` behind the moment when the last of the flows `after` has
        been delivered, if some are named."""
        here, there = self._ends(flow)
        source, target = (there, here) if flow.verb == "read" else (here, there)
        rows = [self._new_rc(flow, source, target, size) for size in flow.shares_bytes()]
        self._address(rows, flow, (UDP_PROTOCOL, ROCE_PORT))
        ahead = [row for other in after for row in other.undelivered_rows()]
        for row in rows if ahead else ():
            self._wait(row, ahead, delay_ns)
        return RcFlow(self, tuple(rows))

    def _wait(self, row: int, ahead: Sequence[int], delay_ns: int) -> None:
        """The flow of this row, just started, starts when those of the others are delivered."""
        record = self.tables.flow[row]
        record.waits, record.delay_ps = len(ahead), delay_ns * PS_PER_NS
        record.start_at = record.send_at = NEVER
        unschedule_flow(self.state, row)
        for other in ahead:
            if self.edges == len(self.tables.edge):
                self.tables = with_edges(self.tables, 2 * self.edges)
            edge = self.tables.edge[self.edges]
            edge.flow, edge.next = row, self.tables.flow[other].first_edge
            self.tables.flow[other].first_edge = self.edges
            self.edges += 1

    def start_udp(self, flow: UdpRequest) -> UdpFlow:
        """A paced UDP sender starts."""
        source, target = self._ends(flow)
        row, record = self._new_flow(UDP, source, target, flow)
        fill_udp(record, flow)
        self._address([row], flow, (UDP_PROTOCOL, IPERF3_PORT))
        return UdpFlow(self, (row,))

    def start_tcp(self, flow: TcpRequest) -> TcpFlow:
        """TCP connections start sending."""
        source, target = self._ends(flow)
        rows = []
        for _ in range(flow.streams):
            row, record = self._new_flow(TCP, source, target, flow)
            self._give_window(row, WINDOW_SIZE)
            fill_tcp(record, flow)
            rows.append(row)
        self._address(rows, flow, (TCP_PROTOCOL, IPERF3_PORT))
        return TcpFlow(self, tuple(rows))

    def _new_rc(self, flow: RcRequest, source: int, target: int, size_bytes: int | None) -> int:
        row, record = self._new_flow(RC, source, target, flow)
        fill_rc(record, flow, size_bytes)
        if flow.recovery == "selective":
            self._give_window(row, int(record.total_psn))
        if self.counts_delays:
            record.delay_row = (int(record.lane) & 7) * delays.ROWS
            record.trip_row = record.delay_row + delays.ROUND_TRIPS * delays.ROWS
        return row

    def _give_window(self, row: int, packets: int) -> None:
        """The flow of this row has a window of its own: a row for each of its packets and for the
        one that is expected behind the last, but no more than a window has."""
        self.tables.flow[row].window_row = self._segments
        self._segments += min(packets + 1, WINDOW_SIZE)
        if self._segments > len(self.tables.segment):
            self.tables = with_segments(self.tables, 2 * self._segments)

    def count_delays(self) -> None:
        """Packets of RC flows that start from now on are counted by how long they are under way;
        those that were counted are forgotten."""
        self.counts_delays = True
        self.tables = with_delays(self.tables, delays.GROUPS * delays.ROWS)

    def delays(self, priority: int, *, round_trips: bool = False) -> PacketDelays | None:
        """How long data packets of a priority took to their host, or took an ACK to come back after
        the packet that it answers was sent; None: there were none, or they are not counted."""
        group = priority + (delays.ROUND_TRIPS if round_trips else 0)
        first = group * delays.ROWS
        rows = self.tables.delay["count"][first : first + delays.ROWS]
        return packet_delays(rows) if len(rows) else None

    def _ends(self, flow: RcRequest | UdpRequest | TcpRequest) -> tuple[int, int]:
        """(host row of the requester, host row of the destination)."""
        number = self._numbers[flow.device, flow.interface]
        here = int(self.tables.port[number].host)
        if flow.destination not in self._addresses:
            raise KeyError(flow.destination)
        device, there = self._addresses[flow.destination]
        if device == flow.device:
            raise KeyError(flow.destination)
        for start, end in ((here, there), (there, here)):
            peer = self.tables.port[self.tables.port[self.tables.host[start].port].peer]
            route = int(peer.switch) * int(self.tables.clock[0].targets) + end
            if peer.switch != NONE and self.tables.route[route].port == NONE:
                raise KeyError(flow.destination)
            if peer.switch == NONE and peer.host != end:
                raise KeyError(flow.destination)
        return here, there

    def _new_flow(
        self, kind: int, source: int, target: int, request: RcRequest | UdpRequest | TcpRequest
    ) -> tuple[int, Any]:
        """An empty active flow that wakes a moment from now."""
        row = self.flow_rows
        if row == len(self.tables.flow):
            self.tables = with_flows(self.tables, 2 * row)
        self.flow_rows += 1
        t = self.tables
        t.flow[row] = table(TABLE_TYPES["flow"], 1)[0]
        record = t.flow[row]
        record.kind, record.life = kind, ACTIVE
        record.source, record.target = source, target
        record.dscp = outer_dscp(request)
        record.pcp = NONE if request.pcp is None else request.pcp
        record.control_pcp = record.pcp if request.control_pcp is None else request.control_pcp
        record.next_ready = record.first_edge = NONE
        record.delay_row = record.trip_row = NONE
        record.start_at = t.clock[0].now
        if self.start_jitter_ps > 0:
            record.start_at += random_below(self.state, self.start_jitter_ps)
        t.clock[0].active_flows += 1
        choose_lane(self.state, row)
        wake_flow_by(self.state, row, int(record.start_at))
        return row, record

    def _address(
        self,
        rows: list[int],
        request: RcRequest | UdpRequest | TcpRequest,
        destination: tuple[int, int],
    ) -> None:
        """Packets of these flows carry these headers: TTL, and the five-tuple that is hashed.

        `destination`: (protocol, port). Fragments have no ports to look at (but in the first), so
        switches leave ports out for all.
        """
        protocol, port = destination
        for number, row in enumerate(rows):
            record = self.tables.flow[row]
            record.ttl = request.ttl
            own = request.source_port
            own = FIRST_SOURCE_PORT + row % SOURCE_PORTS if own is None else own + number
            ports = (0, 0) if record.fragments > 1 else (own & 0xFFFF, port)
            here, there = (
                self._own_address[int(record.source)],
                self._own_address[int(record.target)],
            )
            record.hash_to_target = five_tuple_hash(here, there, ports, protocol)
            back = ports[::-1] if protocol == TCP_PROTOCOL else ports
            record.hash_to_source = five_tuple_hash(there, here, back, protocol)

    @property
    def active_flows(self) -> int:
        """Flows that have not ended."""
        return int((self.tables.flow[: self.flow_rows].life != ENDED).sum())
