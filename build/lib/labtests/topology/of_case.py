"""The fabric of a case file (docs/network-cases.md): its routes, and PFC as it is set."""

from collections.abc import Iterable, Iterator
from ipaddress import ip_address, ip_network
from itertools import groupby

from labtests.core.errors import InventoryError
from labtests.inventory import Readable
from labtests.inventory.document import read_file
from labtests.network import StaticRoute, SwitchPort
from labtests.network.cases import CaseFile
from labtests.network.cases.building import switch_part, wiring_of
from labtests.network.cases.device_form import PortPart
from labtests.network.cases.happenings import changed_route
from labtests.network.cases.pathways import address_of, routing_of
from labtests.topology.fabric import (
    EVERY,
    IDENTITY,
    Fabric,
    Priorities,
    SwitchCable,
    ToldRoute,
    Ways,
)


def fabric_of_case(case: CaseFile, file: str, ways: Ways | None = None) -> Fabric:
    """Of a case. Raises InventoryError for one without switches."""
    if not case.switches:
        mistakes = read_file(Readable.of(file)).mistakes
        mistakes.add(("hosts",), "there is no switch: no buffers that could wait", key=True)
        raise InventoryError(mistakes.lines())
    cables, ends, hosts = [], list[SwitchPort](), dict[str, str]()
    for cable in wiring_of(case).cables:
        if isinstance(cable.a, SwitchPort) and isinstance(cable.b, SwitchPort):
            ends += [cable.a, cable.b]
            cables.append(
                SwitchCable(
                    switches=(cable.a.device, cable.b.device),
                    ports=(cable.a.interface, cable.b.interface),
                    bits_per_s=cable.rate_bits_per_s,
                    length_m=cable.length_m,
                )
            )
        else:
            for one, other in ((cable.a, cable.b), (cable.b, cable.a)):
                if one.device in case.hosts and other.device in case.switches:
                    hosts[one.device] = other.device
    everywhere = frozenset(case.switch.pfc or ())
    lossless = {_named(end): frozenset(_part(case, end).pfc or ()) for end in ends}
    routing = routing_of(case)
    own: Ways = "shortest" if case.routing == "shortest" else "ecmp"
    return Fabric(
        name=case.name,
        switches=tuple(case.switches),
        cables=tuple(cables),
        hosts=hosts,
        ways=ways or own,
        told=_told(case, hosts, routing.static),
        everywhere=everywhere,
        lossless=lossless if any(those != everywhere for those in lossless.values()) else {},
        link_pause=dict(_link_pauses(case, ends)),
        queues=dict(_queues(case)),
        arriving={_named(end): those for end in ends if (those := _arriving(case, end)) != EVERY},
        tunnels=tuple(tunnel.between for tunnel in routing.tunnels),
        unplugged=tuple(
            " - ".join(link.between)
            for link in case.links
            if set(case.switches).isdisjoint(link.between)
        ),
        later=tuple(_later(case, hosts, routing.static)),
    )


def _named(end: SwitchPort) -> tuple[str, str]:
    return end.device, end.interface


def _part(case: CaseFile, end: SwitchPort) -> PortPart:
    """What holds for a port: its own settings, else those of its switch."""
    part = switch_part(case, end.device)
    own = (part.ports or {}).get(end.interface) or PortPart()
    return part.model_copy(update={key: each for key, each in own if each is not None})


def _link_pauses(
    case: CaseFile, ends: Iterable[SwitchPort]
) -> Iterator[tuple[tuple[str, str], tuple[bool, bool]]]:
    for end in ends:
        part = _part(case, end).link_pause
        if part is not None:
            yield _named(end), (part.send, part.obey)


def _queues(case: CaseFile) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Where the map of a switch is not the plain one."""
    for name in case.switches:
        told = switch_part(case, name).dot1p_lp or {}
        queues = tuple(told.get(i, i) for i in range(8))
        if queues != IDENTITY:
            yield name, queues


def _arriving(case: CaseFile, end: SwitchPort) -> Priorities:
    """The priorities that a switch can give to packets that come in by a port. Those with a tag
    keep theirs where it is trusted."""
    part, told = _part(case, end), switch_part(case, end.device).dscp_dot1p or {}
    if part.trust == "none":
        return frozenset({0})
    if part.trust == "dot1p":
        return EVERY
    return frozenset(told.get(dscp, dscp // 8) for dscp in range(64))


def _later(
    case: CaseFile, hosts: dict[str, str], static: tuple[StaticRoute, ...]
) -> Iterator[tuple[float, tuple[ToldRoute, ...]]]:
    """Explicit routes after each time at which `events` change some; all of one time together."""
    events = sorted((e for e in case.events if e.do == "route"), key=lambda each: each.at_us)
    for at_us, those in groupby(events, key=lambda each: each.at_us):
        for event in those:
            static = changed_route(case, static, event)
        yield at_us, _told(case, hosts, static)


def _told(
    case: CaseFile, hosts: dict[str, str], static: tuple[StaticRoute, ...]
) -> tuple[ToldRoute, ...]:
    """The longest prefix decides, of equal ones the last; a prefix is not used at a host's own
    switch (labtests/network/paths.py)."""
    routes = sorted(static, key=lambda route: ip_network(route.to, strict=False).prefixlen)
    return tuple(
        ToldRoute(switch=route.switch, hosts=frozenset(_meant(case, hosts, route)), via=route.via)
        for route in routes
    )


def _meant(case: CaseFile, hosts: dict[str, str], route: StaticRoute) -> list[str]:
    network = ip_network(route.to, strict=False)
    return [
        host
        for host, switch in hosts.items()
        if ip_address(address_of(case, host)) in network
        and (network.prefixlen == network.max_prefixlen or switch != route.switch)
    ]
