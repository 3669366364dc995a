"""Counters of a whole lab: snapshots, samples, and waiting until they have settled.

Facts are tuples of Reading; `table` makes the tidy pandas table of them. Nothing here subtracts:
differences are evidence.py's. Hosts are asked side by side, each in one exchange for one moment.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from labtests.capabilities.device import (
    DropTelemetry,
    NicTelemetry,
    PfcTelemetry,
    QueueTelemetry,
    RoceTelemetry,
    WatchdogTelemetry,
)
from labtests.capabilities.facts import PortTelemetry
from labtests.capabilities.readings import Reading
from labtests.core.errors import LabError, LabErrors
from labtests.measure.evidence import Key
from labtests.transport.asking import Asking, attempt, side_by_side
from labtests.transport.protocol import Clock

if TYPE_CHECKING:
    import pandas as pd

Able = TypeVar("Able")
Answer = TypeVar("Answer")
Reads = Mapping[str, Sequence[Asking[tuple[Reading, ...]]]]
"""What is read at one moment, by device."""


class DriverSource(Protocol):
    """Where drivers are handed out by ability (lab.Lab does)."""

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """What has an ability, by device."""
        ...

    def ask(self, device: str, asking: Asking[Answer], *occasions: str) -> Answer:
        """Ask a device, round by round (Exchanges.ask)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Which ports of which devices a phase reads. Device name -> ports of the testbed file."""

    ports: dict[str, tuple[str, ...]]
    bottleneck: tuple[str, str]
    cycle: tuple[tuple[str, str], ...] = ()  # ports whose queues are sampled, too
    watchdog: bool = False  # what the switches' PFC watchdogs did is read, too
    roce: bool = False  # what the switches count of RoCE is read, too: they are in RoCE mode
    sampled_hosts: bool = False  # samples have the packets of the hosts' NICs, too


class Telemetry:
    """Reads the counters of one lab, all devices in parallel."""

    def __init__(self, devices: DriverSource, clock: Clock) -> None:
        self._devices, self._clock = devices, clock

    def snapshot(self, watch: Watch) -> tuple[Reading, ...]:
        """Every counter of the watched ports. A device that fails does not hide the others: all
        are asked, then one LabErrors is raised."""
        reads = {name: list(self._reads(name, ports)) for name, ports in watch.ports.items()}
        if watch.watchdog:
            for name, guard in self._devices.able(WatchdogTelemetry).items():
                reads[name] += [guard.watchdog_counters(p) for p in watch.ports.get(name, ())]
        if watch.roce:
            for name, part in self._devices.able(RoceTelemetry).items():
                reads[name] += [part.roce_counters(p) for p in watch.ports.get(name, ())]
        return self._in_parallel(reads, watch, "counters")

    def sample(self, watch: Watch) -> tuple[Reading, ...]:
        """The counters that plots need while traffic runs: the bottleneck's queues and marks,
        pause frames of the switch, ECN and CNP counters of the hosts. Each says since when it may
        have been counted (`asked_s`)."""
        asked_s = self._clock.now_s()
        sampled = dict.fromkeys((watch.bottleneck, *watch.cycle))
        switches = {switch for switch, _ in sampled}
        able = self._devices.able
        reads: dict[str, list[Asking[tuple[Reading, ...]]]] = {name: [] for name in watch.ports}
        for name, ports in watch.ports.items():
            if (pfc := able(PfcTelemetry).get(name)) and name in switches:
                reads[name].append(pfc.pfc_counters(ports))
            if nic := able(NicTelemetry).get(name):
                reads[name] += [nic.rdma_counters(each) for each in ports]
                if watch.sampled_hosts:
                    reads[name] += [nic.nic_counters(each) for each in ports]
        for switch, port in sampled:
            if queues := able(QueueTelemetry).get(switch):
                reads[switch].append(queues.queue_counters(port))
            if drops := able(DropTelemetry).get(switch):
                reads[switch].append(drops.drop_counters(port))
        found = self._in_parallel(reads, watch, "sample", "counters")
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

    def _reads(self, name: str, ports: Sequence[str]) -> Iterable[Asking[tuple[Reading, ...]]]:
        able = self._devices.able
        if nic := able(NicTelemetry).get(name):
            for port in ports:
                yield nic.nic_counters(port)
                yield nic.rdma_counters(port)
            yield nic.host_counters()
        elif pfc := able(PfcTelemetry).get(name):
            yield pfc.pfc_counters(tuple(ports))
        for port in ports:
            if queues := able(QueueTelemetry).get(name):
                yield queues.queue_counters(port)
            if drops := able(DropTelemetry).get(name):
                yield drops.drop_counters(port)
            if own := able(PortTelemetry).get(name):
                yield own.port_counters(port)

    def _in_parallel(self, reads: Reads, watch: Watch, *occasions: str) -> tuple[Reading, ...]:
        """Devices side by side, the readings of one device in a fixed order."""
        asked = [name for name, askings in reads.items() if askings]

        def all_of(name: str) -> list[tuple[Reading, ...]] | LabError:
            ports = " ".join(watch.ports[name])
            each = (f"{occasion} of {ports}" for occasion in occasions)
            return self._devices.ask(name, attempt(side_by_side(reads[name])), *each)

        with ThreadPoolExecutor(max_workers=max(1, len(asked))) as pool:
            answers = list(pool.map(all_of, asked))
        if errors := [a for a in answers if isinstance(a, LabError)]:
            raise errors[0] if len(errors) == 1 else LabErrors("reading counters failed", errors)
        return tuple(
            reading
            for answer in answers
            if not isinstance(answer, LabError)
            for part in answer
            for reading in part
        )


def table(readings: Iterable[Reading]) -> "pd.DataFrame":
    """One tidy row per reading: device, port, scope, index (priority or queue), counter, unit,
    time_s, value (nullable integer: <NA> where the device gave none), source, missing."""
    import numpy as np
    import pandas as pd  # costs 0.3 s; only who asks for a table pays

    columns = ("device", "port", "scope", "index", "counter", "unit", "time_s", "value", "source")
    known = list(readings)
    rows = [[getattr(r, name) for name in (*columns, "missing")] for r in known]
    frame = pd.DataFrame(rows, columns=[*columns, "missing"]).astype({"index": "Int64"})
    numbers = np.array([r.value or 0 for r in known], dtype="uint64")  # by way of floats: not exact
    unknown = np.array([r.value is None for r in known], dtype=bool)
    frame["value"] = pd.arrays.IntegerArray(numbers, unknown)
    return frame


def _values(readings: Iterable[Reading], keys: frozenset[Key]) -> dict[Key, int | None]:
    return {r.key: r.value for r in readings if r.key in keys}
