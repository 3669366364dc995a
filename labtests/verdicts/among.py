"""Hosts that send to each other: several receivers, and hosts that send and receive at once.

What one bottleneck's balance is to an incast, the balance of all hosts is here: what their NICs
sent in the classes of the flows (data, acknowledgements, requests), they received, or switches
dropped; and what each switch port forwarded to its host in the class, its NIC received.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import (
    bit_errors,
    checks,
    elsewhere,
    idle,
    outcome,
    path,
    pauses,
    port_drops,
    slowing,
    sound,
    witnesses,
)
from labtests.verdicts.bounds import Bound
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    Verdict,
    conclude,
    missing,
    name_of,
    passed,
    unproven,
)

Egress = tuple[str, str, int]
"""Switch, port and queue."""


def _places(evidence: Evidence) -> tuple[Place, ...]:
    """Every host's port, once for each class that it sends or gets."""
    each = (*evidence.senders, *evidence.receivers)
    return tuple({(p.device, p.port, p.priority): p for p in each}.values())


def egresses(evidence: Evidence) -> tuple[Egress, ...]:
    """Where flows leave the switches."""
    return tuple(
        dict.fromkeys((p.switch, p.switch_port, p.queue) for p in evidence.receivers),
    )


# -- did hosts and cables do their part? -------------------------------------------------------


def sound_among(evidence: Evidence) -> Verdict:
    """Each flow ran, no NIC discarded a packet, no cable damaged or lost a frame, and every packet
    came or was dropped by a switch. In a control, nothing is asked but that the tools ran, or sent
    what was dropped, and that every packet is known."""
    return conclude(
        "Did hosts and cables do their part?",
        evidence,
        _sound(evidence),
        passing=f"{len(evidence.flows)} flows ran as requested; no NIC and no cable counted a loss",
    )


def _sound(evidence: Evidence) -> Iterator[Finding]:
    yield passed(Fact(name="flows", measured=len(evidence.flows), bound="> 0", unit="flows"))
    yield from balances(evidence)
    if evidence.kind == "control":
        yield from checks.ran(evidence, excused=_broken_by_drops(evidence))
        damaged = chain.from_iterable(map(sound.kept, path.of_part(evidence, "cable")))
        yield from (finding for finding in damaged if finding.outcome is Outcome.FAIL)
        return
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from sound.nics_sent_it(evidence)
    for station in path.of_part(evidence, "NIC", "cable"):
        yield from sound.kept(station)
    yield from sound.switch_ports_kept(evidence)
    yield from _quiet(evidence)


def _broken_by_drops(evidence: Evidence) -> tuple[FlowResult, ...]:
    """Queue pairs that may have completed nothing: their NIC sent, and their queue dropped packets
    at the port of their receiver."""
    return tuple(
        flow
        for number, (place, flow) in enumerate(zip(evidence.senders, evidence.flows, strict=False))
        if flow.is_rdma
        and flow.status is not FlowStatus.INFRASTRUCTURE
        and _sent_and_lost(evidence, place, evidence.receiver_of(number))
    )


def _sent_and_lost(evidence: Evidence, place: Place, to: Place) -> bool:
    nic, port = (place.device, place.port), (to.switch, to.switch_port)
    sent = evidence.change(nic, "priority", place.priority, c.TX_PACKETS)
    lost = evidence.change(port, "queue", to.queue, c.QUEUE_DROPPED_PACKETS)
    return bool(sent.increase and lost.increase)


def balances(evidence: Evidence) -> Iterator[Finding]:
    """What adds up between hosts and switch ports when every packet is known."""
    yield _all_are_known(evidence)
    for place in {(p.switch, p.switch_port): p for p in evidence.receivers}.values():
        yield _came_out(evidence, place)
    yield from sound.cables_carried(evidence)
    yield from bit_errors.within_fec(evidence)
    if evidence.kind == "control":
        return  # of several full queues, some is refused on the way in, and counted in queues, too
    for where in _ports(evidence):
        yield from port_drops.port_and_queues_agree(evidence, where)


def out_of_balance(evidence: Evidence) -> tuple[str, ...]:
    """See sound.out_of_balance; of whatever hosts send to whichever, and while a link fails."""
    if evidence.failure:
        return elsewhere.out_of_balance(evidence)
    if not evidence.receivers:
        return sound.out_of_balance(evidence)
    return tuple(f.because for f in balances(evidence) if f.disagreement)


def _all_are_known(evidence: Evidence) -> Finding:
    """Sent in the classes by all hosts = received by them + dropped by switches."""
    places = _places(evidence)
    if any(place.priority is None for place in places):
        return unproven("a host does not count packets by class, so that some may be lost unseen")
    sent, came = (
        [evidence.change((p.device, p.port), "priority", p.priority, counter) for p in places]
        for counter in (c.TX_PACKETS, c.RX_PACKETS)
    )
    right = [*came, *_drops(evidence)]
    return witnesses.equal_but_for_cnps(
        "sent by all NICs = received by them + dropped by switches",
        (sent, right),
        witnesses.cnps_of(evidence, places),
    )


def _came_out(evidence: Evidence, place: Place) -> Finding:
    """What a port forwarded in the class = what the NIC opposite received in it."""
    forwarded = evidence.change(
        (place.switch, place.switch_port), "queue", place.queue, c.QUEUE_FORWARDED_PACKETS
    )
    got = evidence.change((place.device, place.port), "priority", place.priority, c.RX_PACKETS)
    return witnesses.equal(f"forwarded to {place.device} = received by it", [forwarded], [got])


def _ports(evidence: Evidence) -> tuple[path.Where, ...]:
    """Every switch port that was watched."""
    opposite = ((place.switch, place.switch_port) for place in _places(evidence))
    return tuple(dict.fromkeys((*opposite, *evidence.transit)))


def _queues(evidence: Evidence) -> tuple[int, ...]:
    return tuple(sorted({place.queue for place in _places(evidence)}))


def _drops(evidence: Evidence) -> list[Difference]:
    """Of the classes' queues at every port, as far as a port counts them by queue."""
    found = [
        evidence.change(where, "queue", queue, c.QUEUE_DROPPED_PACKETS)
        for where in _ports(evidence)
        for queue in _queues(evidence)
    ]
    return [each for each in found if evidence.has(each)]


def _quiet(evidence: Evidence) -> Iterator[Finding]:
    """Nobody else used the queues that flows leave the switches by."""
    counters = (c.QUEUE_DROPPED_PACKETS, c.QUEUE_FORWARDED_PACKETS)
    keys = ((s, p, "queue", q, name) for s, p, q in egresses(evidence) for name in counters)
    yield idle.quiet(evidence, keys)


# -- was anything lost? --------------------------------------------------------------------------


def nothing_lost(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """Exactly 0 packets were dropped in the classes of the flows, by any switch port, where each
    port that they leave by was under load, and its drop counter was seen to count in `controls`."""
    ports = egresses(evidence)
    moved = [_forwarded(evidence, each).increase or 0 for each in ports]
    return conclude(
        "Was nothing lost between the hosts?",
        evidence,
        _nothing_lost(evidence, controls),
        passing=f"0 of {sum(moved)} packets dropped at {len(ports)} ports, each under load",
        remedy="look at xoff and headroom of the ports where they came in, and at PFC of their "
        "priority at both ends of each cable",
    )


def _nothing_lost(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    if not evidence.receivers:
        yield unproven("no flow to another host than the receiver was monitored")
    yield from checks.ran(evidence)
    for each in egresses(evidence):
        moved = _forwarded(evidence, each)
        if not moved.increase:
            yield (
                missing(moved, "> 0", "packets")
                if moved.increase is None
                else unproven(
                    f"{name_of(moved)} did not move: no traffic in this queue, or stale reads"
                )
            )
        yield _proven(each, controls)
        yield _loaded(evidence, each)
    yield from _as_much_as_others(evidence)
    drops = [*_drops(evidence), *_refused(evidence)]
    yield from chain.from_iterable(port_drops.exactly_zero(evidence, each) for each in drops)
    yield from balances(evidence)
    yield from repeated_nothing(evidence)
    yield from _quiet(evidence)


def _forwarded(evidence: Evidence, at: Egress) -> Difference:
    return evidence.change(at[:2], "queue", at[2], c.QUEUE_FORWARDED_PACKETS)


def _refused(evidence: Evidence) -> Iterator[Difference]:
    """On the way in, where a port counts that."""
    for where in _ports(evidence):
        into = evidence.change(where, "port", None, c.BUFFER_DROPPED_IN_PACKETS)
        if evidence.has(into):
            yield into


def _proven(at: Egress, controls: Iterable[Evidence]) -> Finding:
    """The drop counter there grew in a control in which every packet is known, and not before."""
    where = f"{at[0]} {at[1]} queue {at[2]} drop counter"
    grew = [
        drops.increase
        for control in controls
        if (drops := control.change(at[:2], "queue", at[2], c.QUEUE_DROPPED_PACKETS)).increase
        and _all_are_known(control).outcome is Outcome.PASS
        and not control.background(at[:2], "queue", at[2], c.QUEUE_DROPPED_PACKETS).increase
    ]
    fact = Fact(name=f"{where} in controls", measured=max(grew, default=None), bound="> 0",
                unit="packets")  # fmt: skip
    if grew:
        return passed(fact)
    return unproven(f"{where} is unproven: in no control of this session did it count the losses")


LOADED_SHARE = 0.75
"""Of line rate, what the flows to a host have together: hosts that send to many hold each other up
now and then, and each has the whole line to send by, and to get by, no more."""


def _loaded(evidence: Evidence, at: Egress) -> Finding:
    """By the tools' rows; what tools tell is held against the counters elsewhere."""
    got = sum(
        flow.goodput_bits_per_s or 0.0
        for flow, p in zip(evidence.flows, evidence.receivers, strict=False)
        if (p.switch, p.switch_port) == at[:2]
    )
    name = f"goodput of all flows by {at[0]} {at[1]} / line rate"
    finding = checks.bounded(name, got / _line(evidence, at), at_least=LOADED_SHARE)
    return outcome.or_unproven(finding, "not under load")


def _as_much_as_others(evidence: Evidence) -> Iterator[Finding]:
    """Each flow as fast as it can had half of what the others to the same port had, as a mean: a
    host that stands still leaves the line to them, and sends nothing that could be lost. (A paced
    one is held to what it was asked: checks.kept_pace.)"""
    to: dict[tuple[str, str], list[FlowResult]] = {}
    for flow, place in zip(evidence.flows, evidence.receivers, strict=False):
        if not flow.offered_bits_per_s:
            to.setdefault((place.switch, place.switch_port), []).append(flow)
    for flows in to.values():
        rates = [flow.goodput_bits_per_s or 0.0 for flow in flows]
        for flow, rate in zip(flows, rates, strict=True):
            others = (sum(rates) - rate) / max(len(rates) - 1, 1)
            if others:
                name = f"{flow.sender} -> {flow.receiver}: goodput / mean of the others"
                part = checks.bounded(name, rate / others, at_least=slowing.FAIR_AMONG_PEERS)
                yield outcome.or_unproven(part, f"the limit of {flow.sender}, or it stalled")


def _line(evidence: Evidence, at: Egress) -> float:
    links = [p.link_bits_per_s for p in evidence.receivers if (p.switch, p.switch_port) == at[:2]]
    return next(filter(None, links), evidence.line_bits_per_s)


# -- was there pressure? -------------------------------------------------------------------------


def all_paused(evidence: Evidence) -> Verdict:
    """PFC held each host that sent, by more frames than now and then, as its NIC confirms."""
    frames = [pauses.pauses_sent(evidence, place).increase or 0 for place in _nics(evidence)]
    return conclude(
        "Did pauses hold every host?",
        evidence,
        _all_paused(evidence),
        passing=f"{len(frames)} hosts got {sum(frames)} pause frames, {min(frames, default=0)} and "
        "more each",
    )


def _all_paused(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    least = checks.CONGESTION_EVENTS_PER_S * max(evidence.end_s - evidence.start_s, 0.0)
    for place in _nics(evidence):
        sent = pauses.pauses_sent(evidence, place)
        if sent.increase is None:
            yield missing(sent, f"> {least:.3g}", "frames")
            continue
        fact = outcome.fact_of(sent, Bound(said=f"> {least:.3g}", least=least), "frames")
        few = f"{name_of(sent)} grew by {sent.increase} only: nothing pressed on {place.device}"
        yield passed(fact) if sent.increase > least else unproven(few, fact)
        yield witnesses.pauses_agree(evidence, place)


def _nics(evidence: Evidence) -> tuple[Place, ...]:
    """Every host that sent, with its class, once."""
    return tuple({(p.device, p.port, p.priority): p for p in evidence.senders}.values())


# -- what NICs know of losses --------------------------------------------------------------------


def repeated_nothing(evidence: Evidence) -> Iterator[Finding]:
    """No NIC missed, asked for or sent anything again: each may do both."""
    if any(flow.is_rdma for flow in evidence.flows):
        for place in {(p.device, p.port): p for p in _places(evidence)}.values():
            yield from witnesses.repeated_nothing(evidence, place)
