"""Which queue each DSCP gets, told by counts alone.

The DSCPs of a round are sent in different powers of two: 1, 2, 4, ... packets. Whatever a queue
counts is the sum of exactly one selection of them, so that its count says which DSCPs it got.

Where each is sent several times as often (8, 16, 32, ...), a rest below the least of them is
somebody else's (ARP, LLDP, STP). It excuses nothing: what is lost of ours lacks in the multiples.
"""

from collections.abc import Iterator, Sequence

from labtests.capabilities.records import FlowStatus
from labtests.core.units import dscp_of_tos
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, packets, port_drops
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    Verdict,
    conclude,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)

DSCPS = frozenset(range(64))
SHOWN = 4  # sentences of those that came astray


def classified(rounds: Sequence[Evidence], queues: Sequence[int]) -> Verdict:
    """Every packet of each DSCP came into the queue that `queues` (64 of them) has for it, and no
    other queue got any. A round in which others sent as well tells nothing."""
    assert rounds, "no round was sent"
    counts = [flow.sent_datagrams or 0 for seen in rounds for flow in seen.flows]
    used = len(set(queues))
    return conclude(
        "Does each DSCP reach its configured queue?",
        rounds[0],
        _classified(rounds, queues),
        passing=f"{len(DSCPS)} DSCPs in {used} queues as the map says, {sum(counts)} packets, "
        "each in its queue and none elsewhere",
    )


def undisturbed(evidence: Evidence) -> bool:
    """Whether the queues counted as many packets as were sent: then the counts can be read."""
    return all(finding.outcome is Outcome.PASS for finding in _whole(evidence))


def _classified(rounds: Sequence[Evidence], queues: Sequence[int]) -> Iterator[Finding]:
    sent = {dscp_of_tos(flow.tos) for seen in rounds for flow in seen.flows}
    if sent != DSCPS or len(queues) != len(DSCPS):
        yield unproven(f"only {len(sent)} of 64 DSCPs were sent, {len(queues)} are in the map")
        return
    for seen in rounds:
        yield from _whole(seen)
    yield from _shortened([_as_mapped(seen, queues) for seen in rounds if undisturbed(seen)])


def _whole(seen: Evidence) -> Iterator[Finding]:
    counts = [flow.sent_datagrams or 0 for flow in seen.flows]
    for flow in seen.flows:
        if flow.status is not FlowStatus.COMPLETE:
            yield unproven(f"{flow.sender} -> {flow.receiver} ({flow.tool}): {flow.because}")
    if any(count & (count - 1) or not count for count in counts) or len(set(counts)) < len(counts):
        yield unproven(f"counts of {counts} packets cannot be told apart")
    yield from (unproven(sentence) for sentence in seen.changed)
    yield from checks.counters_of_the_end(seen)
    yield from _none_dropped(seen)
    moved = [port_drops.queue_forwarded(seen, queue) for queue in packets.queues_of(seen)]
    for difference in moved:
        if difference.increase is None:
            yield missing(difference, "known", "packets")
    ours = [_ours(seen, queue) for queue in packets.queues_of(seen)]
    total, stray = sum(ours), sum(d.increase or 0 for d in moved) - sum(ours)
    fact = Fact(
        name=f"packets through all queues, {seen.name}",
        measured=total,
        bound=f"= {sum(counts)}",
        unit="packets",
        margin=0,
        note=f"and {stray} of others" if stray else "",
    )
    if not counts or total != sum(counts):
        yield unproven(
            f"{sum(counts)} packets were sent and the queues counted {total}: lost, late, or "
            "somebody else's",
            fact,
        )
    else:
        yield passed(fact)


def _none_dropped(seen: Evidence) -> Iterator[Finding]:
    for drops in port_drops.drops_of_bottleneck(seen, packets.queues_of(seen)):
        if drops.increase:
            yield unproven(f"{name_of(drops)} grew by {drops.increase}: whose packets is not known")


def _ours(seen: Evidence, queue: int) -> int:
    """What a queue counted, without the rest that is not a multiple of the least count sent."""
    got = port_drops.queue_forwarded(seen, queue).increase or 0
    least = min((flow.sent_datagrams or 0 for flow in seen.flows), default=0)
    return got - got % least if least else got


def _as_mapped(seen: Evidence, queues: Sequence[int]) -> Finding:
    astray: list[str] = []
    facts: list[Fact] = []
    for queue in packets.queues_of(seen):
        due = {dscp_of_tos(f.tos) for f in seen.flows if queues[dscp_of_tos(f.tos)] == queue}
        got = _ours(seen, queue)
        came = {dscp_of_tos(f.tos) for f in seen.flows if got & (f.sent_datagrams or 0)}
        wanted = sum(f.sent_datagrams or 0 for f in seen.flows if dscp_of_tos(f.tos) in due)
        facts.append(_count(queue, due, got, wanted))
        astray += [
            f"DSCP {d} of {seen.flows[0].sender} reached queue {queue}, expected {queues[d]}"
            for d in came - due
        ]
    return failed("; ".join(sorted(astray)), *facts) if astray else passed(*facts)


def _count(queue: int, due: set[int], got: int, wanted: int) -> Fact:
    names = ", ".join(map(str, sorted(due)))
    return Fact(
        name=f"queue {queue}: packets of {f'DSCP {names}' if due else 'no DSCP'}",
        measured=got,
        bound=f"= {wanted}",
        unit="packets",
        margin=-abs(got - wanted),
    )


def _shortened(findings: list[Finding]) -> Iterator[Finding]:
    """One sentence for all that came astray."""
    yield from (f for f in findings if f.outcome is Outcome.PASS)
    red = [f for f in findings if f.outcome is not Outcome.PASS]
    said = [part for f in red for part in f.because.split("; ")]
    more = f"; and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    if red:
        facts = (fact for f in red for fact in f.facts)
        yield failed("; ".join(said[:SHOWN]) + more, *facts)
