"""How a message fits to those before it: gaps, resets, late and duplicate ones are seen and told.

Nothing is filled in: a duplicate is counted and left out, all else is kept as it came.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from labtests.capabilities.counters import GAUGES
from labtests.capabilities.streams import (
    GAP,
    StreamAlarm,
    StreamMeaning,
    StreamSample,
    TroubleKind,
)
from labtests.streams.told import ToldValues

Tell = Callable[[TroubleKind, str, float, float], None]
"""A trouble: kind, text, from and to, in seconds of the device's clock."""


@dataclass(slots=True)
class Order:
    """Of one device. `tell` hears of troubles."""

    device: str
    every_s: float
    tell: Tell
    ahead_s: float = 0.0
    """What its clock has more than the lab's; what it shows less this is the lab's time."""
    last_s: float | None = None
    samples: int = 0
    _last: dict[str, float] = field(default_factory=dict)
    _values: dict[StreamMeaning, int] = field(default_factory=dict)

    def take(
        self, told: ToldValues, arrived_s: float, source: str
    ) -> Iterator[StreamSample | StreamAlarm]:
        """What it tells that is new."""
        for text in told.unread:
            self.tell("unreadable", text, told.device_s, told.device_s)
        place = self._placed(told) if told.values else "duplicate"
        if place == "duplicate":
            return
        if self.last_s is None or told.device_s > self.last_s:
            self.last_s = told.device_s
        time_s = told.device_s - self.ahead_s
        for meaning, value in told.values:
            if isinstance(value, int):
                if meaning.counter not in GAUGES and place == "new":
                    self._expect_forward(meaning, value, told.device_s)
                self.samples += 1
                yield StreamSample(
                    self.device, *meaning[:5], value, time_s, told.device_s, arrived_s, source
                )
            else:
                yield StreamAlarm(
                    *(self.device, meaning.port, meaning.index, meaning.alarm, value),
                    *(time_s, told.device_s, arrived_s),
                )

    def _placed(self, told: ToldValues) -> Literal["new", "late", "duplicate"]:
        """Among those of its path. What is pushed has no interval."""
        if told.values[0][0].alarm:
            return "new"
        last_s = self._last.get(told.path)
        if last_s is None or told.device_s > last_s:
            if last_s is not None and told.device_s - last_s > GAP * self.every_s:
                text = f"no sample of {told.path} for {told.device_s - last_s:.1f} s"
                self.tell("gap", text, last_s, told.device_s)
            self._last[told.path] = told.device_s
            return "new"
        kind: Literal["late", "duplicate"] = "duplicate" if told.device_s == last_s else "late"
        text = f"a sample of {told.path} came twice, or behind a later one"
        self.tell(kind, text, told.device_s, told.device_s)
        return kind

    def _expect_forward(self, meaning: StreamMeaning, value: int, now_s: float) -> None:
        last = self._values.get(meaning)
        if last is not None and value < last:
            where = f"{meaning.port} {meaning.counter}"
            text = f"{where} ran backwards from {last} to {value}: wrapped, reset or cleared"
            self.tell("reset", text, now_s, now_s)
        self._values[meaning] = value
