"""Does a switch warn of pause frames, where it sends or receives more a second than it was told to,
and nowhere else?

How a switch makes a rate of them is not known. So it has to warn where the mean of the whole phase
is far above the threshold, and must not where all frames of the phase are fewer than those of one
second may be; between them, nothing is said.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, witnesses
from labtests.verdicts.logs import doubts_of_a_log, since
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)
from labtests.verdicts.storms import stormed

Port = tuple[str, str, int]
"""Device, port and priority."""
Thresholds = Mapping[Port, int]
"""Pause frames per second that may be sent, or received."""
Way = Literal["received", "sent"]
_COUNTERS = {"received": c.PFC_RX_FRAMES, "sent": c.PFC_TX_FRAMES}
CERTAINLY = 2.0
"""Times its threshold: so many a second, in the mean, exceed it in some second."""


def warned(evidence: Evidence, thresholds: Thresholds, way: Way = "sent") -> Verdict:
    """One of these ports at least exceeded its threshold, and the switch warned of each that
    did."""
    return conclude(
        f"Did the switch warn of pause frames that it {way}?",
        evidence,
        _told(evidence, thresholds, way, exceeded=True),
        passing=f"a warning of each port that {way} more pause frames than its threshold, and of "
        "no other",
    )


def silent(evidence: Evidence, thresholds: Thresholds, way: Way = "sent") -> Verdict:
    """None of these ports exceeded its threshold, and the switch warned of none."""
    return conclude(
        f"Did the switch keep silent about few pause frames that it {way}?",
        evidence,
        _told(evidence, thresholds, way, exceeded=False),
        passing=f"no port {way} more pause frames than its threshold, and there was no warning",
    )


def _told(
    evidence: Evidence, thresholds: Thresholds, way: Way, *, exceeded: bool
) -> Iterator[Finding]:
    if evidence.storm is None:
        yield from checks.ran(evidence)
        yield from checks.kept_pace(evidence)
    else:
        yield from stormed(evidence)
    doubts = tuple(_doubts(evidence, thresholds, way))
    yield from doubts
    if doubts:
        return
    new = _new(evidence, way)
    found = [
        _of_port(evidence, _counted(evidence, port, way), threshold, warnings=new.pop(port, 0))
        for port, threshold in thresholds.items()
    ]
    yield from (each.finding for each in found)
    if exceeded and not any(each.exceeded for each in found):
        yield unproven("no port is known to have exceeded its threshold")
    if not exceeded:
        yield from (unproven(each.said) for each in found if not each.below)
    yield from _of_others(evidence, sorted(new), way)


def _of_others(evidence: Evidence, ports: list[Port], way: Way) -> Iterator[Finding]:
    """Warnings of ports that are not asked about."""
    unread = []
    for port in ports:
        device, where, priority = port
        what = f"{device} warned of pause frames of priority {priority} that {where} {way}"
        increase = _counted(evidence, port, way).increase
        if increase == 0:
            yield failed(f"{what}, and there were none")
        elif increase is None:
            unread.append(what)
    if unread:
        more = "" if len(unread) == 1 else f" (and of {len(unread) - 1} more)"
        yield unproven(f"{unread[0]}{more}, and they were not counted")


def _counted(evidence: Evidence, port: Port, way: Way) -> Difference:
    device, where, priority = port
    return evidence.change((device, where), "priority", priority, _COUNTERS[way])


def _doubts(evidence: Evidence, thresholds: Thresholds, way: Way) -> Iterator[Finding]:
    """What was not read, or is not all."""
    if not (evidence.warnings and thresholds):
        yield unproven("no log was read, or of no port")
    for before, after in evidence.warnings:
        yield from doubts_of_a_log(before, after)
    if strange := {port[0] for port in thresholds} - {
        after.device for _, after in evidence.warnings
    }:
        yield unproven(f"the log of {min(strange)} was not read")
    for place in evidence.senders if way == "sent" else ():
        if place.priority is not None and (odd := witnesses.pauses_agree(evidence, place)).because:
            yield odd
    for port in thresholds:
        if (counted := _counted(evidence, port, way)).increase is None:
            yield missing(counted, "known", "frames")


def _new(evidence: Evidence, way: Way) -> dict[Port, int]:
    """Warnings of this phase of what a port sends, or receives, how many."""
    found: dict[Port, int] = {}
    for before, after in evidence.warnings:
        for each in since(before.messages, after.messages):
            if each.way == way:
                port = (after.device, each.port, each.priority)
                found[port] = found.get(port, 0) + 1
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Port:
    """What is known of one port: whether it exceeded its threshold, or stayed below, for certain;
    and what follows from its warnings."""

    said: str
    exceeded: bool
    below: bool
    finding: Finding


def _of_port(evidence: Evidence, counted: Difference, threshold: int, *, warnings: int) -> _Port:
    frames, seconds = counted.increase or 0, max(evidence.end_s - evidence.start_s, 1.0)
    per_s = frames / seconds
    exceeded, below = per_s >= CERTAINLY * threshold, frames < threshold
    said = f"{name_of(counted)} grew by {frames}, {per_s:.3g} a second, and {threshold} are allowed"
    fact = Fact(
        name=f"warnings of what {name_of(counted)} counts",
        measured=warnings,
        bound="> 0" if exceeded else "= 0" if below else ">= 0",
        unit="warnings",
        note=f"{per_s:.3g} frames a second, {threshold} allowed",
    )
    finding = passed(fact)
    if exceeded and not warnings:
        finding = failed(f"{said}: {counted.key[0]} did not warn in {seconds:.3g} s", fact)
    if below and warnings:
        finding = failed(f"{said}: {counted.key[0]} warned", fact)
    return _Port(said=said, exceeded=exceeded, below=below, finding=finding)
