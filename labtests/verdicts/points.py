"""Notification and reaction points, by what NICs count and what flows get.

NP: a CE packet is answered with a CNP, but for those that come sooner than `min_time_between_cnps`
after the last one of their flow (DCQCN, Zhu et al., SIGCOMM 2015). RP: CNPs cut a flow's rate, and
when they cease it comes back, as fast as its parameters say.
"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, cnps, goodput, outcome, witnesses
from labtests.verdicts.bounds import Bound, at_least
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    fact_of,
    failed,
    held_to,
    missing,
    passed,
    unproven,
)

PRESSED = 2
"""CE packets to each CNP that the interval allows: with fewer, marks could be what is rare."""
LEAST_SHARE = 0.5
"""Of a CNP each interval: a NIC that keeps it for its port as a whole sends that many, whatever the
number of its flows."""
BUFFERS_BITS = 8 * 16_000_000
"""What switches may hold when the senders have ended, and what is answered as it arrives: seen at
1G, where it takes longest."""
HELD_SHARE, BACK_SHARE = 0.6, 0.9
"""Of what a sender had alone: at most, while it is pressed; at least, in its last row."""
LESS_SHARE = 0.8
"""Of what the other sender gets, at most, what one with a slower recovery gets."""


def spaced(evidence: Evidence, *, interval_us: int | None = None) -> Verdict:
    """The receiver sent no more CNPs than one each interval to each flow (one queue pair each), and
    not far fewer, while all that came was marked. `interval_us`: another one than its NIC says."""
    told_us = None if evidence.cnp is None else evidence.cnp.interval_us
    interval_us = told_us if interval_us is None else interval_us
    sent = _of_receiver(evidence, c.NP_CNP_SENT).increase
    return conclude(
        "Were CNPs as far apart as the notification point says?",
        evidence,
        _spaced(evidence, interval_us),
        passing=f"{sent} CNPs, no more than one each {interval_us} us to each of "
        f"{len(evidence.flows)} flows, in their own class",
        remedy=f"look at min_time_between_cnps of {evidence.receiver.device}, and at its firmware",
    )


def _spaced(evidence: Evidence, interval_us: int | None) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from witnesses.rdma_repeated_only_what_was_dropped(evidence)
    sent = _of_receiver(evidence, c.NP_CNP_SENT)
    marked = _of_receiver(evidence, c.NP_ECN_MARKED_PACKETS)
    for unread in (each for each in (sent, marked) if each.increase is None):
        yield missing(unread, "known", "packets")
    if not interval_us:
        yield unproven(f"{evidence.receiver.device} does not tell min_time_between_cnps")
        return
    seconds = evidence.end_s - evidence.start_s + BUFFERS_BITS / evidence.line_bits_per_s
    each = seconds * 1e6 / interval_us
    most = round(len(evidence.flows) * (each + 1))
    told, pressing = sent.increase or 0, marked.increase or 0
    fact = fact_of(sent, f"<= {most}", "CNPs", margin=most - told)
    many = (
        f"{evidence.receiver.device} sent {told} CNPs to {len(evidence.flows)} flows in "
        f"{seconds:.3g} s: more than one each {interval_us} us to each"
    )
    yield passed(fact) if told <= most else failed(many, fact)
    if pressing < PRESSED * most:
        yield unproven(f"{pressing} CE packets: too few to ask for {most} CNPs")
    yield _often_enough(evidence, told, interval_us)
    yield from cnps.of_marks(evidence)
    yield from cnps.in_their_class(evidence)
    yield cnps.all_came(evidence)
    for place in evidence.senders if told and pressing >= PRESSED * most else ():
        if cnps.got(evidence, place) == 0:
            none = f"{evidence.receiver.device} sent {told} CNPs, and none of them"
            finding = failed(f"{none} to {place.device}, though all is marked")
            yield outcome.unless_contradicted(finding, (cnps.all_came(evidence),))


def _often_enough(evidence: Evidence, told: int, interval_us: int) -> Finding:
    span = goodput.time_together(evidence)
    if span is None:
        return unproven("interval reports do not cover the time in which all sent")
    least = round(LEAST_SHARE * (span[1] - span[0]) * 1e6 / interval_us)
    name = f"CNPs of {evidence.receiver.device} while all sent"
    fact = held_to(name, told, at_least(least), "CNPs")
    few = f"{evidence.receiver.device} sent {told} CNPs: not one each {interval_us} us"
    return passed(fact) if told >= least else unproven(few, fact)


def recovered(evidence: Evidence) -> Verdict:
    """The first sender was slowed by CNPs while the other one pressed it, and had its link again
    when that one had ended."""
    return conclude(
        "Did the sender speed up again when the CNPs had ceased?",
        evidence,
        _recovered(evidence),
        passing="; ".join(_course(evidence)),
        remedy="look at the increase of its reaction point: rpg_time_reset, rpg_ai_rate, "
        "rpg_hai_rate, clamp_tgt_rate",
    )


def _recovered(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from witnesses.rdma_repeated_only_what_was_dropped(evidence)
    course = _three(evidence)
    if course is None:
        yield unproven("no rows of the first sender before, beside and after the other one")
        return
    place, flow = evidence.senders[0], evidence.flows[0]
    before, beside, after = course
    handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED)
    if not handled.increase:
        stood = f"{flow.sender} handled no CNP: nothing slowed it"
        yield missing(handled, "> 0", "CNPs") if handled.increase is None else unproven(stood)
    yield from cnps.heeded(evidence, place)
    alone = before / (place.link_bits_per_s or evidence.line_bits_per_s)
    name = f"{flow.sender} alone / its link"
    fast = checks.bounded(name, alone, at_least=checks.FULL_SHARE - 0.15)
    yield outcome.or_unproven(fast, "it was slow before anybody pressed it")
    slowed = checks.bounded(
        f"{flow.sender}: goodput while pressed / alone", beside / before, at_most=HELD_SHARE
    )
    yield outcome.or_unproven(slowed, "it was not slowed")
    yield _back(evidence, flow, after / before)


def _back(evidence: Evidence, flow: FlowResult, share: float) -> Finding:
    """A host that does not send, or pauses, would look the same."""
    fact = held_to(
        f"{flow.sender}: goodput in its last row / alone",
        share,
        Bound(said=f">= {BACK_SHARE}", least=BACK_SHARE, digits=4),
        "ratio",
    )
    if share >= BACK_SHARE:
        return passed(fact)
    since_s = flow.intervals[-1].start_s - evidence.flows[1].intervals[-1].end_s
    slow = (
        f"{flow.sender} had {100 * share:.0f} % of what it had alone in its last row, "
        f"{since_s:.3g} s after the other one had ended: its rate has not come back"
    )
    return failed(slow, fact)


def _three(evidence: Evidence) -> tuple[float, float, float] | None:
    """What the first sender had (bits/s) before the other one sent, beside it, and in its last
    whole row, which begins after that one has ended."""
    if len(evidence.flows) != 2 or not all(flow.intervals for flow in evidence.flows):
        return None
    first, other = evidence.flows
    start_s, end_s = other.intervals[0].start_s, other.intervals[-1].end_s
    rows = [row for row in first.intervals if row.end_s <= start_s]
    last = first.intervals[-1]
    beside = [row for row in first.intervals if row.start_s >= start_s and row.end_s <= end_s] or [
        row for row in first.intervals if row.start_s < end_s and row.end_s > start_s
    ]
    if not rows or not beside or last.start_s <= end_s:
        return None
    before = max(row.goodput_bits_per_s for row in rows)
    least = min(row.goodput_bits_per_s for row in beside)
    return (before, least, last.goodput_bits_per_s) if before else None


def _course(evidence: Evidence) -> Iterator[str]:
    if (course := _three(evidence)) is not None:
        before, beside, after = (rate / 1e9 for rate in course)
        yield (
            f"{evidence.flows[0].sender} had {before:.3g} Gb/s alone, {beside:.3g} while pressed, "
            f"{after:.3g} when that was over"
        )


def ahead(evidence: Evidence) -> str:
    """The sender (a host) that had the most while all sent; the last one, where that is not known:
    in a plan."""
    rates = goodput.together(evidence)
    if not rates or len(rates) != len(evidence.senders):
        return evidence.senders[-1].device
    return evidence.senders[rates.index(max(rates))].device


def gets_less(evidence: Evidence, slower: str) -> Verdict:
    """Of two senders that CNPs hold, the one with the slower reaction point (a host, by name) got
    less, by a fifth at least, and nobody paused it."""
    return conclude(
        f"Did {slower}, whose rate comes back more slowly, get less?",
        evidence,
        _gets_less(evidence, slower),
        passing=", ".join(
            f"{flow.sender} had {rate / 1e9:.3g} Gb/s"
            for flow, rate in zip(evidence.flows, goodput.together(evidence) or (), strict=False)
        ),
    )


def _gets_less(evidence: Evidence, slower: str) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from witnesses.rdma_repeated_only_what_was_dropped(evidence)
    rates = goodput.together(evidence)
    named = [flow.sender for flow in evidence.flows]
    if rates is None or len(rates) != 2 or slower not in named:
        yield unproven(f"no rates of {slower} and of another sender at the same time")
        return
    held = True
    for place in evidence.senders:
        yield from cnps.heeded(evidence, place)
        handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED)
        if not handled.increase:
            untold = f"{place.device} got no CNP: nobody told it to slow down"
            ignored = f"{place.device} handled no CNP: its reaction point held nobody"
            yield unproven(ignored if cnps.got(evidence, place) else untold)
            held = False
    less, more = sorted(rates, key=lambda rate: named[rates.index(rate)] != slower)
    fact = Fact(
        name=f"goodput of {slower} / of the other sender",
        measured=round(less / more, 4) if more else None,
        bound=f"<= {LESS_SHARE}",
        unit="ratio",
    )
    if more and less <= LESS_SHARE * more:
        yield passed(fact)
    else:
        as_much = f"{slower} had {less / 1e9:.3g} Gb/s, and the other sender {more / 1e9:.3g}"
        finding = failed(f"{as_much}: no fifth less", fact)
        yield finding if held else outcome.or_unproven(finding)


def _of_receiver(evidence: Evidence, counter: str) -> Difference:
    nic = (evidence.receiver.device, evidence.receiver.port)
    return evidence.change(nic, "port", None, counter)
