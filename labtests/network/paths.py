"""Which way to each host: shortest paths, ECMP, static routes, tunnels. As route and path tables.

Nothing is learnt and nothing converges by itself: `Network.reroute` is what a routing protocol
would have done. Static routes may form loops; a packet then runs until its TTL is used up.
"""

import ipaddress
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from labtests.network.forwarding import BALANCE, ENTER, FIRST_PATH, LEAVE
from labtests.network.layout import table
from labtests.network.tables import NONE, TABLE_TYPES, Tables
from labtests.network.tunnels import COPY_BACK, COPY_DSCP, COPY_ECN
from labtests.network.wiring import HostPort, SwitchPort, Wiring

MOST_WAYS = 64
ROCE_PORT = 4791
"""UDP destination port of RoCEv2 (IANA)."""
IPERF3_PORT = 5201
FIRST_SOURCE_PORT = 49152
"""RoCEv2 and Linux take source ports from the dynamic range 49152..65535 (RFC 6335)."""
SOURCE_PORTS = 16384
TCP_PROTOCOL, UDP_PROTOCOL = 6, 17

Ways = dict[tuple[str, int | str], tuple[int, ...]]
"""(switch, port number of a host or name of a switch) -> the port numbers towards it."""
_Path = tuple[int, int, int, tuple[int, ...]]
"""What a row of the path table does, its target, copies and ports."""


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
class Tunnel:
    """A VXLAN tunnel, both ways, for what hosts plugged into one switch send to those of the other.

    What is copied between inner and outer header, and what happens if not: tunnels.py.
    """

    between: tuple[str, str]
    copy_dscp: bool = True
    copy_ecn: bool = True
    copy_back: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How switches choose ports.

    - `ways`: `shortest`: one shortest path, over the cable listed first. `ecmp`: all of them, by
      hash of the five-tuple (forwarding.py). `spray`: all of them, each packet for itself.
    - `static` routes are used before either.
    - `hash_seeds` by switch; others have the CRC-32 of their name, so all differ. Equal seeds make
      switches of several tiers choose alike: polarisation.
    - `tunnels` between switches; inside, packets go by `ways`.
    """

    ways: Literal["shortest", "ecmp", "spray"] = "shortest"
    static: tuple[StaticRoute, ...] = ()
    hash_seeds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    tunnels: tuple[Tunnel, ...] = ()


def five_tuple_hash(source: str, target: str, ports: tuple[int, int], protocol: int) -> int:
    """CRC-32 of addresses, UDP or TCP ports (source, destination) and protocol, 13 bytes."""
    text = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    text += ports[0].to_bytes(2, "big") + ports[1].to_bytes(2, "big") + bytes([protocol])
    return zlib.crc32(text)


def with_routes(
    t: Tables,
    wiring: Wiring,
    switches: list[str],
    routing: Routing,
    former_ends: Iterable[str] = (),
) -> Tables:
    """The same network with these routes. Raises ValueError for a route or tunnel that cannot be.

    The route table has a column for each host and, behind them, one for each end of a tunnel; first
    `former_ends`, those that there ever were: packets on the way to them are in these columns.
    Where no tunnel ends any more, they have no route.
    """
    ends = tuple(wiring.ports())
    hosts = [number for number, end in enumerate(ends) if isinstance(end, HostPort)]
    far_ends = dict.fromkeys([*former_ends, *tunnel_ends(wiring, routing)])
    columns: list[int | str] = [*hosts, *far_ends]
    rows: dict[_Path, int] = {}
    route = table(TABLE_TYPES["route"], max(1, len(switches) * len(columns)))
    route.port = NONE
    for (name, target), outs in all_ways(wiring, routing, far_ends).items():
        cell = route[switches.index(name) * len(columns) + columns.index(target)]
        if len(outs) == 1:
            cell.port = outs[0]
        elif outs:
            cell.port = FIRST_PATH - rows.setdefault((BALANCE, 0, 0, outs), len(rows))
    for (name, target), path in _doors(ends, hosts, columns, routing).items():
        cell = route[switches.index(name) * len(columns) + columns.index(target)]
        cell.port = FIRST_PATH - rows.setdefault(path, len(rows))
    t.clock[0].targets = len(columns)
    for row, name in enumerate(switches):
        seed = routing.hash_seeds.get(name, zlib.crc32(name.encode()))
        t.switch[row].hash_seed = seed & 0xFFFFFFFF
    return t._replace(route=route, path=_path_table(rows, spray=routing.ways == "spray"))


def _path_table(rows: Mapping[_Path, int], *, spray: bool) -> Any:
    path = table(TABLE_TYPES["path"], max(1, len(rows)))
    path.spray = int(spray)
    for (does, target, copies, outs), row in rows.items():
        path[row].does, path[row].target, path[row].copies = does, target, copies
        path[row].ways = len(outs)
        path[row].ports[: len(outs)] = np.array(outs, np.int64)
    return path


def tunnel_ends(wiring: Wiring, routing: Routing) -> list[str]:
    """The switches at which tunnels end. Raises ValueError for one that cannot be."""
    known = {end.device for end in wiring.ports() if isinstance(end, SwitchPort)}
    found: dict[str, None] = {}
    for tunnel in routing.tunnels:
        if tunnel.between[0] == tunnel.between[1] or not known.issuperset(tunnel.between):
            raise ValueError(f"a tunnel is between two switches, not {tunnel.between}")
        for name in tunnel.between:
            found[name] = None
    return list(found)


def _doors(
    ends: tuple[HostPort | SwitchPort, ...],
    hosts: list[int],
    columns: list[int | str],
    routing: Routing,
) -> dict[tuple[str, int | str], _Path]:
    """Where packets enter and leave tunnels."""
    doors: dict[tuple[str, int | str], _Path] = {}
    for tunnel in routing.tunnels:
        copies = COPY_DSCP * tunnel.copy_dscp + COPY_ECN * tunnel.copy_ecn
        copies += COPY_BACK * tunnel.copy_back
        for here, there in (tunnel.between, tunnel.between[::-1]):
            doors[there, there] = (LEAVE, 0, 0, ())
            for host in hosts:
                if ends[host ^ 1].device == there:
                    doors[here, host] = (ENTER, columns.index(there), copies, ())
    return doors


def all_ways(wiring: Wiring, routing: Routing, far_ends: Iterable[str] = ()) -> Ways:
    """Every way of these routes, to these ends of tunnels, too."""
    ways = next_hops(wiring, equal=routing.ways != "shortest")
    for name in dict.fromkeys([*far_ends, *tunnel_ends(wiring, routing)]):
        for key, outs in hops_to_switch(wiring, name).items():
            ways[key] = outs if routing.ways != "shortest" else outs[:1]
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
    found: Ways = {}
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


def next_hops(wiring: Wiring, *, equal: bool) -> Ways:
    """The port of each switch that is on a shortest path to each host; `equal`: all such ports.

    Of several shortest paths the one over the cable listed first is taken, always.
    """
    ends = tuple(wiring.ports())
    ways: Ways = {}
    for host, end in enumerate(ends):
        first = ends[host ^ 1]
        if isinstance(end, HostPort) and isinstance(first, SwitchPort):
            ways[first.device, host] = (host ^ 1,)
            for device, outs in _fan_out(ends, first.device, equal=equal).items():
                ways[device, host] = outs
    return ways


def hops_to_switch(wiring: Wiring, name: str) -> Ways:
    """Every port of each other switch that is on a shortest path to this one."""
    ends = tuple(wiring.ports())
    return {(device, name): outs for device, outs in _fan_out(ends, name, equal=True).items()}


def _fan_out(
    ends: tuple[HostPort | SwitchPort, ...], name: str, *, equal: bool
) -> dict[str, tuple[int, ...]]:
    """Breadth first from a switch: of each other one, the port towards where it was reached from.

    `equal`: all its ports that lead one step nearer, in port order.
    """
    leads: dict[str, list[int]] = {}
    for number, end in enumerate(ends):
        if isinstance(end, SwitchPort) and isinstance(ends[number ^ 1], SwitchPort):
            leads.setdefault(end.device, []).append(number)
    steps = {name: 0}
    back: dict[str, tuple[int, ...]] = {}
    frontier = deque(steps)
    while frontier:
        device = frontier.popleft()
        for lead in leads.get(device, ()):
            other = ends[lead ^ 1].device
            if other not in steps:
                steps[other] = steps[device] + 1
                back[other] = (lead ^ 1,)
                frontier.append(other)
    if not equal:
        return back
    return {
        device: tuple(p for p in leads[device] if steps[ends[p ^ 1].device] == step - 1)[:MOST_WAYS]
        for device, step in steps.items()
        if step > 0
    }
