"""PFC and DCQCN together: marks hold the senders, and PFC is there for what marks are too late for.

And its counterpart, PFC alone: the same load, held by pause frames and nothing else.
"""

from collections.abc import Iterator
from itertools import product

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, cnps, goodput, idle, outcome, pauses, slowing, witnesses
from labtests.verdicts.bounds import NONE, Bound
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
    Verdict,
    conclude,
    failed,
    missing,
    name_of,
    passed,
    unless_contradicted,
    unproven,
)

USED_SHARE = 0.95
"""Of the most goodput that the line carries: the goal of document 004 for a port's throughput."""
NEAR_FAIR = 1.08
FEW_PER_S = checks.CONGESTION_EVENTS_PER_S
"""Pause frames to one sender, as a mean: the goal of document 004 for 99 % of the time."""
FAIR_INDEX = 0.8
"""Jain's, of senders whose links do not hold them: one of two with a third of the other's goodput
has it. DCQCN by itself has 0.995 in recorded runs of public simulators, healthy simulated labs 0.98
and more."""


def marked_before_paused(evidence: Evidence, *, ceiling_bits_per_s: float) -> Verdict:
    """Marks and CNPs held all senders, who shared the line fairly and kept it full, and next to no
    pause frame was sent."""
    marks = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase
    frames = sum(pauses.pauses_sent(evidence, p).increase or 0 for p in evidence.senders)
    return conclude(
        "Did marks hold the senders before pauses had to?",
        evidence,
        _marked_before_paused(evidence, ceiling_bits_per_s),
        passing=f"{marks} packets marked, {frames} pause frames; {_shares(evidence)}",
        remedy="; ".join(_told_seldom(evidence))
        or "look at Kmin against the level at which PFC pauses (xoff): marks come first",
    )


def _told_seldom(evidence: Evidence) -> Iterator[str]:
    """Senders with next to no CNPs beside others that CNPs held: marks came early enough."""
    seconds = goodput.seconds_together(evidence)
    told = {p.device: list(cnps.often_enough(evidence, p, seconds)) for p in evidence.senders}
    held = {who for who, found in told.items() if found and found[0].outcome is Outcome.PASS}
    for place in evidence.senders if held else ():
        if place.device not in held and pauses.pauses_sent(evidence, place).increase:
            got, port = cnps.got(evidence, place), f"{place.switch} {place.switch_port}"
            yield (
                f"{place.device} got {got} CNPs, others enough to hold them: look at the ECN field "
                f"of its packets ({port}), and at what the receiver tells it"
            )


def _marked_before_paused(evidence: Evidence, ceiling: float) -> Iterator[Finding]:
    yield from _few_pauses(evidence)
    yield from _few_pauses_between_switches(evidence)
    yield from _held_by_cnps(evidence)
    for flow in evidence.flows:
        yield from checks.kept_sending(evidence, flow)
    yield from _full(evidence, ceiling)
    yield from _shared(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)


def held_by_cnps(evidence: Evidence) -> Verdict:
    """DCQCN was at work, however much PFC was, too: the bottleneck marked, and each sender was told
    so, often enough, and heeded that."""
    marks = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase
    nic = (evidence.receiver.device, evidence.receiver.port)
    sent = evidence.change(nic, "port", None, c.NP_CNP_SENT).increase
    return conclude(
        "Did marks tell the senders to slow down?",
        evidence,
        _held_by_cnps(evidence),
        passing=f"{marks} packets marked, {sent} CNPs, which every sender handled",
    )


def _held_by_cnps(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield slowing.marked(evidence)
    told = slowing.told_by_cnps(evidence)
    yield from (checks.only_under_congestion(evidence, finding) for finding in told)
    yield idle.quiet_congestion_control(evidence)


def _few_pauses(evidence: Evidence) -> Iterator[Finding]:
    """To each sender, by the switch's count, which its NIC confirms."""
    most = FEW_PER_S * max(evidence.end_s - evidence.start_s, 0.0)
    for place in evidence.senders:
        sent = pauses.pauses_sent(evidence, place)
        agreed = witnesses.pauses_agree(evidence, place)
        if sent.increase is None:
            yield missing(sent, f"<= {most:.3g}", "frames")
            continue
        fact = outcome.fact_of(sent, Bound(said=f"<= {most:.3g}", most=most), "frames")
        many = f"{name_of(sent)} grew by {sent.increase}: more than {FEW_PER_S:g} pause frames a s"
        finding = passed(fact) if sent.increase <= most else failed(many, fact)
        yield unless_contradicted(finding, (agreed,))
        yield agreed


def _few_pauses_between_switches(evidence: Evidence) -> Iterator[Finding]:
    """Ports of cables between switches pause first where all flows pass one of them."""
    most = FEW_PER_S * max(evidence.end_s - evidence.start_s, 0.0)
    priorities = {p.priority for p in evidence.senders if p.priority is not None}
    for at, priority in product(evidence.transit, sorted(priorities)):
        sent = evidence.change(at, "priority", priority, c.PFC_TX_FRAMES)
        if sent.increase is None:
            yield missing(sent, f"<= {most:.3g}", "frames")
        elif sent.increase > most:
            fact = outcome.fact_of(sent, Bound(said=f"<= {most:.3g}", most=most), "frames")
            many = f"{name_of(sent)} grew by {sent.increase}: more than {FEW_PER_S:g} pause frames"
            yield failed(f"{many} a second", fact)


def _full(evidence: Evidence, ceiling: float) -> Iterator[Finding]:
    """Hosts can be slow, too: what is missing here is no proof against the network."""
    shared = goodput.together(evidence)
    if not shared or not sum(shared):
        yield unproven("interval reports do not cover the time in which all sent")
        return
    used = checks.bounded(
        "total goodput / theoretical maximum",
        sum(shared) / ceiling,
        at_least=USED_SHARE,
        at_most=checks.OVER_THE_LINE,
    )
    yield outcome.or_unproven(used, slowing.least_of_all(evidence, shared))


def _shared(evidence: Evidence) -> Iterator[Finding]:
    """Alike, but for those whose links hold them. (Pauses share by ports, and need not be fair.)"""
    shared = goodput.together(evidence) or ()
    slow = held_by_links(evidence)
    rates = tuple(
        rate for p, rate in zip(evidence.senders, shared, strict=False) if p.device not in slow
    )
    if rates:
        index = checks.bounded("Jain's index of the senders", jain(rates), at_least=FAIR_INDEX)
        yield outcome.or_unproven(index, slowing.least_of_all(evidence, shared))


def held_by_links(evidence: Evidence) -> frozenset[str]:
    """Senders whose links carry no more than their fair share of the line (max-min), with a twelfth
    to spare: nobody else has to hold them."""
    line = evidence.line_bits_per_s
    links = sorted((p.link_bits_per_s or line, p.device) for p in evidence.senders)
    found, left = set[str](), float(line)
    for number, (link, device) in enumerate(links):
        fair = left / (len(links) - number)
        if link > NEAR_FAIR * fair:
            break
        found.add(device)
        left -= link
    return frozenset(found)


def jain(rates: tuple[float, ...]) -> float:
    """Jain's fairness index: 1 when all are the same, 1/n when one has everything."""
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else 0.0


def held_by_pauses(evidence: Evidence, *, ceiling_bits_per_s: float) -> Verdict:
    """PFC held every sender, at its own priority, with many frames; nobody heeded a CNP, and the
    line was full."""
    frames = sum(pauses.pauses_sent(evidence, p).increase or 0 for p in evidence.senders)
    return conclude(
        "Did PFC alone hold the senders?",
        evidence,
        _held_by_pauses(evidence, ceiling_bits_per_s),
        passing=f"{frames} pause frames, no CNP handled; {_shares(evidence)}",
    )


def _held_by_pauses(evidence: Evidence, ceiling: float) -> Iterator[Finding]:
    slow = held_by_links(evidence)
    yield from checks.ran(evidence)
    yield from pauses.each_was_paused(evidence, free=slow)
    for flow in evidence.flows:
        yield from checks.kept_sending(evidence, flow)
    least = FEW_PER_S * max(evidence.end_s - evidence.start_s, 0.0)
    for place in evidence.senders:
        sent = pauses.pauses_sent(evidence, place)
        fact = outcome.fact_of(sent, f"> {least:.3g}", "frames")
        if sent.increase is not None and sent.increase <= least and place.device not in slow:
            yield unproven(f"{name_of(sent)} grew by {sent.increase} only: PFC held nobody", fact)
        handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED)
        yield _no_cnp(handled)
    yield from _full(evidence, ceiling)
    yield from idle.quiet_queues(evidence, evidence.queues)


def _no_cnp(handled: Difference) -> Finding:
    if handled.increase is None:
        return missing(handled, "= 0", "CNPs")
    fact = outcome.fact_of(handled, NONE, "CNPs")
    said = f"{name_of(handled)} grew by {handled.increase}: marks held it, too"
    return unproven(said, fact) if handled.increase else passed(fact)


def _shares(evidence: Evidence) -> str:
    shared = goodput.together(evidence)
    if not shared:
        return "no goodput over time"
    got = " + ".join(f"{rate / 1e9:.2f}" for rate in shared)
    return f"senders had {got} Gb/s together"
