"""What senders got over time, from their own report rows. Times are seconds of the lab's clock."""

from labtests.evidence import Evidence
from labtests.records import FlowResult


def mean_goodput(flow: FlowResult, from_s: float, to_s: float) -> float | None:
    """Time-weighted mean in bits/s over the rows that lie wholly inside; None without any."""
    rows = [r for r in flow.intervals if r.start_s >= from_s - 1e-6 and r.end_s <= to_s + 1e-6]
    seconds = sum(r.end_s - r.start_s for r in rows)
    if not seconds:
        return None
    return sum(r.goodput_bits_per_s * (r.end_s - r.start_s) for r in rows) / seconds


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
    if start is None or len(starts) != len(late):
        return None
    return mean_goodput(early, start, min(starts))


def together(evidence: Evidence) -> tuple[float, ...] | None:
    """What each sender got while all of them sent, in bits/s; None when a part is not reported."""
    starts = [began_s(f) for f in evidence.flows]
    ends = [ended_s(f) for f in evidence.flows]
    if not evidence.flows or None in starts or None in ends:
        return None
    first, last = max(s for s in starts if s is not None), min(e for e in ends if e is not None)
    means = [mean_goodput(f, first, last) for f in evidence.flows]
    known = tuple(m for m in means if m is not None)
    return known if len(known) == len(means) else None
