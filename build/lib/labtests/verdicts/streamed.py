"""The third witness: what switches streamed, held against the counters that were read.

Totals decide, the stream explains. It gives a verdict numbers (the margin to the headroom's end,
what it confirms); where it contradicts a counter, both are named and nothing passes. A stream that
is missing, or stopped, takes away its own numbers and nothing else.
"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.measure.streamed import HeadroomLeft, Streamed
from labtests.verdicts.bursts import bursts
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    disagreement,
    failed,
    name_of,
    passed,
    unproven,
)

COMPARED = frozenset(
    {
        *(c.QUEUE_DROPPED_PACKETS, c.BUFFER_DROPPED_IN_PACKETS, c.WRED_DROPPED_PACKETS),
        *(c.ECN_MARKED_PACKETS, c.QUEUE_MARKED_PACKETS, c.PFC_TX_FRAMES, c.PFC_RX_FRAMES),
    }
)
"""What both count: packets that were dropped or marked, pause frames."""


def third_witness(evidence: Evidence) -> Iterator[Finding]:
    """Beside the counters of a lossless verdict; nothing where nothing was streamed."""
    streamed = evidence.streamed
    if streamed is None:
        return
    yield from (_headroom_fact(each) for each in headrooms(evidence))
    same = 0
    for difference in evidence.changes.values():
        found = _against(evidence, streamed, difference)
        same += found is True
        if isinstance(found, Finding):
            yield found
    broken = "; ".join(_broken(evidence, streamed))
    yield passed(
        Fact(
            name="counters that the stream confirms",
            measured=same if same or not broken else None,
            bound="reported",
            unit="counters",
            note=broken,
        )
    )


def kept_headroom(evidence: Evidence) -> Verdict:
    """No priority took more than its headroom, by what was streamed. What rests on a stream is
    open where it stopped."""
    return conclude(
        "Was there headroom left?",
        evidence,
        _kept_headroom(evidence),
        passing="by what switches streamed, headroom was left",
    )


def no_bursts(evidence: Evidence) -> Verdict:
    """No queue held many times its mean for a moment."""
    return conclude(
        "Were there no microbursts?",
        evidence,
        _no_bursts(evidence),
        passing="no queue held many times its mean, by the most of each interval",
    )


def headrooms(evidence: Evidence) -> tuple[HeadroomLeft, ...]:
    """Of the switch ports where the flows come in."""
    if evidence.streamed is None:
        return ()
    places = [each for each in evidence.senders if each.switch in evidence.streamed.every_s]
    ports = dict.fromkeys(((p.switch, p.switch_port), _priority(p)) for p in places)
    return tuple(
        evidence.streamed.headroom(port, priority, evidence.start_s, evidence.end_s)
        for port, priority in ports
    )


def _priority(place: Place) -> int:
    """That of the sender's class; of one whose NIC has no classes, its queue's number."""
    return place.queue if place.priority is None else place.priority


def _headroom_fact(found: HeadroomLeft) -> Finding:
    moments = "of sampled moments: it may have been more between them"
    bound = "reported" if found.room_bytes is None else f"<= {found.room_bytes}"
    return passed(
        Fact(
            name=f"{found.device} {found.port} priority {found.priority} headroom in use, at most",
            measured=found.peak_bytes,
            bound=bound,
            unit="bytes",
            margin=found.margin_bytes,
            note=found.because or (moments if found.momentary else ""),
        )
    )


def _kept_headroom(evidence: Evidence) -> Iterator[Finding]:
    seen = headrooms(evidence)
    if not seen:
        yield unproven("nothing was streamed of the ports where the flows come in")
    for found in seen:
        fact = _headroom_fact(found).facts
        where = f"{found.device} {found.port} priority {found.priority}"
        if found.margin_bytes is None or found.momentary:
            why = found.because or "only sampled moments are known"
            yield unproven(f"{where}: {why}", *fact)
        elif found.margin_bytes < 0:
            yield failed(f"{where} took {-found.margin_bytes} bytes more than its headroom", *fact)
        else:
            yield passed(*fact)


def _no_bursts(evidence: Evidence) -> Iterator[Finding]:
    streamed = evidence.streamed
    series = streamed.series if streamed is not None else {}
    queues = {key[:4] for key in series if key[-1] in (c.QUEUE_PEAK_BYTES, c.QUEUE_MOST_BYTES)}
    if streamed is None or not queues:
        yield unproven("no switch streamed the most that its queues held")
        return
    yield passed(
        Fact(name="queues looked at", measured=len(queues), bound="reported", unit="queues")
    )
    yield from (unproven(text) for text in _broken(evidence, streamed))
    for each in bursts(evidence):
        flows = ", ".join(each.flows) or "no flow of ours"
        since_s, until_s = each.since_s - evidence.start_s, each.until_s - evidence.start_s
        yield failed(
            f"{each.device} {each.port} queue {each.queue} held {each.peak_bytes} bytes at a "
            f"moment from {since_s:.1f} to {until_s:.1f} s of the phase, and "
            f"{each.mean_bytes:.0f} in the mean; then ran {flows}"
        )


def _broken(evidence: Evidence, streamed: Streamed) -> Iterator[str]:
    for device in streamed.every_s:
        if why := streamed.broken(device, evidence.start_s, evidence.end_s):
            yield f"{device}: {why}"


def _against(evidence: Evidence, streamed: Streamed, difference: Difference) -> Finding | bool:
    """What the stream says of a counter that was read: True, the same; False, nothing. Something
    that counted in the quiet window is of a moment that nobody knows to the packet."""
    counter = difference.key[-1]
    before, after, grown = difference.before, difference.after, difference.increase
    if counter not in COMPARED or grown is None or before is None or after is None:
        return False
    noise = evidence.noise.get(difference.key)
    found = streamed.increase(difference.key, evidence.start_s, after.time_s)
    if found is None or noise is None or noise.increase != 0:
        return False
    said, first, last = found
    if said == grown:
        return True
    fact = Fact(
        name=f"{name_of(difference)}, streamed",
        measured=said,
        bound=f"= {grown}",
        unit=first.unit,
        margin=None,
    )
    return disagreement(
        f"{name_of(difference)} grew by {grown} as read ({after.source}) and by {said} as streamed "
        f"({last.source}, from {first.time_s - evidence.start_s:+.1f} s to "
        f"{last.time_s - evidence.start_s:+.1f} s of the phase)",
        fact,
    )
