"""What switches streamed in a phase, beside the counters that were read: peaks, series, headroom.

Totals decide, the stream explains: nothing here stands for a counter that is missing.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from labtests.capabilities import counters as c
from labtests.capabilities.streams import StreamAlarm, StreamSample, StreamTrouble

StreamKey = tuple[str, str, str, int, str]
HEADROOM = (c.HEADROOM_PEAK_BYTES, c.HEADROOM_BYTES)
"""The first that a stream has is taken: the most of each interval, else that of moments."""
BREAKS = frozenset({"stopped", "gap", "dropped", "behind", "unreadable", "refused", "reset"})
"""Troubles after which a stream has not seen all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomLeft:
    """What a port's priority took of its headroom at most, in bytes, when that was (lab's clock),
    and what it has; None: not known, and `because` says why. `momentary`: of samples of a moment,
    between which it may have been more."""

    device: str
    port: str
    priority: int
    peak_bytes: int | None
    at_s: float | None = None
    room_bytes: int | None = None
    momentary: bool = False
    because: str = ""

    @property
    def margin_bytes(self) -> int | None:
        """To its end; negative: beyond it."""
        if self.peak_bytes is None or self.room_bytes is None:
            return None
        return self.room_bytes - self.peak_bytes


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """Samples of the ports of a phase, alarms and troubles, on the lab's clock. `every_s` is how
    often each device that streams was to send; `rooms` is the headroom (device, port, priority)
    that is known."""

    every_s: Mapping[str, float]
    samples: tuple[StreamSample, ...] = ()
    alarms: tuple[StreamAlarm, ...] = ()
    troubles: tuple[StreamTrouble, ...] = ()
    rooms: Mapping[tuple[str, str, int], int] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def series(self) -> Mapping[StreamKey, tuple[StreamSample, ...]]:
        """Of each counter its samples, in order of time."""
        found: dict[StreamKey, list[StreamSample]] = defaultdict(list)
        for sample in self.samples:
            found[sample.key].append(sample)
        return {
            key: tuple(sorted(each, key=lambda sample: sample.time_s))
            for key, each in found.items()
        }

    def broken(self, device: str, since_s: float, until_s: float) -> str:
        """Why its stream has not seen all of this time; "" when it has."""
        if device not in self.every_s:
            return "it streams nothing"
        for each in self.troubles:
            inside = each.since_s < until_s and each.until_s > since_s
            if each.device == device and each.kind in BREAKS and inside:
                return each.text
        return ""

    def headroom(
        self, port: tuple[str, str], priority: int, since_s: float, until_s: float
    ) -> HeadroomLeft:
        """The most that this port's priority took of it from then to then."""
        device, interface = port
        room = self.rooms.get((device, interface, priority))
        why = self.broken(device, since_s, until_s)
        for counter in HEADROOM:
            series = self.series.get((device, interface, "priority", priority, counter), ())
            within = [s for s in series if since_s <= s.time_s <= until_s + self.every_s[device]]
            if within and not why:
                most = max(within, key=lambda sample: sample.value)
                return HeadroomLeft(
                    device=device,
                    port=interface,
                    priority=priority,
                    peak_bytes=most.value,
                    at_s=most.time_s,
                    room_bytes=room,
                    momentary=counter == c.HEADROOM_BYTES,
                    because="" if room is not None else "how much headroom it has is not told",
                )
        return HeadroomLeft(
            device=device,
            port=interface,
            priority=priority,
            peak_bytes=None,
            room_bytes=room,
            because=why or "its stream does not tell of headroom",
        )

    def increase(
        self, key: StreamKey, before_s: float, after_s: float
    ) -> tuple[int, StreamSample, StreamSample] | None:
        """How much a counter grew from the last sample before one moment to the last one, which has
        to be after the other; None where there are no two such samples, or it ran backwards."""
        series = self.series.get(key, ())
        first = next((s for s in reversed(series) if s.time_s <= before_s), None)
        if first is None or series[-1].time_s < after_s:
            return None
        grown = series[-1].value - first.value
        return (grown, first, series[-1]) if grown >= 0 else None
