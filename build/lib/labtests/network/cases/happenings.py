"""The events of a case: links go down and up, lose or corrupt frames, routes change."""

from dataclasses import replace

from labtests.inventory.form import exactly
from labtests.inventory.mistakes import Mistakes
from labtests.inventory.mistakes import Path as Where
from labtests.network import Network, Script, StaticRoute
from labtests.network.cases.device_form import RoutePart
from labtests.network.cases.form import CaseFile, EventPart
from labtests.network.cases.pathways import check_known, check_route, ports_of, static_route
from labtests.network.cases.pauses import HOST_INTERFACE, NS_PER_US

BELONGS = {
    "until_us": ("down", "lose", "corrupt"),
    "frames": ("lose", "corrupt"),
    "every": ("lose", "corrupt"),
    "to": ("route",),
    "via": ("route",),
}
"""Which keys go with which events."""


def moments(case: CaseFile) -> set[int]:
    """The times in ns at which something happens."""
    starts = {_ns(event.at_us) for event in case.events}
    return starts | {_ns(e.until_us) for e in case.events if e.do == "down" and e.until_us}


def happen(network: Network, case: CaseFile, time_ns: int) -> None:
    """What is due at this time happens, in the order of the file; ends before beginnings."""
    for event in case.events:
        if event.do == "down" and event.until_us and _ns(event.until_us) == time_ns:
            network.restore(event.device, _port(event))
    for event in case.events:
        if _ns(event.at_us) == time_ns:
            _begin(network, case, event)


def _begin(network: Network, case: CaseFile, event: EventPart) -> None:
    if event.do == "down":
        network.cut(event.device, _port(event))
    elif event.do == "up":
        network.restore(event.device, _port(event))
    elif event.do == "route":
        _change_route(network, case, event)
    else:
        for script in _scripts(event):
            network.impair(event.device, _port(event), script)


def _scripts(event: EventPart) -> list[Script]:
    script = Script(
        damage="lost" if event.do == "lose" else "corrupted",
        frames=event.of,
        from_ns=_ns(event.at_us),
    )
    if event.until_us is not None:
        script = replace(script, until_ns=_ns(event.until_us))
    if event.frames is not None:
        return [replace(script, first=n, last=n) for n in event.frames]
    every = event.every or 1
    return [replace(script, first=every, every=every)]


def _change_route(network: Network, case: CaseFile, event: EventPart) -> None:
    static = changed_route(case, network.routing.static, event)
    network.reroute(replace(network.routing, static=static))


def changed_route(
    case: CaseFile, old: tuple[StaticRoute, ...], event: EventPart
) -> tuple[StaticRoute, ...]:
    """A static route of the same switch and target is replaced, or withdrawn."""
    new = static_route(case, event.device, _route(event))
    kept = tuple(r for r in old if (r.switch, r.to) != (new.switch, new.to))
    return kept if event.via is None else (*kept, new)


def _route(event: EventPart) -> RoutePart:
    return RoutePart(to=event.to or "", via=[] if event.via is None else event.via)


def _port(event: EventPart) -> str:
    return event.port or HOST_INTERFACE


def _ns(us: float) -> int:
    return round(us * NS_PER_US)


def check_events(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes events that cannot be."""
    for number, event in enumerate(case.events):
        path: Where = ("events", number)
        known = {*case.hosts, *case.switches}
        if event.device not in known:
            check_known(event.device, known, (*path, "device"), mistakes)
        elif event.do == "route":
            _check_change(case, event, path, mistakes)
        else:
            _check_port(case, event, path, mistakes)
        _check_keys(event, path, mistakes)
        if event.at_us > case.duration_ms * 1000:
            mistakes.add((*path, "at_us"), "is behind the end of the case")
        if event.until_us is not None and event.until_us <= event.at_us:
            mistakes.add((*path, "until_us"), f"must be later than at_us ({exactly(event.at_us)})")


def _check_keys(event: EventPart, path: Where, mistakes: Mistakes) -> None:
    for key, kinds in BELONGS.items():
        if getattr(event, key) is not None and event.do not in kinds:
            mistakes.add((*path, key), f"goes with {', '.join(kinds)}, not with {event.do}")
    if event.frames is not None and event.every is not None:
        mistakes.add((*path, "every"), "either frames or every")


def _check_port(case: CaseFile, event: EventPart, path: Where, mistakes: Mistakes) -> None:
    if event.device in case.hosts:
        if event.port not in (None, HOST_INTERFACE):
            mistakes.add((*path, "port"), f"a host has one port, {HOST_INTERFACE}")
        return
    ports = ports_of(case, event.device)
    if event.port is None:
        mistakes.add(path, f"which port of {event.device}? add port: {' or '.join(ports)}")
    else:
        check_known(event.port, ports, (*path, "port"), mistakes)


def _check_change(case: CaseFile, event: EventPart, path: Where, mistakes: Mistakes) -> None:
    if event.device not in case.switches:
        mistakes.add((*path, "device"), f"{event.device} is not a switch: hosts have no routes")
    elif event.to is None:
        mistakes.add(path, "a route needs `to`")
    else:
        check_route(case, event.device, _route(event), path, mistakes)
