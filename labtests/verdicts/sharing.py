"""Who gets how much of a port that is offered more than it can send, by its scheduler.

The rule is weighted max-min fairness, level by level: nobody gets more than it offers, or than the
rate that its queue is held to, and what one leaves the others of its level share by weight; a lower
level gets what the levels before it leave.
Worked out by progressive filling (Bertsekas, Gallager: Data Networks, 2nd edition, section 6.5.2).
WRR, DRR and htb's quanta keep to it up to one round: while two queues are backlogged, what they
have got per weight differs by less than one quantum and one packet (Shreedhar, Varghese: Efficient
Fair Queuing Using Deficit Round Robin, SIGCOMM 1995).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import SchedulingSetting
from labtests.measure.evidence import Evidence, Key
from labtests.verdicts import checks, goodput, idle, packets, port_drops
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    disagreement,
    failed,
    or_unproven,
    passed,
    unless_contradicted,
    unproven,
)

ARRIVAL_SHARE = 0.02
"""How far arrivals and what is forwarded may be apart over some seconds: what is in the queues."""
ROUNDS = 2
"""Rounds of the scheduler at each end of what is looked at."""
OVERLOADED = 1.05
SAMPLED_SHARE = 0.03
"""How far a queue's part of all that came may be apart, by the samples and by the counters of the
end: at most 0.014 in healthy labs (a queue that still fills), 0.045 and more where one of a queue's
two counters stands at half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """How a queue is served: 0 first, by weight among equals, and never above its most."""

    level: int
    weight: float
    most_bits_per_s: int | None = None


def turns(scheduling: SchedulingSetting, queues: tuple[int, ...]) -> dict[int, Turn]:
    """Of a scheduler as read. Where it gives no levels, strict queues are before the others, the
    highest number first (IEEE 802.1Q: strict priority). No queues in it: all of them are strict."""
    served = {each.queue: each for each in scheduling.queues}
    found: dict[int, Turn] = {}
    for queue in queues:
        each = served.get(queue)
        if each is None and served:
            continue
        strict = each is None or each.group == "sp"
        level = each.level if each is not None else None
        if level is None:
            level = -queue if strict else 1
        weight = 1.0 if each is None or not each.weight else float(each.weight)
        most = None if each is None else each.most_bits_per_s
        found[queue] = Turn(level=level, weight=weight, most_bits_per_s=most)
    return found


def asked_for(
    offered: Mapping[int, int], served: Mapping[int, Turn], port: tuple[float, int]
) -> dict[int, float]:
    """What each queue may have at most: what came to it, or its rate, in packets of the port's
    rate (bits/s, and packets in the same time)."""
    line_bits_per_s, capacity = port
    most = {
        queue: turn.most_bits_per_s / line_bits_per_s * capacity
        for queue, turn in served.items()
        if turn.most_bits_per_s is not None
    }
    return {queue: min(float(n), most.get(queue, float(n))) for queue, n in offered.items()}


def max_min(
    offered: Mapping[int, float], served: Mapping[int, Turn], capacity: float
) -> dict[int, float]:
    """What each queue gets of the capacity, in the unit of what is offered."""
    got: dict[int, float] = {}
    for level in sorted({served[queue].level for queue in offered}):
        left = capacity - sum(got.values())
        waiting = {q for q in offered if served[q].level == level}
        while waiting:
            unit = max(left, 0.0) / sum(served[q].weight for q in waiting)
            content = {q for q in waiting if offered[q] <= unit * served[q].weight}
            for queue in content or waiting:
                got[queue] = offered[queue] if content else unit * served[queue].weight
                left -= got[queue]
            waiting -= content or set(waiting)
    return got


def shared(evidence: Evidence, scheduling: SchedulingSetting) -> Verdict:
    """While all sent, every queue under load got what the scheduler, as read, owes it.

    What was offered is what came to the queue (forwarded and dropped), in packets: they are all of
    one length. A queue that got less than came to it has dropped the rest.
    """
    seen = _while_all_sent(evidence)
    said = "nothing was seen while all sent"
    if seen is not None:
        whole = sum(seen.forwarded.values()) or 1
        said = ", ".join(
            f"queue {q}: {100 * n / whole:.1f} %" for q, n in sorted(seen.forwarded.items())
        )
    return conclude(
        "Did each queue get its scheduled share?",
        evidence,
        _shared(evidence, scheduling, seen),
        passing=said,
        remedy="look at how that port is told to serve its queues (strict, shares, rates), and at "
        "what else leaves by it",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueueGrowth:
    """Packets between two samples, by queue."""

    forwarded: dict[int, int]
    offered: dict[int, int]
    seconds: float


def _shared(
    evidence: Evidence, scheduling: SchedulingSetting, seen: _QueueGrowth | None
) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)
    yield from packets.accounted(evidence)
    yield from port_drops.switch_ports_kept(evidence)
    yield from checks.full_while_it_dropped(evidence)
    if seen is None:
        yield unproven("no two samples of the queues were taken while all senders sent")
        return
    served = turns(scheduling, evidence.queues)
    if missed := set(seen.offered) - set(served):
        yield unproven(f"the scheduler configuration has no entry for queue {min(missed)}")
        return
    agree = tuple(_samples_and_end(evidence, seen))
    yield from agree
    capacity, offered = sum(seen.forwarded.values()), sum(seen.offered.values())
    if not capacity or offered < OVERLOADED * capacity or len(seen.offered) < 2:
        yield unproven(
            f"{offered} packets came and {capacity} were forwarded: the port was not overloaded",
            Fact(
                name="offered / forwarded", measured=offered, bound=f"> {capacity}", unit="packets"
            ),
        )
        return
    asked = asked_for(seen.offered, served, (evidence.line_bits_per_s, capacity))
    due = max_min(asked, served, float(capacity))
    slack = tolerance(served, capacity)
    short = {q for q, owed in due.items() if seen.forwarded[q] < owed}
    excuses = {q: share for q, share in _missed(evidence, seen.seconds).items() if q in short}
    for queue, owed in due.items():
        excuse = excuses.get(queue, 0.0) if queue in short else sum(excuses.values())
        got = seen.forwarded[queue] / capacity
        share = _share(evidence, queue, got, owed / capacity, (slack, excuse))
        yield _by_the_end(
            evidence, queue, unless_contradicted(share, agree), owed / capacity, slack
        )


def _by_the_end(
    evidence: Evidence, queue: int, share: Finding, due: float, slack: float
) -> Finding:
    """What the samples say against the scheduler is proven only where the final counters, which add
    up with all that was sent, do not give the queue what it is owed."""
    forwarded = {q: port_drops.queue_forwarded(evidence, q).increase or 0 for q in evidence.queues}
    got = forwarded[queue] / (sum(forwarded.values()) or 1)
    if abs(got - due) > slack:
        return share
    return or_unproven(share, f"{100 * got:.1f} % by the final counters", joined_by=", and ")


def _samples_and_end(evidence: Evidence, seen: _QueueGrowth) -> Iterator[Finding]:
    """Of all that came, each queue has the part in the samples that it has in the counters of the
    end, which add up with what was sent: one that stood still, or counts less, changes it. But for
    the time in which not all sent, and what senders fell short of."""
    ends = {
        queue: [
            port_drops.queue_forwarded(evidence, queue),
            port_drops.queue_drops(evidence, queue),
        ]
        for queue in seen.offered
    }
    told = {queue: sum(d.increase or 0 for d in both) for queue, both in ends.items()}
    rows = [row for flow in evidence.flows for row in flow.intervals]
    whole_s = max(row.end_s for row in rows) - min(row.start_s for row in rows)
    apart = 1 - goodput.seconds_together(evidence) / whole_s if whole_s else 0.0
    most = SAMPLED_SHARE + apart + sum(_missed(evidence, whole_s).values())
    for queue, came in seen.offered.items():
        sampled = came / (sum(seen.offered.values()) or 1)
        counted = told[queue] / (sum(told.values()) or 1)
        fact = Fact(
            name=f"part of queue {queue} of all that came, by samples",
            measured=round(sampled, 4),
            bound=f"{counted:.4f} ± {most:.4f} by the final counters",
            unit="of the packets",
            margin=round(most - abs(sampled - counted), 4),
        )
        if abs(sampled - counted) <= most:
            yield passed(fact)
            continue
        yield disagreement(
            f"while all sent, {100 * sampled:.1f} % of what came was of queue {queue} by the "
            f"samples of its counters, and {100 * counted:.1f} % by what they had at the end",
            fact,
        )


def _missed(evidence: Evidence, seconds: float) -> dict[int, float]:
    """By queue, the share of the port for which its senders may have left it empty: what they fell
    short of what they were asked for, row by row. That it got so much too little, and the others so
    much too much, is nobody's fault; what goes beyond is the scheduler's."""
    found: dict[int, float] = {}
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        asked = flow.offered_bits_per_s or 0.0
        short = sum(
            max(asked - row.goodput_bits_per_s, 0.0) * (row.end_s - row.start_s)
            for row in flow.intervals
        )
        port = evidence.line_bits_per_s * seconds
        found[place.queue] = found.get(place.queue, 0.0) + short / port
    return found


def tolerance(served: Mapping[int, Turn], packets_seen: int) -> float:
    """As a share of the port: some rounds of the scheduler, and what the queues hold."""
    weights = [turn.weight for turn in served.values()]
    return ARRIVAL_SHARE + 2 * ROUNDS * sum(weights) / min(weights) / packets_seen


def _share(
    evidence: Evidence, queue: int, got: float, due: float, allowed: tuple[float, float]
) -> Finding:
    """`allowed`: the tolerance, and what the senders themselves may have missed."""
    slack, excuse = allowed
    margin = slack - abs(got - due)
    fact = Fact(
        name=f"share of queue {queue}",
        measured=round(got, 4),
        bound=f"{due:.4f} ± {slack:.4f}",
        unit="of the forwarded packets",
        margin=round(margin, 4),
    )
    where = f"{' '.join(evidence.bottleneck)} queue {queue}"
    said = f"{where} got {100 * got:.1f} %, not {100 * due:.1f} %"
    if margin >= 0:
        return passed(fact)
    if not margin + excuse < 0:  # or no number
        missed = f"senders did not sustain their offered load ({100 * excuse:.1f} %)"
        return unproven(f"{said}; {missed}", fact)
    return failed(said, fact)


def _while_all_sent(evidence: Evidence) -> _QueueGrowth | None:
    """From the first to the last sample in which every sender sends."""
    within = goodput.time_together(evidence)
    if within is None:
        return None
    forwarded: dict[int, int] = {}
    offered: dict[int, int] = {}
    for queue in evidence.queues:
        moved = _growth(evidence, queue, c.QUEUE_FORWARDED_PACKETS, within)
        dropped = _growth(evidence, queue, c.QUEUE_DROPPED_PACKETS, within)
        if moved is None or dropped is None:
            return None
        forwarded[queue], offered[queue] = moved, moved + dropped
    return _QueueGrowth(forwarded=forwarded, offered=offered, seconds=_seconds(evidence, within))


def _growth(
    evidence: Evidence, queue: int, counter: str, within: tuple[float, float]
) -> int | None:
    """Between the first and the last sample in a time; None when one has no value or ran back."""
    key: Key = (*evidence.bottleneck, "queue", queue, counter)
    values = [r.value for r in evidence.samples_of.get(key, ()) if _taken_in(r, within)]
    known = [v for v in values if v is not None]
    if len(known) < 2 or len(known) != len(values) or known != sorted(known):
        return None
    return known[-1] - known[0]


def _seconds(evidence: Evidence, within: tuple[float, float]) -> float:
    """From the first to the last sample in a time."""
    times = [r.time_s for r in evidence.samples if _taken_in(r, within)]
    return max(times) - min(times)


def _taken_in(sample: Reading, within: tuple[float, float]) -> bool:
    """Whether it was asked for and answered in this time: it may have been counted at either."""
    asked_s = sample.time_s if sample.asked_s is None else sample.asked_s
    return within[0] <= asked_s and sample.time_s <= within[1]
