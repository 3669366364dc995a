"""Was anything lost that should not be, or was something that should? Evidence in, one verdict out;
pure, and total on any evidence.
"""

from collections.abc import Iterable, Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    checks,
    cnps,
    datagrams,
    goodput,
    idle,
    origins,
    outcome,
    packets,
    path,
    port_drops,
    streamed,
    witnesses,
)
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    numbered,
    unless_contradicted,
    unproven,
)


def lossless(
    evidence: Evidence, queues: Iterable[int], *, controls: tuple[Evidence, ...] = ()
) -> Verdict:
    """Exactly 0 packets were dropped in these queues, under proven pressure, by live counters.

    `controls` are the phases of this session that dropped on purpose. Rules: docs/verdicts.md.
    """
    queues = sorted(set(queues))
    moved = [port_drops.queue_forwarded(evidence, q).increase or 0 for q in queues]
    return conclude(
        f"{'Was' if len(queues) == 1 else 'Were'} {numbered(queues)} lossless?",
        evidence,
        _lossless(evidence, queues, controls),
        passing=f"0 of {sum(moved)} packets dropped in {numbered(queues)} under congestion"
        f"{datagrams.remark_on_hosts(evidence)}",
        remedy=_of_drops(evidence, queues),
    )


def _of_drops(evidence: Evidence, queues: Iterable[int]) -> str:
    """Where to look, by what holds the senders: PFC as it was read, else marks, if RDMA ran."""
    if not evidence.pfc or not any(port_drops.queue_drops(evidence, q).increase for q in queues):
        return ""
    if any(setting.mode != "off" for setting in evidence.pfc.values()):
        refused = ", ".join(_refused(evidence))
        dropping = [q for q in queues if port_drops.queue_drops(evidence, q).increase]
        told = "".join(f"{each}; " for each in origins.came_in_at(evidence, dropping))
        told += "".join(f"{each}; " for each in dict.fromkeys(_not_held(evidence, dropping)))
        cables = "each cable on the way" if evidence.transit else "the senders' cables"
        return (
            f"{told}look at xoff and headroom of the ports where it came in"
            f"{refused and f' ({refused})'}, and at PFC of these priorities at both ends of "
            f"{cables}"
        )
    if not any(flow.is_rdma for flow in evidence.flows):
        return ""
    return (
        "look at Kmin, Kmax and Pmax of these queues, and at the senders' reaction points and the "
        "receiver's notification point"
    )


def _not_held(evidence: Evidence, dropping: list[int]) -> Iterator[str]:
    """At which ends of the senders' cables PFC, as it was read, does not work for what was lost."""
    for place in (each for each in evidence.senders if each.queue in dropping):
        nic, opposite = (place.device, place.port), (place.switch, place.switch_port)
        for end, priority in ((nic, place.priority), (opposite, place.group)):
            read = evidence.pfc.get(end)
            if read is None or priority is None:
                continue
            if read.mode == "off" or priority not in read.priorities:
                said = checks.pfc_in_words(read)
                yield f"PFC of {' '.join(end)} is {said}, and not for priority {priority}"


def _refused(evidence: Evidence) -> Iterator[str]:
    """Which ports refused packets on their way in, where they count that."""
    for where in path.opposite(evidence):
        packets_in = evidence.change(where, "port", None, c.BUFFER_DROPPED_IN_PACKETS).increase
        if packets_in:
            yield f"{' '.join(where)} refused {packets_in}"


def _lossless(
    evidence: Evidence, queues: list[int], controls: tuple[Evidence, ...]
) -> Iterator[Finding]:
    if not queues:
        yield unproven("no queue was monitored")
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    for queue in queues:
        yield from port_drops.no_drop(evidence, queue)
        yield port_drops.counter_proven(evidence, queue, controls)
    yield from packets.by_the_nics(evidence, queues)
    yield from idle.quiet_queues(evidence, queues)
    yield idle.quiet_marks(evidence)
    yield from port_drops.switch_ports_kept(evidence)
    yield from _ends_saw_no_loss(evidence, queues)
    yield checks.congestion_proven(evidence)
    yield checks.receiver_silent(evidence)
    yield from streamed.third_witness(evidence)


def _ends_saw_no_loss(evidence: Evidence, queues: list[int]) -> Iterator[Finding]:
    """What the hosts know of losses, by the kind of traffic that ran. What these queues dropped is
    a failure, and no datagram that nobody knows of. Datagrams of other queues may be lost there,
    and no more than those dropped: what a host lost of them is not this queue's excuse. RDMA has no
    counter of losses by class."""
    if any(f.sent_datagrams is not None or f.lost_datagrams is not None for f in evidence.flows):
        own = sum(port_drops.queue_drops(evidence, queue).increase or 0 for queue in queues)
        yield from datagrams.datagrams_accounted(evidence.of_queues(queues), dropped_packets=own)
        if others := sorted({place.queue for place in evidence.senders} - set(queues)):
            drops = (port_drops.queue_drops(evidence, queue).increase or 0 for queue in others)
            yield from datagrams.datagrams_accounted(evidence, dropped_packets=own + sum(drops))
    if any(f.is_rdma for f in evidence.flows):
        yield from witnesses.rdma_saw_no_loss(evidence)


def drops_as_expected(
    evidence: Evidence, *, dropping: int, clean: int, controls: tuple[Evidence, ...] = ()
) -> Verdict:
    """One queue dropped, the other exactly nothing, and every packet is accounted for."""
    dropped = port_drops.queue_drops(evidence, dropping).increase
    return conclude(
        f"Did queue {dropping} drop packets and queue {clean} none?",
        evidence,
        _drops_as_expected(evidence, dropping, clean, controls),
        passing=f"queue {dropping} dropped {dropped} packets, queue {clean} dropped 0",
    )


def _drops_as_expected(
    evidence: Evidence, dropping: int, clean: int, controls: tuple[Evidence, ...]
) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    balances = (
        *packets.by_the_nics(evidence, (dropping, clean)),
        *port_drops.switch_ports_kept(evidence),
    )
    some = unless_contradicted(port_drops.some_drop(evidence, dropping), balances)
    yield checks.only_under_congestion(evidence, some)
    yield from port_drops.no_drop(evidence, clean)
    yield port_drops.counter_proven(evidence, clean, controls)
    yield from balances
    yield from _clean_ones_sent(evidence, clean)
    yield from checks.full_while_it_dropped(evidence)
    yield from checks.not_paused(evidence)
    if any(flow.is_rdma for flow in evidence.flows):
        yield cnps.all_came(evidence)
        yield from cnps.of_marks(evidence)
        yield from cnps.in_their_class(evidence)
        yield from witnesses.came_back(evidence)
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        if place.queue == clean and flow.is_rdma:
            yield from witnesses.sender_repeated_nothing(evidence, place)
    yield from idle.quiet_queues(evidence, (dropping, clean))
    yield checks.receiver_silent(evidence)


def _clean_ones_sent(evidence: Evidence, clean: int) -> Iterator[Finding]:
    """Who loses nothing is not starved either, nor for a time."""
    shared = goodput.together(evidence)
    if shared is None:
        yield unproven("interval reports do not cover the shared period")
        return
    for place, flow, got in zip(evidence.senders, evidence.flows, shared, strict=False):
        if place.queue == clean:
            finding = checks.equal_part(evidence, place.device, got, checks.FAIR_SHARE_LEAST)
            yield outcome.or_unproven(finding, "next to no traffic was sent into the clean queue")
            yield from checks.kept_sending(evidence, flow)
