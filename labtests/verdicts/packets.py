"""Where every packet went: counted by the tool, the sending host, the queues, the receiving host.

For RDMA, and for loads in datagrams of one packet each. iperf3's own control connection, the first
datagram of each of its UDP streams (it has TOS 0) and ARP go through the same port, so that a whole
port is added up over all its queues, and a queue under load has nothing but the load in it.
iperf3's account of lost datagrams is one witness, and the weakest: what was lost after the last
datagram that arrived, it never notices.
"""

from collections.abc import Iterable, Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import astray, datagrams, path, port_drops, rdma_packets, witnesses
from labtests.verdicts.bounds import NONE, Bound, at_least, at_most
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    disagreement,
    fact_of,
    held_to,
    missing,
    name_of,
    numbered,
    passed,
    unequal,
    unproven,
)


def accounted(evidence: Evidence) -> Iterator[Finding]:
    """Sent = forwarded + dropped, and forwarded = received, by every witness that there is."""
    if evidence.of_rdma:
        yield from _rdma_accounted(evidence)
        return
    for queue in evidence.queues:
        yield by_the_tool(evidence, queue)
    if evidence.by_class:
        yield from by_the_nics(evidence, evidence.queues)
    else:
        yield from astray.elsewhere(evidence)
        yield from by_the_sending_nics(evidence)
        if not _all_of_them_told(evidence):
            yield last_cable(evidence)
            yield behind_the_port(evidence)
    for device in dict.fromkeys(place.device for place in evidence.senders):
        yield by_the_sending_host(evidence, device)
    yield by_the_receiving_host(evidence)
    for queue in evidence.queues:
        yield came_to_the_tools(evidence, (queue,))
    if len(evidence.queues) > 1:
        yield came_to_the_tools(evidence, evidence.queues)
    yield from came_to_udp(evidence)
    yield losses_told(evidence)


def of_streams(evidence: Evidence) -> Iterator[Finding]:
    """The same for tools that count no packets (TCP, RDMA): by what NICs and queues count."""
    if evidence.of_rdma:
        yield from _rdma_accounted(evidence)
    else:
        yield from by_the_nics(evidence, evidence.queues)


def _rdma_accounted(evidence: Evidence) -> Iterator[Finding]:
    """perftest counts messages, not packets; NICs count per priority, or rxe all RoCE of a host:
    that is exact, and what else goes through the port does not matter then."""
    if evidence.by_class:
        yield from by_the_nics(evidence, evidence.queues)
    else:
        yield rdma_packets.sent_and_received(evidence, evidence.read_queues)


def by_the_tool(evidence: Evidence, queue: int) -> Finding:
    """Datagrams that the tool sent into a queue = what the queue forwarded and dropped. What did
    not come has to be found, in number, in a counter of the sending hosts."""
    pairs = [
        (place, flow)
        for place, flow in zip(evidence.senders, evidence.flows, strict=False)
        if place.queue == queue
    ]
    sides = [port_drops.queue_forwarded(evidence, queue), port_drops.queue_drops(evidence, queue)]
    for side in sides:
        if side.increase is None:
            return missing(side, "known", "packets")
    told = [flow.sent_datagrams for _, flow in pairs]
    sent = [n for n in told if n is not None]
    if not sent or len(sent) != len(told):
        return unproven(f"the tools did not report how many datagrams they sent into queue {queue}")
    forwarded, dropped = (side.increase or 0 for side in sides)
    extra = sum(flow.extra_packets or 0 for _, flow in pairs)
    astray = sum(sent) + extra - forwarded - dropped
    first = f" and {extra} that the tool does not count" if extra else ""
    note = f"sent {sum(sent)}{first}; forwarded {forwarded} + dropped {dropped}"
    lost = [
        station
        for device in dict.fromkeys(place.device for place, _ in pairs)
        for station in path.of_device(evidence, device, "sending stack", "NIC")
        if station.lost
    ]
    unsure = sum(flow.unsure_datagrams or 0 for _, flow in pairs)
    devices = dict.fromkeys(place.device for place, _ in pairs)
    inside = sum(datagrams.kept_inside(evidence, device) for device in devices)
    if 0 < astray <= min(unsure, sum(_not_written(evidence, device) for device in devices)):
        note += f"; {astray} of them may never have reached the socket"
        astray = 0
    if 0 < astray <= min(inside, sum(station.events for station in lost)):
        note += "; " + "; ".join(f"{s.name} lost some itself: {path.in_words(s)}" for s in lost)
        astray = 0
    return _balance(f"sent by the tool = forwarded + dropped, queue {queue}", astray, note)


def _not_written(evidence: Evidence, device: str) -> int:
    """Datagrams that the tools on a host counted, before they wrote them, and that its IP stack has
    not sent."""
    flows = [flow for flow in evidence.flows if flow.sender == device]
    told = sum((flow.sent_datagrams or 0) + (flow.extra_packets or 0) for flow in flows)
    sent = evidence.change((device, ""), "host", None, c.UDP_OUT_DATAGRAMS).increase
    return 0 if sent is None else max(told - sent, 0)


def by_the_nics(evidence: Evidence, queues: Iterable[int]) -> Iterator[Finding]:
    """These queues where NICs count per priority; else the whole port, all queues together."""
    yield from astray.elsewhere(evidence)
    if evidence.by_class:
        for queue in queues:
            yield from witnesses.conserved(evidence, queue)
        return
    yield first_cables(evidence)
    yield last_cable(evidence)
    if evidence.has(evidence.change(evidence.bottleneck, "port", None, c.TX_PACKETS)):
        yield behind_the_port(evidence)


def by_the_sending_nics(evidence: Evidence) -> Iterator[Finding]:
    """A port that counts all classes together sent at least what the tool says; what a host sends
    beside that (LLDP, ARP) comes on top."""
    for device, port in dict.fromkeys((place.device, place.port) for place in evidence.senders):
        sent = evidence.change((device, port), "port", None, c.TX_PACKETS)
        yield _at_least(evidence, device, sent, "its port")


def first_cables(evidence: Evidence) -> Finding:
    """What the senders' NICs sent, the bottleneck forwarded or dropped, in all queues together. A
    few may be on top that no switch forwards (LLDP), where TCP had nothing to send again but what
    queues dropped."""
    ports = dict.fromkeys((place.device, place.port) for place in evidence.senders)
    sent = [evidence.change(port, "port", None, c.TX_PACKETS) for port in ports]
    every = evidence.read_queues
    forwarded = [port_drops.queue_forwarded(evidence, queue) for queue in every]
    dropped = [port_drops.queue_drops(evidence, queue) for queue in every]
    exact = witnesses.equal(
        "sent by NICs = forwarded + dropped, all queues", sent, [*forwarded, *dropped]
    )
    again = witnesses.retransmitted(evidence)
    if not exact.because or any(d.increase is None for d in (*sent, *forwarded, *dropped, *again)):
        return exact
    lost = sum(d.increase or 0 for d in dropped)
    on_top = sum(d.increase or 0 for d in sent) - sum(d.increase or 0 for d in forwarded) - lost
    repeated = sum(d.increase or 0 for d in again)
    return passed(*exact.facts) if 0 < on_top <= path.STRAYS and repeated <= lost else exact


def last_cable(evidence: Evidence) -> Finding:
    """What the bottleneck forwarded, in all queues together, its receiver's NIC received. Not one
    is missing; a few may be on top that no queue counts."""
    receiver = (evidence.receiver.device, evidence.receiver.port)
    forwarded = [port_drops.queue_forwarded(evidence, queue) for queue in evidence.read_queues]
    received = evidence.change(receiver, "port", None, c.RX_PACKETS)
    exact = witnesses.equal("forwarded = received by the NIC, all queues", forwarded, [received])
    if received.increase is None or not exact.because:
        return exact
    on_top = received.increase - sum(d.increase or 0 for d in forwarded)
    return passed(*exact.facts) if 0 < on_top <= path.STRAYS else exact


def behind_the_port(evidence: Evidence) -> Finding:
    """What the bottleneck's port sent, its receiver's NIC received. A port counts frames of its own
    (LLDP, STP) that no queue has: without its count each may stand for a datagram that was lost."""
    nic = (evidence.receiver.device, evidence.receiver.port)
    sent = evidence.change(evidence.bottleneck, "port", None, c.TX_PACKETS)
    received = evidence.change(nic, "port", None, c.RX_PACKETS)
    if sent.increase is None:
        return unproven(
            f"{name_of(sent)}: {sent.unusable}; what the tools did not get may be lost on the last "
            "cable, hidden by as many frames of the switch's own",
            fact_of(sent, "known", "packets"),
        )
    if received.increase is None:
        return missing(received, "known", "packets")
    lost = sent.increase - received.increase
    fact = fact_of(received, at_least(sent.increase, " sent by the port"), "packets")
    if lost > 0:
        return disagreement(
            f"{' '.join(evidence.bottleneck)} sent {sent.increase} frames and {' '.join(nic)} "
            f"received {received.increase}: up to {lost} of the datagrams that the tools did not "
            "get were lost on the cable",
            fact,
        )
    return passed(fact)


def _all_of_them_told(evidence: Evidence) -> bool:
    """Whether the receivers got what was forwarded to them, every single datagram, by their own
    account: then what a whole port counts, with everybody's packets in it, has nothing to add."""
    got = [flow.received_datagrams for flow in evidence.flows]
    came = [port_drops.queue_forwarded(evidence, queue).increase for queue in evidence.queues]
    if not got or None in got or None in came:
        return False
    return sum(n or 0 for n in got) == sum(n or 0 for n in came)


def by_the_sending_host(evidence: Evidence, device: str) -> Finding:
    """The host's IP stack sent at least what the tool says; other UDP of the host comes on top."""
    sent = evidence.change((device, ""), "host", None, c.UDP_OUT_DATAGRAMS)
    return _at_least(evidence, device, sent, "the IP stack")


def _at_least(evidence: Evidence, device: str, sent: Difference, who: str) -> Finding:
    told = sum(f.sent_datagrams or 0 for f in evidence.flows if f.sender == device)
    if sent.increase is None:
        return missing(sent, f">= {told}", "packets")
    fact = fact_of(sent, at_least(told, " (the tool's)"), "packets")
    if sent.increase < told:
        return disagreement(
            f"{device}: the tool reports {told} datagrams sent, {who} counted {sent.increase}",
            fact,
        )
    return passed(fact)


def by_the_receiving_host(evidence: Evidence) -> Finding:
    """The host's IP stack handed out at least what the tools received. What else came to the host
    by UDP does not matter."""
    host = evidence.receiver.device
    read = evidence.change((host, ""), "host", None, c.UDP_IN_DATAGRAMS)
    if read.increase is None:
        return missing(read, "known", "packets")
    got = sum(flow.received_datagrams or 0 for flow in evidence.flows)
    fact = held_to(
        f"received by the tools on {host}",
        got,
        at_most(read.increase, " that its IP stack handed out"),
        "datagrams",
    )
    if got > read.increase:
        return disagreement(
            f"the tools received {got} datagrams, the IP stack of {host} handed out "
            f"{read.increase}",
            fact,
        )
    return passed(fact)


def came_to_the_tools(evidence: Evidence, queues: tuple[int, ...]) -> Finding:
    """The tools of these classes got no more than their queues forwarded, and, but for the tail and
    what the host lost, no less. Asked of each class, which another one does not make up for, and of
    all of them: the host counts what it lost of all together."""
    host = evidence.receiver.device
    read = [port_drops.queue_forwarded(evidence, queue) for queue in queues]
    for difference in read:
        if difference.increase is None:
            return missing(difference, "known", "packets")
    flows = [flow for queue in queues for flow in evidence.flows_into(queue)]
    if any(flow.received_datagrams is None for flow in flows):
        return unproven(f"{host} did not report how many datagrams it got")
    came = sum(difference.increase or 0 for difference in read)
    got = sum(flow.received_datagrams or 0 for flow in flows)
    unread = sum(datagrams.tail(flow) for flow in flows)
    least = came - datagrams.lost_by_receiver(evidence) - unread
    where = numbered(queues)
    fact = held_to(
        f"received by the tools on {host}, {where}",
        got,
        Bound(said=f"<= {came} forwarded, >= {least}", least=least, most=came),
        "datagrams",
    )
    if got < least:
        return disagreement(
            f"{where} forwarded {came} datagrams to {host} and its tools received {got}: "
            "its own counters do not explain that",
            fact,
        )
    if got > came:
        return disagreement(f"{host} got {got} datagrams, {where} forwarded {came}", fact)
    return passed(fact)


def came_to_udp(evidence: Evidence) -> Iterator[Finding]:
    """The receiver's IP stack delivered at least what was forwarded to it, in datagrams of one
    packet each: what it delivered and neither TCP nor ICMP got. What a socket held unread when its
    tool closed it is in that, so that the tail of a flow hides no loss before that."""
    host = evidence.receiver.device
    if any(datagrams.packets_each(flow, evidence.mtu_bytes) > 1 for flow in evidence.flows):
        return
    delivered, moved = datagrams.delivered(evidence), datagrams.forwarded(evidence)
    if not all(evidence.has(each) for each in delivered):
        return
    for difference in (*delivered, *moved):
        if difference.increase is None:
            yield missing(difference, "known", "packets")
            return
    came = sum(d.increase or 0 for d in moved)
    got = datagrams.delivered_to_udp(evidence) or 0
    least = came - _lost_below_udp(evidence)
    fact = held_to(
        f"delivered to UDP of {host}", got, at_least(least, f" of {came} forwarded"), "datagrams"
    )
    if got >= least:
        yield passed(fact)
        return
    yield disagreement(
        f"{numbered(evidence.queues)} forwarded {came} datagrams to {host}, and its IP stack "
        f"delivered {got} to UDP: {least - got} are missing in between",
        fact,
    )


def _lost_below_udp(evidence: Evidence) -> int:
    """By the receiver's NIC and its IP stack."""
    host = evidence.receiver.device
    nics = sum(station.events for station in path.of_device(evidence, host, "NIC"))
    stack = [
        evidence.change((host, ""), "host", None, counter).increase or 0
        for counter in datagrams.LOST_BELOW_UDP
    ]
    return nics + sum(stack)


def losses_told(evidence: Evidence) -> Finding:
    """The tools of a class cannot have missed more than its queue dropped and the hosts lost
    themselves, nor all of them together more than all queues."""
    lost = [flow.lost_datagrams for flow in evidence.flows]
    queues = evidence.queues
    dropped = {queue: port_drops.queue_drops(evidence, queue) for queue in queues}
    inside = datagrams.hosts_losses(evidence)
    for difference in (*dropped.values(), *(each for one in inside for each in one.losses)):
        if difference.increase is None:
            return missing(difference, "known", "packets")
    if None in lost:
        return unproven("a receiver did not report how many datagrams it lost")
    hosts = datagrams.lost_by_hosts(evidence)
    said = ", ".join(f"{s.name}: {path.in_words(s)}" for s in inside if s.lost)
    beyond = {
        queue: _missed(evidence.flows_into(queue)) - (dropped[queue].increase or 0)
        for queue in queues
    }
    switch = sum(d.increase or 0 for d in dropped.values())
    fact = Fact(
        name="datagrams lost, as reported by the tool",
        measured=_missed(evidence.flows),
        bound=f"<= {switch} dropped + {hosts} lost in hosts, of each class",
        unit="datagrams",
        margin=hosts - sum(max(n, 0) for n in beyond.values()),
        note=said,
    )
    if sum(max(n, 0) for n in beyond.values()) > hosts:
        told = " and ".join(
            f"{_missed(evidence.flows_into(queue))} datagrams of queue {queue}, "
            f"{dropped[queue].increase} of them dropped by the switch"
            for queue, more in beyond.items()
            if more > 0
        )
        return disagreement(
            f"lost on the way to {evidence.receiver.device}, as reported by the tool: {told}; "
            f"{hosts} lost inside hosts{f' ({said})' if said else ''}; "
            "no counter accounts for the rest",
            fact,
        )
    return passed(fact)


def _missed(flows: Iterable[FlowResult]) -> int:
    return sum(flow.lost_datagrams or 0 for flow in flows)


def none_dropped(evidence: Evidence, queues: Iterable[int]) -> Iterator[Finding]:
    """Exactly 0 drops in each of these queues."""
    for queue in queues:
        yield from port_drops.exactly_zero(evidence, port_drops.queue_drops(evidence, queue))


def _balance(what: str, astray: int, note: str) -> Finding:
    fact = held_to(what, astray, NONE, "packets", note)
    return unequal(fact) if astray else passed(fact)
