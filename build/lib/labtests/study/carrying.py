"""What a pattern can carry: the fluid in which every queue pair has its max-min fair share.

Rates grow together until a link is full; those that cross it stay, the others go on (progressive
filling: Bertsekas and Gallager, Data Networks, 6.5.2). Between two starts, stops or ends of flows
rates are constant. Of several equal paths (ECMP) a queue pair whose source port is given takes the
one that the hash gives it; others take an equal part of each, as hashes do on average. Payload; on
the wire a packet is longer, and ACKs take a part of the way back.
"""

import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from labtests.network import HostPort
from labtests.network.cases.building import wiring_of
from labtests.network.cases.form import CaseFile, FlowPart
from labtests.network.cases.pathways import address_of, routing_of
from labtests.network.forwarding import mixed
from labtests.network.paths import (
    FIRST_SOURCE_PORT,
    IPERF3_PORT,
    ROCE_PORT,
    SOURCE_PORTS,
    TCP_PROTOCOL,
    UDP_PROTOCOL,
    Ways,
    all_ways,
    five_tuple_hash,
)

ACK_WIRE_BYTES = 84
IP_UDP_ETHERNET_BYTES, IP_TCP_ETHERNET_BYTES, TCP_PAYLOAD, UDP_PAYLOAD = 46, 78, 1448, 1472
_FULL = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """`bytes_to`: payload that each target can have received between warm-up and end; `busy`:
    targets whose port is full most of that time."""

    bytes_to: dict[str, float]
    busy: frozenset[str]


def carried(case: CaseFile) -> Carried:
    """By target host."""
    fluid = _Fluid(case)
    start, end = case.warmup_ms * 1e-3, case.duration_ms * 1e-3
    got: dict[str, float] = {}
    full: dict[str, float] = {}
    moments = sorted({0.0, start, end, *fluid.starts, *fluid.stops})
    now = 0.0
    while now < end:
        rates, loads = fluid.rates(now)
        later = [moment for moment in moments if moment > now + 1e-12]
        until = min([end, *later[:1], fluid.first_end(now, rates)])
        span = until - now
        if now >= start - 1e-12:
            for number, flow in enumerate(case.flows):
                got[flow.target] = got.get(flow.target, 0.0) + rates[number] * span
            for host in {flow.target for flow in case.flows}:
                if loads[fluid.link_to[host]] >= _FULL:
                    full[host] = full.get(host, 0.0) + span
        fluid.left -= rates * span
        now = until
    busy = frozenset(host for host, span in full.items() if span > 0.9 * (end - start))
    return Carried(bytes_to=got, busy=busy)


class _Fluid:
    """The flows of a case, as parts of the links that they cross. Rates in payload bytes/s."""

    def __init__(self, case: CaseFile) -> None:
        wiring = wiring_of(case)
        self._ends = tuple(wiring.ports())
        self._ways: Ways = all_ways(wiring, routing_of(case))
        self._number = {
            end.device: n for n, end in enumerate(self._ends) if isinstance(end, HostPort)
        }
        self.link_to = {host: n ^ 1 for host, n in self._number.items()}
        bytes_per_s = [cable.rate_bits_per_s / 8 for cable in wiring.cables for _ in "ab"]
        self._links: Any = np.array(bytes_per_s)
        flows = case.flows
        self._seeds = routing_of(case).hash_seeds
        self._addresses = {host: address_of(case, host) for host in case.hosts}
        self._uses: Any = np.array([self._use(flow) for flow in flows]).reshape(len(flows), -1)
        self._weights: Any = np.array([float(flow.qps * flow.streams) for flow in flows])
        self.starts = [flow.start_us * 1e-6 for flow in flows]
        self.stops = [math.inf if f.stop_us is None else f.stop_us * 1e-6 for f in flows]
        self.left: Any = np.array([float(flow.size_bytes or math.inf) for flow in flows])
        udp = [(flow.rate_gbit_per_s or math.inf) * 1e9 / 8 for flow in flows]
        self._most: Any = np.array(udp) / self._weights

    def _use(self, flow: FlowPart) -> Any:
        """The share of each link that one byte/s of this flow takes, all its queue pairs alike."""
        use = np.zeros(len(self._links))
        longer, ack = _on_the_wire(flow)
        many = 1 if flow.source_port is None else flow.qps * flow.streams
        for number in range(many):
            self._follow(flow, longer / many, use, number)
        self._follow(flow, ack, use, None)
        return use / self._links

    def _hash(self, flow: FlowPart, number: int | None) -> int | None:
        """Of the packets of its n-th queue pair; None where its port is not known."""
        if flow.source_port is None or number is None:
            return None
        port = FIRST_SOURCE_PORT + (flow.source_port + number - FIRST_SOURCE_PORT) % SOURCE_PORTS
        ends = (self._addresses[flow.source], self._addresses[flow.target])
        tcp = flow.kind == "tcp"
        ports = (port, IPERF3_PORT if tcp else ROCE_PORT)
        return five_tuple_hash(*ends, ports, TCP_PROTOCOL if tcp else UDP_PROTOCOL)

    def _follow(self, flow: FlowPart, part: float, use: Any, number: int | None) -> None:
        """Packets to the target (of a queue pair), or answers to the source (None)."""
        ends = (flow.source, flow.target) if number is not None else (flow.target, flow.source)
        source, goal = (self._number[end] for end in ends)
        hashed, parts = self._hash(flow, number), [(source, part)]
        for _ in range(64 * len(self._ends)):
            if not parts:
                return
            port, share = parts.pop()
            use[port] += share
            there = self._ends[port ^ 1]
            if not isinstance(there, HostPort):
                outs = self._ways.get((there.device, goal), ())
                if hashed is not None and outs:
                    seed = self._seeds.get(there.device, zlib.crc32(there.device.encode()))
                    outs = (outs[mixed(hashed, seed & 0xFFFFFFFF) % len(outs)],)
                parts += [(out, share / len(outs)) for out in outs]

    def rates(self, now: float) -> tuple[Any, Any]:
        """The rate of each flow, and how full each link is, at a time in s."""
        on = np.array([a <= now + 1e-12 < b for a, b in zip(self.starts, self.stops, strict=True)])
        rising = on & (self.left > 0.5)
        level: Any = np.zeros(len(on))
        uses = self._uses * self._weights[:, None]
        for _ in range(len(on)):
            if not rising.any():
                break
            grows = uses[rising].sum(axis=0)
            room = 1 - level @ uses
            crossed = grows > 1e-18
            step = float((room[crossed] / grows[crossed]).min()) if crossed.any() else math.inf
            step = max(0.0, min(step, float((self._most - level)[rising].min())))
            level = level + step * rising
            full = crossed & (1 - level @ uses < 1e-9)
            rising &= ~(uses[:, full] > 0).any(axis=1) & (level < self._most * _FULL)
        return level * self._weights, level @ uses

    def first_end(self, now: float, rates: Any) -> float:
        """When the first of the flows that have a size is done."""
        going = (rates > 0) & np.isfinite(self.left)
        if not going.any():
            return math.inf
        return now + float((self.left[going] / rates[going]).min())


def _on_the_wire(flow: FlowPart) -> tuple[float, float]:
    """Bytes on the wire of one byte of payload, there and (ACKs) back."""
    if flow.kind == "tcp":
        longer = (TCP_PAYLOAD + IP_TCP_ETHERNET_BYTES + 12) / TCP_PAYLOAD
        return longer, ACK_WIRE_BYTES / (2 * TCP_PAYLOAD)
    if flow.kind == "udp":
        packets = -(-flow.datagram_bytes // UDP_PAYLOAD)
        return 1 + packets * (IP_UDP_ETHERNET_BYTES + 20) / flow.datagram_bytes, 0.0
    packets = -(-flow.message_bytes // flow.mtu_bytes)
    added = packets * (flow.header_bytes + 20) / flow.message_bytes
    return 1 + added, ACK_WIRE_BYTES / flow.message_bytes
