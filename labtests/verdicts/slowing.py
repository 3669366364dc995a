"""Did DCQCN slow the senders: marks, CNPs, and who gave way? Evidence in, one verdict out; pure,
and total on any evidence.
"""

import math
from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import checks, cnps, goodput, idle, outcome, port_drops, witnesses
from labtests.verdicts.outcome import Finding, Verdict, conclude, unless_contradicted, unproven

SLOWED_LEAST_SHARE = 0.75
"""Of the line, all senders together under DCQCN: below, something else than marks holds them.
The source experiment had 0.76 of it, healthy simulated labs of 1G to 100G 0.85 and more; with one
of two senders at 60 % of a CPU it is 0.73."""
FAIR_AMONG_PEERS = 0.5
"""Of the mean of the other senders in its queue: 0.85 and more in healthy simulated labs, 0.46 of a
sender at 40 % of a CPU."""
SOLO_LEAST = 0.75
"""Of its link or the line, a sender that is alone: in healthy simulated labs 0.9 and more."""
ALIKE_SHARE = 0.9
"""Of the mean of all senders, the least that one gets where no host stands out."""
OTHERS_SHARE = 0.05
"""Of line rate, in queues that are not under test: then no sender is said to have left it empty."""


def slowed_by_marks(evidence: Evidence) -> Verdict:
    """The switch marked, the receiver sent CNPs, every sender's RP handled some and gave way."""
    marks = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase
    return conclude(
        "Did DCQCN slow the senders?",
        evidence,
        [
            *checks.ran(evidence),
            marked(evidence),
            *(checks.only_under_congestion(evidence, f) for f in _slowed(evidence)),
            *checks.not_paused(evidence),
            *witnesses.rdma_repeated_only_what_was_dropped(evidence),
            *(
                finding
                for flow in evidence.flows
                for finding in checks.kept_sending(evidence, flow)
            ),
            *idle.quiet_queues(evidence, evidence.queues),
            idle.quiet_congestion_control(evidence),
        ],
        passing=f"{marks} packets marked, every sender handled CNPs; {goodput.told(evidence)}",
    )


def marked(evidence: Evidence) -> Finding:
    """The bottleneck marked. A queue that dropped was full, whatever became of the flows: go-back-N
    without marks can end in queue pairs that complete nothing at all."""
    finding = unless_contradicted(
        _marks_or_cnps(evidence, evidence.bottleneck, c.ECN_MARKED_PACKETS),
        (witnesses.marks_agree(evidence),),
    )
    full = any(port_drops.queue_drops(evidence, queue).increase for queue in evidence.queues)
    return finding if full else checks.only_under_congestion(evidence, finding)


def told_by_cnps(evidence: Evidence) -> Iterator[Finding]:
    """Each sender was told to slow down, often enough to be held by it, and heeded that."""
    receiver = (evidence.receiver.device, evidence.receiver.port)
    balance = cnps.all_came(evidence)
    yield unless_contradicted(_marks_or_cnps(evidence, receiver, c.NP_CNP_SENT), (balance,))
    for place in evidence.senders:
        handled = _marks_or_cnps(evidence, (place.device, place.port), c.RP_CNP_HANDLED)
        yield unless_contradicted(handled, (balance,))
        yield from cnps.often_enough(evidence, place, goodput.seconds_together(evidence))
        yield from cnps.heeded(evidence, place)
    yield witnesses.marks_agree(evidence)
    yield balance
    yield from cnps.of_marks(evidence)
    yield from cnps.in_their_class(evidence)


def _slowed(evidence: Evidence) -> Iterator[Finding]:
    yield from told_by_cnps(evidence)
    alone, shared = goodput.alone(evidence), goodput.together(evidence)
    if not alone or not shared:
        yield unproven("interval reports do not cover both the solo and the shared period")
        return
    stalls = [
        finding.because
        for flow in evidence.flows
        for finding in checks.kept_sending(evidence, flow)
    ]
    yield from outcome.unless_stalled(
        _shares_slowed(evidence, alone, shared), next(iter(stalls), "")
    )


def _shares_slowed(
    evidence: Evidence, alone: float, shared: tuple[float, ...]
) -> Iterator[Finding]:
    yield _gave_way(evidence, shared[0], alone)
    line = evidence.line_bits_per_s
    total = sum(shared) / line
    yield outcome.or_unproven(
        checks.bounded("total goodput / line rate", total, at_least=SLOWED_LEAST_SHARE),
        least_of_all(evidence, shared),
    )
    yield from _as_fast_as_its_peers(evidence, shared)
    yield outcome.or_unproven(
        checks.bounded("total goodput / line rate", total, at_most=checks.OVER_THE_LINE),
        "the rows of the tools do not cover the same time",
    )
    for place, got in zip(evidence.senders, shared, strict=False):
        part = checks.equal_part(evidence, place.device, got, checks.FAIR_SHARE_LEAST)
        empty = f"the line was left empty by {100 * (1 - total):.0f} %"
        yield outcome.or_unproven(part, empty) if total < SLOWED_LEAST_SHARE else part


def _gave_way(evidence: Evidence, shared: float, alone: float) -> Finding:
    """Of a sender that had less than the line, or its link, to itself, this cannot be measured."""
    first = evidence.senders[0]
    due = min(evidence.line_bits_per_s, first.link_bits_per_s or math.inf)
    finding = checks.bounded("first sender: goodput shared / solo", shared / alone, at_most=0.75)
    if alone >= SOLO_LEAST * due or _was_held_alone(evidence, first):
        return finding
    return outcome.or_unproven(
        finding,
        f"{first.device} sent {alone / 1e9:.3g} of {due / 1e9:.3g} Gb/s while nobody else sent, "
        "the limit of its host or a stall",
    )


def _was_held_alone(evidence: Evidence, first: Place) -> bool:
    """Whether its reaction point handled CNPs before anybody else sent, as many as that of one that
    is held: then the port was full."""
    starts = [s for flow in evidence.flows[1:] if (s := goodput.began_s(flow)) is not None]
    key = (first.device, first.port, c.RP_CNP_HANDLED)
    seen = [
        (reading.time_s, reading.value)
        for reading in evidence.samples
        if (reading.device, reading.port, reading.counter) == key
        and reading.value is not None
        and reading.time_s <= min(starts, default=0.0)
    ]
    counts = [count for _, count in seen]
    if len(seen) < 2 or counts != sorted(counts):
        return False
    return counts[-1] - counts[0] >= cnps.LEAST_PER_S * (seen[-1][0] - seen[0][0]) > 0


def least_of_all(evidence: Evidence, shared: tuple[float, ...]) -> str:
    """Who left the line empty, for a sentence. Where all got alike, none of them did it alone."""
    got, who = min(zip(shared, (place.device for place in evidence.senders), strict=False))
    others = goodput.others_share(evidence)
    if others >= OTHERS_SHARE:
        return f"other queues forwarded {100 * min(others, 1.0):.0f} % of the line rate meanwhile"
    part = evidence.line_bits_per_s / len(shared)
    if got >= ALIKE_SHARE * sum(shared) / len(shared):
        return (
            f"all senders got alike: {' '.join(evidence.bottleneck)} serves below its line rate, "
            "or rates come back too slowly after a CNP"
        )
    return (
        f"{who} sent {got / 1e9:.3g} Gb/s, {got / part:.2f} of its fair share, and nobody else "
        f"took what it left: the limit of {who}, or rates that come back too slowly after a CNP"
    )


def _as_fast_as_its_peers(evidence: Evidence, shared: tuple[float, ...]) -> Iterator[Finding]:
    """Senders of one queue are marked alike, so that one far below the others, and below its link,
    is held by itself."""
    got = tuple(zip(evidence.senders, shared, strict=False))
    for place, rate in got:
        who, queue = place.device, place.queue
        others = [r for other, r in got if other.queue == queue and other is not place]
        if not others or not sum(others):
            continue
        due = min(sum(others) / len(others), place.link_bits_per_s or math.inf)
        finding = checks.bounded(
            f"{who}: goodput / mean of the others in queue {queue}, or its link",
            rate / due,
            at_least=FAIR_AMONG_PEERS,
        )
        yield outcome.or_unproven(finding, f"the limit of {who}: marks hold all of a queue alike")


def _marks_or_cnps(evidence: Evidence, where: tuple[str, str], counter: str) -> Finding:
    return outcome.grew(evidence.change(where, "port", None, counter), "packets")
