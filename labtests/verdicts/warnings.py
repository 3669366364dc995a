"""Does a switch warn of pause frames, where it sends more a second than it was told to, and nowhere
else?

How a switch makes a rate of them is not known. So it has to warn where the mean of the whole phase
is far above the threshold, and must not where all frames of the phase are fewer than those of one
second may be; between them, nothing is said.
"""

from collections.abc import Iterator, Mapping

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

Port = tuple[str, str, int]
"""Device, port and priority."""
Thresholds = Mapping[Port, int]
"""Pause frames per second that may be sent."""
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


def warned(evidence: Evidence, thresholds: Thresholds) -> Verdict:
    """Each sender's switch port exceeded its threshold, and the switch warned of it."""
    return conclude(
        "Did the switch warn of pause frames?",
        evidence,
        _told(evidence, thresholds, exceeded=True),
        passing=f"a warning of each of {len(thresholds)} ports that sent more pause frames than "
        "their thresholds, and of no other",
    )


def silent(evidence: Evidence, thresholds: Thresholds) -> Verdict:
    """No sender's switch port exceeded its threshold, and the switch warned of none."""
    return conclude(
        "Did the switch keep silent about few pause frames?",
        evidence,
        _told(evidence, thresholds, exceeded=False),
        passing="no port sent more pause frames than its threshold, and there was no warning",
    )


def _told(evidence: Evidence, thresholds: Thresholds, *, exceeded: bool) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    doubts = tuple(_doubts(evidence, thresholds))
    yield from doubts
    if doubts:
        return
    new = _new(evidence)
    for sent in _sent(evidence):
        port = (sent.key[0], sent.key[1], sent.key[3])
        told = new.pop(port, 0)
        yield _of_port(evidence, sent, thresholds[port], warnings=told, exceeded=exceeded)
    for device, where, priority in sorted(new):
        others = evidence.change((device, where), "priority", priority, c.PFC_TX_FRAMES)
        if others.increase == 0:
            yield failed(
                f"{device} warned of pause frames that {where} sends of priority {priority}, and "
                "it sent none"
            )


def _doubts(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """What was not read, or is not all."""
    if not evidence.warnings:
        yield unproven("no log was read")
    for before, after in evidence.warnings:
        yield from _doubts_of_a_log(before, after)
    for sent in _sent(evidence):
        if sent.increase is None:
            yield missing(sent, "known", "frames")
        elif (sent.key[0], sent.key[1], sent.key[3]) not in thresholds:
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


def _new(evidence: Evidence) -> dict[Port, int]:
    """Warnings of this phase of what a port sends, how many."""
    found: dict[Port, int] = {}
    for before, after in evidence.warnings:
        for each in _since(before, after):
            if each.way == "sent":
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
    evidence: Evidence, sent: Difference, threshold: int, *, warnings: int, exceeded: bool
) -> Finding:
    frames, seconds = sent.increase or 0, max(evidence.end_s - evidence.start_s, 1.0)
    per_s = frames / seconds
    certainly, never = per_s >= CERTAINLY * threshold, frames < threshold
    fact = Fact(
        name=f"warnings of what {name_of(sent)} counts",
        measured=warnings,
        bound="> 0" if exceeded else "= 0",
        unit="warnings",
        note=f"{per_s:.3g} frames a second sent, {threshold} allowed",
    )
    said = f"{name_of(sent)} grew by {frames}, {per_s:.3g} a second"
    if certainly and not warnings:
        return failed(
            f"{said}, {per_s / threshold:.3g} times the threshold, and {sent.key[0]} did not warn",
            fact,
        )
    if never and warnings:
        return failed(
            f"{said}, less than the threshold of {threshold}, and {sent.key[0]} warned", fact
        )
    if (exceeded and certainly) or (never and not exceeded):
        return passed(fact)
    return unproven(f"{said}, too near to the threshold of {threshold} to say more", fact)
