"""Microbursts: a queue that for a moment held many times what it holds in the mean.

A total, or a length that is read every second, hides them; the most of each interval, which a
switch keeps by itself, does not. When in the interval it was, nobody knows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median_low

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.capabilities.streams import StreamSample
from labtests.measure.evidence import Evidence
from labtests.measure.streamed import StreamKey

TIMES_THE_MEAN = 4
LEAST_FRAMES = 10
"""A queue that never holds more is what any two senders make."""
IN_A_ROW = 2
"""Intervals: what goes on in more is a load."""
LEAST_SAMPLES = 4
"""Under traffic: of fewer nobody knows what is usual, unless lengths were sampled while all
sent."""
USUAL_MTU_BYTES, HEADERS_BYTES = 1500, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """A queue of a port (device, port) held `peak_bytes` at a moment from `since_s` to `until_s` of
    the lab's clock, and `mean_bytes` in the mean of the traffic. `flows` then ran."""

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
        for burst in _of_queue(evidence, key, series, max(least_bytes, _usual(evidence, key)))
    ]
    return tuple(sorted(found, key=lambda burst: (burst.since_s, burst.device, burst.queue)))


def _of_queue(
    evidence: Evidence, key: StreamKey, series: tuple[StreamSample, ...], least_bytes: float
) -> Iterator[Burst]:
    device, port, _, queue, counter = key
    assert evidence.streamed is not None
    if evidence.streamed.stale(device, evidence.end_s):
        return  # it may be of a time before
    if not enough(evidence, key):
        return
    age_s = evidence.streamed.ages_s.get(device, 0.0)
    mean_bytes = _mean(evidence, key)
    runs: list[list[tuple[StreamSample, StreamSample]]] = []
    for before, now in pairwise(series):
        news = counter == c.QUEUE_PEAK_BYTES or now.value > before.value
        if not news or now.value < max(TIMES_THE_MEAN * mean_bytes, least_bytes):
            continue
        if not runs or runs[-1][-1][1] is not before:
            runs.append([])
        runs[-1].append((before, now))
    for run in runs:
        peaks = [now.value for _, now in run]
        if len(set(peaks) if age_s else peaks) > IN_A_ROW:  # an old one is shown again and again
            continue
        yield Burst(
            device=device,
            port=port,
            queue=queue,
            since_s=run[0][0].time_s - age_s,
            until_s=run[-1][1].time_s,
            peak_bytes=max(peaks),
            mean_bytes=mean_bytes,
        )


def enough(evidence: Evidence, key: StreamKey) -> bool:
    """Whether a queue was sampled often enough under traffic to know what it usually holds."""
    return not _few(evidence, key) or bool(_while_all_send(evidence, key))


def _few(evidence: Evidence, key: StreamKey) -> bool:
    return len(_sampled(evidence, key, evidence.start_s, evidence.end_s)) < LEAST_SAMPLES


def _while_all_send(evidence: Evidence, key: StreamKey) -> list[int]:
    """The lengths of this queue that were sampled then."""
    spans = [(f.intervals[0].start_s, f.intervals[-1].end_s) for f in evidence.flows if f.intervals]
    since_s, until_s = (max(s for s, _ in spans), min(e for _, e in spans)) if spans else (0.0, 0.0)
    return _sampled(evidence, (*key[:-1], c.QUEUE_LENGTH_BYTES), since_s, until_s)


def _sampled(evidence: Evidence, key: StreamKey, since_s: float, until_s: float) -> list[int]:
    assert evidence.streamed is not None
    series = evidence.streamed.series.get(key, ())
    return [s.value for s in series if since_s < s.time_s <= until_s]


def _usual(evidence: Evidence, key: StreamKey) -> float:
    """So many times what half of the intervals of the traffic did not exceed, or of a few what was
    held at any moment while all sent: what a queue holds again and again is no burst."""
    if _few(evidence, key):
        return TIMES_THE_MEAN * max(_while_all_send(evidence, key), default=0)
    peaks = _under_traffic(evidence, key)
    if not peaks or key[-1] == c.QUEUE_MOST_BYTES:
        return 0.0
    return TIMES_THE_MEAN * median_low(peaks)


def _mean(evidence: Evidence, key: StreamKey) -> float:
    """Of the lengths at the sampled moments of the traffic; where none are streamed, of the most of
    each interval, which is more."""
    lengths = _under_traffic(evidence, (*key[:-1], c.QUEUE_LENGTH_BYTES))
    if lengths:
        return fmean(lengths)
    peaks = _under_traffic(evidence, key)
    return fmean(peaks) if peaks and key[-1] == c.QUEUE_PEAK_BYTES else 0.0


def _under_traffic(evidence: Evidence, key: StreamKey) -> list[int]:
    assert evidence.streamed is not None
    within = evidence.streamed.spanning(key, evidence.start_s, evidence.end_s)
    return [sample.value for sample in within]


def _running(flows: tuple[FlowResult, ...], burst: Burst) -> tuple[str, ...]:
    return tuple(
        f"{flow.sender} → {flow.receiver} ({flow.tool})"
        for flow in flows
        if any(
            each.start_s < burst.until_s and each.end_s > burst.since_s for each in flow.intervals
        )
    )
