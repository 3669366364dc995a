"""Does a switch in RoCE mode count RoCE as its queues and priorities do, and does the lossy mode
pause nobody? Evidence in, one verdict out; pure, and total on any evidence.
"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, port_drops, witnesses
from labtests.verdicts.bounds import NONE
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    disagreement,
    fact_of,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)
from labtests.verdicts.pauses import pauses_sent


def counted_apart(evidence: Evidence, queue: int) -> Verdict:
    """At the bottleneck, and at the ports opposite the senders, the switch counts as many packets
    of RoCE as of this queue, none of them lost or refused, and as many pause frames as of the
    priority of the first sender."""
    sent = evidence.change(evidence.bottleneck, "port", None, c.ROCE_FORWARDED_PACKETS)
    return conclude(
        "Does the switch count RoCE as its queues and priorities do?",
        evidence,
        _counted_apart(evidence, queue),
        passing=f"{sent.increase} packets of RoCE forwarded, as queue {queue} says, none lost",
        remedy="look whether other traffic has the priority of RoCE, or whether somebody has "
        "changed what RoCE mode sets",
    )


def paused_nobody(evidence: Evidence) -> Verdict:
    """Under congestion no pause frame was sent to a sender."""
    return conclude(
        "Was nobody paused?",
        evidence,
        _paused_nobody(evidence),
        passing=f"no pause frame was sent to {len(evidence.senders)} senders, under congestion",
        remedy="look at PFC of the ports opposite the senders",
    )


def _paused_nobody(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield checks.congestion_proven(evidence)
    for place in evidence.senders:
        yield _none(pauses_sent(evidence, place))
        yield witnesses.pauses_agree(evidence, place)


def _none(frames: Difference) -> Finding:
    if frames.increase is None:
        return missing(frames, "= 0", "frames")
    fact = fact_of(frames, NONE, "frames")
    return (
        failed(f"{name_of(frames)} grew by {frames.increase}", fact)
        if fact.margin
        else passed(fact)
    )


def _counted_apart(evidence: Evidence, queue: int) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    priority = evidence.senders[0].priority if evidence.senders else None
    ways = ((place.switch, place.switch_port) for place in evidence.senders)
    for port in dict.fromkeys((evidence.bottleneck, *ways)):
        sent = evidence.change(port, "port", None, c.ROCE_FORWARDED_PACKETS)
        forwarded = evidence.change(port, "queue", queue, c.QUEUE_FORWARDED_PACKETS)
        yield _same(sent, forwarded, "packets")
        for counter in (c.ROCE_DROPPED_PACKETS, c.ROCE_DROPPED_IN_PACKETS):
            yield from port_drops.exactly_zero(
                evidence, evidence.change(port, "port", None, counter)
            )
        paused = evidence.change(port, "port", None, c.ROCE_PFC_TX_FRAMES)
        frames = evidence.change(port, "priority", priority, c.PFC_TX_FRAMES)
        yield _same(paused, frames, "frames")
    if evidence.change(evidence.bottleneck, "port", None, c.ROCE_FORWARDED_PACKETS).increase == 0:
        yield unproven("no packet was taken for RoCE at the bottleneck")


def _same(roce: Difference, other: Difference, unit: str) -> Finding:
    for each in (roce, other):
        if each.increase is None:
            return missing(each, "known", unit)
    fact = fact_of(roce, f"= {other.increase}", unit)
    if roce.increase == other.increase:
        return passed(fact)
    said = f"{name_of(roce)} grew by {roce.increase}, and {name_of(other)} by {other.increase}"
    return disagreement(said, fact)
