"""A switch that marks only what it should: no packet while its queue is short, and none that is not
ECN-capable (RFC 3168), however long it is."""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, ecn, idle, port_drops
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    disagreement,
    fact_of,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)


def unmarked(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """Exactly 0 packets were marked, by counters that a control has made count; whatever was
    dropped meanwhile."""
    moved = sum(port_drops.queue_forwarded(evidence, q).increase or 0 for q in evidence.queues)
    return conclude(
        "Was nothing marked?",
        evidence,
        _unmarked(evidence, controls),
        passing=f"0 of {moved} packets marked",
        remedy="look at Kmin of these queues, and at what the switch does with packets that are "
        "not ECN-capable",
    )


def _unmarked(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    for queue in sorted(evidence.queues):
        moved = port_drops.queue_forwarded(evidence, queue)
        if not moved.increase:
            yield unproven(f"{name_of(moved)} did not move: no traffic in this queue")
    for marks in ecn.marked(evidence):
        fact = fact_of(marks, "= 0", "packets")
        if marks.increase is None:
            yield missing(marks, "= 0", "packets")
        elif marks.increase:
            yield failed(f"{name_of(marks)} grew by {marks.increase}", fact)
        elif not any(_marked(control, marks.key) for control in controls):
            yield unproven(
                f"{name_of(marks)} is unproven: in no control of this session did it count"
            )
        else:
            yield passed(fact)
    yield from _port_agrees(evidence)
    yield from ecn.marks_came(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)
    yield idle.quiet_marks(evidence)


def _port_agrees(evidence: Evidence) -> Iterator[Finding]:
    """Where the port counts marks beside its queues, it has none that these have not."""
    port = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS)
    if port.increase and not any(each.increase for each in ecn.marked(evidence)):
        yield disagreement(
            f"{name_of(port)} grew by {port.increase}, and its queues under load marked nothing: "
            "another queue marks, or one of the two miscounts",
            fact_of(port, "= 0", "packets"),
        )


def _marked(control: Evidence, key: object) -> bool:
    return any(each.key == key and each.increase for each in ecn.marked(control))
