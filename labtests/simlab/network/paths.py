"""Which way to each host: shortest paths, ECMP, static routes. As the route and path tables.

Nothing is learnt and nothing converges by itself: `Network.reroute` is what a routing protocol
would have done. Static routes may form loops; a packet then runs until its TTL is used up.
"""

import ipaddress
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from labtests.simlab.network.forwarding import FIRST_PATH
from labtests.simlab.network.tables import NONE, PATH, ROUTE, Tables, table
from labtests.simlab.network.wiring import HostPort, SwitchPort, Wiring, next_hops

MOST_WAYS = 64
ROCE_PORT = 4791
"""UDP destination port of RoCEv2 (IANA)."""
IPERF3_PORT = 5201
FIRST_SOURCE_PORT = 49152
"""RoCEv2 and Linux take source ports from the dynamic range 49152..65535 (RFC 6335)."""
SOURCE_PORTS = 16384
TCP_PROTOCOL, UDP_PROTOCOL = 6, 17

Ways = dict[tuple[str, int], tuple[int, ...]]
"""(switch, port number of a host) -> the port numbers towards it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticRoute:
    """At `switch`, packets to `to` leave by one of the ports `via`, whatever the shortest path is.

    `to`: an IPv4 address or a prefix such as 10.0.0.0/8. The longest prefix decides, of equal ones
    the last given. A prefix is not used for hosts that are plugged into the switch itself. Without
    `via` the packets are dropped, and counted as without a route.
    """

    switch: str
    to: str
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How switches choose ports.

    - `ways`: `shortest`: one shortest path, over the cable listed first. `ecmp`: all of them, by
      hash of the five-tuple (forwarding.py).
    - `static` routes are used before either.
    - `hash_seeds` by switch; others have the CRC-32 of their name, so all differ. Equal seeds make
      switches of several tiers choose alike: polarisation.
    """

    ways: Literal["shortest", "ecmp"] = "shortest"
    static: tuple[StaticRoute, ...] = ()
    hash_seeds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def five_tuple_hash(source: str, target: str, ports: tuple[int, int], protocol: int) -> int:
    """CRC-32 of addresses, UDP or TCP ports (source, destination) and protocol, 13 bytes."""
    text = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    text += ports[0].to_bytes(2, "big") + ports[1].to_bytes(2, "big") + bytes([protocol])
    return zlib.crc32(text)


def with_routes(t: Tables, wiring: Wiring, switches: list[str], routing: Routing) -> Tables:
    """The same network with these routes. Raises ValueError for a static route that cannot be."""
    ends = tuple(wiring.ports())
    hosts = [number for number, end in enumerate(ends) if isinstance(end, HostPort)]
    ways = _ways(wiring, routing)
    groups: dict[tuple[int, ...], int] = {}
    route = table(ROUTE, max(1, len(switches) * len(hosts)))
    route.port = NONE
    for (name, host), outs in ways.items():
        row = switches.index(name) * len(hosts) + hosts.index(host)
        if len(outs) == 1:
            route[row].port = outs[0]
        elif outs:
            route[row].port = FIRST_PATH - groups.setdefault(outs, len(groups))
    t.clock[0].targets = len(hosts)
    for row, name in enumerate(switches):
        seed = routing.hash_seeds.get(name, zlib.crc32(name.encode()))
        t.switch[row].hash_seed = seed & 0xFFFFFFFF
    return t._replace(route=route, path=_path_table(groups))


def _path_table(groups: Mapping[tuple[int, ...], int]) -> Any:
    path = table(PATH, max(1, len(groups)))
    for outs, row in groups.items():
        path[row].ways = len(outs)
        path[row].ports[: len(outs)] = np.array(outs)
    return path


def _ways(wiring: Wiring, routing: Routing) -> Ways:
    if routing.ways == "ecmp":
        ways = all_next_hops(wiring)
    else:
        ways = {key: (out,) for key, out in next_hops(wiring).items()}
    for route in sorted(routing.static, key=lambda route: _network(route).prefixlen):
        ways.update(_static(wiring, route))
    return ways


def _network(route: StaticRoute) -> Any:
    try:
        return ipaddress.ip_network(route.to, strict=False)
    except ValueError as error:
        raise ValueError(
            f"static route of {route.switch}: {route.to!r} is neither an address nor a prefix"
        ) from error


def _static(wiring: Wiring, route: StaticRoute) -> Ways:
    """What one static route says of the hosts it is for."""
    ends = tuple(wiring.ports())
    own = {
        end.interface: number
        for number, end in enumerate(ends)
        if isinstance(end, SwitchPort) and end.device == route.switch
    }
    for name in route.via:
        if name not in own:
            known = ", ".join(own) or "none"
            raise ValueError(f"static route of {route.switch}: no port {name!r}; it has: {known}")
    if len(route.via) > MOST_WAYS:
        raise ValueError(f"static route of {route.switch}: more than {MOST_WAYS} ports")
    outs = tuple(own[name] for name in route.via)
    found = {}
    for host in _hosts_of(ends, route, own):
        for out in outs:
            if isinstance(ends[out ^ 1], HostPort) and out ^ 1 != host:
                raise ValueError(
                    f"static route of {route.switch}: behind {ends[out].interface} is host "
                    f"{ends[out ^ 1].device}, which does not forward to {ends[host].device}"
                )
        found[route.switch, host] = outs
    return found


def _hosts_of(
    ends: tuple[HostPort | SwitchPort, ...], route: StaticRoute, own: Mapping[str, int]
) -> Iterator[int]:
    """The hosts (port numbers) that a static route is for."""
    network = _network(route)
    for host, end in enumerate(ends):
        if not isinstance(end, HostPort) or ipaddress.ip_address(end.address) not in network:
            continue
        if network.prefixlen == network.max_prefixlen or host ^ 1 not in own.values():
            yield host


def all_next_hops(wiring: Wiring) -> Ways:
    """Every port of each switch that is on a shortest path to each host, in port order."""
    ends = tuple(wiring.ports())
    leads: dict[str, list[int]] = {}
    for number, end in enumerate(ends):
        if isinstance(end, SwitchPort):
            leads.setdefault(end.device, []).append(number)
    ways: Ways = {}
    for host, end in enumerate(ends):
        if isinstance(end, HostPort):
            first = ends[host ^ 1]
            if isinstance(first, SwitchPort):
                ways[first.device, host] = (host ^ 1,)
                _fan_out(ends, leads, host, ways)
    return ways


def _fan_out(
    ends: tuple[HostPort | SwitchPort, ...],
    leads: Mapping[str, list[int]],
    host: int,
    ways: Ways,
) -> None:
    """Breadth first from the host's switch: all ports that lead one step nearer."""
    steps = {ends[host ^ 1].device: 0}
    frontier = deque(steps)
    while frontier:
        device = frontier.popleft()
        for lead in leads[device]:
            other = ends[lead ^ 1]
            if isinstance(other, HostPort):
                continue
            if other.device not in steps:
                steps[other.device] = steps[device] + 1
                frontier.append(other.device)
    for device, step in steps.items():
        nearer = [p for p in leads[device] if steps.get(ends[p ^ 1].device, step) == step - 1]
        if nearer:
            ways[device, host] = tuple(nearer[:MOST_WAYS])
