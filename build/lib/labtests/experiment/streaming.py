"""The streams of one phase: what has come of its ports, and the headroom that these have."""

from dataclasses import dataclass

from labtests.capabilities.device import MemoryLimits
from labtests.experiment.pace import Pace
from labtests.lab.lab import Lab
from labtests.measure.streamed import Streamed
from labtests.measure.telemetry import Watch


@dataclass(frozen=True, slots=True)
class StreamsOfPhase:
    """Nothing where the lab has no streams."""

    lab: Lab
    watch: Watch
    pace: Pace

    @property
    def every_s(self) -> float:
        """The longest time between two samples of a device."""
        sources = () if self.lab.streams is None else self.lab.streams.sources.values()
        return float(max((source.place.sample_every_s for source in sources), default=0))

    def begin(self) -> None:
        """What comes from now on is of this phase."""
        if self.lab.streams is not None:
            ports = [(device, port) for device, each in self.watch.ports.items() for port in each]
            self.lab.streams.begin(ports)

    def quiet(self) -> None:
        """Each stream has had the time for a sample before the traffic."""
        if self.lab.streams is not None:
            self.lab.clock.sleep(max(self.every_s - self.pace.quiet_s, 0.0))
            self.lab.streams.mark(self.lab.clock.now_s())

    def end(self) -> Streamed | None:
        """What was streamed, with a sample behind the last read of the counters."""
        streams = self.lab.streams
        if streams is None:
            return None
        self.lab.clock.sleep(self.every_s)
        streams.mark(self.lab.clock.now_s())
        samples, alarms, troubles = streams.seen()
        return Streamed(
            every_s={name: each.place.sample_every_s for name, each in streams.sources.items()},
            samples=samples,
            alarms=alarms,
            troubles=troubles,
            rooms=dict(self._rooms()),
        )

    def _rooms(self) -> list[tuple[tuple[str, str, int], int]]:
        """The headroom of each priority, where the device tells it in bytes."""
        assert self.lab.streams is not None
        able = self.lab.able(MemoryLimits)
        return [
            ((device, port, each.priority), each.headroom_bytes)
            for device in self.lab.streams.sources
            if device in able
            for port in self.watch.ports.get(device, ())
            for each in self.lab.ask(device, able[device].memory_limits(port)).priorities
            if each.headroom_bytes is not None
        ]
