"""What a sender of RDMA repeats when packets are lost at random, and what that leaves of its rate.

A receiver of go-back-N takes nothing behind a gap and says so (NAK, out of sequence: InfiniBand
specification 9.7): the sender sends again all from the lost packet on. With K packets sent again
for each that is lost, of a share p, goodput is 1 / (1 + K p / (1 - p)) of what it is without loss
(the formula that the packet network is validated against). A sender that repeats only what was lost
has K = 1. How many packets a message has, a transfer without loss tells.

A repetition that is lost, too, has nothing behind it that is out of sequence once more: sender or
receiver wait for a time-out, with the line empty or full of what nobody takes. How long is up to
the NIC: the goodput may be as much less as the time-outs that it counts allow, which are no more
than chance has such repetitions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, idle, packets, path, port_drops, witnesses
from labtests.verdicts.bounds import at_least, at_most
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
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

MILLION = 1_000_000
SIGMAS = 5.0
"""Of a binomial distribution: chance has it outside once in two million phases."""
FEWEST = 10
"""Losses in a phase: fewer tell no number of repetitions for each."""
SELECTIVE = 1.25
"""Packets sent again for each lost one, at most, where only those are repeated: a repetition may be
lost, too, and the last packet of a message be asked for twice."""
NOTICED = 0.5
"""Of the losses that no other one is near, at least so many are told by a NAK or a time-out, where
only what was lost is repeated: one answer may ask for several."""
TIMEOUT_S = 4.096e-6 * 2**18
"""Of a queue pair that rdma_cm connects, as Linux sets it up (4.096 us * 2**exponent, InfiniBand
specification 9.7.6.1.3)."""
LONGEST_WAIT_S = 4 * TIMEOUT_S
"""For a repetition that is lost, too, of which nobody says so: a NIC may take four times as long
(the same)."""
TOLD_BITS_PER_S = 1e7
"""perftest rounds to hundredths of a Gb/s."""
NEAR_FORM = 0.1
"""Of the closed form, how far the goodput may be from it beside chance: it knows no end of a
transfer, and no answer that is lost. Healthy simulated labs: docs/verdicts.md."""


def repeated_what_was_lost(evidence: Evidence, *, clean: Evidence, per_million: int) -> Verdict:
    """One transfer, of whose packets the bottleneck was told to lose so many of a million, ended
    whole: each loss was noticed, repeated, and cost what the closed form says. `clean` is one
    without loss, of messages of the same size."""
    found = _counted(evidence, clean)
    return conclude(
        "Was what was lost sent again, at the price that the closed form says?",
        evidence,
        _repeated(evidence, clean, found, per_million),
        passing="" if found is None else _said(evidence, clean, found),
        remedy=_remedy(found, per_million),
    )


def by_chance_at_most(mean: float) -> int:
    """Of losses that are so many in the mean, as those of repetitions."""
    return math.floor(mean + SIGMAS * math.sqrt(mean) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transferred:
    """Packets of one transfer: what came to the queue that loses, what it lost, and what the
    transfer has without loss."""

    came: int
    lost: int
    needed: int

    @property
    def repeated(self) -> int:
        """Beside those that it has without loss."""
        return self.came - self.needed

    @property
    def each(self) -> float:
        """For each that was lost."""
        return self.repeated / self.lost if self.lost else 0.0

    @property
    def efficiency(self) -> float:
        """The closed form, of what was lost."""
        share = self.lost / self.came if self.came else 0.0
        return 1 / (1 + self.each * share / (1 - share)) if share < 1 else 0.0


def _remedy(found: _Transferred | None, per_million: int) -> str:
    """Who has to be looked at first: whatever else is red follows from another number of losses."""
    if found is not None and not _as_told(found, per_million):
        return "look at the netem of that queue (tc -s qdisc)"
    return (
        "look at the NICs' counters of NAKs and time-outs, and at how they repeat "
        "(go-back-N or selectively)"
    )


def _counted(evidence: Evidence, clean: Evidence) -> _Transferred | None:
    """None where a queue has not told."""
    (moved, lost), (whole, lost_before) = _packets(evidence), _packets(clean)
    messages, of = _messages(evidence), _messages(clean)
    if None in (moved, lost, whole, lost_before, messages) or not of:
        return None
    each = round(((whole or 0) + (lost_before or 0)) / of)
    return _Transferred(
        came=(moved or 0) + (lost or 0), lost=lost or 0, needed=(messages or 0) * each
    )


def _packets(evidence: Evidence) -> tuple[int | None, int | None]:
    """Forwarded and dropped by the queue of the only flow."""
    if len(evidence.queues) != 1:
        return None, None
    (queue,) = evidence.queues
    forwarded, dropped = (
        each(evidence, queue).increase
        for each in (port_drops.queue_forwarded, port_drops.queue_drops)
    )
    return forwarded, dropped


def _messages(evidence: Evidence) -> int | None:
    return evidence.flows[0].iterations if len(evidence.flows) == 1 else None


def _repeated(
    evidence: Evidence, clean: Evidence, found: _Transferred | None, per_million: int
) -> Iterator[Finding]:
    for seen in (clean, evidence):
        yield from checks.ran(seen)
        yield from _accounted(seen)
        yield from idle.quiet_queues(seen, seen.queues)
    if found is None or len(evidence.flows) != 1 or len(clean.flows) != 1:
        for seen in (clean, evidence):
            for queue in seen.queues:
                drops = port_drops.queue_drops(seen, queue)
                moved = port_drops.queue_forwarded(seen, queue)
                yield from (
                    missing(each, "known", "packets")
                    for each in (drops, moved)
                    if each.increase is None
                )
        yield unproven("not one transfer with loss and the same without")
        return
    yield _lost_as_told(evidence, found, per_million)
    if found.lost < FEWEST:
        yield unproven(f"{found.lost} packets were lost: too few to tell what each of them costs")
        return
    if clean.kind != "control" and clean is not evidence:
        for queue in clean.queues:
            yield from map(or_unproven, port_drops.no_drop(clean, queue))
    yield from witnesses.rdma_saw_no_loss(clean)
    yield from witnesses.came_back(evidence)  # answers go by another port, which loses none
    yield _whole_messages(clean)
    yield from _noticed(evidence, _told_at_least(evidence, found, per_million))
    yield _no_more_time_outs_than_by_chance(evidence, found)
    yield from _told_no_more_often(evidence, found)
    yield from _none_given_up(evidence)
    yield _sent_again(evidence, found)
    yield _as_the_closed_form(evidence, clean, found)


def _accounted(evidence: Evidence) -> Iterator[Finding]:
    """By class, or by rdma_rxe, where hosts count so; else the cables' counts are held against the
    ports' (sound), and nothing else is in the queue."""
    if evidence.by_class or _is_soft_roce(evidence):
        yield from packets.of_streams(evidence)
    yield from port_drops.switch_ports_agree(evidence)


def _is_soft_roce(evidence: Evidence) -> bool:
    nic = (evidence.receiver.device, evidence.receiver.port)
    return evidence.has(evidence.change(nic, "port", None, c.RDMA_RECEIVED_PACKETS))


def _lost_as_told(evidence: Evidence, found: _Transferred, per_million: int) -> Finding:
    """By chance; what a full queue drops, or a counter that stands still, is no such loss."""
    low, high = _due(found, per_million)
    drops = port_drops.queue_drops(evidence, evidence.queues[0])
    fact = fact_of(
        drops, f"{low} to {high}", "packets", margin=min(found.lost - low, high - found.lost)
    )
    if _as_told(found, per_million):
        return passed(fact)
    return failed(
        f"{name_of(drops)} grew by {found.lost} of {found.came} packets, where "
        f"{per_million} of a million were to be lost: {low} to {high}",
        fact,
    )


def _due(found: _Transferred, per_million: int) -> tuple[int, int]:
    """Losses, at least and at most: not one is no loss as told, whatever chance allows."""
    mean = found.came * per_million / MILLION
    room = SIGMAS * math.sqrt(mean) + 1
    return max(math.floor(mean - room), 1), math.ceil(mean + room)


def _as_told(found: _Transferred, per_million: int) -> bool:
    low, high = _due(found, per_million)
    return low <= found.lost <= high


def _told_at_least(evidence: Evidence, found: _Transferred, per_million: int) -> int:
    """Of go-back-N each loss is told, by a NAK or a time-out, but for those behind a gap: nobody
    waits for these. What came there, the queue tells; chance loses as much of that as of all.
    rdma_rxe counts no NAK that acknowledges nothing (rxe_comp.c, check_ack)."""
    if found.each <= SELECTIVE or _is_soft_roce(evidence):
        alone = found.lost / (1 + found.each * found.lost / found.came)
        return max(math.ceil(NOTICED * alone), 1)
    share = per_million / MILLION
    behind = (found.repeated - found.lost) * share / (1 - share)
    return max(found.lost - by_chance_at_most(behind), 1)


def _noticed(evidence: Evidence, least: int) -> Iterator[Finding]:
    """By the receiver, that packets came out of sequence; by the sender, as NAKs and time-outs."""
    place, receiver = evidence.senders[0], evidence.receiver
    drops = port_drops.queue_drops(evidence, evidence.queues[0])
    strange = evidence.change((receiver.device, receiver.port), "port", None, c.OUT_OF_SEQUENCE)
    naks = evidence.change((place.device, place.port), "port", None, c.PACKET_SEQ_ERR)
    for told in (strange, naks):
        if told.increase is None:
            yield missing(told, "> 0", "events")
            continue
        events = told.increase + witnesses.waits(evidence, _sender(evidence))
        fact = fact_of(told, f">= {least}", "events", margin=events - least)
        few = f"{name_of(told)} grew by {told.increase} where {drops.increase} packets were lost"
        yield passed(fact) if told.increase and events >= least else failed(few, fact)


def _no_more_time_outs_than_by_chance(evidence: Evidence, found: _Transferred) -> Finding:
    """As many as repetitions are lost, too."""
    told, waits = witnesses.time_outs(evidence, _sender(evidence))
    most = by_chance_at_most(found.lost**2 / found.came)
    if waits is None:
        return missing(told, "known", "events")
    name = name_of(told) if waits == told.increase else f"{name_of(told)} beyond NAKs"
    fact = held_to(name, waits, at_most(most), "events")
    often = (
        f"{name} grew by {waits}, where chance loses {most} repetitions at "
        "most: losses are not told by NAKs, or answers are lost"
    )
    return passed(fact) if waits <= most else failed(often, fact)


def _whole_messages(clean: Evidence) -> Finding:
    """Without loss each message has as many packets as the others, and nothing else is in the
    queue but a few."""
    came, messages = sum(each or 0 for each in _packets(clean)), _messages(clean) or 1
    over = came - messages * round(came / messages)
    if 0 <= over <= path.STRAYS:
        return passed()
    return disagreement(
        f"counters disagree: {came} packets of {messages} messages of one size without loss"
    )


def _told_no_more_often(evidence: Evidence, found: _Transferred) -> Iterator[Finding]:
    """A NAK answers a packet out of sequence, one for each that is lost; and of go-back-N each of
    these is sent again."""
    place, receiver = evidence.senders[0], evidence.receiver
    strange, naks = (
        evidence.change((at.device, at.port), "port", None, counter).increase or 0
        for at, counter in ((receiver, c.OUT_OF_SEQUENCE), (place, c.PACKET_SEQ_ERR))
    )
    if naks > strange:
        yield disagreement(f"counters disagree: {naks} NAKs for {strange} packets out of sequence")
    if found.each > SELECTIVE and naks > found.lost:
        yield disagreement(
            f"counters disagree: {naks} NAKs for {found.lost} packets that were lost"
        )
    again = found.repeated - found.lost
    if found.each > SELECTIVE and strange > again + path.STRAYS:
        yield disagreement(
            f"counters disagree: {strange} packets out of sequence, and {again} sent again beside "
            "those that were lost"
        )


def _none_given_up(evidence: Evidence) -> Iterator[Finding]:
    """A transfer that ended whole has no completion with an error, no queue pair gave up, and none
    found a receiver that was not ready."""
    place, receiver = evidence.senders[0], evidence.receiver
    for at, counter in (
        (place, c.REQUEST_ERRORS),
        (place, c.RDMA_RETRIES_EXCEEDED),
        (place, c.RNR_NAK_RETRY),
        (receiver, c.RESPONSE_ERRORS),
    ):
        told = evidence.change((at.device, at.port), "port", None, counter)
        if told.increase is None and evidence.has(told):
            yield missing(told, "= 0", "events")
        if told.increase:
            yield disagreement(
                f"counters disagree: {name_of(told)} grew by {told.increase}, and the transfer "
                "ended whole"
            )


def _sender(evidence: Evidence) -> tuple[str, str]:
    place = evidence.senders[0]
    return place.device, place.port


def _sent_again(evidence: Evidence, found: _Transferred) -> Finding:
    """Each lost packet, at least once: the transfer is whole."""
    sender = evidence.senders[0].device
    fact = held_to(
        f"packets that {sender} sent again", found.repeated, at_least(found.lost), "packets"
    )
    if found.repeated >= found.lost:
        return passed(fact)
    return disagreement(
        f"counters disagree: {found.lost} packets were lost, and {sender} sent {found.repeated} "
        "more than without loss, and all of the transfer came",
        fact,
    )


def _as_the_closed_form(evidence: Evidence, clean: Evidence, found: _Transferred) -> Finding:
    share = _goodput_share(evidence, clean)
    if share is None:
        return unproven(f"{evidence.flows[0].tool} has not told the goodput of both transfers")
    told = TOLD_BITS_PER_S / (clean.flows[0].goodput_bits_per_s or math.inf)
    room = NEAR_FORM + told + SIGMAS * (1 - found.efficiency) / math.sqrt(found.lost)
    return checks.bounded(
        f"goodput of {evidence.flows[0].sender} / that without loss",
        share,
        at_least=found.efficiency * (1 - room) / (1 + _waited(evidence, clean)),
        at_most=min(found.efficiency * (1 + room), 1 + NEAR_FORM / 10),
    )


def _waited(evidence: Evidence, clean: Evidence) -> float:
    """At most, in the time-outs that the sender counts; in times of the transfer without loss."""
    waits = witnesses.waits(evidence, _sender(evidence))
    spans = [row.end_s - row.start_s for row in clean.flows[0].intervals]
    messages, of = _messages(evidence) or 0, _messages(clean) or 0
    seconds = sum(spans) * messages / of if of else 0.0
    return waits * LONGEST_WAIT_S / seconds if seconds > 0 else 0.0


def _goodput_share(evidence: Evidence, clean: Evidence) -> float | None:
    with_loss, without = (seen.flows[0].goodput_bits_per_s for seen in (evidence, clean))
    return None if with_loss is None or not without else with_loss / without


def _said(evidence: Evidence, clean: Evidence, found: _Transferred) -> str:
    way = "only what was lost" if found.each <= SELECTIVE else "all from the lost one on"
    share = _goodput_share(evidence, clean) if evidence.flows and clean.flows else None
    waits = witnesses.waits(evidence, _sender(evidence)) if evidence.senders else 0
    waited = f", beside the waiting of {waits} time-outs" if waits else ""
    return (
        f"{found.lost} of {found.came} packets were lost, and {found.each:.2f} sent again for each "
        f"({way}: {'selective repeat' if found.each <= SELECTIVE else 'go-back-N'}); goodput is "
        f"{share or 0.0:.4f} of that without loss, {found.efficiency:.4f} by the closed "
        f"form{waited}"
    )
