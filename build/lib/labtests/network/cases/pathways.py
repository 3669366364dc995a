"""The routes of a case: what its switches' `routes` and its `routing` mean, and what is wrong."""

from collections import Counter
from collections.abc import Collection
from ipaddress import ip_network

from labtests.inventory.mistakes import Mistakes, nearest, quoted
from labtests.inventory.mistakes import Path as Where
from labtests.network import Routing, StaticRoute, Tunnel
from labtests.network.cases.device_form import RoutePart, SwitchPart
from labtests.network.cases.form import CaseFile

ANY = "any"
EVERYTHING = "0.0.0.0/0"


def address_of(case: CaseFile, host: str) -> str:
    """The address of a host in the network of this case: 10.0.0.1 and on, in the file's order."""
    number = list(case.hosts).index(host) + 1
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def ports_of(case: CaseFile, device: str) -> dict[str, str]:
    """Ports of a switch -> the devices they lead to: `s2`, and `s2#2` for a second link to it."""
    used: Counter[str] = Counter()
    found = {}
    for link in case.links:
        for one, other in (link.between, link.between[::-1]):
            if one == device:
                used[other] += 1
                found[other if used[other] == 1 else f"{other}#{used[other]}"] = other
    return found


def check_known(
    name: str, known: Collection[str], path: Where, mistakes: Mistakes, *, key: bool = False
) -> None:
    """Notes a name that nothing has."""
    if name not in known:
        mistakes.add(path, f"{quoted(name)} is not there: {nearest(name, known)}", key=key)


def routing_of(case: CaseFile) -> Routing:
    """How the switches of a case choose ports."""
    seeds, routes = {}, []
    for name in case.switches:
        part = case.switches[name] or SwitchPart()
        seed = case.switch.hash_seed if part.hash_seed is None else part.hash_seed
        if seed is not None:
            seeds[name] = seed
        for route in part.routes or ():
            routes.append(static_route(case, name, route))
    tunnels = tuple(
        Tunnel(**part.model_dump(exclude={"between"}), between=(part.between[0], part.between[1]))
        for part in case.tunnels
    )
    return Routing(ways=case.routing, static=tuple(routes), hash_seeds=seeds, tunnels=tunnels)


def static_route(case: CaseFile, switch: str, route: RoutePart) -> StaticRoute:
    """One entry of a switch's `routes`."""
    to = address_of(case, route.to) if route.to in case.hosts else route.to
    via = [route.via] if isinstance(route.via, str) else route.via
    return StaticRoute(switch=switch, to=EVERYTHING if to == ANY else to, via=tuple(via))


def check_routes(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes static routes that name nothing, or lead to a host that does not forward."""
    for number, route in enumerate(case.switch.routes or ()):
        mistakes.add(("switch", "routes", number), f"routes to {route.to} belong to one switch")
    for name, part in case.switches.items():
        for number, route in enumerate(part.routes or () if part else ()):
            check_route(case, name, route, ("switches", name, "routes", number), mistakes)
    for number, tunnel in enumerate(case.tunnels):
        for end, name in enumerate(tunnel.between):
            if name not in case.switches:
                problem = f"{quoted(name)} is not a switch: {nearest(name, case.switches)}"
                mistakes.add(("tunnels", number, "between", end), problem)
        if tunnel.between[0] == tunnel.between[1]:
            mistakes.add(("tunnels", number, "between"), "both ends are the same switch")


def parts(case: CaseFile) -> dict[str, str]:
    """Of each device the part of the network that it is in: links join what is in the same one."""
    beside: dict[str, set[str]] = {name: set() for name in (*case.hosts, *case.switches)}
    for link in case.links:
        for one, other in (link.between, link.between[::-1]):
            beside.setdefault(one, set()).add(other)
    found: dict[str, str] = {}
    for first in beside:
        reached = [first]
        while reached:
            name = reached.pop()
            if name not in found:
                found[name] = first
                reached += beside[name]
    return found


def check_route(
    case: CaseFile, switch: str, route: RoutePart, path: Where, mistakes: Mistakes
) -> None:
    """Notes what is wrong with one static route."""
    ports = ports_of(case, switch)
    if route.to not in case.hosts and route.to != ANY and not _is_prefix(route.to):
        mistakes.add(
            (*path, "to"),
            f"{quoted(route.to)} is neither a host, a prefix such as 10.0.0.0/8, nor `{ANY}`: "
            f"{nearest(route.to, case.hosts)}",
        )
    for name in [route.via] if isinstance(route.via, str) else route.via:
        if name not in ports:
            mistakes.add((*path, "via"), f"{quoted(name)} is not there: {nearest(name, ports)}")
        elif ports[name] in case.hosts and ports[name] != route.to:
            mistakes.add((*path, "via"), f"{name} is a host and forwards nothing to {route.to}")


def _is_prefix(text: str) -> bool:
    try:
        return ip_network(text, strict=False).version == 4
    except ValueError:
        return False
