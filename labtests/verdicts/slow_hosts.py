"""Pause frames of a receiver: whom they hold where PFC works for their priority, and that they hold
nobody where it works for another one only (802.1Qbb: each priority by itself)."""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import checks, idle, packets, port_drops, questions, storms, witnesses
from labtests.verdicts.outcome import (
    Finding,
    Verdict,
    conclude,
    fact_of,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)


def held_by_its_receiver(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """The receiver paused a class, its senders were paused for it in turn, and nothing was lost."""
    receiver = evidence.receiver.device
    frames = sum(questions.pauses_sent(evidence, p).increase or 0 for p in _paused(evidence))
    return conclude(
        "Did the pauses of the receiver go back to its senders, without loss?",
        evidence,
        _held_by_its_receiver(evidence, controls),
        passing=f"{receiver} held the line by {_said(evidence)}: its senders were paused by "
        f"{frames} frames, and nothing was lost",
        remedy=f"{receiver} pauses: look at PFC of the priority at the ports that its senders are "
        "plugged into, and at their headroom",
    )


def _held_by_its_receiver(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from storms.stormed(evidence)
    yield from _nothing_lost(evidence, controls)
    for place in _paused(evidence):
        sent = questions.pauses_sent(evidence, place)
        if not sent.increase:
            few = f"{name_of(sent)} stayed 0: no pause went back to {place.device}"
            fact = fact_of(sent, "> 0", "frames")
            yield missing(sent, "> 0", "frames") if sent.increase is None else unproven(few, fact)
        else:
            yield passed(fact_of(sent, "> 0", "frames", sent.increase))
        yield witnesses.pauses_agree(evidence, place)


def not_stopped(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """The same pauses, of a class for which PFC is off, held nobody: all was sent as it was asked
    for, and forwarded, and no pause was passed on."""
    return conclude(
        "Did pauses of a class without PFC stop nothing?",
        evidence,
        _not_stopped(evidence, controls),
        passing=f"{_said(evidence)} held nobody: all that was sent was forwarded",
    )


def _not_stopped(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)
    storm = evidence.storm
    if storm is None or storm.because:
        yield unproven(storm.because if storm else "nobody stormed")
        return
    if not any(_came(control, evidence) for control in controls):
        yield unproven("no control has shown that the switch gets such pauses")
    yield from _nothing_lost(evidence, controls)
    for place in _paused(evidence):
        sent = questions.pauses_sent(evidence, place)
        fact = fact_of(sent, "= 0", "frames")
        if sent.increase:
            yield failed(f"{name_of(sent)} grew by {sent.increase}, and PFC is off for it", fact)
        elif sent.increase is None and not questions.cannot_pause(evidence, place, sent):
            yield missing(sent, "= 0", "frames")


def _came(control: Evidence, evidence: Evidence) -> bool:
    """Whether the same storm came to the port there, by its own count."""
    storm = control.storm
    if storm is None or storm != evidence.storm:
        return False
    port = (storm.switch, storm.switch_port)
    got = control.change(port, "priority", storm.priority, c.PFC_RX_FRAMES).increase
    return got is not None and got >= storm.frames


def _nothing_lost(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    """By proven counters of the class that was paused; the others' are in the balance."""
    storm = evidence.storm
    if storm is not None and not _paused(evidence):
        yield unproven(f"no sender of priority {storm.priority}, which was paused, was monitored")
    yield from packets.none_dropped(evidence, evidence.queues)
    for queue in sorted({place.queue for place in _paused(evidence)}):
        if evidence.kind != "control":
            yield port_drops.counter_proven(evidence, queue, controls)
    yield from storms.nothing_is_missing(evidence)


def _paused(evidence: Evidence) -> list[Place]:
    """The senders of the class that the storm pauses."""
    storm = evidence.storm
    return [p for p in evidence.senders if storm is not None and p.priority == storm.priority]


def _said(evidence: Evidence) -> str:
    storm = evidence.storm
    if storm is None:
        return "no pauses"
    times = f"{storm.times} x {storm.lasting_ms} ms"
    return f"{storm.frames} pauses of priority {storm.priority} ({times})"
