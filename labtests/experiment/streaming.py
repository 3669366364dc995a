"""The streams of one phase: what has come of its ports, and the headroom that these have."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from labtests.capabilities.device import MemoryLimits
from labtests.capabilities.settings import HEADROOM
from labtests.capabilities.streams import Streaming
from labtests.core.errors import CommandRejected
from labtests.experiment.pace import Pace
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.measure.evidence import Place
from labtests.measure.streamed import Room, Streamed
from labtests.measure.telemetry import Watch
from labtests.streams import StreamSource

TRACED_AT_MOST = 4
"""Ports."""
AWAITED_S = 10.0
"""Peaks that are renewed more rarely than so are not awaited."""


@dataclass(slots=True)
class StreamsOfPhase:
    """Nothing where the lab has no streams."""

    lab: Lab
    watch: Watch
    pace: Pace
    _ages_s: dict[str, float] = field(default_factory=dict)
    _traced: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def sources(self) -> tuple[StreamSource, ...]:
        """Who streams."""
        return () if self.lab.streams is None else tuple(self.lab.streams.sources.values())

    @property
    def every_s(self) -> float:
        """The longest time between two samples of a device."""
        return float(max((source.place.sample_every_s for source in self.sources), default=0))

    def begin(self) -> None:
        """What comes from now on is of this phase."""
        if self.lab.streams is None:
            return
        self._ages_s = {source.device: self._age_s(source.device) for source in self.sources}
        ports = [(device, port) for device, each in self.watch.ports.items() for port in each]
        self.lab.streams.begin(ports)

    def quiet(self) -> None:
        """Each stream has had the time for a sample before the traffic."""
        if self.lab.streams is not None:
            unsure_s = max(self.lab.streams.unsure_s.values(), default=0.0)
            self.lab.clock.sleep(max(self.every_s + unsure_s - self.pace.quiet_s, 0.0))
            self.lab.streams.mark(self.lab.clock.now_s())

    def traffic(self, senders: Iterable[Place]) -> None:
        """It begins. A simulated lab notes the exact state where it comes in, once all send."""
        if self.lab.streams is None or self.lab.exact is None:
            return
        places = dict.fromkeys((p.switch, p.switch_port, p.group) for p in senders)
        self._traced = list(places)[:TRACED_AT_MOST]
        alone_s = self.pace.stagger_s
        for place in self._traced:
            after_s = alone_s + (self.pace.lab_seconds - alone_s) / 2
            self.lab.exact.trace(*place, after_s=after_s)

    def exact(self) -> tuple[Mapping[str, Any], ...]:
        """What was noted of it: rows for a drawing, and never evidence."""
        exact = self.lab.exact
        return tuple(row for place in self._traced if exact for row in exact.traced(*place))

    def end(self) -> Streamed | None:
        """What was streamed, with a sample behind the last read of the counters, and peaks that are
        renewed often enough behind the end of the traffic."""
        streams = self.lab.streams
        if streams is None:
            return None
        awaited_s = max((age for age in self._ages_s.values() if age <= AWAITED_S), default=0.0)
        awaited_s += max(streams.unsure_s.values(), default=0.0)
        for device, unsure_s in streams.unsure_s.items():
            self._ages_s[device] += unsure_s
        self.lab.clock.sleep(self.every_s + awaited_s)
        streams.mark(self.lab.clock.now_s())
        samples, alarms, troubles = streams.seen()
        return Streamed(
            every_s={source.device: source.place.sample_every_s for source in self.sources},
            samples=samples,
            alarms=alarms,
            troubles=troubles,
            rooms=dict(self._rooms()),
            ages_s=self._ages_s,
        )

    def _age_s(self, device: str) -> float:
        try:
            return self.lab.ask(device, self.lab.part(device, Streaming).peak_age_s())
        except CommandRejected:
            return math.inf

    def _rooms(self) -> Iterator[tuple[tuple[str, str], Room]]:
        """The headroom of each port, in bytes where the device tells it so, or the testbed says how
        long a cell is."""
        limits = self.lab.able(MemoryLimits)
        for source in self.sources:
            device = source.device
            for port in self.watch.ports.get(device, ()):
                if device in limits:
                    told = self.lab.ask(device, limits[device].memory_limits(port)).priorities
                    yield (device, port), Room({n.priority: n.headroom_bytes for n in told})
                elif self.lab.has(device, HEADROOM):
                    yield (device, port), self._of_cells(source, port)

    def _of_cells(self, source: StreamSource, port: str) -> Room:
        cell_bytes = source.place.cell_bytes
        if cell_bytes is None:
            return Room({}, "its headroom is set in cells: `telemetry: {cell_bytes: ...}`")
        at = Endpoint(device=source.device, interface=port)
        cells = self.lab.ask(at.device, self.lab.setting(at, HEADROOM).read(port))
        why = "no headroom is configured, and the model's own is not shown"
        return Room({priority: cell_bytes * number for priority, number in cells}, why)
