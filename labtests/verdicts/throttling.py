"""Was only the faster of UDP senders slowed, by pauses? Evidence in, one verdict out; pure, and
total on any evidence.
"""

import math
from collections.abc import Iterator

from labtests.measure.evidence import Evidence
from labtests.verdicts import astray, checks, goodput, idle, outcome, port_drops
from labtests.verdicts.outcome import Finding, Verdict, conclude, unproven

ARRIVED_SHARE = 0.5
"""Of the datagrams: a receiver that loses more has no say in who got how much."""
ROWS = 0.01
"""How far a rate may be off by the times of a tool's rows."""
FULL_SHARE = 0.97
"""Of what is due to a sender: less is another rate, and not the edges of rows."""
HALF = 0.5
"""Of the bottleneck: what others leave at least, or it is their incast and not ours."""
OFFERS = 0.95
"""Of what it was asked: less, and a sender that is alone is itself the bottleneck."""


def throttled(evidence: Evidence, *, ceiling_bits_per_s: float, buffers_bytes: int = 0) -> Verdict:
    """UDP classes of equal weight: the faster one gives way, the slower one keeps what it offers.

    The sum is within 5 % of the bottleneck's goodput ceiling, and above it by no more than what
    the buffers on the way (`buffers_bytes`) hold; the first sender loses at least a third of what
    it had alone, the others together lose at most a tenth of what they offer. What other people's
    traffic took meanwhile, in other queues, is not there to be had. None of it is judged where a
    sender sent less than pauses left it.
    """
    return conclude(
        "Was only the faster sender slowed?",
        evidence,
        [
            *checks.ran(evidence),
            *checks.kept_pace(evidence),
            *_arrived(evidence),
            *(
                checks.only_under_congestion(evidence, f)
                for f in _throttled(evidence, ceiling_bits_per_s, buffers_bytes)
            ),
            *idle.quiet_queues(evidence, evidence.queues),
        ],
        passing=goodput.told(evidence),
    )


def _throttled(evidence: Evidence, ceiling: float, buffers_bytes: int) -> Iterator[Finding]:
    alone, shared = goodput.alone(evidence), goodput.together(evidence)
    if not alone or not shared:
        yield unproven("interval reports do not cover both the solo and the shared period")
        return
    first = evidence.flows[0].offered_bits_per_s
    if first and alone < OFFERS * first:
        yield unproven(
            f"{evidence.flows[0].sender} sent {alone / 1e9:.2f} of the {first / 1e9:.2f} Gb/s that "
            "it was asked for while nobody else sent, so its slowdown cannot be measured"
        )
        return
    left = 1 - goodput.others_share(evidence)
    if gone := tuple(astray.elsewhere(evidence)):
        yield from gone
        return
    if left < HALF:
        yield unproven(f"background traffic took {1 - left:.0%} of the bottleneck")
        return
    ceiling *= left
    offered = sum(f.offered_bits_per_s or 0.0 for f in evidence.flows[1:])
    shares = [
        _within_ceiling(evidence, sum(shared), ceiling, buffers_bytes),
        checks.bounded("first sender: goodput shared / solo", shared[0] / alone, at_most=2 / 3),
    ]
    if offered:
        kept = sum(shared[1:]) / offered
        shares.append(checks.bounded("other senders: goodput / offered", kept, at_least=0.9 * left))
    else:
        yield unproven("what the other senders offered is not known")
    stalled = min(_slower_than_pauses(evidence, shared, ceiling), default=(1.0, ""))
    yield from outcome.unless_stalled(shares, stalled[1])


def _slower_than_pauses(
    evidence: Evidence, shared: tuple[float, ...], ceiling: float
) -> Iterator[tuple[float, str]]:
    """Who sent less, while all sent, than what it was asked for in the time that pauses left it:
    the share of that, and a sentence. (A tool makes up for some of a pause, and not for all.) Only
    where another one had its fair share: a port that serves too slowly gives it to nobody."""
    seconds = goodput.seconds_together(evidence)
    fair = FULL_SHARE * ceiling / len(shared)
    if max(shared) < fair:
        return
    for place, flow, got in zip(evidence.senders, evidence.flows, shared, strict=False):
        held = min(checks.held_s(evidence, place) / seconds, 1.0) if seconds else 0.0
        link = place.link_bits_per_s or evidence.line_bits_per_s
        due = (1 - held) * min(flow.offered_bits_per_s or math.inf, link)
        if got < FULL_SHARE * min(due, fair):
            yield (
                got / due,
                f"{place.device} sent {got / 1e9:.3g} Gb/s while all sent, and PFC, which held it "
                f"for {100 * held:.0f} % of that time, left it {due / 1e9:.3g}: the limit of "
                f"{place.device}, or it stalled",
            )


def _arrived(evidence: Evidence) -> Iterator[Finding]:
    """Most datagrams came to the receivers: goodput is what senders say, and says nothing when the
    receiving host throws away what it gets."""
    for flow in evidence.flows:
        if not flow.sent_datagrams or flow.lost_datagrams is None:
            continue
        share = 1 - flow.lost_datagrams / flow.sent_datagrams
        finding = checks.bounded(
            f"{flow.sender} -> {flow.receiver}: arrived / sent", share, at_least=ARRIVED_SHARE
        )
        yield outcome.or_unproven(finding)


def _within_ceiling(evidence: Evidence, sent: float, ceiling: float, buffers_bytes: int) -> Finding:
    """What senders count as sent may still lie in a buffer, or was dropped behind them. Where no
    queue dropped, more than the line carries cannot have been sent."""
    seconds = goodput.seconds_together(evidence)
    held = 8 * buffers_bytes / seconds / ceiling if seconds else 0.0
    name = "total goodput / theoretical maximum"
    if held:
        name += f" ({buffers_bytes / 2**20:.0f} MiB of buffers in {seconds:.3g} s: {held:.4f})"
    finding = checks.bounded(name, sent / ceiling, at_least=0.95, at_most=1 + ROWS + held)
    dropped = any(port_drops.queue_drops(evidence, queue).increase for queue in evidence.queues)
    if sent < ceiling or dropped:
        return finding
    return outcome.or_unproven(finding, "the rows of the tools do not cover the same time")
