"""The third witness: what switches streamed, held against the counters that were read.

Totals decide, the stream explains. It gives a verdict numbers (the margin to the headroom's end,
what it confirms); where it contradicts a counter, both are named and nothing passes. A stream that
is missing, or stopped, takes away its own numbers and nothing else.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.measure.streamed import HeadroomLeft, Streamed, StreamKey
from labtests.verdicts.bursts import bursts, enough
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


LEAST_FRAME_BYTES = 64
_NOTHING_COMPARED = "no counter was streamed from before the traffic to behind its last read"


def third_witness(evidence: Evidence) -> Iterator[Finding]:
    """Beside the counters of a lossless verdict; nothing where nothing was streamed."""
    streamed = evidence.streamed
    if streamed is None:
        return
    yield from (_headroom_fact(each) for each in headrooms(evidence))
    wrong = tuple(_contradictions(evidence))
    yield from wrong
    same = sum(_against(evidence, streamed, d) is True for d in evidence.changes.values())
    why_not = "; ".join(_broken(evidence, streamed)) or ("" if same or wrong else _NOTHING_COMPARED)
    yield passed(
        Fact(
            name="counters that the stream confirms",
            measured=same if same or not why_not else None,
            bound="reported",
            unit="counters",
            note=why_not,
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
    ports = dict.fromkeys(((p.switch, p.switch_port), p.group) for p in places)
    return tuple(
        _believed(
            evidence,
            evidence.streamed.headroom(port, priority, evidence.start_s, evidence.end_s),
        )
        for port, priority in ports
    )


def _believed(evidence: Evidence, left: HeadroomLeft) -> HeadroomLeft:
    """Who has sent pause frames has had frames in its headroom: what came until the sender heard
    them. Less than one is another unit, or a value that nobody renews."""
    key = (left.device, left.port, "priority", left.priority, c.PFC_TX_FRAMES)
    sent = evidence.changes.get(key)
    if left.peak_bytes is None or left.is_bound == "at least" or sent is None or not sent.increase:
        return left  # moments may all be without
    if left.peak_bytes >= LEAST_FRAME_BYTES:
        return left
    why = f"{left.peak_bytes} bytes at most beside {sent.increase} pause frames: it is not believed"
    return replace(left, peak_bytes=None, at_s=None, because=why)


_ONLY_A_BOUND = {
    "at least": "of sampled moments: it may have been more between them",
    "at most": "as much was shown before this phase: in it, it was that or less",
}


def _headroom_fact(found: HeadroomLeft) -> Finding:
    bound = "reported" if found.room_bytes is None else f"<= {found.room_bytes}"
    note = found.because or _ONLY_A_BOUND.get(found.is_bound, "")
    if not note and found.margin_bytes is not None and found.margin_bytes < 0:
        note = "more than there is: where nothing was lost, one of the two numbers is wrong"
    return passed(
        Fact(
            name=f"{found.device} {found.port} priority {found.priority} headroom in use, at most",
            measured=found.peak_bytes,
            bound=bound,
            unit="bytes",
            margin=found.margin_bytes,
            note=note,
        )
    )


def _kept_headroom(evidence: Evidence) -> Iterator[Finding]:
    seen = headrooms(evidence)
    if not seen:
        yield unproven("nothing was streamed of the ports where the flows come in")
    yield from _contradictions(evidence)
    for found in seen:
        fact = _headroom_fact(found).facts
        where = f"{found.device} {found.port} priority {found.priority}"
        beyond = found.margin_bytes is not None and found.margin_bytes < 0
        if found.margin_bytes is None or found.is_bound == ("at most" if beyond else "at least"):
            why = found.because or _ONLY_A_BOUND[found.is_bound]
            yield unproven(f"{where}: {why}", *fact)
        elif beyond:
            yield failed(f"{where} took {-found.margin_bytes} bytes more than its headroom", *fact)
        else:
            yield passed(*fact)


def _no_bursts(evidence: Evidence) -> Iterator[Finding]:
    streamed = evidence.streamed
    series = streamed.series if streamed is not None else {}
    queues = {key for key in series if key[-1] in (c.QUEUE_PEAK_BYTES, c.QUEUE_MOST_BYTES)}
    if streamed is None or not queues:
        yield unproven("no switch streamed the most that its queues held")
        return
    yield passed(
        Fact(name="queues looked at", measured=len(queues), bound="reported", unit="queues")
    )
    yield from (unproven(text) for text in _broken(evidence, streamed))
    yield from (unproven(text) for text in sorted(_unseen(evidence, streamed, queues)))
    yield from _contradictions(evidence)
    stale = {key[0]: streamed.stale(key[0], evidence.end_s) for key in sorted(queues)}
    yield from (unproven(f"{device}: {why}") for device, why in stale.items() if why)
    for each in bursts(evidence):
        flows = ", ".join(each.flows) or "no flow of ours"
        since_s, until_s = each.since_s - evidence.start_s, each.until_s - evidence.start_s
        yield failed(
            f"{each.device} {each.port} queue {each.queue} held {each.peak_bytes} bytes at a "
            f"moment from {since_s:.1f} to {until_s:.1f} s of the phase, and "
            f"{each.mean_bytes:.0f} in the mean; then ran {flows}"
        )


def _contradictions(evidence: Evidence) -> Iterator[Finding]:
    """A stream that is not right about counters is not believed in what only it tells."""
    if evidence.streamed is not None:
        for difference in evidence.changes.values():
            found = _against(evidence, evidence.streamed, difference)
            if isinstance(found, Finding):
                yield found


def _unseen(evidence: Evidence, streamed: Streamed, queues: Collection[StreamKey]) -> Iterator[str]:
    receiver = evidence.receiver
    if (receiver.switch, receiver.switch_port) not in {key[:2] for key in queues}:
        yield f"nothing was streamed of {receiver.switch} {receiver.switch_port}"
    for key in queues:
        if why := streamed.unseen(key, evidence.start_s, evidence.end_s):
            yield f"{key[0]}: {why}"
        elif not enough(evidence, key):
            yield f"{key[0]} {key[1]} queue {key[3]} was sampled too rarely under traffic"


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
