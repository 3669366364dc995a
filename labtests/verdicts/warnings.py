"""Does a switch warn of pause frames, where it sends or receives more a second than it was told to,
and nowhere else?

How a switch makes a rate of them is not known. So it has to warn where the mean of the whole phase
is far above the threshold, and must not where all frames of the phase are fewer than those of one
second may be; between them, nothing is said.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from labtests.capabilities import counters as c
from labtests.capabilities.records import PfcWarning, WarningLog
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks
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


def pauses_per_s(evidence: Evidence) -> dict[Port, float]:
    """What each sender's switch port sent to it, in the mean of the phase; 0 where it is unread."""
    seconds = max(evidence.end_s - evidence.start_s, 1.0)
    return {
        (at.key[0], at.key[1], at.key[3]): (at.increase or 0) / seconds for at in _sent(evidence)
    }


def _sent(evidence: Evidence) -> list[Difference]:
    """Pause frames that each sender's switch port sent, of its priority."""
    ports = dict.fromkeys(
        (place.switch, place.switch_port, place.queue if place.priority is None else place.priority)
        for place in evidence.senders
    )
    return [
        evidence.change((device, port), "priority", priority, c.PFC_TX_FRAMES)
        for device, port, priority in ports
    ]


def warned(evidence: Evidence, thresholds: Thresholds, way: Way = "sent") -> Verdict:
    """Each of these ports exceeded its threshold, and the switch warned of it. Without a way: of
    what they send to the senders."""
    return conclude(
        f"Did the switch warn of pause frames that it {way}?",
        evidence,
        _told(evidence, thresholds, way, exceeded=True),
        passing=f"a warning of each of {len(thresholds)} ports that {way} more pause frames than "
        "their thresholds, and of no other",
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
    for port, threshold in thresholds.items():
        told = new.pop(port, 0)
        counted = _counted(evidence, port, way)
        yield _of_port(evidence, counted, threshold, warnings=told, exceeded=exceeded)
    for port in sorted(new):
        if _counted(evidence, port, way).increase == 0:
            device, where, priority = port
            yield failed(
                f"{device} warned of pause frames of priority {priority} that {where} {way}, and "
                "there were none"
            )


def _counted(evidence: Evidence, port: Port, way: Way) -> Difference:
    device, where, priority = port
    return evidence.change((device, where), "priority", priority, _COUNTERS[way])


def _doubts(evidence: Evidence, thresholds: Thresholds, way: Way) -> Iterator[Finding]:
    """What was not read, or is not all."""
    if not (evidence.warnings and thresholds):
        yield unproven("no log was read, or of no port")
    for before, after in evidence.warnings:
        yield from _doubts_of_a_log(before, after)
    for port in thresholds:
        if (counted := _counted(evidence, port, way)).increase is None:
            yield missing(counted, "known", "frames")
    for sent in _sent(evidence) if way == "sent" else ():
        if (sent.key[0], sent.key[1], sent.key[3]) not in thresholds:
            yield unproven(f"{name_of(sent)}: nobody says how many a second may be sent")


def _doubts_of_a_log(before: WarningLog, after: WarningLog) -> Iterator[Finding]:
    if why := before.missing or after.missing:
        yield unproven(f"{after.device}: {why}")
    elif not 0 <= after.noted - before.noted <= after.kept:
        yield unproven(
            f"{after.device}: its log had {before.noted} messages before and {after.noted} after, "
            f"and keeps {after.kept}: those of this phase are not all there"
        )
    for sentence in sorted(set(after.unread) - set(before.unread)):
        yield unproven(f"{after.device} says what labtests does not know: {sentence}")


def _new(evidence: Evidence, way: Way) -> dict[Port, int]:
    """Warnings of this phase of what a port sends, or receives, how many."""
    found: dict[Port, int] = {}
    for before, after in evidence.warnings:
        for each in _since(before, after):
            if each.way == way:
                port = (after.device, each.port, each.priority)
                found[port] = found.get(port, 0) + 1
    return found


def _since(before: WarningLog, after: WarningLog) -> list[PfcWarning]:
    """Those of the one that the other has not; two may be alike."""
    left = list(before.warnings)
    new = []
    for each in after.warnings:
        if each in left:
            left.remove(each)
        else:
            new.append(each)
    return new


def _of_port(
    evidence: Evidence, counted: Difference, threshold: int, *, warnings: int, exceeded: bool
) -> Finding:
    frames, seconds = counted.increase or 0, max(evidence.end_s - evidence.start_s, 1.0)
    per_s = frames / seconds
    certainly, never = per_s >= CERTAINLY * threshold, frames < threshold
    fact = Fact(
        name=f"warnings of what {name_of(counted)} counts",
        measured=warnings,
        bound="> 0" if exceeded else "= 0",
        unit="warnings",
        note=f"{per_s:.3g} frames a second, {threshold} allowed",
    )
    said = f"{name_of(counted)} grew by {frames}, {per_s:.3g} a second"
    if certainly and not warnings:
        return failed(
            f"{said}, {per_s / threshold:.3g} times the threshold, and {counted.key[0]} "
            f"did not warn in {seconds:.3g} s",
            fact,
        )
    if never and warnings:
        return failed(
            f"{said}, less than the threshold of {threshold}, and {counted.key[0]} warned", fact
        )
    if (exceeded and certainly) or (never and not exceeded):
        return passed(fact)
    return unproven(f"{said}, too near to the threshold of {threshold} to say more", fact)
