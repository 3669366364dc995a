"""Witnesses held against each other. A disagreement is named and makes a verdict inconclusive.

Conservation on one bottleneck (held exactly in seven recorded incasts of `ib_send_bw`):
sent by the NICs = forwarded + dropped by the queue, forwarded = received by the receiver's NIC.
In packets, because Comware's byte counts differ between forwarded and dropped.
"""

import math
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.capabilities.readings import Scope
from labtests.core.units import packets_of
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import path
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    disagreement,
    fact_of,
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
            yield equal_but_for_cnps(evidence, what, ([sent], got), cnps)


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
    evidence: Evidence,
    what: str,
    sides: tuple[Iterable[Difference], Iterable[Difference]],
    cnps: Cnps,
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
    fact = Fact(
        name="CE packets that the NP saw",
        measured=seen.increase,
        bound=f">= {marked.increase} marked at the bottleneck, <= {most} with those before it",
        unit="packets",
        margin=min(seen.increase - marked.increase, most - seen.increase),
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
    fact = fact_of(difference, "= 0", "events", margin=0)
    if difference.increase:
        said = f"{name_of(difference)} grew by {difference.increase}"
        if dropped:
            return unproven(f"{said}, and the switch dropped {dropped}", fact)
        return disagreement(f"{said} without a drop at the switch", fact)
    return passed(fact)


def datagrams_accounted(evidence: Evidence, *, dropped_packets: int = 0) -> Iterator[Finding]:
    """Every datagram that the receivers miss is found, in number, in a counter of a host: that is
    the host's loss then, and not the network's; or in `dropped_packets` of queues that may drop.
    UDP only.

    A counter has at most one event for each datagram, but not every event is of these flows.
    """
    missed = _missed(evidence)
    if missed is None:
        yield unproven("a receiver did not report how many datagrams it lost")
        return
    kept = hosts_losses(evidence)
    for station in kept:
        for difference in station.losses:
            if difference.increase is None:
                yield missing(difference, "known", "events")
                return
    yield from _whole_accounts(evidence)
    found = lost_by_hosts(evidence) + dropped_packets
    gone = sum(_gone(flow) for flow in evidence.flows)
    said = ", ".join(path.in_words(station) for station in kept if station.lost)
    fact = Fact(
        name="datagrams missing at the receivers",
        measured=missed + gone,
        bound=f"<= {found} lost in hosts{' or other queues' * bool(dropped_packets)}",
        unit="datagrams",
        margin=found - missed - gone,
        note=said,
    )
    if missed + gone > found:
        end = f", {gone} of them after the last one that came" if gone else ""
        yield disagreement(
            f"{missed + gone} datagrams were lost on the way to {evidence.receiver.device}{end}, "
            f"and no counter says where {missed + gone - found} of them were"
            f"{f' ({said})' if said else ''}",
            fact,
        )
    else:
        yield passed(fact)


SKB_BYTES = 576
"""What Linux adds to a packet at the least where it counts a socket's buffer (SKB_TRUESIZE: sk_buff
and skb_shared_info, in cache lines of 64 bytes)."""


def tail(flow: FlowResult) -> int:
    """How many datagrams of a flow may be in no counter of the receiver: what its sockets held
    unread when the tool closed them (what came after that, NoPorts has), and what was counted and
    perhaps never written."""
    held = 0
    if flow.receive_buffer_bytes and flow.sent_bytes and flow.sent_datagrams:
        each = flow.sent_bytes / flow.sent_datagrams + SKB_BYTES
        held = math.ceil(flow.receive_buffer_bytes / each)
    return max(held + (flow.unsure_datagrams or 0), path.STRAYS)


def _gone(flow: FlowResult) -> int:
    """A tool notices what is lost between two datagrams that came, and not what came last: beyond
    such a tail, what it neither got nor misses is gone without a trace."""
    if flow.sent_datagrams is None or flow.received_datagrams is None:
        return 0
    seen = flow.received_datagrams + (flow.lost_datagrams or 0) + tail(flow)
    return max(flow.sent_datagrams - seen, 0)


def _whole_accounts(evidence: Evidence) -> Iterator[Finding]:
    """Both sides of each flow tell, and nobody got more than was sent."""
    for flow in evidence.flows:
        if flow.sent_datagrams is None:
            if flow.received_datagrams is not None or flow.lost_datagrams is not None:
                yield unproven(f"{flow.sender} did not report how many datagrams it sent")
            continue
        if flow.received_datagrams is None:
            yield unproven(f"{flow.receiver} did not report how many datagrams it got")
            continue
        seen = flow.received_datagrams + (flow.lost_datagrams or 0)
        if seen > flow.sent_datagrams + (flow.extra_packets or 0):
            yield disagreement(
                f"{flow.receiver} got {flow.received_datagrams} datagrams and misses "
                f"{flow.lost_datagrams or 0}, and {flow.sender} sent {flow.sent_datagrams}"
            )


def _missed(evidence: Evidence) -> int | None:
    told = [f.lost_datagrams for f in evidence.flows if f.sent_datagrams is not None]
    known = [n for n in told if n is not None]
    return sum(known) if len(known) == len(told) else None


def kept_inside(evidence: Evidence, device: str) -> int:
    """Packets of the tools on a host that it did not send: no more than that it can have lost of
    them. Like is compared with like: a class's packets with those that its NIC sent in the class
    (a long datagram is several). A NIC that counts no classes counts everybody's packets: there,
    datagrams with those that UDP sent, and packets that its queue let go with those that it sent;
    others' only hide some, so that up to STRAYS are added. All of them where a NIC does not count,
    none where it does and could not be read."""
    flows = [flow for flow in evidence.flows if flow.sender == device]
    told = sum(packets_told(flow, evidence.mtu_bytes) for flow in flows)
    ports = {(p.device, p.port, p.priority) for p in evidence.senders if p.device == device}
    left = 0
    for nic, port, priority in ports:
        scope: Scope = "port" if priority is None else "priority"
        sent = evidence.change((nic, port), scope, priority, c.TX_PACKETS)
        if sent.increase is None:
            return 0 if evidence.has(sent) else told
        left += sent.increase
    if all(priority is not None for _, _, priority in ports):
        return max(told - left, 0)
    inside = max(told - left, _kept_by_stack(evidence, device))
    return inside + path.STRAYS if inside > 0 else 0


def packets_told(flow: FlowResult, mtu_bytes: int | None) -> int:
    """How many packets a tool says that it sent."""
    return packets_each(flow, mtu_bytes) * (flow.sent_datagrams or 0) + (flow.extra_packets or 0)


def packets_each(flow: FlowResult, mtu_bytes: int | None) -> int:
    """Packets of one of its datagrams; 1 where that is not known."""
    if mtu_bytes and flow.sent_bytes and flow.sent_datagrams:
        return packets_of(round(flow.sent_bytes / flow.sent_datagrams), mtu_bytes)
    return 1


def _kept_by_stack(evidence: Evidence, device: str) -> int:
    """Datagrams that the tools handed over and UDP did not send, and packets that the port's queue
    let go and the NIC did not send; 0 where a part is not counted."""
    told = sum(flow.sent_datagrams or 0 for flow in evidence.flows if flow.sender == device)
    out = evidence.change((device, ""), "host", None, c.UDP_OUT_DATAGRAMS).increase
    inside = 0 if out is None else max(told - out, 0)
    for port in {p.port for p in evidence.senders if p.device == device}:
        queued, sent = (
            evidence.change((device, port), "port", None, counter).increase
            for counter in (c.QDISC_SENT_PACKETS, c.TX_PACKETS)
        )
        inside += max(queued - sent, 0) if queued is not None and sent is not None else 0
    return inside


def lost_by_hosts(evidence: Evidence) -> int:
    """How many packets hosts may have lost, by their counters: a sender no more than its NIC did
    not send."""
    inside = 0
    for device in dict.fromkeys(place.device for place in evidence.senders):
        stations = path.of_device(evidence, device, "sending stack", "NIC")
        inside += min(kept_inside(evidence, device), sum(s.events for s in stations))
    return inside + lost_by_receiver(evidence)


def lost_by_receiver(evidence: Evidence) -> int:
    """How many packets the receiver's NIC and stack say that they lost. Datagrams of one packet are
    put together of nothing, and what was delivered to UDP was not lost before: of them, no more
    than is missing there, and STRAYS where any is, as other UDP of the host hides some."""
    host = evidence.receiver.device
    nics = path.of_device(evidence, host, "NIC")
    (stack,) = path.of_device(evidence, host, "receiving stack")
    if not all(_is_one_packet(flow, evidence.mtu_bytes) for flow in evidence.flows):
        return sum(station.events for station in (*nics, stack))
    socket = tuple(d for d in stack.losses if d.key[-1] in (c.UDP_IN_ERRORS, c.UDP_NO_PORTS))
    at_ip = tuple(d for d in stack.losses if d.key[-1] in LOST_BELOW_UDP)
    below = (*nics, replace(stack, losses=at_ip, damaged=0))
    lost = sum(station.events for station in below)
    got = delivered_to_udp(evidence)
    if got is not None:
        gone = sum(d.increase or 0 for d in forwarded(evidence)) - got
        lost = min(lost, gone + path.STRAYS if gone > 0 else 0)
    return replace(stack, losses=socket).events + lost


LOST_BELOW_UDP = (
    c.IP_IN_DISCARDS,
    c.IP_IN_HDR_ERRORS,
    c.IP_IN_ADDR_ERRORS,
    c.IP_IN_NO_ROUTES,
    c.IP_IN_TRUNCATED,
    c.IP_IN_CSUM_ERRORS,
)


def _is_one_packet(flow: FlowResult, mtu_bytes: int | None) -> bool:
    """Whether each of its datagrams is known to be one packet."""
    known = mtu_bytes and flow.sent_bytes and flow.sent_datagrams
    return bool(known) and packets_each(flow, mtu_bytes) == 1


def forwarded(evidence: Evidence) -> tuple[Difference, ...]:
    """By each queue under load, of the bottleneck."""
    at = evidence.bottleneck
    return tuple(
        evidence.change(at, "queue", queue, c.QUEUE_FORWARDED_PACKETS) for queue in evidence.queues
    )


def delivered(evidence: Evidence) -> tuple[Difference, ...]:
    """What the receiver's IP stack delivered, and what of it TCP and ICMP got."""
    host = (evidence.receiver.device, "")
    names = (c.IP_IN_DELIVERS, c.TCP_IN_SEGMENTS, c.ICMP_IN_MESSAGES)
    return tuple(evidence.change(host, "host", None, name) for name in names)


def delivered_to_udp(evidence: Evidence) -> int | None:
    """Datagrams; None where that is not counted."""
    every, *others = (each.increase for each in delivered(evidence))
    if every is None or None in others:
        return None
    return every - sum(n or 0 for n in others)


def hosts_losses(evidence: Evidence) -> tuple[path.Station, ...]:
    """What can lose a datagram in a host: stacks and NICs, the senders' and the receiver's."""
    return path.of_part(evidence, "sending stack", "NIC", "receiving stack")


def remark_on_hosts(evidence: Evidence) -> str:
    """What hosts lost themselves, for the end of a sentence about the network; "" for nothing."""
    said = [f"{s.name}: {path.in_words(s)}" for s in hosts_losses(evidence) if s.lost]
    return f"; lost inside hosts: {'; '.join(said)}" if said else ""


def equal(what: str, left: Iterable[Difference], right: Iterable[Difference]) -> Finding:
    """Two sums of counters are the same, to the packet. Background never excuses a difference: who
    knows what else was lost."""
    left, right = tuple(left), tuple(right)
    for difference in (*left, *right):
        if difference.increase is None:
            return missing(difference, "known", "packets")
    a, b = (sum(d.increase or 0 for d in side) for side in (left, right))
    note = f"{_sum(left)} = {a}; {_sum(right)} = {b}"
    fact = Fact(
        name=what, measured=a - b, bound="= 0", unit="packets", margin=-abs(a - b), note=note
    )
    return passed(fact) if a == b else unequal(fact)


def _sum(side: tuple[Difference, ...]) -> str:
    return " + ".join(names_of(side))


def _nic(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "priority", place.priority, counter)


def _rdma(evidence: Evidence, place: Place, counter: str) -> Difference:
    return evidence.change((place.device, place.port), "port", None, counter)
