"""Single checks on evidence, from which verdicts are put together. Each is pure and total."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from labtests import counters as c
from labtests.evidence import Difference, Evidence
from labtests.records import FlowResult, FlowStatus
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Outcome,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)

BUSY_SHARE = 0.97
"""Egress use that counts as proof of pressure (assertions: 97 % of line rate)."""


def ran(evidence: Evidence) -> Iterator[Finding]:
    """Every flow ran to its end by its own tool's account, and the roles could reach each other."""
    if not evidence.flows:
        yield unproven("no traffic ran")
    for flow in evidence.flows:
        yield _flow_ran(flow)
    for sentence in evidence.unreachable:
        yield unproven(sentence)
    if not evidence.settled:
        yield unproven("the counters had not settled when they were read")


def _flow_ran(flow: FlowResult) -> Finding:
    who = f"{flow.sender} -> {flow.receiver} ({flow.tool})"
    if flow.status is not FlowStatus.COMPLETE:
        return unproven(f"{who} did not run: {flow.because or flow.status}")
    if not flow.goodput_bits_per_s:
        return unproven(f"{who} reported no goodput")
    gbit = round(flow.goodput_bits_per_s / 1e9, 3)
    return passed(Fact(name=f"{who} goodput", measured=gbit, bound="> 0", unit="Gb/s"))


def queue_drops(evidence: Evidence, queue: int) -> Difference:
    """Packets the bottleneck's queue dropped over the phase."""
    return evidence.change(evidence.bottleneck, "queue", queue, c.QUEUE_DROPPED_PACKETS)


def queue_forwarded(evidence: Evidence, queue: int) -> Difference:
    """Packets the bottleneck's queue forwarded over the phase."""
    return evidence.change(evidence.bottleneck, "queue", queue, c.QUEUE_FORWARDED_PACKETS)


def no_drop(evidence: Evidence, queue: int) -> Iterator[Finding]:
    """Exactly 0 dropped, in a queue that is seen to forward. Noise never softens a drop."""
    yield from exactly_zero(queue_drops(evidence, queue))
    moved = queue_forwarded(evidence, queue)
    if moved.increase is None:
        yield missing(moved, "> 0", "packets")
    elif moved.increase == 0:
        yield unproven(f"{name_of(moved)} did not move: no traffic in this queue, or stale reads")
    else:
        yield passed(_fact(moved, "> 0", "packets"))


def exactly_zero(drops: Difference) -> Iterator[Finding]:
    """0, known to be 0."""
    if drops.increase is None:
        yield missing(drops, "= 0", "packets")
    elif drops.increase:
        fact = _fact(drops, "= 0", "packets", margin=-drops.increase)
        yield failed(f"{name_of(drops)} grew by {drops.increase}", fact)
    else:
        yield passed(_fact(drops, "= 0", "packets", margin=0))


def some_drop(evidence: Evidence, queue: int) -> Finding:
    """At least one packet dropped where drops are due."""
    drops = queue_drops(evidence, queue)
    if drops.increase is None:
        return missing(drops, "> 0", "packets")
    if not drops.increase:
        return failed(
            f"{name_of(drops)} stayed 0 although drops are due", _fact(drops, "> 0", "packets")
        )
    return passed(_fact(drops, "> 0", "packets", margin=drops.increase))


def port_drops(evidence: Evidence) -> Iterator[Finding]:
    """The switch's own per-port drop counters, where it shows them, are a further witness."""
    for counter in (
        c.BUFFER_DROPPED_IN_PACKETS,
        c.BUFFER_DROPPED_OUT_PACKETS,
        c.WRED_DROPPED_PACKETS,
    ):
        opposite = ((p.switch, p.switch_port) for p in evidence.senders)
        for where in dict.fromkeys((evidence.bottleneck, *opposite, *evidence.transit)):
            drops = evidence.change(where, "port", None, counter)
            if drops.before is not None or drops.after is not None:
                yield from exactly_zero(drops)


def none_dropped_on_the_way(evidence: Evidence, queues: Iterable[int]) -> Iterator[Finding]:
    """Exactly 0 in these queues of the ports between switches. That their counters count is not
    proven by them: sent = forwarded + dropped at the bottleneck, by the NICs, says that."""
    for where in evidence.transit:
        for queue in queues:
            yield from exactly_zero(evidence.change(where, "queue", queue, c.QUEUE_DROPPED_PACKETS))


def alive(evidence: Evidence, queue: int, controls: tuple[Evidence, ...]) -> Finding:
    """The queue's drop counter is seen to count: it grew in a control of this session."""
    grew = [
        d.increase
        for control in controls
        if control.bottleneck == evidence.bottleneck
        if (d := queue_drops(control, queue)).increase
    ]
    where = f"{' '.join(evidence.bottleneck)} queue {queue} drop counter"
    if not grew:
        return unproven(
            f"{where} is not proven alive: no control of this session made it count",
            Fact(name=f"{where} in controls", measured=None, bound="> 0", unit="packets"),
        )
    return passed(
        Fact(name=f"{where} in controls", measured=max(grew), bound="> 0", unit="packets")
    )


def pressed(evidence: Evidence) -> Finding:
    """There was congestion: the switch paused or marked, or its egress was full."""
    paused = sum(
        evidence.change((p.switch, p.switch_port), "priority", p.priority, c.PFC_TX_FRAMES).increase
        or 0
        for p in evidence.senders
    )
    marked = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase or 0
    used = egress_use(evidence)
    facts = (
        Fact(
            name="pause frames sent to the senders", measured=paused, bound="> 0 or", unit="frames"
        ),
        Fact(
            name="packets marked at the bottleneck", measured=marked, bound="> 0 or", unit="packets"
        ),
        Fact(
            name="highest egress use of the bottleneck",
            measured=None if used is None else round(used, 4),
            bound=f">= {BUSY_SHARE}",
            unit="of line rate",
        ),
    )
    if paused or marked or (used is not None and used >= BUSY_SHARE):
        return passed(*facts)
    return unproven(
        "no proof of pressure: no pause, no mark, and the egress was never full", *facts
    )


def due(evidence: Evidence, finding: Finding) -> Finding:
    """What ought to have happened and did not is the fabric's fault only when the traffic ran and
    there was congestion; otherwise there is no right to an opinion."""
    if finding.outcome is not Outcome.FAIL or (has_run(evidence) and congested(evidence)):
        return finding
    return replace(finding, outcome=Outcome.INCONCLUSIVE)


def has_run(evidence: Evidence) -> bool:
    """Whether all of `ran` holds."""
    return all(finding.outcome is Outcome.PASS for finding in ran(evidence))


def congested(evidence: Evidence) -> bool:
    """Whether there was pressure, or one of the queues even dropped."""
    queues = {place.queue for place in evidence.senders}
    return pressed(evidence).outcome is Outcome.PASS or any(
        queue_drops(evidence, queue).increase for queue in queues
    )


def egress_use(evidence: Evidence) -> float | None:
    """The largest share of line rate between two samples of forwarded bytes; None without any."""
    per_time: dict[float, int] = {}
    for r in evidence.samples:
        if (r.device, r.port, r.counter) == (*evidence.bottleneck, c.QUEUE_FORWARDED_BYTES):
            if r.value is None:
                return None
            per_time[r.time_s] = per_time.get(r.time_s, 0) + r.value
    moments = sorted(per_time.items())
    shares = [
        8 * (b - a) / (t - s) / evidence.line_bits_per_s
        for (s, a), (t, b) in pairwise(moments)
        if t > s
    ]
    return max(shares, default=None)


def receiver_silent(evidence: Evidence) -> Finding:
    """The receiver did not pause its own port: the congestion is the fabric's, not a slow host's.

    Two witnesses, the switch's received pause frames and the NIC's sent ones; one has to be known.
    """
    nic = (evidence.receiver.device, evidence.receiver.port)
    witnesses = [evidence.change(nic, "port", None, c.PAUSE_TX_FRAMES)] + [
        evidence.change(evidence.bottleneck, "priority", queue, c.PFC_RX_FRAMES)
        for queue in sorted({p.queue for p in evidence.senders})
    ]
    if held := [d for d in witnesses if d.increase]:
        said = ", ".join(f"{name_of(d)} +{d.increase}" for d in held)
        return unproven(f"the receiver paused its port ({said}): a slow host, not the fabric")
    if all(d.increase is None for d in witnesses):
        return missing(witnesses[0], "= 0", "frames")
    return passed()


def _fact(difference: Difference, bound: str, unit: str, margin: int | float | None = None) -> Fact:
    return Fact(
        name=name_of(difference),
        measured=difference.increase,
        bound=bound,
        unit=unit,
        margin=margin,
    )
