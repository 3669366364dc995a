"""A full egress that marks, and switches that drop nothing: what row S19 of docs/sources.md looks
at in the switches' own displays, where PFC and ECN work together."""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import checks, idle, path, port_drops, questions, witnesses
from labtests.verdicts.outcome import Finding, Verdict, conclude, unproven


def full_and_marked(evidence: Evidence) -> Verdict:
    """The bottleneck was full and marked packets, WRED dropped none of them, and no
    port of a switch on the way, the last one included, dropped any for want of buffer."""
    marks = evidence.change(evidence.bottleneck, "port", None, c.ECN_MARKED_PACKETS).increase
    return conclude(
        "Did the full egress mark, and drop nothing?",
        evidence,
        [
            *checks.ran(evidence),
            *_full(evidence),
            questions.marked(evidence),
            witnesses.marks_agree(evidence),
            *_nothing_dropped(evidence),
            idle.quiet_marks(evidence),
        ],
        passing=f"{' '.join(evidence.bottleneck)} was full and marked {marks} packets; no switch "
        "on the way dropped any",
    )


def _full(evidence: Evidence) -> Iterator[Finding]:
    yield from checks.bytes_told(evidence)
    used = checks.mean_use(evidence)
    if used is None:
        yield unproven(f"{' '.join(evidence.bottleneck)}: its queues do not count bytes")
    else:
        yield checks.full(evidence, used, "was not full: it forwarded")


def _nothing_dropped(evidence: Evidence) -> Iterator[Finding]:
    """By the ports' own accounts, queues that no packet of ours is in included."""
    wred = evidence.change(evidence.bottleneck, "port", None, c.WRED_DROPPED_PACKETS)
    yield from port_drops.exactly_zero(evidence, wred)
    for where in dict.fromkeys((*path.opposite(evidence), evidence.bottleneck)):
        for counter in (c.BUFFER_DROPPED_IN_PACKETS, c.BUFFER_DROPPED_OUT_PACKETS):
            yield from port_drops.exactly_zero(
                evidence, evidence.change(where, "port", None, counter)
            )
