"""Witnesses held against each other. A disagreement is named and makes a verdict inconclusive.

Conservation on one bottleneck (held exactly in seven recorded incasts of `ib_send_bw`):
sent by the NICs = forwarded + dropped by the queue, forwarded = received by the receiver's NIC.
In packets, because Comware's byte counts differ between forwarded and dropped.
"""

import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import path
from labtests.verdicts.bounds import NONE, Bound
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
    disagreement,
    fact_of,
    held_to,
    missing,
    name_of,
    names_of,
    passed,
    unequal,
    unproven,
)


def conserved(evidence: Evidence, queue: int) -> Iterator[Finding]:
    """Packets sent = forwarded + dropped, and forwarded = received, for one queue."""
    port = evidence.bottleneck
    places = {(p.device, p.port, p.priority): p for p in evidence.senders if p.queue == queue}
    sent = [_nic(evidence, p, c.TX_PACKETS) for p in places.values()]
    forwarded = evidence.change(port, "queue", queue, c.QUEUE_FORWARDED_PACKETS)
    dropped = evidence.change(port, "queue", queue, c.QUEUE_DROPPED_PACKETS)
    priorities = {p.priority for p in evidence.senders if p.queue == queue}
    received = [
        evidence.change(
            (evidence.receiver.device, evidence.receiver.port), "priority", p, c.RX_PACKETS
        )
        for p in sorted(p for p in priorities if p is not None)
    ]
    yield equal(f"sent by NICs = forwarded + dropped, queue {queue}", sent, [forwarded, dropped])
    yield equal(f"forwarded = received by the NIC, queue {queue}", [forwarded], received)


def retransmitted(evidence: Evidence) -> tuple[Difference, ...]:
    """By the senders' kernels."""
    hosts = dict.fromkeys(place.device for place in evidence.senders)
    return tuple(
        evidence.change((host, ""), "host", None, c.TCP_RETRANSMITTED_SEGMENTS) for host in hosts
    )


def came_back(evidence: Evidence) -> Iterator[Finding]:
    """What the receiver sent back in the classes of the flows (RoCE's acknowledgements and NAKs
    have the DSCP of their data) came to the senders, where NICs count by class.

    The receiver's NIC counts CNPs by its own cnp_802p_prio, the senders' by the DSCP of them: so
    all of them may be in a class of the flows at one end and in none of these at the other, but
    not where an end counts as many packets in its other classes."""
    receiver = (evidence.receiver.device, evidence.receiver.port)
    classes = {place.priority for place in evidence.senders if place.priority is not None}
    places = list({(p.device, p.port): p for p in evidence.senders}.values())
    cnps = Cnps.between(evidence, (evidence.receiver,), places)
    for priority in sorted(classes):
        sent = evidence.change(receiver, "priority", priority, c.TX_PACKETS)
        got = [
            evidence.change((p.device, p.port), "priority", priority, c.RX_PACKETS) for p in places
        ]
        if any(evidence.has(each) for each in (sent, *got)):
            what = f"sent back = received by the senders, priority {priority}"
            yield equal_but_for_cnps(what, ([sent], got), cnps)


@dataclass(frozen=True, slots=True)
class Cnps:
    """CNPs that NICs sent, and that NICs counted, and whether as many can be of other classes than
    those of the flows: packets counted there."""

    sent: tuple[Difference, ...]
    counted: tuple[Difference, ...]
    sent_apart: int
    came_apart: int

    @classmethod
    def between(cls, evidence: Evidence, nps: Iterable[Place], rps: Iterable[Place]) -> "Cnps":
        """Of these notification points, to these reaction points."""
        senders, getters = list(nps), list(rps)
        classes = {place.priority for place in evidence.senders if place.priority is not None}
        nics, ends = ([(p.device, p.port) for p in places] for places in (senders, getters))
        return cls(
            tuple(evidence.change(nic, "port", None, c.NP_CNP_SENT) for nic in nics),
            tuple(
                _rdma(evidence, p, n) for p in getters for n in (c.RP_CNP_HANDLED, c.RP_CNP_IGNORED)
            ),
            _in_other_classes(evidence, nics, classes, c.TX_PACKETS),
            _in_other_classes(evidence, ends, classes, c.RX_PACKETS),
        )


def cnps_of(evidence: Evidence, places: Iterable[Place]) -> Cnps:
    """Of hosts each of which may send and get some."""
    ends = list({(p.device, p.port): p for p in places}.values())
    return Cnps.between(evidence, ends, ends)


def equal_but_for_cnps(
    what: str, sides: tuple[Iterable[Difference], Iterable[Difference]], cnps: Cnps
) -> Finding:
    """The same, to the packet; or but for exactly all CNPs, which one end counts in the classes of
    the flows and the other one cannot count apart (came_back)."""
    left, right = map(tuple, sides)
    finding, others = equal(what, left, right), []
    if not finding.disagreement:
        return finding
    sent, counted = ([d for d in side if d.increase] for side in (cnps.sent, cnps.counted))
    if cnps.sent_apart < sum(each.increase or 0 for each in sent):
        others.append(equal(what, left, [*right, *sent]))
    if cnps.came_apart < sum(each.increase or 0 for each in counted):
        others.append(equal(what, [*left, *counted], right))
    return next((f for f in others if _is_passed(f)), finding)


def _in_other_classes(
    evidence: Evidence, nics: Iterable[path.Where], classes: Collection[int], counter: str
) -> int:
    """Packets that these NICs counted in all priorities but these; as many as can be where one that
    they have is not known."""
    others = [p for p in range(8) if p not in classes]
    seen = [evidence.change(nic, "priority", p, counter) for nic in nics for p in others]
    if any(each.increase is None and evidence.has(each) for each in seen):
        return sys.maxsize
    return sum(each.increase or 0 for each in seen)


def _is_passed(finding: Finding) -> bool:
    return finding.outcome is Outcome.PASS


def pauses_agree(evidence: Evidence, place: Place) -> Finding:
    """Pause frames the switch sent = pause frames the NIC received, at the sender's priority."""
    sent = evidence.change(
        (place.switch, place.switch_port), "priority", place.priority, c.PFC_TX_FRAMES
    )
    got = _nic(evidence, place, c.PFC_RX_FRAMES)
    return equal(f"pause sent = pause received, {place.device}", [sent], [got])


def marks_agree(evidence: Evidence) -> Finding:
    """Packets the switch marked = CE packets the receiver's notification point saw, and those that
    switches before it marked. What two of them would have marked, one or both may count."""
    marked = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS)
    seen = _rdma(evidence, evidence.receiver, c.NP_ECN_MARKED_PACKETS)
    others = [at for at in (*evidence.transit, *evidence.behind) if at != evidence.bottleneck]
    ports = [evidence.change(at, "port", None, c.ECN_MARKED_PACKETS) for at in others]
    before = [d for d in ports if d.increase]
    exact = equal("marked by the switch = seen by the NP", [marked], [seen])
    if not exact.because or not before or marked.increase is None or seen.increase is None:
        return exact
    most = marked.increase + sum(d.increase or 0 for d in before)
    fact = held_to(
        "CE packets that the NP saw",
        seen.increase,
        Bound(
            said=f">= {marked.increase} marked at the bottleneck, <= {most} with those before it",
            least=marked.increase,
            most=most,
        ),
        "packets",
    )
    return passed(fact) if marked.increase <= seen.increase <= most else exact


def cnps_agree(evidence: Evidence) -> Finding:
    """CNPs the NP sent = handled + ignored by the RPs."""
    sent = _rdma(evidence, evidence.receiver, c.NP_CNP_SENT)
    nics = {(place.device, place.port): place for place in evidence.senders}
    got = [
        _rdma(evidence, place, counter)
        for place in nics.values()
        for counter in (c.RP_CNP_HANDLED, c.RP_CNP_IGNORED)
    ]
    return equal("CNPs sent = handled + ignored", [sent], got)


_AT_RECEIVER = (
    c.OUT_OF_SEQUENCE,
    c.DUPLICATE_REQUEST,
    c.RDMA_OUT_OF_BUFFER,
    c.RX_ICRC_ERRORS,
    c.RESPONSE_ERRORS,
)
_AT_SENDER = (
    c.PACKET_SEQ_ERR,
    c.LOCAL_ACK_TIMEOUT,
    c.IMPLIED_NAK_SEQ_ERR,
    c.RNR_NAK_RETRY,
    c.ADAPTIVE_RETRANSMISSIONS,
    c.ADAPTIVE_RETRANSMISSION_TIMEOUTS,
    c.RDMA_RETRIES,
    c.RDMA_RETRIES_EXCEEDED,
    c.RX_ICRC_ERRORS,
    c.REQUEST_ERRORS,
)
_EVERY_NIC_HAS = frozenset({c.OUT_OF_SEQUENCE, c.PACKET_SEQ_ERR, c.LOCAL_ACK_TIMEOUT})


def rdma_saw_no_loss(evidence: Evidence) -> Iterator[Finding]:
    """No NIC may have missed, asked for or sent anything again. Of a
    read the receiver is who asks: both ends are asked for all."""
    if any(flow.is_read for flow in evidence.flows):
        for place in (*evidence.senders, evidence.receiver):
            yield from repeated_nothing(evidence, place)
    else:
        for counter in _AT_RECEIVER:
            yield from _no_repetition(evidence, _rdma(evidence, evidence.receiver, counter))
        for place in evidence.senders:
            yield from sender_repeated_nothing(evidence, place)
    yield from came_back(evidence)


def rdma_repeated_only_what_was_dropped(evidence: Evidence) -> Iterator[Finding]:
    """Where queues may drop, and rates are claimed: a gap that a NIC sees though none of them did
    is a packet that was lost where nothing counts it, and what is sent again is no rate of a
    reaction point. Counters that a NIC has."""
    if _dropped(evidence):
        return
    asked = [(evidence.receiver, counter) for counter in _AT_RECEIVER]
    asked += [(place, counter) for place in evidence.senders for counter in _AT_SENDER]
    for place, counter in asked:
        told = _rdma(evidence, place, counter)
        if evidence.has(told):
            yield _no_retransmission(told, dropped=0)


def repeated_nothing(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """Nor a NIC that sends and receives."""
    for counter in dict.fromkeys((*_AT_RECEIVER, *_AT_SENDER)):
        yield from _no_repetition(evidence, _rdma(evidence, place, counter))


def sender_repeated_nothing(evidence: Evidence, place: Place) -> Iterator[Finding]:
    """Nor this sender. Counters that not every NIC has are asked where they are."""
    for counter in _AT_SENDER:
        yield from _no_repetition(evidence, _rdma(evidence, place, counter))


def _no_repetition(evidence: Evidence, difference: Difference) -> Iterator[Finding]:
    if evidence.has(difference) or _must_have(evidence, difference):
        yield _no_retransmission(difference, _dropped(evidence))


def _must_have(evidence: Evidence, difference: Difference) -> bool:
    """rdma_rxe counts time-outs among all that it sends again."""
    device, port, *_, counter = difference.key
    again = evidence.change((device, port), "port", None, c.RDMA_RETRIES)
    return counter in _EVERY_NIC_HAS - {c.LOCAL_ACK_TIMEOUT} or (
        counter == c.LOCAL_ACK_TIMEOUT and not evidence.has(again)
    )


def time_outs(evidence: Evidence, nic: tuple[str, str]) -> tuple[Difference, int | None]:
    """What tells of a sender's time-outs, and how many there were. rdma_rxe counts what it sends
    again for them and for NAKs in one (Linux, rxe_comp.c)."""
    told = evidence.change(nic, "port", None, c.RDMA_RETRIES)
    if not evidence.has(told):
        told = evidence.change(nic, "port", None, c.LOCAL_ACK_TIMEOUT)
        return told, told.increase
    naks = evidence.change(nic, "port", None, c.PACKET_SEQ_ERR).increase or 0
    return told, None if told.increase is None else max(told.increase - naks, 0)


def waits(evidence: Evidence, nic: tuple[str, str]) -> int:
    """Time-outs of either kind: a NIC that adapts them (NVIDIA: roce_adp_retrans_to) counts those
    apart, or beside."""
    adapted = evidence.change(nic, "port", None, c.ADAPTIVE_RETRANSMISSION_TIMEOUTS).increase
    return (time_outs(evidence, nic)[1] or 0) + (adapted or 0)


def _dropped(evidence: Evidence) -> int:
    """Packets of the flows, by the switch: what else would a NIC have sent again."""
    queues = {place.queue for place in evidence.senders}
    counts = (
        evidence.change(evidence.bottleneck, "queue", queue, c.QUEUE_DROPPED_PACKETS).increase
        for queue in queues
    )
    return sum(count or 0 for count in counts)


def _no_retransmission(difference: Difference, dropped: int) -> Finding:
    if difference.increase is None:
        return missing(difference, "= 0", "events")
    fact = fact_of(difference, NONE, "events")
    if difference.increase:
        said = f"{name_of(difference)} grew by {difference.increase}"
        if dropped:
            return unproven(f"{said}, and the switch dropped {dropped}", fact)
        return disagreement(f"{said} without a drop at the switch", fact)
    return passed(fact)


def equal(what: str, left: Iterable[Difference], right: Iterable[Difference]) -> Finding:
    """Two sums of counters are the same, to the packet. Background never excuses a difference: who
    knows what else was lost."""
    left, right = tuple(left), tuple(right)
    for difference in (*left, *right):
        if difference.increase is None:
            return missing(difference, "known", "packets")
    a, b = (sum(d.increase or 0 for d in side) for side in (left, right))
    note = f"{_sum(left)} = {a}; {_sum(right)} = {b}"
    fact = held_to(what, a - b, NONE, "packets", note)
    return passed(fact) if a == b else unequal(fact)


def _sum(side: tuple[Difference, ...]) -> str:
    return " + ".join(names_of(side))


def _nic(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "priority", place.priority, counter)


def _rdma(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "port", None, counter)
