"""What a check knows of each device, read side by side: a value, or Unknown with the reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from labtests.capabilities.device import Entitled, MemoryLimits, Obstacles, Versions
from labtests.capabilities.facts import (
    Caveats,
    DcbxState,
    DcbxView,
    LinkErrors,
    LinkFacts,
    LinkState,
    Neighbour,
    Neighbours,
    OwnClock,
    RoceFacts,
    RocePorts,
    TaggedPorts,
    Tags,
)
from labtests.capabilities.readings import ClockReading, Reading
from labtests.capabilities.records import PortMemory
from labtests.capabilities.settings import CABLE_LENGTH, DCBX, DSCP_MAP, PFC, QUEUE_MAP, TRUST, Kind
from labtests.check.finding import Unknown
from labtests.check.rights import Rights, rights
from labtests.core.errors import CommandRejected, DeviceError, LabError
from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint
from labtests.lab.lab import Lab, ports_of
from labtests.measure.evidence import Difference, Key, differences
from labtests.measure.telemetry import Telemetry, Watch
from labtests.transport.asking import Asking, both, by_name, known, side_by_side
from labtests.transport.ssh.connecting import SHELL
from labtests.transport.ssh.supervision import KILL_AFTER_S
from labtests.workloads.leftovers import Leftover, leftovers

Value = TypeVar("Value")
Able = TypeVar("Able")

COMPARED: tuple[Kind[Any], ...] = (PFC, TRUST, DSCP_MAP, DCBX)
"""Settings that have to be the same at both ends of a cable."""

HELD_AGAINST_CABLES: tuple[Kind[Any], ...] = (CABLE_LENGTH,)
"""Settings that have to suit the cable of the testbed file."""

COMPARED_WHOLE: tuple[Kind[Any], ...] = (QUEUE_MAP,)
"""Settings of a whole device that have to be the same at both ends of a cable between switches."""


ENDING_S = 2.0 * KILL_AFTER_S
"""So long the processes of a run that has ended may still be seen (ssh/supervision.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One device. What it has no ability for is absent: no key, or None."""

    name: str
    host: bool = False  # has NICs, and sends and receives
    obstacles: tuple[str, ...] | Unknown = ()
    caveats: tuple[str, ...] | Unknown = ()
    versions: dict[str, str] | Unknown | None = None
    clock: ClockReading | Unknown | None = None
    neighbours: tuple[Neighbour, ...] | Unknown | None = None
    left: tuple[Leftover, ...] | Unknown | None = None
    rights: Rights | Unknown | None = None
    links: Mapping[str, LinkFacts | Unknown] = field(default_factory=dict)
    roces: Mapping[str, RoceFacts | Unknown] = field(default_factory=dict)
    memory: Mapping[str, PortMemory | Unknown] = field(default_factory=dict)
    tags: Mapping[str, Tags | Unknown | None] = field(default_factory=dict)  # of VLANs' ports
    dcbx: Mapping[str, DcbxState | Unknown] = field(default_factory=dict)
    settings: Mapping[tuple[str, str], object] = field(default_factory=dict)


def gather(lab: Lab) -> dict[str, Known]:
    """All of it, by device; what an account may do not in a plan, as it has to be tried. What a run
    that has just ended has left is looked at again a moment later: supervisors end their processes
    within seconds."""
    known = lab.of_each(lambda device: _known(lab, device))
    left = [d for d in lab.testbed.devices if isinstance(known[d.name].left, tuple)]
    left = [device for device in left if known[device.name].left]
    if left:
        lab.clock.sleep(ENDING_S)
    for device in left:
        known[device.name] = replace(known[device.name], left=_left(lab, device))
    return known


def _known(lab: Lab, device: Device) -> Known:
    known = replace(lab.ask(device.name, _told_of(lab, device)), left=_left(lab, device))
    denied = may_not(lab, device) if lab.planned is None else ()
    if isinstance(known.obstacles, Unknown) or isinstance(denied, Unknown):
        unknown = known.obstacles if isinstance(known.obstacles, Unknown) else denied
        return replace(known, obstacles=unknown)
    return replace(known, obstacles=(*denied, *known.obstacles))


def _told_of(lab: Lab, device: Device) -> Asking[Known]:
    """All that questions tell."""
    facts = by_name(
        {
            "obstacles": _asked(lab, device, Obstacles, lambda part: part.obstacles()),
            "caveats": _asked(lab, device, Caveats, lambda part: part.caveats()),
            "versions": _asked(lab, device, Versions, lambda part: part.versions()),
            "clock": _asked(lab, device, OwnClock, lambda part: part.own_clock()),
            "neighbours": _asked(lab, device, Neighbours, lambda part: part.neighbours()),
            "rights": rights(device),
        }
    )
    links = _of_ports(lab, device, LinkState, lambda part, port: part.link(port))
    roces = _of_ports(lab, device, RocePorts, lambda part, port: part.roce(port))
    dcbx = _of_ports(lab, device, DcbxView, lambda part, port: part.dcbx_state(port))
    memory = _of_ports(lab, device, MemoryLimits, lambda part, port: part.memory_limits(port))
    set_there = both(both(_settings(lab, device), memory), both(_tags(lab, device), dcbx))
    found, ports = yield from both(facts, both(both(links, roces), set_there))
    told: dict[str, Any] = {name: value for name, value in found.items() if value is not None}
    (of_links, of_roces), ((of_settings, held), (tags, of_dcbx)) = ports
    return Known(
        name=device.name,
        host=driver_module(device.platform).KIND == "host",
        links=of_links,
        roces=_with_rdma(of_roces),
        memory=held,
        tags=tags,
        settings=of_settings,
        dcbx=of_dcbx,
        **told,
    )


def may_not(lab: Lab, device: Device) -> tuple[str, ...] | Unknown:
    """What a device that shows it only when it is tried does not let this account do."""
    entitled = lab.drivers[device.name].able(Entitled)
    if entitled is None:
        return ()
    try:
        lines = lab.ask(device.name, entitled.trial())
        if lines:
            entitled.expect_entitled(lines, lab.transports[device.name].configure(lines))
    except CommandRejected as error:  # also by configure(): it may not enter configuration mode
        return (f"this account cannot change settings: {error.problem}; {error.remedy}",)
    except LabError as error:
        return _unknown(error)
    return ()


def _settings(lab: Lab, device: Device) -> Asking[dict[tuple[str, str], object]]:
    kinds = (*COMPARED, *HELD_AGAINST_CABLES)
    each = [(port.interface, kind) for port in device.ports for kind in kinds]
    each += [("", kind) for kind in COMPARED_WHOLE]
    return by_name(
        {
            (port, kind.name): told(
                lab.setting(Endpoint(device=device.name, interface=port), kind).read(port)
            )
            for port, kind in each
            if lab.has(device.name, kind)
        }
    )


def _tags(lab: Lab, device: Device) -> Asking[dict[str, Tags | Unknown | None]]:
    part = lab.drivers[device.name].able(TaggedPorts)
    vlans = {port.interface: port.vlan for port in device.ports if port.vlan is not None}
    if part is None:
        return known(dict.fromkeys(vlans, Unknown(why="its platform tells nothing of VLANs")))
    return by_name(
        {port: told(part.tags(port, vlan.interface(port), vlan.id)) for port, vlan in vlans.items()}
    )


def told(asking: Asking[Value]) -> Asking[Value | Unknown]:
    """What is answered, or why it is not."""
    try:
        return (yield from asking)
    except LabError as error:
        return _unknown(error)


def _unknown(error: LabError) -> Unknown:
    if not isinstance(error, DeviceError):
        return Unknown(why=str(error))
    return Unknown(why=error.problem, device=error.device, remedy=error.remedy)


def _asked(
    lab: Lab, device: Device, ability: type[Able], ask: Callable[[Able], Asking[Value]]
) -> Asking[Value | Unknown | None]:
    part = lab.drivers[device.name].able(ability)
    return known(None) if part is None else _or_none(told(ask(part)))


def _or_none(asking: Asking[Value]) -> Asking[Value | None]:
    return (yield from asking)


def _of_ports(
    lab: Lab, device: Device, ability: type[Able], ask: Callable[[Able, str], Asking[Value]]
) -> Asking[dict[str, Value | Unknown]]:
    part = lab.drivers[device.name].able(ability)
    ports = () if part is None else ports_of(device)
    return by_name({port: told(ask(part, port)) for port in ports if part is not None})


def _with_rdma(ports: Mapping[str, RoceFacts | Unknown | None]) -> dict[str, RoceFacts | Unknown]:
    return {port: facts for port, facts in ports.items() if facts is not None}


def _left(lab: Lab, device: Device) -> tuple[Leftover, ...] | Unknown | None:
    if driver_module(device.platform).SESSION != SHELL:
        return None
    try:
        return leftovers(lab.transports[device.name], "")
    except LabError as error:
        return _unknown(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """What grew while nothing of ours ran, in `seconds` of the lab's clock."""

    seconds: float
    counters: Mapping[Key, Difference] | Unknown
    errors: Mapping[Key, Difference] | Unknown


class Watching:
    """All counters twice, at least so long apart: the first time now."""

    def __init__(self, lab: Lab, seconds: float) -> None:
        self._lab, self._clock, self._seconds = lab, lab.clock, seconds
        self._first = _counted(lab)
        self._begun_s = lab.clock.now_s()

    def ended(self, progress: Callable[[str], None] = lambda _: None) -> Idle:
        """What grew. Whatever was asked meanwhile has used the time as well."""
        left_s = self._begun_s + self._seconds - self._clock.now_s()
        if left_s > 0:
            progress(f"watching idle counters for another {left_s:.1f} s")
            self._clock.sleep(left_s)
        seconds = self._clock.now_s() - self._begun_s
        second = _counted(self._lab)
        return Idle(
            seconds=seconds,
            counters=_grown(self._first[0], second[0]),
            errors=_grown(self._first[1], second[1]),
        )


Readings = tuple[Reading, ...] | Unknown


def _grown(before: Readings, after: Readings) -> Mapping[Key, Difference] | Unknown:
    if isinstance(before, Unknown):
        return before
    return after if isinstance(after, Unknown) else differences(before, after)


def _counted(lab: Lab) -> tuple[Readings, Readings]:
    """All counters, and those of bad cables, in as few exchanges as can be."""
    ports = {device.name: ports_of(device) for device in lab.testbed.devices}
    watch = Watch(ports=ports, bottleneck=("", ""))
    try:
        counters: Readings = Telemetry(lab, lab.clock).snapshot(watch)
    except LabError as error:
        counters = _unknown(error)
    errors = lab.of_each(
        lambda device: lab.ask(device.name, told(_errors(lab, device)), "errors of cables")
    )
    unread = [each for each in errors.values() if isinstance(each, Unknown)]
    if unread:
        return counters, unread[0]
    return counters, tuple(r for each in errors.values() for r in each)  # type: ignore[union-attr]


def _errors(lab: Lab, device: Device) -> Asking[tuple[Reading, ...]]:
    part = lab.drivers[device.name].able(LinkErrors)
    if part is None:
        return ()
    each = yield from side_by_side([part.link_errors(port) for port in ports_of(device)])
    return tuple(reading for readings in each for reading in readings)
