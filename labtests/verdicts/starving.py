"""Senders that slow down on marks beside one that does not: who is left with what (S8)."""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import among, checks, marks_first, outcome
from labtests.verdicts.bounds import MORE_THAN_NONE
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    fact_of,
    missing,
    name_of,
    passed,
    unproven,
)

STARVED_BELOW = 0.3
"""Of an equal part of the line. In simulated labs of 10G and 25G sixteen queue pairs have 0.57 and
more of it in a queue of their own, and 0.14 and less in that of a sender that ignores marks."""
PRESSED_LEAST = 0.9
"""Of an equal part, what the deaf sender sends at least: else nobody was pressed."""


def not_starved(evidence: Evidence, *, ceiling_bits_per_s: float) -> Verdict:
    """Each RDMA flow, which slows down on marks, had a part of the line beside the others, which do
    not. `ceiling_bits_per_s`: the most goodput that RDMA has of the line."""
    return conclude(
        "Were senders that slow down on marks kept from starving?",
        evidence,
        _not_starved(evidence, ceiling_bits_per_s / max(len(evidence.flows), 1)),
        passing="; ".join(_said(evidence)),
        remedy="give senders that do not slow down a queue of their own",
    )


def _not_starved(evidence: Evidence, part_bits_per_s: float) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield checks.congestion_proven(evidence)
    pairs = list(zip(evidence.senders, evidence.flows, strict=False))
    slowing = [(place.queue, flow) for place, flow in pairs if flow.is_rdma]
    deaf = [(place.queue, flow) for place, flow in pairs if not flow.is_rdma]
    if not slowing or not deaf:
        yield unproven("no sender that slows down beside one that does not")
    for _, flow in deaf:
        sent = (flow.sent_bits_per_s or 0.0) / part_bits_per_s
        name = f"{_named(flow)}: sent / equal part of the line"
        pressed = checks.bounded(name, sent, at_least=PRESSED_LEAST)
        yield outcome.or_unproven(pressed, "it did not press the others")
    for queue, flow in slowing:
        got = (flow.goodput_bits_per_s or 0.0) / part_bits_per_s
        name = f"{_named(flow)}: goodput / equal part of the line"
        fed = checks.bounded(name, got, at_least=STARVED_BELOW)
        if queue in {other for other, _ in deaf}:
            yield fed
        else:  # then it is the scheduler's doing, or its own reaction point's
            yield outcome.or_unproven(fed, "by marks of its own queue, or by the scheduler")
    for place, flow in pairs:
        if flow.is_rdma and place.device not in marks_first.held_by_links(evidence):
            yield _told_to_slow_down(evidence, place)
    yield from among.repeated_nothing(evidence)


def _told_to_slow_down(evidence: Evidence, place: Place) -> Finding:
    """Its reaction point was at work: one that nothing tells to slow down cannot starve."""
    handled = evidence.change((place.device, place.port), "port", None, c.RP_CNP_HANDLED)
    if handled.increase is None:
        return missing(handled, "> 0", "CNPs")
    fact = fact_of(handled, MORE_THAN_NONE, "CNPs")
    said = f"{name_of(handled)} stayed 0: {place.device} was not told to slow down"
    return passed(fact) if handled.increase else unproven(said, fact)


def _named(flow: FlowResult) -> str:
    return f"{flow.sender} -> {flow.receiver} ({flow.tool})"


def _said(evidence: Evidence) -> Iterator[str]:
    for flow in evidence.flows:
        told = flow.goodput_bits_per_s if flow.is_rdma else flow.sent_bits_per_s
        yield f"{flow.sender} {'had' if flow.is_rdma else 'sent'} {(told or 0.0) / 1e9:.3g} Gb/s"
