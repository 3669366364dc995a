"""Counters of a whole lab: snapshots, samples, and waiting until they have settled.

Facts are tuples of Reading; `table` makes the tidy pandas table of them. Nothing here subtracts:
differences are evidence.py's. Hosts are asked side by side, each in one exchange for one moment.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from labtests.capabilities.device import DropTelemetry, NicTelemetry, PfcTelemetry, QueueTelemetry
from labtests.capabilities.facts import Foresight, PortTelemetry
from labtests.capabilities.records import Reading
from labtests.core.errors import LabError, LabErrors
from labtests.measure.evidence import Key
from labtests.measure.prefetch import at_once, usual
from labtests.transport.commands import Command
from labtests.transport.protocol import Clock

if TYPE_CHECKING:
    import pandas as pd

Able = TypeVar("Able")
Read = Callable[[], tuple[Reading, ...]]
Moment = Callable[[str], AbstractContextManager[None]]
"""By device, what its reads of one moment are done in."""


class Devices(Protocol):
    """Where drivers are handed out by ability (lab.Lab does)."""

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """The devices that have an ability, by name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Which ports of which devices a phase reads. Device name -> ports of the testbed file."""

    ports: dict[str, tuple[str, ...]]
    bottleneck: tuple[str, str]


class Telemetry:
    """Reads the counters of one lab, all devices in parallel."""

    def __init__(self, devices: Devices, clock: Clock) -> None:
        self._devices, self._clock = devices, clock

    def snapshot(self, watch: Watch) -> tuple[Reading, ...]:
        """Every counter of the watched ports. A device that fails does not hide the others: all
        are asked, then one LabErrors is raised."""
        reads: dict[str, list[Read]] = {}
        for name, ports in watch.ports.items():
            reads[name] = list(self._reads(name, ports))
        return _in_parallel(reads, lambda name: self._snapshot_of(name, watch))

    def sample(self, watch: Watch) -> tuple[Reading, ...]:
        """The counters that plots need while traffic runs: the bottleneck's queues and marks,
        pause frames of the switch, ECN and CNP counters of the hosts. Each says since when it may
        have been counted (`asked_s`)."""
        asked_s = self._clock.now_s()
        switch, port = watch.bottleneck
        reads: dict[str, list[Read]] = {name: [] for name in watch.ports}
        for name, ports in watch.ports.items():
            if (pfc := self._devices.able(PfcTelemetry).get(name)) and name == switch:
                reads[name].append(_bound(pfc.pfc_counters, ports))
            if nic := self._devices.able(NicTelemetry).get(name):
                reads[name] += [_bound(nic.rdma_counters, p) for p in ports]
        if queues := self._devices.able(QueueTelemetry).get(switch):
            reads[switch].append(_bound(queues.queue_counters, port))
        if drops := self._devices.able(DropTelemetry).get(switch):
            reads[switch].append(_bound(drops.drop_counters, port))
        found = _in_parallel(reads, lambda name: self._sample_of(name, watch))
        return tuple(replace(reading, asked_s=asked_s) for reading in found)

    def settled(
        self, watch: Watch, keys: frozenset[Key], *, step_s: float, deadline_s: float
    ) -> tuple[tuple[Reading, ...], frozenset[Key]]:
        """The first snapshot whose watched counters equal the one before it; or the last one before
        the deadline, and those which went on. `keys` are the counters under test."""
        end_s = self._clock.now_s() + deadline_s
        last, moving = self.snapshot(watch), keys
        while moving and self._clock.now_s() < end_s:
            self._clock.sleep(step_s)
            now = self.snapshot(watch)
            shown, earlier = _values(now, keys), _values(last, keys)
            moving = frozenset(key for key in keys if shown.get(key) != earlier.get(key))
            last = now
        return last, moving

    def _snapshot_of(self, name: str, watch: Watch) -> AbstractContextManager[None]:
        ports = watch.ports[name]

        def foreseen(ahead: Foresight) -> Sequence[Command]:
            return ahead.counter_commands(ports)

        return at_once(self._devices, name, f"counters of {' '.join(ports)}", foreseen)

    def _sample_of(self, name: str, watch: Watch) -> AbstractContextManager[None]:
        """The first one is foreseen to be a part of the snapshot before it."""
        ports = " ".join(watch.ports[name])
        ahead = usual(self._devices, name, f"counters of {ports}")
        return at_once(self._devices, name, f"sample of {ports}", lambda _: ahead)

    def _reads(self, name: str, ports: Sequence[str]) -> Iterable[Read]:
        able = self._devices.able
        if nic := able(NicTelemetry).get(name):
            for port in ports:
                yield _bound(nic.nic_counters, port)
                yield _bound(nic.rdma_counters, port)
            yield nic.host_counters
        elif pfc := able(PfcTelemetry).get(name):
            yield _bound(pfc.pfc_counters, tuple(ports))
        for port in ports:
            if queues := able(QueueTelemetry).get(name):
                yield _bound(queues.queue_counters, port)
            if drops := able(DropTelemetry).get(name):
                yield _bound(drops.drop_counters, port)
            if own := able(PortTelemetry).get(name):
                yield _bound(own.port_counters, port)


def table(readings: Iterable[Reading]) -> "pd.DataFrame":
    """One tidy row per reading: device, port, scope, index (priority or queue), counter, unit,
    time_s, value (nullable integer: <NA> where the device gave none), source, missing."""
    import pandas as pd  # costs 0.3 s; only who asks for a table pays

    columns = ("device", "port", "scope", "index", "counter", "unit", "time_s", "value", "source")
    rows = [[getattr(r, name) for name in (*columns, "missing")] for r in readings]
    frame = pd.DataFrame(rows, columns=[*columns, "missing"])
    return frame.astype({"index": "Int64", "value": "Int64"})


def _bound(read: Callable[[Able], tuple[Reading, ...]], argument: Able) -> Read:
    return lambda: read(argument)


def _values(readings: Iterable[Reading], keys: frozenset[Key]) -> dict[Key, int | None]:
    return {r.key: r.value for r in readings if r.key in keys}


def _in_parallel(reads: dict[str, list[Read]], moment: Moment) -> tuple[Reading, ...]:
    """Devices side by side, the reads of one device one after the other, in a fixed order."""
    reads = {name: device_reads for name, device_reads in reads.items() if device_reads}

    def all_of(name: str) -> list[tuple[Reading, ...]] | LabError:
        try:
            with moment(name):
                return [read() for read in reads[name]]
        except LabError as error:
            return error

    with ThreadPoolExecutor(max_workers=max(1, len(reads))) as pool:
        answers = list(pool.map(all_of, reads))
    if errors := [a for a in answers if isinstance(a, LabError)]:
        raise errors[0] if len(errors) == 1 else LabErrors("reading counters failed", errors)
    return tuple(
        reading for a in answers if not isinstance(a, LabError) for part in a for reading in part
    )
