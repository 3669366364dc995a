"""Did PFC pause the senders, each at its own priority only? Evidence in, one verdict out; pure, and
total on any evidence.
"""

from collections.abc import Iterator, Sequence

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import checks, idle, outcome, port_drops, witnesses
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    failed,
    missing,
    name_of,
    passed,
    unless_contradicted,
    unproven,
)

ALL_OFFERED = 0.99
"""Of what it was asked: so much is all of it, but for the edges of a tool's clock."""


def paused(evidence: Evidence) -> Verdict:
    """Each sender's port was paused, at its own priority only, the faster sender's the most."""
    early, *_ = evidence.senders
    sent = pauses_sent(evidence, early).increase
    free = [
        place.device
        for place, flow in zip(evidence.senders, evidence.flows, strict=False)
        if _needed_no_pause(evidence, place, flow)
    ]
    but = f" but {', '.join(free)}, which sent all it offered," if free else ""
    return conclude(
        "Did PFC pause the senders?",
        evidence,
        _paused(evidence),
        passing=f"every sender{but} was paused at its own priority only; {early.device} the most "
        f"({sent} frames)",
    )


def _paused(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from each_was_paused(evidence)
    most = unless_contradicted(
        _first_paused_most(evidence),
        (witnesses.pauses_agree(evidence, place) for place in evidence.senders),
    )
    yield checks.only_under_congestion(evidence, most)
    yield from idle.quiet_queues(evidence, evidence.queues)


def each_was_paused(evidence: Evidence, free: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """At its own priority, by PFC and nothing else, and as often as its NIC says; those that are
    `free` need not be."""
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        if not _needed_no_pause(evidence, place, flow) and place.device not in free:
            grew = unless_contradicted(
                outcome.grew(pauses_sent(evidence, place), "frames"),
                (witnesses.pauses_agree(evidence, place),),
            )
            yield checks.only_under_congestion(evidence, grew)
        yield from _not_paused_elsewhere(evidence, place)
        yield from _no_link_pause(evidence, place)
        yield witnesses.pauses_agree(evidence, place)


def _needed_no_pause(evidence: Evidence, place: Place, flow: FlowResult) -> bool:
    """Its port counted no pause frame, it sent all that it offered, and its queue dropped nothing,
    as with a slow link beside fast ones: its part of the buffer never filled. The first sender has
    to give way."""
    sent, asked, _ = checks.sent_and_asked(flow)
    return (
        place is not evidence.senders[0]
        and pauses_sent(evidence, place).increase == 0
        and port_drops.queue_drops(evidence, place.queue).increase == 0
        and asked > 0
        and sent >= ALL_OFFERED * asked
    )


def pauses_sent(evidence: Evidence, place: Place, priority: int | None = None) -> Difference:
    """Frames that the switch sent to a sender, of its own priority or another one."""
    at = place.priority if priority is None else priority
    return evidence.change((place.switch, place.switch_port), "priority", at, c.PFC_TX_FRAMES)


def _not_paused_elsewhere(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """Other priorities: 0 frames, or PFC not enabled there by the device's own account. Where
    somebody else's traffic goes, no more frames than it has packets: one fills no buffer."""
    for priority in sorted(set(range(8)) - {place.priority}):
        other = pauses_sent(evidence, place, priority)
        nic = (place.device, place.port)
        others = evidence.change(nic, "priority", priority, c.TX_PACKETS).increase
        if others and (other.increase or 0) <= others:
            continue  # somebody else's traffic, and their pauses
        if others:
            yield unproven(
                f"{name_of(other)} grew by {other.increase}, for {others} packets of others: what "
                "it paused is not known"
            )
        elif other.increase:
            yield failed(
                f"{name_of(other)} grew by {other.increase}: pause frames on a priority "
                "that carries no traffic"
            )
        elif other.increase is None and not cannot_pause(evidence, place, other):
            yield missing(other, "= 0", "frames")


def cannot_pause(evidence: Evidence, place: Place, frames: Difference) -> bool:
    """No number of frames is no gap where PFC is off for their priority: by the counter's own
    account, or as its setting was read."""
    read = evidence.pfc.get((place.switch, place.switch_port))
    off = read is not None and read.mode != "auto" and frames.key[3] not in read.priorities
    return off or checks.not_enabled(frames)


def _no_link_pause(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """802.3x holds a whole port: what its NIC got is no more than the PFC frames of all priorities,
    where a NIC counts those among them; it may count them for its own priorities only, and the
    switch for all."""
    nic = (place.device, place.port)
    every = evidence.change(nic, "port", None, c.PAUSE_RX_FRAMES)
    if every.increase is None and every.key in evidence.numbers:
        yield missing(every, "known", "frames")
    by_priority = [
        evidence.change(nic, "priority", each, c.PFC_RX_FRAMES).increase for each in range(8)
    ]
    opposite = (place.switch, place.switch_port)
    sent = [
        evidence.change(opposite, "priority", each, c.PFC_TX_FRAMES).increase for each in range(8)
    ]
    most = max(sum(n or 0 for n in counted) for counted in (by_priority, sent))
    if (every.increase or 0) > most:
        yield unproven(
            f"{name_of(every)} grew by {every.increase}, more than PFC frames of all priorities: "
            "802.3x pauses held the whole port; turn link pause off at both ends"
        )


def _first_paused_most(evidence: Evidence) -> Finding:
    """By the time that PFC held each of them, where NICs tell it, or by the frames. A long cable
    makes frames fewer; a sender that seldom sends is held long by each. Where it is neither the one
    nor the other, another one was held more."""
    sent = [pauses_sent(evidence, place) for place in evidence.senders]
    if not sent or any(each.increase is None for each in sent):
        return unproven("not every port's pause counter could be read")
    held = [round(checks.held_s(evidence, place), 6) for place in evidence.senders]
    frames = [each.increase or 0 for each in sent]
    first = evidence.senders[0].device
    ways = [_most_of(f"{name_of(sent[0])} against the most of any other sender", frames, "frames")]
    if all(held):
        ways.insert(0, _most_of(f"{first}: held by PFC, against any other sender", held, "s"))
    if most := [fact for fact in ways if fact.margin is not None and fact.margin > 0]:
        return passed(most[0])
    numbers = " / ".join(f"{fact.measured} {fact.unit}, {fact.bound}" for fact in ways)
    return failed(f"the faster sender was paused no more than another ({numbers})", *ways)


def _most_of(name: str, counts: Sequence[float], unit: str) -> Fact:
    """Of the first, against the most of the others."""
    most = max(counts[1:], default=0)
    margin = round(counts[0] - most, 6)
    return Fact(name=name, measured=counts[0], bound=f"> {most}", unit=unit, margin=margin)
