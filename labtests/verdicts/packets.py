"""Where every packet went: counted by the tool, the sending host, the queues, the receiving host.

For RDMA, and for loads in datagrams of one packet each. iperf3's own control connection, the first
datagram of each of its UDP streams (it has TOS 0) and ARP go through the same port, so that a whole
port is added up over all its queues, and a queue under load has nothing but the load in it.
iperf3's account of lost datagrams is one witness, and the weakest: what was lost after the last
datagram that arrived, it never notices.
"""

from collections.abc import Iterable, Iterator

from labtests import counters as c
from labtests.evidence import Difference, Evidence
from labtests.verdicts import checks, rdma_packets, witnesses
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    disagreement,
    missing,
    name_of,
    passed,
    unproven,
)


def queues_of(evidence: Evidence) -> tuple[int, ...]:
    """Every queue of the bottleneck that was read, and those under load."""
    read = {
        r.index
        for r in (*evidence.before, *evidence.after)
        if (r.device, r.port, r.scope) == (*evidence.bottleneck, "queue") and r.index is not None
    }
    return tuple(sorted(read | set(loaded(evidence))))


def loaded(evidence: Evidence) -> tuple[int, ...]:
    """The queues that the senders' traffic is mapped to."""
    return tuple(sorted({place.queue for place in evidence.senders}))


def accounted(evidence: Evidence) -> Iterator[Finding]:
    """Sent = forwarded + dropped, and forwarded = received, by every witness that there is."""
    if evidence.flows and all(rdma_packets.is_rdma(flow) for flow in evidence.flows):
        yield from _rdma_accounted(evidence)
        return
    for queue in loaded(evidence):
        yield by_the_tool(evidence, queue)
    yield from by_the_nics(evidence, loaded(evidence))
    for device in dict.fromkeys(place.device for place in evidence.senders):
        yield by_the_sending_host(evidence, device)
    yield by_the_receiving_host(evidence)
    yield losses_told(evidence)


def _rdma_accounted(evidence: Evidence) -> Iterator[Finding]:
    """perftest counts messages, not packets; NICs count per priority, or rxe all of a host."""
    yield from by_the_nics(evidence, loaded(evidence))
    if any(place.priority is None for place in evidence.senders):
        yield rdma_packets.sent_and_received(evidence, queues_of(evidence))


def by_the_tool(evidence: Evidence, queue: int) -> Finding:
    """Datagrams that the tool sent into a queue = what the queue forwarded and dropped."""
    pairs = list(zip(evidence.senders, evidence.flows, strict=False))
    sent = [flow.sent_datagrams for place, flow in pairs if place.queue == queue]
    sides = [checks.queue_forwarded(evidence, queue), checks.queue_drops(evidence, queue)]
    for side in sides:
        if side.increase is None:
            return missing(side, "known", "packets")
    told = [n for n in sent if n is not None]
    if not told or len(told) != len(sent):
        return unproven(f"how many datagrams were sent into queue {queue} was not reported")
    forwarded, dropped = (side.increase or 0 for side in sides)
    slack = sum(witnesses.background(evidence, side) for side in sides)
    note = f"sent {sum(told)}; forwarded {forwarded} + dropped {dropped}"
    return _balance(
        f"sent by the tool = forwarded + dropped, queue {queue}",
        sum(told) - forwarded - dropped,
        slack,
        note,
    )


def by_the_nics(evidence: Evidence, queues: Iterable[int]) -> Iterator[Finding]:
    """These queues where NICs count per priority; else the whole port, all queues together."""
    if all(place.priority is not None for place in evidence.senders):
        for queue in queues:
            yield from witnesses.conserved(evidence, queue)
        return
    ports = dict.fromkeys((place.device, place.port) for place in evidence.senders)
    sent = [evidence.change(port, "port", None, c.TX_PACKETS) for port in ports]
    receiver = (evidence.receiver.device, evidence.receiver.port)
    received = evidence.change(receiver, "port", None, c.RX_PACKETS)
    every = queues_of(evidence)
    forwarded = [checks.queue_forwarded(evidence, queue) for queue in every]
    dropped = [checks.queue_drops(evidence, queue) for queue in every]
    yield witnesses.equal(
        evidence, "sent by NICs = forwarded + dropped, all queues", sent, [*forwarded, *dropped]
    )
    yield witnesses.equal(
        evidence, "forwarded = received by the NIC, all queues", forwarded, [received]
    )


def by_the_sending_host(evidence: Evidence, device: str) -> Finding:
    """The host's IP stack sent at least what the tool says; other UDP of the host comes on top."""
    told = sum(f.sent_datagrams or 0 for f in evidence.flows if f.sender == device)
    out = evidence.change((device, ""), "host", None, c.UDP_OUT_DATAGRAMS)
    if out.increase is None:
        return missing(out, f">= {told}", "datagrams")
    fact = Fact(
        name=name_of(out),
        measured=out.increase,
        bound=f">= {told} (the tool's)",
        unit="datagrams",
        margin=out.increase - told,
    )
    if out.increase < told:
        return disagreement(
            f"{device}: the tool says that it sent {told} datagrams, "
            f"the IP stack sent {out.increase}",
            fact,
        )
    return passed(fact)


def by_the_receiving_host(evidence: Evidence) -> Finding:
    """Read and lost at sockets is no more than what was forwarded. What nobody read when the tool
    had ended is in neither."""
    host = (evidence.receiver.device, "")
    parts = [
        evidence.change(host, "host", None, name) for name in (c.UDP_IN_DATAGRAMS, c.UDP_IN_ERRORS)
    ]
    forwarded = [checks.queue_forwarded(evidence, queue) for queue in loaded(evidence)]
    for part in (*parts, *forwarded):
        if part.increase is None:
            return missing(part, "known", "packets")
    read, failed = (part.increase or 0 for part in parts)
    came = sum(d.increase or 0 for d in forwarded)
    others = len(evidence.flows) + sum(witnesses.background(evidence, p) for p in parts)
    fact = Fact(
        name=f"read and lost at sockets of {host[0]}, of what was forwarded to it",
        measured=read + failed,
        bound=f"<= {came} + {others}",
        unit="datagrams",
        margin=came + others - read - failed,
        note=f"read {read}, lost at sockets {failed}, not read at the end {came - read - failed}",
    )
    if read + failed > came + others:
        return disagreement(
            f"{host[0]} got {read + failed} datagrams, the queues forwarded {came}", fact
        )
    return passed(fact)


def losses_told(evidence: Evidence) -> Finding:
    """The tool can not have missed more than the switch dropped and the receiving host lost."""
    lost = [flow.lost_datagrams for flow in evidence.flows]
    known = [n for n in lost if n is not None]
    dropped = [checks.queue_drops(evidence, queue) for queue in loaded(evidence)]
    inside = host_losses(evidence)
    for difference in (*dropped, *inside):
        if difference.increase is None:
            return missing(difference, "known", "packets")
    if len(known) != len(lost):
        return unproven("a receiver did not report how many datagrams it lost")
    switch = sum(d.increase or 0 for d in dropped)
    host = sum(d.increase or 0 for d in inside)
    fact = Fact(
        name="lost by the tool's account",
        measured=sum(known),
        bound=f"<= {switch} dropped + {host} lost in the host",
        unit="datagrams",
        margin=switch + host - sum(known),
    )
    if sum(known) > switch + host:
        return disagreement(
            f"{sum(known)} datagrams were lost by the tool's account, {switch} dropped by the "
            f"switch, {host} lost inside {evidence.receiver.device}: no counter has the others",
            fact,
        )
    return passed(fact)


def host_losses(evidence: Evidence) -> tuple[Difference, ...]:
    """What the receiving host's own counters say it lost. InErrors has the RcvbufErrors in it."""
    host = (evidence.receiver.device, "")
    return tuple(
        evidence.change(host, "host", None, name) for name in (c.UDP_IN_ERRORS, c.IP_REASM_FAILS)
    )


def none_dropped(evidence: Evidence, queues: Iterable[int]) -> Iterator[Finding]:
    """Exactly 0 drops in each of these queues."""
    for queue in queues:
        yield from checks.exactly_zero(checks.queue_drops(evidence, queue))


def _balance(what: str, difference: int, slack: int, note: str) -> Finding:
    fact = Fact(
        name=what,
        measured=difference,
        bound=f"|difference| <= {slack}",
        unit="packets",
        margin=slack - abs(difference),
        note=note,
    )
    if abs(difference) > slack:
        return disagreement(f"{what} does not hold: {note}; background allows {slack}", fact)
    return passed(fact)
