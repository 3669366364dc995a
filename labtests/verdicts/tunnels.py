"""Do DSCP and ECN survive a VXLAN tunnel between hosts? Evidence in, one verdict out; pure.

A switch sees the outer header. The kernel of a host counts a packet of a tunnel twice when it comes
in, with the outer and with the inner header (Linux, net/ipv4/ip_input.c): of ECN-capable packets
2 n are ECT(0), or CE where n were marked on the way, if encapsulation copies the ECN field and
decapsulation copies CE back (RFC 6040).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import checks, datagrams, idle, packets, path, port_drops
from labtests.verdicts.bounds import Bound
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
    Verdict,
    conclude,
    fact_of,
    failed,
    missing,
    name_of,
    numbered,
    or_unproven,
    passed,
    unproven,
)

HEADERS = 2
NEAR = 0.02
"""Of as many packets: what is lost of the tail of a flow, or sent before its TOS is set."""
FEWEST = 100
"""Packets that prove something."""


def kept_its_class(evidence: Evidence, queues: Mapping[int, int]) -> Verdict:
    """Every datagram went through the queue of its inner DSCP (`queues`: by TOS byte), and was
    ECN-capable outside and inside when it came."""
    return conclude(
        "Did the classes of packets survive their tunnels?",
        evidence,
        _kept(evidence, queues),
        passing=f"{sum(_sent(evidence, queues).values())} datagrams in tunnels went through "
        f"{numbered(sorted(set(queues.values())))}, as their inner DSCP says, and came as "
        "ECN-capable as they were sent, outside and inside",
        remedy="look at `tos` of the tunnels (`inherit` copies the DSCP of inner packets), and at "
        "what clears the ECN field on the way",
    )


def _sent(evidence: Evidence, queues: Mapping[int, int]) -> dict[int, int]:
    """By queue, as the tools say."""
    found = dict.fromkeys(queues.values(), 0)
    for flow in evidence.flows:
        if flow.tos in queues:
            found[queues[flow.tos]] += flow.sent_datagrams or 0
    return found


def _senders(evidence: Evidence, queues: Mapping[int, int], queue: int) -> Iterator[str]:
    """Host and port of whoever sends to a queue by the inner DSCP; where NICs count by class, of
    those alone that sent fewer packets of it than datagrams."""
    pairs = zip(evidence.senders, evidence.flows, strict=False)
    own = [(place, flow) for place, flow in pairs if queues.get(flow.tos) == queue]
    short = [place for place, flow in own if _sent_less(evidence, place, flow)]
    for place in dict.fromkeys(short or [place for place, _ in own]):
        yield f"{place.device} {place.port}"


def _sent_less(evidence: Evidence, place: Place, flow: FlowResult) -> bool:
    """In its class, by the NIC."""
    nic, due = (place.device, place.port), flow.sent_datagrams or 0
    sent = evidence.change(nic, "priority", place.priority, c.TX_PACKETS)
    return sent.increase is not None and sent.increase < due - round(NEAR * due) - path.STRAYS


def _kept(evidence: Evidence, queues: Mapping[int, int]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from idle.quiet_queues(evidence, tuple(sorted(set(queues.values()))))
    others = [
        each
        for each in path.of_queues(evidence, evidence.bottleneck, c.QUEUE_FORWARDED_PACKETS)
        if each.key[3] not in queues.values()
    ]
    astray = max(others, key=lambda each: each.increase or 0, default=None)
    for queue, sent in _sent(evidence, queues).items():
        finding = _in_queue(evidence, queue, sent, astray)
        whose = " and ".join(_senders(evidence, queues, queue))
        is_failed = finding.outcome is Outcome.FAIL
        yield replace(finding, because=f"{whose}: {finding.because}") if is_failed else finding
    yield from _capable(evidence)
    if set(evidence.queues) == set(queues.values()):
        yield from _each_of_them(evidence)


def _each_of_them(evidence: Evidence) -> Iterator[Finding]:
    """To the packet, where outer headers tell the classes: nothing is full."""
    if evidence.by_class:
        yield from packets.by_the_nics(evidence, evidence.queues)
    for queue in evidence.queues:
        yield packets.by_the_tool(evidence, queue)
        yield packets.came_to_the_tools(evidence, (queue,))
        yield from map(or_unproven, port_drops.no_drop(evidence, queue))
    yield from port_drops.switch_ports_agree(evidence)
    for flow in evidence.flows:
        sent, got = flow.sent_datagrams or 0, flow.received_datagrams or 0
        if got < sent - datagrams.tail(flow) or got > sent:
            yield unproven(f"{flow.receiver} received {got} of {sent} datagrams of {flow.sender}")


def _in_queue(evidence: Evidence, queue: int, sent: int, astray: Difference | None) -> Finding:
    forwarded = port_drops.queue_forwarded(evidence, queue)
    dropped = port_drops.queue_drops(evidence, queue)
    for each in (forwarded, dropped):
        if each.increase is None:
            return missing(each, "known", "packets")
    came = (forwarded.increase or 0) + (dropped.increase or 0)
    room = round(NEAR * sent) + path.STRAYS
    fact = fact_of(forwarded, f"{sent} within {room}", "packets", margin=room - abs(came - sent))
    if sent < FEWEST:
        return unproven(f"{sent} datagrams were sent to queue {queue}: too few", fact)
    if abs(came - sent) <= room:
        return passed(fact)
    said = f"{name_of(forwarded)} grew by {came}, and {sent} datagrams of its DSCP were sent"
    if came < sent and astray is not None and (astray.increase or 0) >= sent - came - room:
        other = f"{name_of(astray)} grew by {astray.increase}"
        return failed(f"outer headers have another DSCP: {said}, and {other}", fact)
    return unproven(said, fact)


def _capable(evidence: Evidence) -> Iterator[Finding]:
    """Each that a tool got was counted twice; of those that it did not, the stack has some more."""
    seen = _of_receiver(evidence, c.IP_IN_ECT0_PACKETS)
    received = sum(flow.received_datagrams or 0 for flow in evidence.flows)
    what = "ECN-capable datagrams were received"
    yield _counted_twice(seen, received, what, HEADERS, near=0.0)


def came_out_marked(evidence: Evidence, *, headers: int = HEADERS) -> Verdict:
    """Packets that the bottleneck marked came out of their tunnels marked. `headers`: how often a
    marked packet is counted by the receiver."""
    marked = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS)
    return conclude(
        "Did marks survive their tunnels?",
        evidence,
        _marked(evidence, marked, headers),
        passing=f"{marked.increase} packets were marked outside, and as many were inside when they "
        "came out",
        remedy="look at the kernel of the receiver: decapsulation has to copy CE to the inner "
        "header (RFC 6040)",
    )


def _marked(evidence: Evidence, marked: Difference, headers: int) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    if marked.increase is None:
        yield missing(marked, f">= {FEWEST}", "packets")
    elif marked.increase < FEWEST:
        yield unproven(f"{name_of(marked)} grew by {marked.increase}: too few marks")
    else:
        seen = _of_receiver(evidence, c.IP_IN_CE_PACKETS)
        yield _counted_twice(seen, marked.increase, "packets were marked on the way", headers)


def _of_receiver(evidence: Evidence, counter: str) -> Difference:
    return evidence.change((evidence.receiver.device, ""), "host", None, counter)


def _counted_twice(
    seen: Difference, packets: int, what: str, headers: int, *, near: float = NEAR
) -> Finding:
    """`near`: of the packets, so many may be missing."""
    due = headers * packets
    low = due - round(near * packets) * headers - path.STRAYS
    high = due + round(NEAR * packets) * headers + path.STRAYS
    if seen.increase is None:
        return missing(seen, f"{headers} x {packets}", "packets")
    bound = Bound(said=f"{headers} x {packets}: {low} to {high}", least=low, most=high)
    fact = fact_of(seen, bound, "packets")
    if packets < FEWEST:
        return unproven(f"{packets} {what}: too few", fact)
    said = f"{name_of(seen)} grew by {seen.increase} where {packets} {what}"
    if not seen.increase:
        return unproven(f"{said}: none of any header, or the counter stands still", fact)
    if low <= seen.increase <= high:
        return passed(fact)
    if seen.increase < due:
        return failed(f"{said}: not {headers} for each, outer and inner header", fact)
    return unproven(said, fact)
