"""What a check knows of each device, read side by side: a value, or Unknown with the reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from labtests.capabilities.device import Entitled, NicTelemetry, Obstacles, Versions
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
from labtests.check.finding import Unknown
from labtests.check.rights import Rights, rights
from labtests.core.errors import DeviceError, LabError
from labtests.drivers import driver_module
from labtests.measure.evidence import Difference, Key, differences
from labtests.measure.prefetch import at_once
from labtests.measure.telemetry import Telemetry, Watch
from labtests.recovery.snapshot import Reader, in_parallel
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.connecting import SHELL
from labtests.transport.ssh.supervision import KILL_AFTER_S
from labtests.workloads.leftovers import Leftover, leftovers

Value = TypeVar("Value")
Able = TypeVar("Able")

COMPARED = ("pfc", "trust", "dscp_map")
"""Settings that have to be the same at both ends of a cable."""

COMPARED_WHOLE = ("queue_map",)
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
    with reader.asked_at_once(
        lambda ahead: (*ahead.state_commands(reader.ports), *ahead.counter_commands(reader.ports))
    ):
        return Known(
            name=reader.device.name,
            host=reader.able(NicTelemetry) is not None,
            obstacles=_in_the_way(reader, tried=tried),
            caveats=_asked(reader, Caveats, lambda d: d.caveats()) or (),
            versions=_asked(reader, Versions, lambda d: d.versions()),
            clock=_asked(reader, OwnClock, lambda d: d.own_clock()),
            neighbours=_asked(reader, Neighbours, lambda d: d.neighbours()),
            left=_left(reader),
            rights=rights(reader),
            links=_of_ports(reader, LinkState, lambda d, port: d.link(port)),
            roces=_with_rdma(_of_ports(reader, RocePorts, lambda d, port: d.roce(port))),
            settings=_settings(reader),
        )


def _in_the_way(reader: Reader, *, tried: bool) -> tuple[str, ...] | Unknown:
    found = _asked(reader, Obstacles, lambda d: d.obstacles()) or ()
    may_not = (_asked(reader, Entitled, lambda d: d.refusals()) or ()) if tried else ()
    if isinstance(found, Unknown) or isinstance(may_not, Unknown):
        return found if isinstance(found, Unknown) else may_not
    return (*may_not, *found)


def _settings(reader: Reader) -> dict[tuple[str, str], object]:
    each = [(port, name) for port in reader.ports for name in COMPARED]
    each += [("", name) for name in COMPARED_WHOLE]
    return {
        (port, name): told(lambda p=port, n=name: reader.setting(p, n))  # type: ignore[misc]
        for port, name in each
        if name in reader.settings
    }


def told(ask: Callable[[], Value]) -> Value | Unknown:
    """What is answered, or why it is not."""
    try:
        return ask()
    except DeviceError as error:
        return Unknown(why=error.problem)
    except LabError as error:
        return Unknown(why=str(error))


def _asked(
    reader: Reader, ability: type[Able], ask: Callable[[Able], Value]
) -> Value | Unknown | None:
    device = reader.able(ability)
    return None if device is None else told(lambda: ask(device))


def _of_ports(
    reader: Reader, ability: type[Able], ask: Callable[[Able, str], Value]
) -> dict[str, Value | Unknown]:
    device = reader.able(ability)
    if device is None:
        return {}
    return {port: told(lambda p=port: ask(device, p)) for port in reader.ports}  # type: ignore[misc]


def _with_rdma(ports: Mapping[str, RoceFacts | Unknown | None]) -> dict[str, RoceFacts | Unknown]:
    return {port: facts for port, facts in ports.items() if facts is not None}


def _left(reader: Reader) -> tuple[Leftover, ...] | Unknown | None:
    if driver_module(reader.device.platform).SESSION != SHELL:
        return None
    return told(lambda: leftovers(reader.exchanges, ""))


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
    sessions = _Sessions(readers)
    watch = Watch(
        ports={reader.device.name: reader.ports for reader in readers}, bottleneck=("", "")
    )
    counters = told(lambda: Telemetry(sessions, clock).snapshot(watch))
    errors = in_parallel(readers, lambda reader: told(lambda: _errors(reader, sessions)))
    unread = [each for each in errors.values() if isinstance(each, Unknown)]
    if unread:
        return counters, unread[0]
    return counters, tuple(r for each in errors.values() for r in each)  # type: ignore[union-attr]


def _errors(reader: Reader, sessions: "_Sessions") -> tuple[Reading, ...]:
    device = reader.able(LinkErrors)
    if device is None:
        return ()
    with at_once(sessions, reader.device.name, "errors of cables", lambda _: ()):
        return tuple(reading for port in reader.ports for reading in device.link_errors(port))


class _Sessions:
    """Readers, as telemetry and moments ask for devices."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self.transports: Mapping[str, Transport] = {r.device.name: r.exchanges for r in readers}

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """See telemetry.Devices."""
        found = ((reader.device.name, reader.able(ability)) for reader in self._readers)
        return {name: device for name, device in found if device is not None}
