"""The state of each port and priority, by the latest records of its streams."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from labtests.capabilities import counters as c
from labtests.capabilities.streams import StreamAlarm, StreamRecord, StreamSample, StreamTrouble

TOLD_AT_MOST = 8
"""Lines below the table: the latest of what was pushed or went wrong."""
_PER_PORT = -1


class BoardRow(NamedTuple):
    """One priority of a port; -1 is the port as a whole."""

    device: str
    port: str
    index: int  # type: ignore[assignment]  # nobody asks for tuple.index


@dataclass(slots=True)
class Now:
    """What is known of a place: the latest value of each counter, and how fast it grows."""

    values: dict[str, int] = field(default_factory=dict)
    per_s: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    at_s: dict[str, float] = field(default_factory=dict)

    def take(self, sample: StreamSample) -> None:
        """A later sample. What a reset makes smaller has no rate."""
        name, before = sample.counter, self.values.get(sample.counter)
        passed_s = sample.time_s - self.at_s.get(name, sample.time_s)
        if passed_s < 0:
            return  # an older one
        if before is not None and passed_s > 0 and sample.value >= before:
            self.per_s[name] = (sample.value - before) / passed_s
        elif before is not None and sample.value < before:
            self.per_s.pop(name, None)
        self.units[name], self.values[name] = sample.unit, sample.value  # who scrapes has both
        self.at_s[name] = sample.time_s

    @property
    def bits_per_s(self) -> float | None:
        """Of what leaves by the queue, by what was counted; else as the switch says it."""
        bytes_per_s = self.per_s.get(c.QUEUE_FORWARDED_BYTES)
        return self.values.get(c.QUEUE_BITS_PER_S) if bytes_per_s is None else 8 * bytes_per_s

    def first(self, *counters: str) -> int | None:
        """The value of the first of these that is told."""
        return next((self.values[name] for name in counters if name in self.values), None)


class Board:
    """All places of a lab."""

    def __init__(self) -> None:
        self.places: dict[BoardRow, Now] = {}
        self.told: deque[str] = deque(maxlen=TOLD_AT_MOST)
        self.samples = self.alarms = self.troubles = 0
        self.time_s = 0.0

    def take(self, batch: Iterable[StreamRecord]) -> None:
        """What has come."""
        for record in batch:
            if isinstance(record, StreamSample):
                self.samples += 1
                self.time_s = max(self.time_s, record.time_s)
                index = _PER_PORT if record.index is None else record.index
                place = BoardRow(record.device, record.port, index)
                self.places.setdefault(place, Now()).take(record)
            else:
                self._tell(record)

    def _tell(self, record: StreamAlarm | StreamTrouble) -> None:
        if isinstance(record, StreamAlarm):
            self.alarms += 1
            where = f"{record.device}:{record.port}"
            self.told.append(f"{record.time_s:.3f} s  {where}  {record.kind}: {record.text}")
        else:
            self.troubles += 1
            told = f"{record.since_s:.3f} s  {record.device}  {record.kind}: {record.text}"
            self.told.append(told)
