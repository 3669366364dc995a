"""What switches streamed in a phase, beside the counters that were read: peaks, series, headroom.

Totals decide, the stream explains: nothing here stands for a counter that is missing.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

from labtests.capabilities import counters as c
from labtests.capabilities.streams import GAP, StreamAlarm, StreamSample, StreamTrouble

StreamKey = tuple[str, str, str, int, str]
HEADROOM = (c.HEADROOM_PEAK_BYTES, c.HEADROOM_MOST_BYTES, c.HEADROOM_BYTES)
"""The first that a stream has is taken: the most of each interval, the most since it was cleared,
else that of moments."""
INTERVAL_PEAKS = frozenset({c.HEADROOM_PEAK_BYTES, c.QUEUE_PEAK_BYTES, c.INGRESS_PEAK_BYTES})
GAP_OF_PEAKS = 1.95
"""Of the most of an interval, one sample that is left out is an interval that nobody saw: what
was in use may have been more in it. One that is merely late may be so by most of an interval."""
BREAKS = frozenset(
    {"stopped", "gap", "dropped", "behind", "unreadable", "refused", "reset", "late"}
)
"""Troubles after which a stream has not seen all, or nobody knows when."""
DISORDERS = frozenset({"reset", "late"})
"""Those after which a difference of two samples is none of the time between."""


class Room(NamedTuple):
    """The headroom of a port's priorities in bytes (None: not told), and why one is not in it."""

    by_priority: Mapping[int, int | None]
    why_not: str = "how much headroom it has is not told"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomLeft:
    """What a port's priority took of its headroom at most, in bytes, when that was seen (lab's
    clock), and what it has; None: not known, and `because` says why. `is_bound`: the peak is of
    sampled moments, and it may have been more between them ("at least"), or as much was shown
    before the phase, in which it may have been less ("at most")."""

    device: str
    port: str
    priority: int
    peak_bytes: int | None = None
    at_s: float | None = None
    room_bytes: int | None = None
    is_bound: Literal["", "at least", "at most"] = ""
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
    often each device that streams was to send; `rooms` is the headroom of each port (device, port)
    that has some; `ages_s`: how old a peak of a device may be when it is sampled (infinite: it is
    not renewed), where that is not of the interval before."""

    every_s: Mapping[str, float]
    samples: tuple[StreamSample, ...] = ()
    alarms: tuple[StreamAlarm, ...] = ()
    troubles: tuple[StreamTrouble, ...] = ()
    rooms: Mapping[tuple[str, str], Room] = field(default_factory=lambda: MappingProxyType({}))
    ages_s: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

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

    def broken(
        self, device: str, since_s: float, until_s: float, kinds: Collection[str] = BREAKS
    ) -> str:
        """Why its stream has not seen all of this time; "" when it has. What is lost is known to be
        behind the last sample before it."""
        if device not in self.every_s:
            return "it streams nothing"
        since_s -= self.every_s[device]
        for each in self.troubles:
            inside = each.since_s <= until_s and each.until_s >= since_s
            if each.device == device and each.kind in kinds and inside:
                return each.text
        return ""

    def spanning(self, key: StreamKey, since_s: float, until_s: float) -> list[StreamSample]:
        """Of a counter the samples of this time, to the first in which its end is."""
        until_s += self.ages_s.get(key[0], 0.0)
        series = self.series.get(key, ())
        first = next((s.time_s for s in series if s.time_s >= until_s), until_s)
        return [s for s in series if since_s < s.time_s <= first]

    def unseen(self, key: StreamKey, since_s: float, until_s: float) -> str:
        """Why the samples of this one counter do not span this time; "" when they do. A stream that
        goes on may have lost one of its paths."""
        every_s, until_s = self.every_s[key[0]], until_s + self.ages_s.get(key[0], 0.0)
        gap = GAP_OF_PEAKS if key[-1] in INTERVAL_PEAKS else GAP
        moments = [sample.time_s for sample in self.series.get(key, ())]
        if not moments or moments[0] > since_s + every_s or moments[-1] < until_s:
            return f"its stream has not told of {key[1]} {key[-1]} from the begin to the end"
        for last_s, now_s in pairwise(moments):
            if now_s - last_s > gap * every_s and last_s < until_s and now_s > since_s:
                return f"no sample of {key[1]} {key[-1]} for {now_s - last_s:.1f} s"
        return ""

    def stale(self, device: str, until_s: float) -> str:
        """Why the peaks that it streams do not have all that was until then; "" when they have."""
        age_s = self.ages_s.get(device, 0.0)
        if math.isinf(age_s):
            return "its watermarks are not polled, so they are not renewed"
        last_s = max((s.time_s for s in self.samples if s.device == device), default=until_s)
        if not age_s or last_s >= until_s + age_s:
            return ""
        return (
            f"its watermarks are up to {age_s:g} s old, and those of this phase were not awaited "
            "(`telemetry: {watermarks_every_s: 1}`)"
        )

    def headroom(
        self, port: tuple[str, str], priority: int, since_s: float, until_s: float
    ) -> HeadroomLeft:
        """The most that this port's priority took of it from then to then."""
        device, interface = port
        room = self.rooms.get(port, Room({}))
        has = room.by_priority.get(priority)
        left = HeadroomLeft(device=device, port=interface, priority=priority, room_bytes=has)
        keys = [(device, interface, "priority", priority, counter) for counter in HEADROOM]
        key = next((key for key in keys if key in self.series), None)
        why = self.broken(device, since_s, until_s)
        if key is not None and key[-1] != c.HEADROOM_BYTES:
            why = why or self.stale(device, until_s)
        if key is None:
            return replace(left, because=why or "its stream does not tell of headroom")
        why = why or self.unseen(key, since_s, until_s)
        within = self.spanning(key, since_s, until_s)
        if why or not within:
            return replace(left, because=why or "nothing of its headroom has come in this phase")
        most, is_bound = _most(key[-1], self.series[key], within)
        moments = self.spanning((*key[:-1], c.HEADROOM_BYTES), since_s, until_s)
        if any(sample.value > most.value for sample in moments):
            text = "at a moment it shows more than at most: not both are bytes"
            return replace(left, because=text)
        return replace(
            left,
            peak_bytes=most.value,
            at_s=most.time_s,
            is_bound=is_bound,
            because="" if has is not None else room.why_not,
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
        if self.broken(key[0], first.time_s, series[-1].time_s, DISORDERS):
            return None
        grown = series[-1].value - first.value
        return (grown, first, series[-1]) if grown >= 0 else None


def _most(
    counter: str, series: tuple[StreamSample, ...], within: list[StreamSample]
) -> tuple[StreamSample, Literal["", "at least", "at most"]]:
    """The largest, and whether it is a bound only. What has not been cleared since the phase began
    is of the phase where it has grown in it."""
    if counter == c.HEADROOM_BYTES:
        return max(within, key=lambda s: s.value), "at least"
    if counter == c.HEADROOM_PEAK_BYTES:
        return max(within, key=lambda s: s.value), ""
    first = series.index(within[0])
    known = [*series[max(first - 1, 0) : first], *within]
    most = max(known, key=lambda s: s.value)  # the first of several
    return most, "at most" if most is known[0] and most.value else ""
