"""A flow that shares no congested port with others, and whether PFC holds it up all the same.

Pauses hold a whole priority of a port: whoever sends to a congested host, and to another one by the
same port, is held at both (head-of-line blocking; Zhu et al., SIGCOMM 2015, figure 4).
"""

from collections.abc import Iterator

from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import among, checks, outcome, pauses, port_drops, slowing
from labtests.verdicts.outcome import Finding, Verdict, conclude, unproven

SPARED_SHARE = 0.8
"""Of what is left to the victim: halfway between what it has under PFC alone with two senders
(half of it, by closed form), and all of it, and a little more for the swings of DCQCN."""


def spared(evidence: Evidence, *, payload_share: float) -> Verdict:
    """The last flow, which goes past the congested port, had what its sender's link leaves to it
    beside a fair share of the incast. `payload_share`: goodput by line rate."""
    return conclude(
        "Was the flow past the congestion spared?",
        evidence,
        _spared(evidence, payload_share),
        passing=_said(evidence),
        remedy="PFC holds its sender's port: look at Kmin against xoff, at reaction points, and at "
        "the class that they share",
    )


def _said(evidence: Evidence) -> str:
    if not evidence.flows:
        return "no flow"
    flow = evidence.flows[-1]
    rate = (flow.goodput_bits_per_s or 0.0) / 1e9
    return f"{flow.sender} -> {flow.receiver} had {rate:.3g} Gb/s beside the incast"


def _spared(evidence: Evidence, payload_share: float) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    incast = [p for p in evidence.receivers if _port(p) == evidence.bottleneck]
    past = len(evidence.receivers) == len(incast) + 1 == len(evidence.flows)
    if not incast or not past:
        yield unproven("no flow past the congested port was monitored")
        return
    yield _congested(evidence, len(incast))
    place, flow = evidence.senders[-1], evidence.flows[-1]
    due = payload_share * _left(evidence, place, len(incast))
    if due <= 0:
        yield unproven(f"the incast alone fills the link of {flow.sender}: nothing is left to it")
        return
    finding = checks.bounded(
        f"{flow.sender} -> {flow.receiver}: goodput / what is left to it",
        (flow.goodput_bits_per_s or 0.0) / due,
        at_least=SPARED_SHARE,
    )
    held = _held(evidence, place)
    yield finding if held else outcome.or_unproven(finding, f"the limit of {flow.sender}")
    for queue in sorted(evidence.queues):
        yield from port_drops.exactly_zero(evidence, port_drops.queue_drops(evidence, queue))
    yield from among.repeated_nothing(evidence)


def _port(place: Place) -> tuple[str, str]:
    return (place.switch, place.switch_port)


def _left(evidence: Evidence, place: Place, senders: int) -> float:
    """Of its sender's link, beside a fair share of the line; at most what its receiver's carries.
    Where a cable between switches is narrower, the testbed's roles are not made for this."""
    own = place.link_bits_per_s or evidence.line_bits_per_s
    there = evidence.receivers[-1].link_bits_per_s or own
    return min(own - min(own, evidence.line_bits_per_s / senders), there)


def _congested(evidence: Evidence, senders: int) -> Finding:
    """The incast had the line, as far as DCQCN leaves it full."""
    flows: tuple[FlowResult, ...] = evidence.flows[:senders]
    got = sum(flow.goodput_bits_per_s or 0.0 for flow in flows)
    used = checks.bounded(
        "goodput of the incast / line rate",
        got / evidence.line_bits_per_s,
        at_least=slowing.SLOWED_LEAST_SHARE,
    )
    return outcome.or_unproven(used, "nothing was congested")


def _held(evidence: Evidence, place: Place) -> bool:
    """Whether pause frames held the port of the victim's sender, more than now and then."""
    seconds = max(evidence.end_s - evidence.start_s, 0.0)
    frames = pauses.pauses_sent(evidence, place).increase or 0
    return frames > checks.CONGESTION_EVENTS_PER_S * seconds
