"""Single checks on evidence, from which verdicts are put together. Each is pure and total."""

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.capabilities.records import PfcSetting
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import goodput, path, port_drops
from labtests.verdicts.bounds import Bound
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    failed,
    held_to,
    missing,
    name_of,
    passed,
    unproven,
)

BUSY_SHARE = 0.97
"""Egress use that counts as proof of congestion."""
FULL_SHARE = 0.9
"""Of line rate, what a port that drops forwards at least: counters leave out the preamble and the
gap, a 64th of full packets at an MTU of 1500 bytes, and a sender may have missed a tenth."""
PACE_SHARE = 0.9
"""Of what a flow was asked to send: what is less is another load than the suite speaks of."""
CONGESTION_EVENTS_PER_S = 5.0
"""Pause frames, or marks: a network at rest has no more, by the goal of those who run large ones
(UCloud's design notes: at most 5 pause frames a second in 99 % of the time)."""
PAUSE_BITS, SLOWEST = 65_535 * 512, 1e9
"""The time for which one pause frame holds a port at most, in bits at its speed (802.1Qbb); and the
speed of a port that is not known."""
SWING_SHARE = 0.25
"""Of the best row of a sender while all send, its least: halfway (by ratio) between a sender that
is held to a tenth and the widest swing under DCQCN in healthy labs, 0.72 (rows of 1 s, simulated,
1G to 100G, 2 to 8 senders)."""
FAIR_SHARE_LEAST = 0.1
"""Of its fair share, each sender under DCQCN while all send: below, it is starved. The source had
0.15 of it, healthy simulated labs half of it and more."""
OVER_THE_LINE = 1.05
"""Of the line, what all get together: what was held up before may be in the rows after it."""
OVER_THE_TIME, LATE_S = 1.1, 0.5
"""Of the time that a flow was asked to send, and seconds beside: its rows are no longer."""
IMPOSSIBLE_SHARE = 1.02
"""Above it a port's use is not measured: two clocks are apart by 0.02 % at the most (802.3)."""


def ran(evidence: Evidence, *, excused: Collection[FlowResult] = ()) -> Iterator[Finding]:
    """Every flow that is not excused ran to its end by its own tool's account, the roles could
    reach each other, the counters were read when they could be, and the settings under test stayed
    as they were."""
    yield from told(evidence)
    for number, (place, flow) in enumerate(zip(evidence.senders, evidence.flows, strict=False)):
        if flow not in excused:
            yield _flow_ran(flow, place, evidence.receiver_of(number))
    for probe in evidence.probes:
        if probe.status is not FlowStatus.COMPLETE:
            yield unproven(f"{probe.sender} -> {probe.receiver} ({probe.tool}): {probe.because}")


def told(evidence: Evidence) -> Iterator[Finding]:
    """There is a report of every flow, and what devices show is of this phase, and of these
    settings. Asked of whatever a phase is for."""
    yield from reported(evidence)
    yield from counters_of_the_end(evidence)


def reported(evidence: Evidence) -> Iterator[Finding]:
    """The same without what devices show in the end: where packets stand still, they pause on."""
    if not evidence.flows:
        yield unproven("no traffic ran")
    if len(evidence.flows) != len(evidence.senders):
        yield unproven(f"{len(evidence.flows)} of {len(evidence.senders)} flows were reported")
    for sentence in (*evidence.unreachable, *evidence.changed):
        yield unproven(sentence)


def counters_of_the_end(evidence: Evidence) -> Iterator[Finding]:
    """What was read last is what the devices counted, not what they showed some time before."""
    if not evidence.settled:
        yield unproven(
            "counters were still changing at the final read"
            f"{f': {evidence.restless}' if evidence.restless else ''}"
        )
    if evidence.refresh.seconds is None:
        yield unproven(f"counter refresh interval unknown: {evidence.refresh.because}")


def _flow_ran(flow: FlowResult, place: Place, receiver: Place) -> Finding:
    who = f"{flow.sender} -> {flow.receiver} ({flow.tool})"
    if (flow.sender, flow.receiver) != (place.device, receiver.device):
        return unproven(f"{who} is not the flow of {place.device} -> {receiver.device}")
    if flow.status is not FlowStatus.COMPLETE:
        return unproven(f"{who} did not run: {flow.because or flow.status}")
    if not flow.goodput_bits_per_s or flow.iterations == 0:
        return unproven(f"{who} reported no {'messages' if flow.goodput_bits_per_s else 'goodput'}")
    if not 0 < flow.goodput_bits_per_s <= IMPOSSIBLE_SHARE * (place.link_bits_per_s or math.inf):
        return unproven(f"{who} reported a goodput that is impossible on its link")
    if wrong := goodput.no_evidence(flow):
        return unproven(f"{who} reported {wrong}")
    ran_s = flow.intervals[-1].end_s - flow.intervals[0].start_s if flow.intervals else 0.0
    if flow.asked_s and ran_s > OVER_THE_TIME * flow.asked_s + LATE_S:
        return unproven(f"{who} sent for {ran_s:.3g} s instead of {flow.asked_s:g} s")
    gbit = round(flow.goodput_bits_per_s / 1e9, 3)
    return passed(Fact(name=f"{who} goodput", measured=gbit, bound="> 0", unit="Gb/s"))


def congestion_proven(evidence: Evidence) -> Finding:
    """There was congestion: the switch paused or marked, or its egress was full."""
    paused = sum(
        evidence.change((p.switch, p.switch_port), "priority", p.priority, c.PFC_TX_FRAMES).increase
        or 0
        for p in evidence.senders
    )
    marked = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase or 0
    used = egress_use(evidence)
    if used is not None and used > IMPOSSIBLE_SHARE:
        return unproven(
            f"{' '.join(evidence.bottleneck)} shows {100 * used:.0f} % of line rate: stale "
            "counters, or its speed is not the one that the testbed file says"
        )
    least = CONGESTION_EVENTS_PER_S * max(evidence.end_s - evidence.start_s, 0.0)
    bound, use = f"> {least:.3g} (one of three is enough)", f">= {BUSY_SHARE} (one of three)"
    facts = (
        Fact(name="pause frames sent to the senders", measured=paused, bound=bound, unit="frames"),
        Fact(name="packets marked at the bottleneck", measured=marked, bound=bound, unit="packets"),
        Fact(
            name="highest egress use of the bottleneck",
            measured=None if used is None else round(used, 4),
            bound=use,
            unit="of line rate",
        ),
    )
    if max(paused, marked) > least or (used is not None and used >= BUSY_SHARE):
        return passed(*facts)
    few = f"{paused} pauses, {marked} marks" if paused or marked else "no pause, no mark"
    return unproven(
        f"congestion not proven: {few}, and the egress was not seen at line rate", *facts
    )


def only_under_congestion(evidence: Evidence, finding: Finding) -> Finding:
    """What ought to have happened and did not is the fabric's fault only when the traffic ran as it
    was asked to and there was congestion; otherwise the evidence is not enough to judge."""
    if finding.outcome is not Outcome.FAIL or (has_run(evidence) and congested(evidence)):
        return finding
    return replace(finding, outcome=Outcome.INCONCLUSIVE)


def has_run(evidence: Evidence) -> bool:
    """Whether all of `ran` and `kept_pace` holds."""
    findings = (*ran(evidence), *kept_pace(evidence))
    return all(finding.outcome is Outcome.PASS for finding in findings)


def kept_pace(evidence: Evidence) -> Iterator[Finding]:
    """Every paced flow sent what it was asked to send, but for the time in which its NIC was held
    by pause frames. One that did not is the host's limit, or a host that stalled."""
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        if not flow.offered_bits_per_s:
            continue
        if not flow.intervals and (flow.sent_bytes is None or not flow.asked_s):
            yield unproven(f"{flow.sender}: {flow.tool} did not report how much it sent")
        else:
            yield _pace_of(evidence, place, flow)


def sent_and_asked(flow: FlowResult) -> tuple[float, float, float]:
    """Bits that a paced flow sent, bits that it was asked for, and the seconds it had for them."""
    rows = flow.intervals
    seconds = flow.asked_s or (rows[-1].end_s - rows[0].start_s if rows else 0.0)
    sent = sum(row.goodput_bits_per_s * (row.end_s - row.start_s) for row in rows)
    if flow.sent_bytes is not None:
        sent = 8.0 * flow.sent_bytes
    return sent, (flow.offered_bits_per_s or 0.0) * seconds, seconds


def _pace_of(evidence: Evidence, place: Place, flow: FlowResult) -> Finding:
    sent, asked, seconds = sent_and_asked(flow)
    held = min(held_s(evidence, place) / seconds, 1.0) if seconds > 0 else 0.0
    least = PACE_SHARE * (1 - held)
    share = sent / asked if asked else 0.0
    fact = held_to(
        f"{flow.sender} -> {flow.receiver} ({flow.tool}): sent / offered",
        share,
        Bound(
            said=f">= {least:.4g} (paused by PFC {100 * held:.0f} % of the time)",
            least=least,
            digits=4,
        ),
        "ratio",
    )
    if share >= least:
        return passed(fact)
    return unproven(
        f"{flow.sender} sent {sent / seconds / 1e9:.3g} of {asked / seconds / 1e9:.3g} Gb/s that "
        f"{flow.tool} was asked for ({100 * share:.0f} %), and PFC paused it for "
        f"{100 * held:.0f} % of the time: the limit of {flow.sender}, or it stalled",
        fact,
    )


def held_s(evidence: Evidence, place: Place) -> float:
    """How long PFC held a sender: by its NIC's duration, and no longer than its frames can."""
    nic = (place.device, place.port)
    pause_us = evidence.change(nic, "priority", place.priority, c.PFC_RX_PAUSE_US).increase or 0
    frames = evidence.change(nic, "priority", place.priority, c.PFC_RX_FRAMES).increase or 0
    return min(pause_us / 1e6, frames * PAUSE_BITS / (place.link_bits_per_s or SLOWEST))


def not_paused(evidence: Evidence) -> Iterator[Finding]:
    """No pause frame held a sender: what slowed it is then something else. Counted by the switch,
    and by the NIC: 802.3x and PFC, but for other priorities' (somebody else's)."""
    for place in evidence.senders:
        nic, port = (place.device, place.port), (place.switch, place.switch_port)
        ours = _priority(place)
        sent = evidence.change(port, "priority", ours, c.PFC_TX_FRAMES)
        got = evidence.change(nic, "priority", place.priority, c.PFC_RX_FRAMES)
        every = evidence.change(nic, "port", None, c.PAUSE_RX_FRAMES)
        others = sum(
            evidence.change(nic, "priority", other, c.PFC_RX_FRAMES).increase or 0
            for other in set(range(8)) - {ours}
        )
        for unread in (d for d in (sent, got, every) if d.increase is None):
            if unread.key in evidence.numbers and not not_enabled(unread):
                yield missing(unread, "= 0", "frames")
        grown = [d for d in (sent, got) if d.increase]
        if (every.increase or 0) > others + (got.increase or 0):
            grown.append(every)
        if grown:
            said = ", ".join(f"{name_of(d)} +{d.increase}" for d in grown)
            read = _pfc_as_read(evidence, (nic, port))
            yield unproven(f"{place.device} was held by pause frames ({read}): {said}")


def not_enabled(difference: Difference) -> bool:
    """By the device's own account, before and after."""
    reads = (difference.before, difference.after)
    return all(r is not None and r.value is None and c.NOT_ENABLED in r.missing for r in reads)


def _pfc_as_read(evidence: Evidence, ends: Iterable[path.Where]) -> str:
    """What the settings of these ports were, for a sentence."""
    known = [(" ".join(end), evidence.pfc[end]) for end in ends if end in evidence.pfc]
    said = [f"{pfc_in_words(setting)} at {where}" for where, setting in known]
    return f"PFC as read: {', '.join(said)}" if said else "PFC was not read"


def pfc_in_words(pfc: PfcSetting) -> str:
    """Such as `on for 3 and 5`."""
    obeyed = ", obeying all pauses" if pfc.asymmetric == "on" else ""
    if pfc.mode == "off":
        return f"off{obeyed}"
    held = " and ".join(map(str, sorted(pfc.priorities)))
    return f"{pfc.mode} for {held or 'no priority'}{obeyed}"


def kept_sending(evidence: Evidence, flow: FlowResult) -> Iterator[Finding]:
    """A queue pair that is slowed down still sends, and about as much as before: no row of its
    report is empty, and none of the time in which all sent is far below its best of that time."""
    still = [row for row in flow.intervals if not row.goodput_bits_per_s]
    if still:
        yield unproven(
            f"{flow.sender} stalled from {still[0].start_s:.3g} to {still[0].end_s:.3g} s of "
            f"the lab's clock, and in {len(still)} of {len(flow.intervals)} rows of {flow.tool}"
        )
    rows = goodput.rows_beside_others(evidence, flow)
    together = goodput.rows_together(evidence, flow)
    best = max((row.goodput_bits_per_s for row in together), default=0.0)
    held = [row for row in rows if 0 < row.goodput_bits_per_s < SWING_SHARE * best]
    if held:
        yield unproven(
            f"{flow.sender} sent {held[0].goodput_bits_per_s / 1e9:.3g} Gb/s from "
            f"{held[0].start_s:.3g} to {held[0].end_s:.3g} s of the lab's clock, and "
            f"{best / 1e9:.3g} at its best while all sent: in {len(held)} of {len(rows)} rows less "
            f"than {SWING_SHARE:g} of that; DCQCN by itself does not swing as widely"
        )


def congested(evidence: Evidence) -> bool:
    """Whether there was pressure, or one of the queues even dropped."""
    return congestion_proven(evidence).outcome is Outcome.PASS or any(
        port_drops.queue_drops(evidence, queue).increase for queue in evidence.queues
    )


def egress_use(evidence: Evidence) -> float | None:
    """The largest share of line rate that the bottleneck had for certain; None without samples.

    A sample shows a value of some moment in the refresh period before it was answered. So what two
    samples differ by is held against the longest time that can lie between the two moments.
    """
    moments = _bytes_seen(evidence)
    rates = [
        8 * (later.shown - earlier.shown) / (later.latest_s - earlier.earliest_s)
        for earlier, later in combinations(moments, 2)
        if later.latest_s > earlier.earliest_s
    ]
    return max(rates) / evidence.line_bits_per_s if rates else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """Bytes that the bottleneck had forwarded at some moment between the two."""

    earliest_s: float
    latest_s: float
    shown: int


def _bytes_seen(evidence: Evidence) -> tuple[_Moment, ...]:
    """One for each sample with another value than the sample before it; none where one is missing.

    What was not yet shown when the sample before was asked for was counted after that."""
    shown: dict[float, int] = {}
    asked: dict[float, float] = {}
    for r in evidence.samples:
        if (r.device, r.port, r.counter) == (*evidence.bottleneck, c.QUEUE_FORWARDED_BYTES):
            if r.value is None:
                return ()
            shown[r.time_s] = shown.get(r.time_s, 0) + r.value
            asked[r.time_s] = r.time_s if r.asked_s is None else r.asked_s
    late_s = evidence.refresh.seconds or 0.0
    found: list[_Moment] = []
    for before, now in pairwise([None, *sorted(shown)]):
        assert now is not None
        if before is not None and shown[before] == shown[now]:
            continue
        earliest_s = asked[now] - late_s
        if before is not None:
            earliest_s = max(earliest_s, asked[before])
        found.append(_Moment(earliest_s=earliest_s, latest_s=now, shown=shown[now]))
    return tuple(found)


def mean_use(evidence: Evidence) -> float | None:
    """The share of line rate over the whole time in which anybody sent, from the counters of the
    end; None when a part of it is not known."""
    moved = [d.increase for d in _bytes_forwarded(evidence)]
    rows = [row for flow in evidence.flows for row in flow.intervals]
    if not moved or None in moved or not rows:
        return None
    seconds = max(row.end_s for row in rows) - min(row.start_s for row in rows)
    total = sum(n for n in moved if n is not None)
    return 8 * total / seconds / evidence.line_bits_per_s if seconds > 0 else None


def _bytes_forwarded(evidence: Evidence) -> list[Difference]:
    """Of each queue of the bottleneck that counts bytes."""
    return [
        d
        for d in evidence.changes.values()
        if d.key[:3] == (*evidence.bottleneck, "queue") and d.key[-1] == c.QUEUE_FORWARDED_BYTES
    ]


def bytes_told(evidence: Evidence) -> Iterator[Finding]:
    """A counter of bytes that had a number has one now."""
    for difference in _bytes_forwarded(evidence):
        if difference.increase is None and difference.key in evidence.numbers:
            yield missing(difference, "known", "bytes")


def full_while_it_dropped(evidence: Evidence) -> Iterator[Finding]:
    """A port that drops for want of speed has that of its line while all send (or any, where each
    of them can fill it), where it counts bytes. One that has not is limited, paused or slower than
    the testbed file says."""
    if not any(port_drops.queue_drops(evidence, queue).increase for queue in evidence.queues):
        return
    yield from bytes_told(evidence)
    used = mean_use(evidence)
    if used is not None:
        yield full(evidence, used, "dropped while it forwarded")


def full(evidence: Evidence, used: float, what: str) -> Finding:
    """The bottleneck had this share of its line over the whole time, and was full while all sent
    (or any, where each of them can fill it). `what` it did at that, for a sentence."""
    rows = [row for flow in evidence.flows for row in flow.intervals]
    seconds = max(row.end_s for row in rows) - min(row.start_s for row in rows)
    filled_s = goodput.seconds_together(evidence)
    pairs = zip(evidence.senders, evidence.flows, strict=False)
    if all(_fills_the_line(evidence, place, flow) for place, flow in pairs):
        filled_s = seconds
    least = FULL_SHARE * filled_s / seconds
    name = "egress use of the bottleneck over the whole time"
    most = _most_use(evidence, seconds)
    finding = bounded(name, used, at_least=least, at_most=most)
    if finding.outcome is Outcome.PASS:
        return finding
    where = " ".join(evidence.bottleneck)
    if used > most:
        return unproven(
            f"{where} shows {100 * used:.4g} % of its line rate: counters of bytes that cannot be, "
            "or its speed is not the one that the testbed file says",
            *finding.facts,
        )
    return unproven(
        f"{where} {what} at {100 * used:.0f} % of its line rate: a limit, "
        "pauses of the receiver, or a slower link than the testbed file says",
        *finding.facts,
    )


def _most_use(evidence: Evidence, seconds: float) -> float:
    """What a line can carry between the two reads of its counters, as a share of what it can in so
    many seconds: rows leave out how a tool starts and ends."""
    reads = [r for d in _bytes_forwarded(evidence) for r in (d.before, d.after) if r is not None]
    times = [r.time_s for r in reads] or [0.0]
    between_s = max(times) - min(times) + (evidence.refresh.seconds or 0.0)
    return IMPOSSIBLE_SHARE * between_s / seconds


def _fills_the_line(evidence: Evidence, place: Place, flow: FlowResult) -> bool:
    link = place.link_bits_per_s
    return not flow.offered_bits_per_s and link is not None and link >= evidence.line_bits_per_s


def _priority(place: Place) -> int:
    """That of its pause frames: the NIC's, or, where it has none, the number of its queue."""
    return place.queue if place.priority is None else place.priority


def pauses_of_the_receiver(evidence: Evidence) -> tuple[Difference, ...]:
    """Frames: what its NIC sent, and what the switch received at each class under test."""
    nic = (evidence.receiver.device, evidence.receiver.port)
    received = (
        evidence.change(evidence.bottleneck, "priority", priority, c.PFC_RX_FRAMES)
        for priority in sorted({_priority(place) for place in evidence.senders})
    )
    return (evidence.change(nic, "port", None, c.PAUSE_TX_FRAMES), *received)


def receiver_silent(evidence: Evidence) -> Finding:
    """The receiver did not pause its own port: the congestion is the fabric's, not a slow host's.

    Two witnesses, the switch's received pause frames and the NIC's sent ones; one has to be known.
    """
    witnesses = pauses_of_the_receiver(evidence)
    if held := [d for d in witnesses if d.increase]:
        said = ", ".join(f"{name_of(d)} +{d.increase}" for d in held)
        return unproven(f"the receiver paused its port ({said}): a slow host, not the fabric")
    if all(d.increase is None for d in witnesses):
        return missing(witnesses[0], "= 0", "frames")
    return passed()


def bounded(
    name: str, measured: float, *, at_least: float | None = None, at_most: float | None = None
) -> Finding:
    """A ratio inside its bounds; the margin is to the nearer one."""
    low = None if at_least is None else measured - at_least
    high = None if at_most is None else at_most - measured
    margin = min(m for m in (low, high) if m is not None)
    bound = " and ".join(
        f"{sign} {value:.4g}"
        for sign, value in ((">=", at_least), ("<=", at_most))
        if value is not None
    )
    fact = Fact(
        name=name, measured=round(measured, 4), bound=bound, unit="ratio", margin=round(margin, 4)
    )
    if not math.isfinite(measured):
        return unproven(f"{name} is not a number", replace(fact, measured=None, margin=None))
    return passed(fact) if margin >= 0 else failed(f"{name} is {measured:.3f}, not {bound}", fact)


def equal_part(evidence: Evidence, sender: str, bits_per_s: float, least: float) -> Finding:
    """What a sender got, by its fair share of the line: all senders the same."""
    part = bits_per_s * len(evidence.flows) / evidence.line_bits_per_s
    return bounded(f"{sender}: goodput / fair share of the line", part, at_least=least)
