"""Did hosts and cables do their part: asked of every phase, whatever else is asked of it.

What a network does with its packets can only be judged when the traffic ran as it was asked to, and
when what is missing was not lost in a NIC or on a cable.
"""

from collections.abc import Iterator

from labtests import counters as c
from labtests.evidence import Evidence
from labtests.records import FlowResult, Scope
from labtests.verdicts import checks, way
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    disagreement,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)

STARVED_SHARE = 0.001
TOLD_SHARE = 0.9
"""Of the bytes that tools tell: rows begin and end a little beside the counters' reads."""


def sound(evidence: Evidence) -> Verdict:
    """The traffic ran as it was asked to, no NIC discarded a packet, no cable damaged a frame.

    A control is only asked whether its traffic ran: it loses on purpose.
    """
    return conclude(
        "did hosts and cables do their part",
        evidence,
        _sound(evidence),
        passing="; ".join(_said(evidence)),
    )


def _sound(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from _nobody_was_starved(evidence)
    if evidence.kind == "control":
        return
    for station in way.of_part(evidence, "NIC", "cable"):
        yield from _kept(station)
    if any(pauses.increase for pauses in checks.pauses_of_the_receiver(evidence)):
        yield checks.receiver_silent(evidence)
    yield from _nics_sent_it(evidence)


def _nobody_was_starved(evidence: Evidence) -> Iterator[Finding]:
    """Flows that are as fast as they can be had some part of the line: a load, not a word."""
    unpaced = [flow for flow in evidence.flows if not flow.offered_bits_per_s]
    for flow in unpaced:
        least = STARVED_SHARE * evidence.line_bits_per_s / len(evidence.flows)
        if flow.goodput_bits_per_s is not None and flow.goodput_bits_per_s < least:
            yield unproven(
                f"{flow.sender} sent {flow.goodput_bits_per_s / 1e9:.3g} Gb/s by {flow.tool}: less "
                f"than {STARVED_SHARE:g} of an equal part of the line is no load"
            )


def _nics_sent_it(evidence: Evidence) -> Iterator[Finding]:
    """What the tools of a class say that they sent went through the NICs' ports, by their bytes."""
    classes = dict.fromkeys((p.device, p.port, p.priority) for p in evidence.senders)
    for device, port, priority in classes:
        told = sum(
            _payload_bytes(flow)
            for place, flow in zip(evidence.senders, evidence.flows, strict=False)
            if (place.device, place.port, place.priority) == (device, port, priority)
        )
        scope: Scope = "port" if priority is None else "priority"
        sent = evidence.change((device, port), scope, priority, c.TX_BYTES)
        if sent.increase is None:
            continue  # another witness counts packets
        fact = Fact(
            name=name_of(sent),
            measured=sent.increase,
            bound=f">= {TOLD_SHARE:g} of {told} (the tools')",
            unit="bytes",
            margin=round(sent.increase - TOLD_SHARE * told),
        )
        if sent.increase >= TOLD_SHARE * told:
            yield passed(fact)
        else:
            yield disagreement(
                f"the tools on {device} say that they sent {told} bytes, {name_of(sent)} grew by "
                f"{sent.increase}",
                fact,
            )


def _payload_bytes(flow: FlowResult) -> int:
    if flow.sent_bytes is not None:
        return flow.sent_bytes
    return round(sum(r.goodput_bits_per_s * (r.end_s - r.start_s) for r in flow.intervals) / 8)


def _kept(station: way.Station) -> Iterator[Finding]:
    if not station.losses and station.part == "NIC":
        yield unproven(f"{station.name}: no counter of this device says whether it discarded any")
    for difference in station.losses:
        if difference.increase is None:
            yield missing(difference, "= 0", "packets")
        elif not difference.increase:
            yield passed(Fact(name=name_of(difference), measured=0, bound="= 0", unit="", margin=0))
    if station.lost:
        yield _lost(station)


def _lost(station: way.Station) -> Finding:
    facts = (
        Fact(name=name_of(d), measured=d.increase, bound="= 0", unit="", margin=-(d.increase or 0))
        for d in station.lost
    )
    what, remedy = _CABLE if station.part == "cable" else _NIC
    return failed(f"{station.name} {what}: {way.in_words(station)}; {remedy}", *facts)


_CABLE = (
    "damaged or interrupted",
    "clean or replace the cable and its optics, compare FEC of both ends",
)
_NIC = "lost packets itself", "look at its rings, its PFC and the host's CPU (ethtool -g, -S)"


def _said(evidence: Evidence) -> Iterator[str]:
    """What passing rests on, and what no device here counts."""
    yield f"{len(evidence.flows)} flows ran as they were asked to"
    if evidence.kind == "control":
        return
    yield "no NIC and no cable lost anything"
    for station in way.of_part(evidence, "cable"):
        if not station.losses:
            yield f"not counted by either end: errors of {station.name}"
