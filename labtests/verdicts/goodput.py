"""What senders got over time, from their own report rows. Times are seconds of the lab's clock."""

import math
from itertools import pairwise

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, Interval
from labtests.measure.evidence import Evidence

MISSING_ROW = 0.9
"""Of a row's length: so long without a row, and one is missing."""


def mean_goodput(flow: FlowResult, from_s: float, to_s: float) -> float | None:
    """Time-weighted mean in bits/s over the rows that lie wholly inside; None without any."""
    rows = [r for r in flow.intervals if r.start_s >= from_s - 1e-6 and r.end_s <= to_s + 1e-6]
    seconds = sum(r.end_s - r.start_s for r in rows)
    if not seconds:
        return None
    return sum(r.goodput_bits_per_s * (r.end_s - r.start_s) for r in rows) / seconds


def _goodput_about(flow: FlowResult, from_s: float, to_s: float) -> float | None:
    """The same, or of the rows that lie mostly inside: senders that start one after the other have
    rows that begin one after the other, and in a short time together not one fits wholly."""
    whole = mean_goodput(flow, from_s, to_s)
    if whole is not None:
        return whole
    mostly = _mostly_inside(flow, from_s, to_s)
    seconds = sum(inside for inside, _ in mostly)
    return sum(r.goodput_bits_per_s * inside for inside, r in mostly) / seconds if mostly else None


def _mostly_inside(flow: FlowResult, from_s: float, to_s: float) -> list[tuple[float, Interval]]:
    """Rows, each with how many seconds of it are inside: more than half of it."""
    rows = [(min(r.end_s, to_s) - max(r.start_s, from_s), r) for r in flow.intervals]
    return [(inside, r) for inside, r in rows if inside > (r.end_s - r.start_s) / 2]


def rows_together(evidence: Evidence, flow: FlowResult) -> tuple[Interval, ...]:
    """Its rows of the time in which all of them sent."""
    span = time_together(evidence)
    return () if span is None else tuple(row for _, row in _mostly_inside(flow, *span))


def rows_beside_others(evidence: Evidence, flow: FlowResult) -> tuple[Interval, ...]:
    """The same, and those after it: others' last rows may have ended earlier than they sent."""
    span = time_together(evidence)
    if span is None:
        return ()
    return tuple(row for _, row in _mostly_inside(flow, span[0], math.inf))


def no_evidence(flow: FlowResult) -> str:
    """What its tool told and no flow can have done, for a sentence; "" for nothing. Rows follow
    each other, but for what processes that started one after the other differ by, and for the time
    in which perftest measures its clock: both are less than a row."""
    rates = (flow.goodput_bits_per_s, flow.offered_bits_per_s, flow.sent_bits_per_s)
    told = [number for number in (*rates, flow.asked_s, flow.ran_s) if number is not None]
    for row in flow.intervals:
        told += [row.goodput_bits_per_s, row.end_s - row.start_s]
    if not all(map(math.isfinite, told)):
        return "a rate or a time that is not a number"
    if min(told, default=0.0) < 0:
        return "a rate or a time below 0"
    if min((n for n in _counts(flow) if n is not None), default=0) < 0:
        return "a count below 0"
    for row, after in pairwise(flow.intervals):
        length_s = row.end_s - row.start_s
        if after.start_s < row.start_s + length_s / 2:
            return f"two rows of the same time, from {after.start_s:.3g} s of the lab's clock"
        if after.start_s > row.end_s + MISSING_ROW * length_s:
            return f"no row from {row.end_s:.3g} to {after.start_s:.3g} s of the lab's clock"
    return ""


def _counts(flow: FlowResult) -> tuple[int | None, ...]:
    datagrams = (flow.sent_datagrams, flow.received_datagrams, flow.lost_datagrams)
    others = (flow.late_datagrams, flow.retransmits, flow.iterations)
    return (*datagrams, *others, flow.sent_bytes, flow.received_bytes)


def began_s(flow: FlowResult) -> float | None:
    """When its first row begins."""
    return flow.intervals[0].start_s if flow.intervals else None


def ended_s(flow: FlowResult) -> float | None:
    """When its last row ends."""
    return flow.intervals[-1].end_s if flow.intervals else None


def alone(evidence: Evidence) -> float | None:
    """What the first sender got before anybody else sent, in bits/s."""
    if not evidence.flows:
        return None
    early, *late = evidence.flows
    starts = [s for flow in late if (s := began_s(flow)) is not None]
    start = began_s(early)
    if start is None or not late or len(starts) != len(late):
        return None
    return mean_goodput(early, start, min(starts))


def together(evidence: Evidence) -> tuple[float, ...] | None:
    """What each sender got while all of them sent, in bits/s; None when a part is not reported."""
    span = time_together(evidence)
    means = [] if span is None else [_goodput_about(f, *span) for f in evidence.flows]
    known = tuple(m for m in means if m is not None)
    return known if known and len(known) == len(means) else None


def of_all(evidence: Evidence) -> float | None:
    """All that receivers got, over the time from the first start to the last end, in bits/s: who
    started one after the other had the line one after the other. None where not all tell."""
    told = [_bits(flow) for flow in evidence.flows]
    bits = [n for n in told if n is not None]
    rows = [row for flow in evidence.flows for row in flow.intervals]
    if not bits or len(bits) != len(told):
        return None
    seconds = max(row.end_s for row in rows) - min(row.start_s for row in rows)
    return sum(bits) / seconds if seconds > 0 else None


def _bits(flow: FlowResult) -> float | None:
    """By its receiver's count of bytes, else by its mean."""
    start_s, end_s = began_s(flow), ended_s(flow)
    if start_s is None or end_s is None:
        return None
    if flow.received_bytes is not None:
        return 8.0 * flow.received_bytes
    rate = flow.goodput_bits_per_s
    return None if rate is None else rate * (end_s - start_s)


def others_share(evidence: Evidence) -> float:
    """Of the bottleneck's line rate, what queues that are not under test sent on while all senders
    sent: by samples of that time, 0.0 where there are not two of each."""
    first, last = time_together(evidence) or (0.0, 0.0)
    seen: dict[int | None, list[tuple[float, int]]] = {}
    for r in evidence.samples:
        inside = first <= (r.time_s if r.asked_s is None else r.asked_s) and r.time_s <= last
        of_queue = (r.device, r.port, r.counter) == (*evidence.bottleneck, c.QUEUE_FORWARDED_BYTES)
        if of_queue and inside and r.index not in evidence.queues and r.value is not None:
            seen.setdefault(r.index, []).append((r.time_s, r.value))
    rates = [max(_rate(rows), 0.0) for rows in seen.values() if len(rows) > 1]
    return 8 * sum(rates) / evidence.line_bits_per_s


def _rate(rows: list[tuple[float, int]]) -> float:
    (start_s, start), (end_s, end) = min(rows), max(rows)
    return (end - start) / (end_s - start_s) if end_s > start_s else 0.0


def seconds_together(evidence: Evidence) -> float:
    """How long all of them sent; 0.0 when a part is not reported."""
    first, last = time_together(evidence) or (0.0, 0.0)
    return max(last - first, 0.0)


def time_together(evidence: Evidence) -> tuple[float, float] | None:
    """From when to when all of them sent; None when a part is not reported."""
    starts = [s for f in evidence.flows if (s := began_s(f)) is not None]
    ends = [e for f in evidence.flows if (e := ended_s(f)) is not None]
    if not evidence.flows or not len(starts) == len(ends) == len(evidence.flows):
        return None
    known = all(map(math.isfinite, (*starts, *ends)))
    return (max(starts), min(ends)) if known else None


def told(evidence: Evidence) -> str:
    """What the first sender had alone, and all of them together, for a sentence."""
    solo, shared = alone(evidence), together(evidence)
    if not solo or not shared:
        return "no goodput over time"
    got = " + ".join(f"{rate / 1e9:.2f}" for rate in shared)
    first = evidence.senders[0].device
    return f"{first} had {solo / 1e9:.2f} Gb/s alone; together {got} Gb/s"
