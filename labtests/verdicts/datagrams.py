"""Datagrams that hosts kept or lost themselves: that is no loss of the network's.

What a receiver misses is found, in number, in the counters of sockets, stacks and NICs, or nobody
says where it was lost.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.capabilities.readings import Scope
from labtests.core.units import packets_of
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import path
from labtests.verdicts.bounds import at_most
from labtests.verdicts.outcome import (
    Finding,
    disagreement,
    held_to,
    missing,
    passed,
    unproven,
)

SKB_BYTES = 576
"""What Linux adds to a packet at the least where it counts a socket's buffer (SKB_TRUESIZE: sk_buff
and skb_shared_info, in cache lines of 64 bytes)."""

LOST_BELOW_UDP = (
    c.IP_IN_DISCARDS,
    c.IP_IN_HDR_ERRORS,
    c.IP_IN_ADDR_ERRORS,
    c.IP_IN_NO_ROUTES,
    c.IP_IN_TRUNCATED,
    c.IP_IN_CSUM_ERRORS,
)


def datagrams_accounted(evidence: Evidence, *, dropped_packets: int = 0) -> Iterator[Finding]:
    """Every datagram that the receivers miss is found, in number, in a counter of a host: that is
    the host's loss then, and not the network's; or in `dropped_packets` of queues that may drop, or
    whose drops are judged by others. UDP only.

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
    fact = held_to(
        "datagrams missing at the receivers",
        missed + gone,
        at_most(found, f" lost in hosts{' or queues' * bool(dropped_packets)}"),
        "datagrams",
        said,
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
