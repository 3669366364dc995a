"""The fabric of a case file (docs/network-cases.md): its routes, and PFC as it is set."""

from dataclasses import replace
from ipaddress import ip_address, ip_network

from labtests.core.errors import InventoryError
from labtests.inventory import Readable
from labtests.inventory.document import read_file
from labtests.network import StaticRoute, SwitchPort
from labtests.network.cases import CaseFile
from labtests.network.cases.building import switch_part, wiring_of
from labtests.network.cases.pathways import address_of, routing_of
from labtests.topology.fabric import Fabric, Priorities, SwitchCable, ToldRoute, Ways


def fabric_of_case(case: CaseFile, file: str, ways: Ways | None = None) -> Fabric:
    """Of a case. Raises InventoryError for one without switches. What its tunnels carry goes by the
    shortest paths between their ends, as everything does."""
    if not case.switches:
        mistakes = read_file(Readable.of(file)).mistakes
        mistakes.add(("hosts",), "there is no switch: no buffers that could wait", key=True)
        raise InventoryError(mistakes.lines())
    cables, lossless, hosts = [], dict[tuple[str, str], Priorities](), dict[str, str]()
    for cable in wiring_of(case).cables:
        if isinstance(cable.a, SwitchPort) and isinstance(cable.b, SwitchPort):
            ends = (cable.a, cable.b)
            cables.append(
                SwitchCable(
                    switches=(cable.a.device, cable.b.device),
                    ports=(cable.a.interface, cable.b.interface),
                    bits_per_s=cable.rate_bits_per_s,
                    length_m=cable.length_m,
                )
            )
            lossless |= {(end.device, end.interface): _lossless(case, end) for end in ends}
        else:
            for one, other in ((cable.a, cable.b), (cable.b, cable.a)):
                if one.device in case.hosts and other.device in case.switches:
                    hosts[one.device] = other.device
    single = case.routing == "shortest" and not case.tunnels
    given: Ways = ways or ("shortest" if single else "ecmp")
    made = Fabric(
        name=case.name,
        switches=tuple(case.switches),
        cables=tuple(cables),
        hosts=hosts,
        ways=given,
        told=_told(case, hosts),
        everywhere=frozenset(case.switch.pfc or ()),
        lossless=lossless,
        share_queue=_shared(case),
    )
    alike = all(those == made.everywhere for those in lossless.values())
    return replace(made, lossless={}) if alike else made


def _lossless(case: CaseFile, end: SwitchPort) -> Priorities:
    part = switch_part(case, end.device)
    own = (part.ports or {}).get(end.interface)
    return frozenset((part.pfc if own is None or own.pfc is None else own.pfc) or ())


def _shared(case: CaseFile) -> tuple[Priorities, ...]:
    """Priorities that some switch has in one queue."""
    found = set[Priorities]()
    for name in case.switches:
        queues = switch_part(case, name).dot1p_lp or {}
        for queue in range(8):
            those = frozenset(i for i in range(8) if queues.get(i, i) == queue)
            found |= {those} if len(those) > 1 else set()
    return tuple(found)


def _told(case: CaseFile, hosts: dict[str, str]) -> tuple[ToldRoute, ...]:
    """The longest prefix decides, of equal ones the last; a prefix is not used at a host's own
    switch (labtests/network/paths.py)."""
    routes = sorted(routing_of(case).static, key=lambda route: ip_network(route.to).prefixlen)
    return tuple(
        ToldRoute(switch=route.switch, hosts=frozenset(_meant(case, hosts, route)), via=route.via)
        for route in routes
    )


def _meant(case: CaseFile, hosts: dict[str, str], route: StaticRoute) -> list[str]:
    network = ip_network(route.to)
    return [
        host
        for host, switch in hosts.items()
        if ip_address(address_of(case, host)) in network
        and (network.prefixlen == network.max_prefixlen or switch != route.switch)
    ]
