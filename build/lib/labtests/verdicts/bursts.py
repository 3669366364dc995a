"""Microbursts: a queue that for a moment held many times what it holds in the mean.

A total, or a length that is read every second, hides them; the most of each interval, which a
switch keeps by itself, does not. When in the interval it was, nobody knows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median, median_low

from labtests.capabilities import counters as c
from labtests.capabilities.records import FlowResult
from labtests.capabilities.streams import StreamSample
from labtests.measure.evidence import Evidence
from labtests.measure.streamed import Streamed, StreamKey

TIMES_THE_MEAN = 4
LEAST_FRAMES = 10
"""A queue that never holds more is what any two senders make."""
USUAL_MTU_BYTES, HEADERS_BYTES = 1500, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """A queue of a port (device, port) held `peak_bytes` at a moment from `since_s` to `until_s` of
    the lab's clock, and `mean_bytes` in the mean of the phase. `flows` then ran."""

    device: str
    port: str
    queue: int
    since_s: float
    until_s: float
    peak_bytes: int
    mean_bytes: float
    flows: tuple[str, ...] = ()


def bursts(evidence: Evidence) -> tuple[Burst, ...]:
    """Those of a phase, in order of time; none where nothing was streamed."""
    streamed = evidence.streamed
    if streamed is None:
        return ()
    mtu_bytes = evidence.mtu_bytes or USUAL_MTU_BYTES
    least_bytes = LEAST_FRAMES * (mtu_bytes + HEADERS_BYTES)
    found = [
        replace(burst, flows=_running(evidence.flows, burst))
        for key, series in streamed.series.items()
        if key[-1] in (c.QUEUE_PEAK_BYTES, c.QUEUE_MOST_BYTES)
        for burst in _of_queue(streamed, key, series, max(least_bytes, _usual(evidence, series)))
    ]
    return tuple(sorted(found, key=lambda burst: (burst.since_s, burst.device, burst.queue)))


def _of_queue(
    streamed: Streamed, key: StreamKey, series: tuple[StreamSample, ...], least_bytes: float
) -> Iterator[Burst]:
    device, port, _, queue, counter = key
    mean_bytes = _mean(streamed, key, series)
    last: Burst | None = None
    for before, now in pairwise(series):
        news = counter == c.QUEUE_PEAK_BYTES or now.value > before.value
        if not news or now.value < max(TIMES_THE_MEAN * mean_bytes, least_bytes):
            continue
        if last is not None and last.until_s == before.time_s:  # one that a watermark still shows
            last = replace(last, until_s=now.time_s, peak_bytes=max(last.peak_bytes, now.value))
            continue
        if last is not None:
            yield last
        last = Burst(
            device=device,
            port=port,
            queue=queue,
            since_s=before.time_s,
            until_s=now.time_s,
            peak_bytes=now.value,
            mean_bytes=mean_bytes,
        )
    if last is not None:
        yield last


def _usual(evidence: Evidence, series: tuple[StreamSample, ...]) -> float:
    """So many times what half of the intervals of the traffic did not exceed: what a queue holds
    again and again is no burst."""
    if series[0].counter == c.QUEUE_MOST_BYTES:
        return 0.0
    peaks = [s.value for s in series if evidence.start_s < s.time_s <= evidence.end_s + 1]
    return TIMES_THE_MEAN * median_low(peaks) if peaks else 0.0


def _mean(streamed: Streamed, key: StreamKey, series: tuple[StreamSample, ...]) -> float:
    """Of the lengths at the sampled moments; where none are streamed, what half of the intervals
    did not exceed."""
    lengths = streamed.series.get((*key[:-1], c.QUEUE_LENGTH_BYTES), ())
    if lengths:
        return fmean(sample.value for sample in lengths)
    return 0.0 if key[-1] == c.QUEUE_MOST_BYTES else float(median(s.value for s in series))


def _running(flows: tuple[FlowResult, ...], burst: Burst) -> tuple[str, ...]:
    return tuple(
        f"{flow.sender} → {flow.receiver} ({flow.tool})"
        for flow in flows
        if any(
            each.start_s < burst.until_s and each.end_s > burst.since_s for each in flow.intervals
        )
    )
