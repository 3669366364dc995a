"""Drops of queues and ports, and whether a counter of drops counts. Each is pure and total."""

from collections.abc import Iterable, Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import datagrams, path, witnesses
from labtests.verdicts.bounds import MORE_THAN_NONE, NONE
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    disagreement,
    fact_of,
    failed,
    held_to,
    missing,
    name_of,
    or_unproven,
    passed,
    unproven,
)


def queue_drops(evidence: Evidence, queue: int) -> Difference:
    """Packets the bottleneck's queue dropped over the phase."""
    return evidence.change(evidence.bottleneck, "queue", queue, c.QUEUE_DROPPED_PACKETS)


def queue_forwarded(evidence: Evidence, queue: int) -> Difference:
    """Packets the bottleneck's queue forwarded over the phase."""
    return evidence.change(evidence.bottleneck, "queue", queue, c.QUEUE_FORWARDED_PACKETS)


def no_drop(evidence: Evidence, queue: int) -> Iterator[Finding]:
    """Exactly 0 dropped, in a queue that is seen to forward. Noise never softens a drop."""
    yield from exactly_zero(evidence, queue_drops(evidence, queue))
    moved = queue_forwarded(evidence, queue)
    if moved.increase is None:
        yield missing(moved, "> 0", "packets")
    elif moved.increase == 0:
        yield unproven(f"{name_of(moved)} did not move: no traffic in this queue, or stale reads")
    else:
        yield passed(fact_of(moved, "> 0", "packets"))


def exactly_zero(evidence: Evidence, drops: Difference) -> Iterator[Finding]:
    """0, known to be 0; and where a queue counts dropped bytes, too, these are 0: a counter that
    stands still beside one that grows is no proof."""
    if drops.increase is None:
        yield missing(drops, "= 0", "packets")
    elif drops.increase:
        fact = fact_of(drops, NONE, "packets")
        yield failed(f"{name_of(drops)} grew by {drops.increase}", fact)
    else:
        yield passed(fact_of(drops, NONE, "packets"))
        yield from _no_byte_either(evidence, drops)


def _no_byte_either(evidence: Evidence, drops: Difference) -> Iterator[Finding]:
    device, port, _, queue, counter = drops.key
    if counter == c.QUEUE_DROPPED_PACKETS:
        size = evidence.change((device, port), "queue", queue, c.QUEUE_DROPPED_BYTES)
        if size.increase:
            fact = fact_of(size, NONE, "bytes")
            grew = f"{name_of(size)} grew by {size.increase}, and {counter} stayed 0"
            yield disagreement(f"counters disagree: {grew}", fact)


def some_drop(evidence: Evidence, queue: int) -> Finding:
    """At least one packet dropped where drops are expected."""
    drops = queue_drops(evidence, queue)
    if drops.increase is None:
        return missing(drops, "> 0", "packets")
    if not drops.increase:
        return failed(
            f"{name_of(drops)} stayed 0, but drops were expected",
            fact_of(drops, "> 0", "packets"),
        )
    return passed(fact_of(drops, MORE_THAN_NONE, "packets"))


def switch_ports_kept(evidence: Evidence) -> Iterator[Finding]:
    """No port on the way dropped a packet of ours but what the bottleneck's queues counted: nothing
    on its way in, nothing in the queues under load, and on its way out only what its own queues
    tell, so that what others lose in queues of theirs stays theirs. What came in and was dropped is
    not ours, either, when every packet of ours is accounted for."""
    ours_are_whole = whole_by_class(evidence)
    for where in dict.fromkeys((*path.opposite(evidence), evidence.bottleneck)):
        into = evidence.change(where, "port", None, c.BUFFER_DROPPED_IN_PACKETS)
        if evidence.has(into):
            said = exactly_zero(evidence, into)
            yield from (or_unproven(f, _NOT_OURS) for f in said) if ours_are_whole else said
        yield from port_and_queues_agree(evidence, where)
    for where in path.opposite(evidence):
        for queue in evidence.queues:
            drops = evidence.change(where, "queue", queue, c.QUEUE_DROPPED_PACKETS)
            if where in evidence.transit or evidence.has(drops):
                yield from exactly_zero(evidence, drops)


_NOT_OURS = "not from these flows: every packet of theirs was sent, forwarded and received"


def whole_by_class(evidence: Evidence) -> bool:
    """Whether each class of the flows was sent, forwarded and received, equal to the packet."""
    return evidence.by_class and all(
        finding.outcome is Outcome.PASS
        for queue in evidence.queues
        for finding in witnesses.conserved(evidence, queue)
    )


def switch_ports_agree(evidence: Evidence) -> Iterator[Finding]:
    """Each port's own account of drops is that of its queues."""
    for where in dict.fromkeys((*path.opposite(evidence), evidence.bottleneck)):
        yield from port_and_queues_agree(evidence, where)


def none_dropped_by_ports(evidence: Evidence) -> Iterator[Finding]:
    """Nor did the bottleneck, by its port's own drop counters, where it shows them."""
    for counter in _PORT_DROPS:
        drops = evidence.change(evidence.bottleneck, "port", None, counter)
        if evidence.has(drops):
            yield from exactly_zero(evidence, drops)


def drops_of_bottleneck(evidence: Evidence, queues: Iterable[int]) -> Iterator[Difference]:
    """Of these queues, and of the port where it counts them itself."""
    yield from (queue_drops(evidence, queue) for queue in queues)
    yield from (
        evidence.change(evidence.bottleneck, "port", None, counter) for counter in _PORT_DROPS
    )


_PORT_DROPS = (c.BUFFER_DROPPED_IN_PACKETS, c.BUFFER_DROPPED_OUT_PACKETS, c.WRED_DROPPED_PACKETS)


def port_and_queues_agree(evidence: Evidence, where: path.Where) -> Iterator[Finding]:
    """What a port says that it dropped on its way out is what its queues dropped; where they do not
    tell, it is nothing."""
    out = (c.BUFFER_DROPPED_OUT_PACKETS, c.WRED_DROPPED_PACKETS)
    shown = [evidence.change(where, "port", None, counter) for counter in out]
    port = [d for d in shown if evidence.has(d)]
    by_queue = [
        evidence.change(where, "queue", key[3], key[-1])
        for key in evidence.keys_of.get((*where, "queue"), ())
        if key[-1] == c.QUEUE_DROPPED_PACKETS
    ]
    if not port:
        return
    if not by_queue:
        for difference in port:
            yield from exactly_zero(evidence, difference)
        return
    for difference in (*port, *by_queue):
        if difference.increase is None:
            yield missing(difference, "known", "packets")
            return
    of_port, of_queues = (sum(d.increase or 0 for d in side) for side in (port, by_queue))
    fact = held_to(
        f"dropped by the port {' '.join(where)} = by its queues",
        of_port - of_queues,
        NONE,
        "packets",
    )
    if of_port == of_queues:
        yield passed(fact)
        return
    said = ", ".join(f"{name_of(d)} +{d.increase}" for d in port)
    yield disagreement(f"{said}, but its queues dropped {of_queues}", fact)


def counter_proven(evidence: Evidence, queue: int, controls: tuple[Evidence, ...]) -> Finding:
    """The queue's drop counter is seen to count: it grew in a control of this session by all that
    was lost through it, and not while nothing of the control ran."""
    grew = [
        d.increase
        for control in controls
        if control.bottleneck == evidence.bottleneck
        if (d := queue_drops(control, queue)).increase
        if (lost := _lost_through(control, queue)) is not None and d.increase >= lost
        if not control.background(control.bottleneck, "queue", queue, d.key[-1]).increase
    ]
    where = f"{' '.join(evidence.bottleneck)} queue {queue} drop counter"
    if not grew:
        return unproven(
            f"{where} is unproven: in no control of this session did it count the losses",
            Fact(name=f"{where} in controls", measured=None, bound="> 0", unit="packets"),
        )
    return passed(
        Fact(name=f"{where} in controls", measured=max(grew), bound="> 0", unit="packets")
    )


def _lost_through(control: Evidence, queue: int) -> int | None:
    """Packets of a queue's flows that did not come out of it; None where nobody counts that. By the
    NICs' counts of the class; else by the tools, but for what the sending hosts kept; else by whole
    hosts, all queues together. Never by what a receiver says that it lost: others' may be in it."""
    if control.by_class:
        return _less(_sent_by_nics(control, queue), queue_forwarded(control, queue).increase)
    if all(flow.sent_datagrams is not None for flow in control.flows):
        return _less(_sent_by_tools(control, queue), queue_forwarded(control, queue).increase)
    return _lost_by_hosts(control, queue)


def _less(sent: int | None, out: int | None) -> int | None:
    return None if sent is None or out is None else sent - out


def _sent_by_nics(control: Evidence, queue: int) -> int | None:
    classes = {(p.device, p.port, p.priority) for p in control.senders if p.queue == queue}
    return _sum(control.change((d, p), "priority", n, c.TX_PACKETS).increase for d, p, n in classes)


def _sent_by_tools(control: Evidence, queue: int) -> int:
    """At least so many packets of a queue."""
    pairs = [
        (place.device, flow)
        for place, flow in zip(control.senders, control.flows, strict=False)
        if place.queue == queue
    ]
    told = sum(datagrams.packets_told(flow, control.mtu_bytes) for _, flow in pairs)
    unsure = sum(flow.unsure_datagrams or 0 for _, flow in pairs)
    kept = sum(datagrams.kept_inside(control, device) for device in {name for name, _ in pairs})
    return told - unsure - kept


def _lost_by_hosts(control: Evidence, queue: int) -> int | None:
    """What the senders' ports sent (of soft-RoCE: its packets), and did not come out of any queue,
    or to the receiver; but for drops of other queues."""
    ports = dict.fromkeys((place.device, place.port) for place in control.senders)
    drops = [d for d in _of_bottleneck(control, c.QUEUE_DROPPED_PACKETS) if d.key[3] != queue]
    others = sum(d.increase or 0 for d in drops)
    if all(flow.iterations is not None for flow in control.flows):
        sent = _sum(control.change(p, "port", None, c.RDMA_SENT_PACKETS).increase for p in ports)
        nic, host = (control.receiver.device, control.receiver.port), control.receiver.device
        got = control.change(nic, "port", None, c.RDMA_RECEIVED_PACKETS).increase
        came = control.change((host, ""), "host", None, c.UDP_IN_DATAGRAMS).increase
        return _less(sent, None if got is None else max(got, came or 0) + others)
    sent = _sum(control.change(port, "port", None, c.TX_PACKETS).increase for port in ports)
    moved = _sum(d.increase for d in _of_bottleneck(control, c.QUEUE_FORWARDED_PACKETS))
    return _less(sent, None if moved is None else moved + others)


def _of_bottleneck(control: Evidence, counter: str) -> list[Difference]:
    where = (*control.bottleneck, "queue")
    return [d for key, d in control.changes.items() if (key[:3], key[-1]) == (where, counter)]


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return sum(n or 0 for n in known) if known and None not in known else None
