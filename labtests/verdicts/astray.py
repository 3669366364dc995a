"""Packets that came out of another queue than their class's: at the bottleneck, and before it."""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Crossing, Evidence
from labtests.verdicts import datagrams, path, port_drops
from labtests.verdicts.outcome import Finding, disagreement, failed, missing, name_of, unproven

COUNTED_SHARE = 0.8
"""Of what was sent through a port, its queues count at least: the rest may be lost before it."""
PART_ASTRAY = 0.05
"""Of a class's packets before the bottleneck, out of its queue: more than others' packets between
two reads, and less than what one of many senders sends."""
LEAST_ASTRAY = 1000
"""Packets of a class that another queue has, to the last few: fewer are as many as somebody else's
by chance."""
ASTRAY = 0.1
"""Of a class's packets that came to the receiver, out of its queue: with less it is elsewhere."""


def elsewhere(evidence: Evidence) -> Iterator[Finding]:
    """Nothing, where each class is in its queue, at the bottleneck and before it."""
    yield from astray_on_the_way(evidence)
    yield from _astray_at_bottleneck(evidence)


def astray_on_the_way(evidence: Evidence) -> Iterator[Finding]:
    """The same before the bottleneck. Only where all flows were reported."""
    if len(evidence.flows) == len(evidence.senders):
        for crossing in evidence.crossings:
            yield from _astray_at(evidence, crossing)


def _astray_at(evidence: Evidence, crossing: Crossing) -> Iterator[Finding]:
    """A queue before the bottleneck got less than a class sent to it, and another one that much
    more than was sent to that. Where a queue was not read, or none of them counted what was sent,
    it is not known."""
    is_behind = crossing.port in evidence.behind
    due = (_came_out if is_behind else _sent_to)(evidence, crossing)
    counts = [
        evidence.change(crossing.port, "queue", each.key[3], counter)
        for each in path.of_queues(evidence, crossing.port, c.QUEUE_FORWARDED_PACKETS)
        for counter in (c.QUEUE_FORWARDED_PACKETS, c.QUEUE_DROPPED_PACKETS)
    ]
    unread = [d for d in counts if d.increase is None and evidence.has(d)]
    if unread or not (due and counts):
        yield from (missing(each, "known", "packets") for each in unread)
        return
    came: dict[int, int] = {}
    for each in counts:
        came[each.key[3]] = came.get(each.key[3], 0) + (each.increase or 0)
    where, sent, got = " ".join(crossing.port), sum(due.values()), sum(came.values())
    if got < COUNTED_SHARE * sent:
        yield disagreement(
            f"{sent} packets were sent on their way by {where}, and its queues counted {got}: lost "
            "before it, or its counters stood still"
        )
        return
    surplus = {queue: n - due.get(queue, 0) for queue, n in came.items() if n > due.get(queue, 0)}
    for queue, packets in due.items():
        lacking = packets - came.get(queue, 0)
        known = min(sum(surplus.values()), lacking)
        if lacking > PART_ASTRAY * packets and known > lacking / 2:
            yield _elsewhere(evidence, crossing, queue, f"{came.get(queue, 0)} of {packets}", known)


def _elsewhere(
    evidence: Evidence, crossing: Crossing, queue: int, got: str, astray: int
) -> Finding:
    """Unless switches have dropped as much before: then somebody else's may be in the others."""
    where = " ".join(crossing.port)
    said = (
        f"queue {queue} of {where} got {got} packets that were sent to it by its "
        f"{evidence.classified_by} map, and other queues there {astray} more than was sent to "
        f"them: {crossing.port[0]} does not classify by their {evidence.classified_by}, or maps it "
        "otherwise"
    )
    dropped = sum(
        evidence.change(at, "port", None, c.BUFFER_DROPPED_IN_PACKETS).increase or 0
        for at in path.opposite(evidence)
    )
    return unproven(f"{said}, or they were dropped before it") if dropped else failed(said)


def _sent_to(evidence: Evidence, crossing: Crossing) -> dict[int, int]:
    """Packets by queue, as NICs count them by class, else as the tools tell; nothing where a flow's
    are not known, or a class of a NIC is in two queues."""
    found: dict[int, int] = {}
    classes: dict[tuple[str, str, int], int] = {}
    if any(number >= len(evidence.flows) for number in crossing.queues):
        return {}
    for number, queue in crossing.queues.items():
        place, flow = evidence.senders[number], evidence.flows[number]
        if place.priority is not None:
            if classes.setdefault((place.device, place.port, place.priority), queue) != queue:
                return {}
            continue
        if flow.sent_datagrams is None:
            return {}
        sent = datagrams.packets_told(flow, evidence.own_mtu_bytes.get(place.device))
        found[queue] = found.get(queue, 0) + sent
    for (device, port, priority), queue in classes.items():
        left = evidence.change((device, port), "priority", priority, c.TX_PACKETS).increase
        if left is None:  # said elsewhere
            return {}
        found[queue] = found.get(queue, 0) + left
    return found


def _came_out(evidence: Evidence, crossing: Crossing) -> dict[int, int]:
    """What the bottleneck forwarded, by the queue behind it; nothing where that is not known."""
    found: dict[int, int] = {}
    pairs = {(evidence.senders[n].queue, queue) for n, queue in crossing.queues.items()}
    for here, there in sorted(pairs):
        forwarded = port_drops.queue_forwarded(evidence, here).increase
        if forwarded is None:  # said elsewhere
            return {}
        found[there] = found.get(there, 0) + forwarded
    return found


def _astray_at_bottleneck(evidence: Evidence) -> Iterator[Finding]:
    """Nothing, where a class is in its queue. Else its packets came to the receiver, and next to
    none of them out of that queue, or another one has just what all of them lack: then that one
    is named."""
    others = [
        port_drops.queue_forwarded(evidence, queue)
        for queue in evidence.read_queues
        if queue not in evidence.queues
    ]
    most = max(others, key=lambda each: each.increase or 0, default=None)
    told = [
        (_arrived(evidence, q), port_drops.queue_forwarded(evidence, q)) for q in evidence.queues
    ]
    whole = sum(came - (forwarded.increase or 0) for came, forwarded in told)
    for came, forwarded in told:
        if forwarded.increase is None or most is None or most.increase is None:
            continue
        lacking = came - forwarded.increase
        beside = most.increase - whole  # somebody else's few
        equal = lacking > LEAST_ASTRAY and 0 <= beside <= PART_ASTRAY * whole
        if equal or (lacking > (1 - ASTRAY) * came and most.increase >= lacking):
            host = evidence.receiver.device
            yield failed(
                f"{came} packets of the class came to {host}, and {name_of(forwarded)} grew by "
                f"{forwarded.increase}; {name_of(most)} grew by {most.increase}: on the way a port "
                f"does not classify by their {evidence.classified_by}, or maps it otherwise"
            )


def _arrived(evidence: Evidence, queue: int) -> int:
    """Packets of a class that came to the receiver: by its NIC where it counts classes, else by the
    tools."""
    flows = evidence.flows_into(queue)
    if not evidence.by_class:
        return sum(flow.received_datagrams or 0 for flow in flows)
    nic = (evidence.receiver.device, evidence.receiver.port)
    classes = {place.priority for place in evidence.senders if place.queue == queue}
    seen = [evidence.change(nic, "priority", each, c.RX_PACKETS).increase for each in classes]
    return sum(packets or 0 for packets in seen)
