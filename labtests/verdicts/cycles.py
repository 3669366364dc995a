"""Does traffic go on in a cycle of switches that pause each other?

A deadlock is seen as a stand-still: the queue of each cable forwards nothing while somebody sends
and its pauses come. Samples tell that, each of which shows a value of some moment since it was
asked for, less a refresh: only what lies between two of them for certain counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, pairwise

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus
from labtests.measure.evidence import CycleHop, Evidence
from labtests.verdicts import checks, path
from labtests.verdicts.bounds import NONE, Bound, between
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    Verdict,
    conclude,
    disagreement,
    fact_of,
    failed,
    held_to,
    missing,
    name_of,
    numbered,
    passed,
    unproven,
)
from labtests.verdicts.sound import kept

STILL_S = 1.0
"""For so long a queue of the cycle forwards something, or it stands still: far longer than what a
suite asks a switch to detect and release a deadlock in."""


Controls = tuple[Evidence, ...]
"""Phases of this session in which the same traffic was to lock the cycle."""


def went_on(evidence: Evidence, *, controls: Controls | None = None) -> Verdict:
    """No queue of the cycle stood still, and none holds a packet now; each was paused meanwhile, so
    that the cycle was closed. `controls`: one of them locked it (None: that is not asked)."""
    return conclude(
        "Did traffic go on in the cycle of switches?",
        evidence,
        chain(_went_on(evidence), _would_lock(controls)),
        passing=f"no queue of {len(evidence.cycle)} cables stood still for {STILL_S:g} s, though "
        "each was paused by the next switch",
        remedy="look at the deadlock detection of these switches, and at what makes the cycle: "
        "routes, or cables beside a tree",
    )


def _went_on(evidence: Evidence) -> Iterator[Finding]:
    if not evidence.cycle:
        yield unproven("no cycle of switches was monitored")
    for hop in evidence.cycle:
        yield _closed(evidence, hop)
        moved = _moved(evidence, hop)
        yield moved
        if moved.outcome is not Outcome.FAIL:
            yield from _empty(evidence, hop)
    if evidence.kind == "experiment":
        yield from checks.ran(evidence)


def _would_lock(controls: Controls | None) -> Iterator[Finding]:
    told = [each for each in controls or () if not each.unreachable]  # locked, it never settles
    if controls is not None and not any(
        _moved(each, hop).outcome is Outcome.FAIL for each in told for hop in each.cycle
    ):
        yield unproven(
            "in no control of this session did the cycle stand still: that it would have is not "
            "proven"
        )


def set_free(evidence: Evidence, *, controls: Controls | None = None) -> Verdict:
    """PFC is off at both ends of each cable, and no queue of the cycle stood still, whatever was
    locked in it before. `controls` as in went_on."""
    return conclude(
        "Did traffic go on once PFC was off everywhere?",
        evidence,
        chain(_set_free(evidence), _would_lock(controls)),
        passing=f"PFC was off at both ends of {len(evidence.cycle)} cables, and no queue stood "
        f"still for {STILL_S:g} s",
    )


def _set_free(evidence: Evidence) -> Iterator[Finding]:
    if not evidence.cycle:
        yield unproven("no cycle of switches was monitored")
    for hop in evidence.cycle:
        yield from (_off(evidence, at) for at in (hop.out, hop.into))
        yield _moved(evidence, hop)
        yield from _empty(evidence, hop)
    yield from checks.ran(evidence)


def _off(evidence: Evidence, at: path.Where) -> Finding:
    """As it was read in this phase."""
    read = evidence.pfc.get(at)
    if read is None:
        return unproven(f"{' '.join(at)}: PFC was not read")
    if read.mode != "off":
        return failed(f"{' '.join(at)}: PFC is {read.mode}, not off")
    return passed()


def _closed(evidence: Evidence, hop: CycleHop) -> Finding:
    """The next switch paused this one, by both witnesses."""
    received, sent = (
        evidence.change(at, "priority", hop.priority, counter)
        for at, counter in ((hop.out, c.PFC_RX_FRAMES), (hop.into, c.PFC_TX_FRAMES))
    )
    for each in (received, sent):
        if each.increase is None:
            return missing(each, "> 0", "frames")
        if not each.increase:
            return unproven(
                f"{name_of(each)} stayed 0: the cycle was not closed, nothing waited there",
                fact_of(each, "> 0", "frames"),
            )
    return passed(fact_of(received, "> 0", "frames"), fact_of(sent, "> 0", "frames"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A counter's value; of some moment between these two."""

    earliest_s: float
    latest_s: float
    value: int


def _sending_s(evidence: Evidence) -> tuple[float, float]:
    """From when to when all were sending; no time where that is not told."""
    rows = [flow.intervals for flow in evidence.flows if flow.intervals]
    if not rows:
        return (0.0, 0.0)
    return max(each[0].start_s for each in rows), min(each[-1].end_s for each in rows)


def _shown(evidence: Evidence, hop: CycleHop) -> list[_Shown]:
    """What the samples show of the queue, while all were sending; none where a value is missing."""
    if evidence.refresh.seconds is None:
        return []
    begin_s, end_s = _sending_s(evidence)
    key = (*hop.out, "queue", hop.queue, c.QUEUE_FORWARDED_PACKETS)
    found = []
    for reading in evidence.samples_of.get(key, ()):
        if begin_s <= reading.time_s <= end_s:
            if reading.value is None:
                return []
            asked_s = reading.time_s if reading.asked_s is None else reading.asked_s
            earliest_s = asked_s - evidence.refresh.seconds
            found.append(
                _Shown(earliest_s=earliest_s, latest_s=reading.time_s, value=reading.value)
            )
    return found


def _moved(evidence: Evidence, hop: CycleHop) -> Finding:
    """Between any two samples that lie so far apart, the queue forwarded something. There have to
    be two in the second half of the time: so a cycle that locks before that is seen."""
    where = f"{' '.join(hop.out)} queue {hop.queue}"
    whole = evidence.change(hop.out, "queue", hop.queue, c.QUEUE_FORWARDED_PACKETS)
    if whole.increase is None:
        return missing(whole, "known", "packets")
    shown = _shown(evidence, hop)
    if any(later.value < earlier.value for earlier, later in pairwise(shown)):
        return unproven(f"{where}: samples of its packets ran backwards: wrapped, reset or cleared")
    if shown and whole.after and (whole.after.value or 0) < shown[-1].value:
        return unproven(
            f"{where}: samples show {shown[-1].value}, and its final counter is "
            f"{whole.after.value}: one of the two is stale, or was reset"
        )
    apart = [(a, b) for a, b in combinations(shown, 2) if b.earliest_s - a.latest_s >= STILL_S]
    still = [(a, b) for a, b in apart if a.value == b.value]
    longest_s = max((b.earliest_s - a.latest_s for a, b in still), default=0.0)
    fact = held_to(
        f"{where}: longest time without a packet, for certain",
        longest_s,
        Bound(said=f"< {STILL_S:g}", most=STILL_S, digits=3),
        "s",
    )
    if not still and not any(a.latest_s >= sum(_sending_s(evidence)) / 2 for a, _ in apart):
        return unproven(
            f"{where}: no two samples of its packets in the second half of the time are "
            f"{STILL_S:g} s apart for certain: ask for a longer load"
        )
    if not still:
        return passed(fact)
    last = shown[-1]
    if last in [b for _, b in still] and whole.after and whole.after.value != last.value:
        return unproven(
            f"{where}: its samples stood still at {last.value}, and its final counter is "
            f"{whole.after.value}: they may be stale",
            fact,
        )
    since_s = min(a.latest_s for a, b in still) - evidence.start_s
    said = f"{where} stood still for {longest_s:.3g} s, from {since_s:.3g} s of the phase on"
    paused = evidence.change(hop.out, "priority", hop.priority, c.PFC_RX_FRAMES)
    if not paused.increase:
        return unproven(f"{said}, and no pause is known to have held it", fact)
    return failed(f"{said}, paused by {hop.into[0]}", fact)


def _empty(evidence: Evidence, hop: CycleHop) -> Iterator[Finding]:
    """Where the switch tells it, the queue is empty when everybody has ended."""
    key = (*hop.out, "queue", hop.queue, c.QUEUE_LENGTH_PACKETS)
    name = f"{' '.join(hop.out)} queue {hop.queue} queue_length_packets, at the end"
    reads = [reading for reading in evidence.after if reading.key == key]
    if key in evidence.numbers and not (reads and all(r.value is not None for r in reads)):
        why = next((r.missing for r in reads if r.value is None), "") or "it was not read"
        yield unproven(f"{name}: not known, and it was told before: {why}")
    for length in (reading.value for reading in reads if reading.value is not None):
        fact = held_to(name, length, NONE, "packets")
        said = f"{name}: {length}, and nobody sends any more"
        yield failed(said, fact) if length else passed(fact)


# -- hosts and cables ------------------------------------------------------------------------------


def sound_in_a_cycle(evidence: Evidence) -> Verdict:
    """Each host sent, no NIC discarded a packet, no cable damaged a frame; and every packet came or
    was counted as dropped. A control, in which packets stay in the switches, is only asked whether
    its tools ran, and its hosts reached each other."""
    return conclude(
        "Did hosts and cables do their part?",
        evidence,
        _sound(evidence),
        passing=f"{len(evidence.flows)} flows ran, no NIC and no cable counted a loss",
    )


def _sound(evidence: Evidence) -> Iterator[Finding]:
    yield passed(Fact(name="flows", measured=len(evidence.flows), bound="> 0", unit="flows"))
    if evidence.kind == "control":
        yield from checks.reported(evidence)
        for flow in evidence.flows:
            if flow.status is FlowStatus.INFRASTRUCTURE:
                yield unproven(f"{flow.sender} -> {flow.receiver} did not run: {flow.because}")
        return
    yield from checks.ran(evidence)
    for station in path.of_part(evidence, "NIC", "cable"):
        yield from kept(station)
    yield _all_are_known(evidence)


def _all_are_known(evidence: Evidence) -> Finding:
    """Packets that NICs sent in the class, those that came, and those that queues dropped."""
    nics = [(place.device, place.port, place.priority) for place in evidence.senders]
    sent, came = (
        [evidence.change((d, p), "priority", n, counter) for d, p, n in nics]
        for counter in (c.TX_PACKETS, c.RX_PACKETS)
    )
    ports = dict.fromkeys(at for hop in evidence.cycle for at in (hop.out, hop.into))
    ports |= dict.fromkeys((place.switch, place.switch_port) for place in evidence.senders)
    queues = sorted({hop.queue for hop in evidence.cycle})
    dropped = [
        evidence.change(at, "queue", queue, c.QUEUE_DROPPED_PACKETS)
        for at in ports
        for queue in queues
    ]
    into = (evidence.change(at, "port", None, c.BUFFER_DROPPED_IN_PACKETS) for at in ports)
    refused = [each for each in into if evidence.has(each)]  # not every switch counts them
    for each in (*sent, *came, *dropped, *refused):
        if each.increase is None:
            return missing(each, "known", "packets")
    left, arrived, least, beside = (
        sum(d.increase or 0 for d in side) for side in (sent, came, dropped, refused)
    )
    lost, most = left - arrived, least + beside  # what was refused on the way in, queues may have
    fact = held_to(
        "sent by NICs - received by NICs",
        lost,
        between(least, most, " dropped by switches"),
        "packets",
    )
    if least <= lost <= most:
        return passed(fact)
    return disagreement(
        f"{left} packets left the hosts and {arrived} came; {least} were dropped in "
        f"{numbered(queues)}, and {beside} on the way in",
        fact,
    )
