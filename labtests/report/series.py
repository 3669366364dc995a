"""What the plots show: samples as rates and levels over the time of one phase.

A rate is the difference of two neighbouring samples (evidence.differences) over the time between
them. Where there is no difference there is a gap, and the gap is counted.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.measure.evidence import differences
from labtests.report.runs import Json, entries, number
from labtests.report.text import place

Span = tuple[float, float, float | None]
"""From, until, and the value that held in between; None where it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a plot. Its points are in seconds since the phase began."""

    name: str
    points: tuple[Span, ...]
    hue: int | None = None  # the priority or queue that it is of

    @property
    def gaps(self) -> int:
        """How many values are missing."""
        return sum(value is None for _, _, value in self.points)

    @property
    def highest(self) -> float:
        """The largest known value; 0 when none is known."""
        return max((value for _, _, value in self.points if value is not None), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPlot:
    """One plot: lines that share a unit. `silent` counts lines that stayed at 0 and are left out;
    `unknown` names those that never had a value."""

    title: str
    unit: str
    series: tuple[Series, ...]
    silent: int = 0
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    title: str
    unit: str
    counters: tuple[str, ...]
    level: bool = False  # the value itself, not its rate


_KINDS = (
    _Kind(title="Queue length", unit="packets", counters=(c.QUEUE_LENGTH_PACKETS,), level=True),
    _Kind(
        title="PFC pause frames",
        unit="frames/s",
        counters=(c.PFC_TX_FRAMES, c.PFC_RX_FRAMES),
    ),
    _Kind(
        title="ECN marks and CNPs",
        unit="packets/s",
        counters=(
            c.ECN_MARKED_PACKETS,
            c.NP_ECN_MARKED_PACKETS,
            c.NP_CNP_SENT,
            c.RP_CNP_HANDLED,
            c.RP_CNP_IGNORED,
        ),
    ),
    _Kind(title="Dropped packets", unit="packets/s", counters=(c.QUEUE_DROPPED_PACKETS,)),
)

_STREAMED = (
    _Kind(
        title="Queue depth, streamed",
        unit="bytes",
        counters=(c.QUEUE_LENGTH_BYTES, c.QUEUE_PEAK_BYTES, c.QUEUE_MOST_BYTES),
        level=True,
    ),
    _Kind(
        title="Buffer and headroom in use, streamed",
        unit="bytes",
        counters=(
            *(c.INGRESS_BYTES, c.INGRESS_PEAK_BYTES, c.SHARED_PEAK_BYTES, c.SHARED_MOST_BYTES),
            *(c.HEADROOM_BYTES, c.HEADROOM_PEAK_BYTES, c.HEADROOM_MOST_BYTES),
        ),
        level=True,
    ),
    _Kind(
        title="PFC pause frames, streamed",
        unit="frames/s",
        counters=(c.PFC_TX_FRAMES, c.PFC_RX_FRAMES),
    ),
)
"""Beside those that were read, on the same axis: another witness, at its own times."""

_WORDS = {
    c.QUEUE_PEAK_BYTES: "at most",
    c.QUEUE_MOST_BYTES: "at most since cleared",
    c.INGRESS_BYTES: "on the way in",
    c.INGRESS_PEAK_BYTES: "on the way in, at most",
    c.SHARED_PEAK_BYTES: "shared, at most",
    c.HEADROOM_BYTES: "headroom",
    c.HEADROOM_PEAK_BYTES: "headroom, at most",
    c.HEADROOM_MOST_BYTES: "headroom, at most since cleared",
    c.SHARED_MOST_BYTES: "shared, at most since cleared",
    c.PFC_TX_FRAMES: "sent",
    c.PFC_RX_FRAMES: "received",
    c.ECN_MARKED_PACKETS: "marked",
    c.NP_ECN_MARKED_PACKETS: "ECN-marked received",
    c.NP_CNP_SENT: "CNPs sent",
    c.RP_CNP_HANDLED: "CNPs handled",
    c.RP_CNP_IGNORED: "CNPs ignored",
}


def panels(phase: Json) -> tuple[SeriesPlot, ...]:
    """The plots of a phase, goodput first. Those without a single sample are left out."""
    start_s = number(phase.get("start_s")) or 0.0
    samples = _by_counter(entries(phase.get("samples")))
    found = [_goodput(entries(phase.get("flows")), start_s)]
    found += [_panel(kind, samples, start_s) for kind in _KINDS]
    streamed = _by_counter(entries(phase.get("streamed")))
    found += [_panel(kind, streamed, start_s) for kind in _STREAMED]
    found.append(_pushed(entries(phase.get("alarms")), start_s))
    return tuple(p for p in found if p.series or p.silent or p.unknown)


EVENT_S = 0.1
"""So wide is something that happens at once drawn."""


def _pushed(alarms: list[Json], start_s: float) -> SeriesPlot:
    """What switches pushed: an event at its time, and nothing between two of them."""
    times: dict[tuple[str, int | None], list[float]] = {}
    for alarm in alarms:
        time_s, index = number(alarm.get("time_s")), number(alarm.get("index"))
        if time_s is not None:
            hue = None if index is None else int(index)
            queue = "" if hue is None else f" queue {hue}"
            said = f"{alarm.get('kind')}, {alarm.get('text')}"
            name = f"{alarm.get('device')} {alarm.get('port')}{queue}: {said}"
            times.setdefault((name, hue), []).append(time_s - start_s)
    lines = tuple(
        Series(name=name, points=tuple(_events(each)), hue=hue)
        for (name, hue), each in times.items()
    )
    return SeriesPlot(title="Alarms, pushed", unit="alarms", series=lines)


def _events(times: list[float]) -> Iterator[Span]:
    until_s = 0.0
    for time_s in sorted(times):
        if time_s > until_s:
            yield (until_s, time_s, 0)
        until_s = time_s + EVENT_S
        yield (time_s, until_s, 1)


def _goodput(flows: list[Json], start_s: float) -> SeriesPlot:
    lines, unknown = [], []
    for flow in flows:
        ends = (flow.get("sender") or "?", flow.get("receiver") or "?")
        name = f"{ends[0]} → {ends[1]} ({flow.get('tool') or '?'})"
        points = [_interval(row, start_s) for row in entries(flow.get("intervals"))]
        known = [point for point in points if point is not None]
        if known:
            lines.append(Series(name=name, points=tuple(known), hue=hue_of(flow)))
        else:
            unknown.append(name)
    return SeriesPlot(
        title="Goodput per sender", unit="Gb/s", series=tuple(lines), unknown=tuple(unknown)
    )


def hue_of(flow: Json) -> int | None:
    """The priority that a flow's DSCP is meant for: its first three bits."""
    tos = number(flow.get("tos"))
    return None if tos is None else int(tos) >> 5 & 7


def _interval(row: Json, start_s: float) -> Span | None:
    begin, end = number(row.get("start_s")), number(row.get("end_s"))
    if begin is None or end is None:
        return None
    rate = number(row.get("goodput_bits_per_s"))
    return (begin - start_s, end - start_s, None if rate is None else rate / 1e9)


def _by_counter(samples: list[Json]) -> dict[str, dict[str, list[Reading]]]:
    """Samples by counter and place, in the order of time."""
    found: dict[str, dict[str, list[Reading]]] = {}
    for sample in samples:
        time_s = number(sample.get("time_s"))
        if time_s is None:
            continue
        reading = _reading(sample, time_s)
        found.setdefault(reading.counter, {}).setdefault(place(sample), []).append(reading)
    for places in found.values():
        for readings in places.values():
            readings.sort(key=lambda reading: reading.time_s)
    return found


def _reading(sample: Json, time_s: float) -> Reading:
    value, index = number(sample.get("value")), number(sample.get("index"))
    return Reading(
        device=str(sample.get("device") or ""),
        port=str(sample.get("port") or ""),
        scope="port",
        index=None if index is None else int(index),
        counter=str(sample.get("counter")),
        unit=str(sample.get("unit")),
        value=None if value is None else int(value),
        time_s=time_s,
        source="",
    )


def _panel(kind: _Kind, samples: dict[str, dict[str, list[Reading]]], start_s: float) -> SeriesPlot:
    points_of: Callable[[list[Reading], float], list[Span]] = _levels if kind.level else _rates
    lines, unknown, silent = [], [], 0
    for counter in kind.counters:
        for where, readings in samples.get(counter, {}).items():
            name = " ".join(filter(None, (where, _WORDS.get(counter, ""))))
            points = tuple(points_of(readings, start_s))
            hue = readings[0].index
            line = Series(name=name, points=points, hue=hue)
            if line.gaps == len(points):
                unknown.append(name)
            elif line.highest == 0 and not line.gaps:
                silent += 1
            else:
                lines.append(line)
    return SeriesPlot(
        title=kind.title,
        unit=kind.unit,
        series=tuple(lines),
        silent=silent,
        unknown=tuple(unknown),
    )


def _levels(readings: list[Reading], start_s: float) -> list[Span]:
    """A level holds from its sample to the next."""
    times = [reading.time_s - start_s for reading in readings]
    return [
        (begin, end, reading.value)
        for reading, begin, end in zip(readings, times, [*times[1:], times[-1]], strict=True)
    ]


def _rates(readings: list[Reading], start_s: float) -> list[Span]:
    """Per second, between neighbouring samples."""
    points: list[Span] = []
    for first, second in pairwise(readings):
        change = differences([first], [second])[second.key].increase
        # of two samples that are next to no time apart it may be more than can be drawn
        rate = None if change is None else number(change / (second.time_s - first.time_s))
        points.append((first.time_s - start_s, second.time_s - start_s, rate))
    return points
