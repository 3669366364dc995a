"""What a check knows of each device, read side by side: a value, or Unknown with the reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from labtests.capabilities.device import Entitled, Obstacles, Versions
from labtests.capabilities.facts import (
    Caveats,
    ClockReading,
    LinkErrors,
    LinkFacts,
    LinkState,
    Neighbour,
    Neighbours,
    OwnClock,
    RoceFacts,
    RocePorts,
)
from labtests.capabilities.records import Reading
from labtests.capabilities.settings import DSCP_MAP, PFC, QUEUE_MAP, TRUST, Kind
from labtests.check.finding import Unknown
from labtests.check.rights import Rights, rights
from labtests.core.errors import CommandRejected, DeviceError, LabError
from labtests.drivers import driver_module
from labtests.measure.evidence import Difference, Key, differences
from labtests.measure.telemetry import Telemetry, Watch
from labtests.recovery.snapshot import Reader, in_parallel
from labtests.transport.asking import Asking, both, by_name, known, side_by_side
from labtests.transport.protocol import Clock
from labtests.transport.ssh.connecting import SHELL
from labtests.transport.ssh.supervision import KILL_AFTER_S
from labtests.workloads.leftovers import Leftover, leftovers

Value = TypeVar("Value")
Able = TypeVar("Able")

COMPARED: tuple[Kind[Any], ...] = (PFC, TRUST, DSCP_MAP)
"""Settings that have to be the same at both ends of a cable."""

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
    settings: Mapping[tuple[str, str], object] = field(default_factory=dict)


def gather(readers: Sequence[Reader], clock: Clock, *, tried: bool = True) -> dict[str, Known]:
    """All of it, by device; what an account may do only where that may be `tried`. What a run that
    has just ended has left is looked at again a moment later: supervisors end their processes
    within seconds."""
    known = in_parallel(readers, lambda reader: _known(reader, tried=tried))
    left = [reader for reader in readers if isinstance(known[reader.device.name].left, tuple)]
    left = [reader for reader in left if known[reader.device.name].left]
    if left:
        clock.sleep(ENDING_S)
    for reader in left:
        name = reader.device.name
        known[name] = replace(known[name], left=_left(reader))
    return known


def _known(reader: Reader, *, tried: bool) -> Known:
    known = replace(reader.ask(_told_of(reader)), left=_left(reader))
    denied = may_not(reader) if tried else ()
    if isinstance(known.obstacles, Unknown) or isinstance(denied, Unknown):
        unknown = known.obstacles if isinstance(known.obstacles, Unknown) else denied
        return replace(known, obstacles=unknown)
    return replace(known, obstacles=(*denied, *known.obstacles))


def _told_of(reader: Reader) -> Asking[Known]:
    """All that questions tell."""
    facts = by_name(
        {
            "obstacles": _asked(reader, Obstacles, lambda part: part.obstacles()),
            "caveats": _asked(reader, Caveats, lambda part: part.caveats()),
            "versions": _asked(reader, Versions, lambda part: part.versions()),
            "clock": _asked(reader, OwnClock, lambda part: part.own_clock()),
            "neighbours": _asked(reader, Neighbours, lambda part: part.neighbours()),
            "rights": rights(reader),
        }
    )
    links = _of_ports(reader, LinkState, lambda part, port: part.link(port))
    roces = _of_ports(reader, RocePorts, lambda part, port: part.roce(port))
    found, ports = yield from both(facts, both(both(links, roces), _settings(reader)))
    told: dict[str, Any] = {name: value for name, value in found.items() if value is not None}
    (of_links, of_roces), of_settings = ports
    return Known(
        name=reader.device.name,
        host=driver_module(reader.device.platform).KIND == "host",
        links=of_links,
        roces=_with_rdma(of_roces),
        settings=of_settings,
        **told,
    )


def may_not(reader: Reader) -> tuple[str, ...] | Unknown:
    """What a device that shows it only when it is tried does not let this account do."""
    entitled = reader.able(Entitled)
    if entitled is None:
        return ()
    try:
        lines = reader.ask(entitled.trial())
        if lines:
            entitled.expect_entitled(lines, reader.exchanges.configure(lines))
    except CommandRejected as error:  # also by configure(): it may not enter configuration mode
        return (f"this account cannot set anything: {error.problem}; {error.remedy}",)
    except LabError as error:
        return _unknown(error)
    return ()


def _settings(reader: Reader) -> Asking[dict[tuple[str, str], object]]:
    each = [(port, kind) for port in reader.ports for kind in COMPARED]
    each += [("", kind) for kind in COMPARED_WHOLE]
    return by_name(
        {
            (port, kind.name): told(reader.setting(port, kind))
            for port, kind in each
            if kind in reader.settings
        }
    )


def told(asking: Asking[Value]) -> Asking[Value | Unknown]:
    """What is answered, or why it is not."""
    try:
        return (yield from asking)
    except LabError as error:
        return _unknown(error)


def _unknown(error: LabError) -> Unknown:
    return Unknown(why=error.problem if isinstance(error, DeviceError) else str(error))


def _asked(
    reader: Reader, ability: type[Able], ask: Callable[[Able], Asking[Value]]
) -> Asking[Value | Unknown | None]:
    part = reader.able(ability)
    return known(None) if part is None else _or_none(told(ask(part)))


def _or_none(asking: Asking[Value]) -> Asking[Value | None]:
    return (yield from asking)


def _of_ports(
    reader: Reader, ability: type[Able], ask: Callable[[Able, str], Asking[Value]]
) -> Asking[dict[str, Value | Unknown]]:
    part = reader.able(ability)
    ports = () if part is None else reader.ports
    return by_name({port: told(ask(part, port)) for port in ports if part is not None})


def _with_rdma(ports: Mapping[str, RoceFacts | Unknown | None]) -> dict[str, RoceFacts | Unknown]:
    return {port: facts for port, facts in ports.items() if facts is not None}


def _left(reader: Reader) -> tuple[Leftover, ...] | Unknown | None:
    if driver_module(reader.device.platform).SESSION != SHELL:
        return None
    try:
        return leftovers(reader.exchanges, "")
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

    def __init__(self, readers: Sequence[Reader], clock: Clock, seconds: float) -> None:
        self._readers, self._clock, self._seconds = readers, clock, seconds
        self._first = _counted(readers, clock)
        self._begun_s = clock.now_s()

    def ended(self, progress: Callable[[str], None] = lambda _: None) -> Idle:
        """What grew. Whatever was asked meanwhile has used the time as well."""
        left_s = self._begun_s + self._seconds - self._clock.now_s()
        if left_s > 0:
            progress(f"watching the counters of the idle lab for {left_s:.1f} s more")
            self._clock.sleep(left_s)
        seconds = self._clock.now_s() - self._begun_s
        second = _counted(self._readers, self._clock)
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


def _counted(readers: Sequence[Reader], clock: Clock) -> tuple[Readings, Readings]:
    """All counters, and those of bad cables, in as few exchanges as can be."""
    watch = Watch(
        ports={reader.device.name: reader.ports for reader in readers}, bottleneck=("", "")
    )
    try:
        counters: Readings = Telemetry(_Sessions(readers), clock).snapshot(watch)
    except LabError as error:
        counters = _unknown(error)
    errors = in_parallel(
        readers, lambda reader: reader.ask(told(_errors(reader)), "errors of cables")
    )
    unread = [each for each in errors.values() if isinstance(each, Unknown)]
    if unread:
        return counters, unread[0]
    return counters, tuple(r for each in errors.values() for r in each)  # type: ignore[union-attr]


def _errors(reader: Reader) -> Asking[tuple[Reading, ...]]:
    part = reader.able(LinkErrors)
    if part is None:
        return ()
    each = yield from side_by_side([part.link_errors(port) for port in reader.ports])
    return tuple(reading for readings in each for reading in readings)


class _Sessions:
    """Readers, as telemetry asks devices."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = {reader.device.name: reader for reader in readers}

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """See telemetry.Devices."""
        found = {name: reader.able(ability) for name, reader in self._readers.items()}
        return {name: part for name, part in found.items() if part is not None}

    def ask(self, device: str, asking: Asking[Value], *occasions: str) -> Value:
        """See telemetry.Devices."""
        return self._readers[device].ask(asking, *occasions)
