"""Pause frames of a receiver: whom they hold where PFC works for their priority, and that they hold
nobody where it works for another one only (802.1Qbb: each priority by itself), nor where they are
of the whole link (802.3x), or for no class."""

from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.measure.evidence import Evidence, Place
from labtests.verdicts import checks, idle, packets, pauses, port_drops, storms, witnesses
from labtests.verdicts.bounds import MORE_THAN_NONE
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
    frames = sum(pauses.pauses_sent(evidence, p).increase or 0 for p in _paused(evidence))
    return conclude(
        "Did the pauses of the receiver go back to its senders, without loss?",
        evidence,
        _held_by_its_receiver(evidence, controls),
        passing=f"{receiver} held the line by {_said(evidence)}: its senders were paused by "
        f"{frames} frames, and nothing was lost",
        remedy=_of_drops(evidence),
    )


def _of_drops(evidence: Evidence) -> str:
    """A class that nobody paused has nothing to do with PFC of the one that was."""
    others = set(evidence.queues) - {place.queue for place in _paused(evidence)}
    for queue in sorted(others):
        if port_drops.queue_drops(evidence, queue).increase:
            port = " ".join(evidence.bottleneck)
            return f"nobody paused the class of queue {queue}: look at what {port} stops for pauses"
    return (
        f"{evidence.receiver.device} pauses: look at PFC of the priority at the ports that its "
        "senders are plugged into, and at their headroom"
    )


def _held_by_its_receiver(evidence: Evidence, controls: tuple[Evidence, ...]) -> Iterator[Finding]:
    yield from storms.stormed(evidence)
    yield from _nothing_lost(evidence, controls)
    for place in _paused(evidence):
        sent = pauses.pauses_sent(evidence, place)
        if not sent.increase:
            few = f"{name_of(sent)} stayed 0: no pause went back to {place.device}"
            fact = fact_of(sent, "> 0", "frames")
            yield missing(sent, "> 0", "frames") if sent.increase is None else unproven(few, fact)
        else:
            yield passed(fact_of(sent, MORE_THAN_NONE, "frames"))
        yield witnesses.pauses_agree(evidence, place)


def not_stopped(evidence: Evidence, *, controls: tuple[Evidence, ...] = ()) -> Verdict:
    """Pauses of a class for which PFC is off, of the whole link or for no class held nobody: all
    was sent as it was asked for, and forwarded, and no pause was passed on. A control had as many
    of a class, which came."""
    return conclude(
        f"Did pauses {_of(evidence.storm)} stop nothing?",
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
    yield from _counted_as_none(evidence, storm)
    for place in _paused(evidence):
        sent = pauses.pauses_sent(evidence, place)
        fact = fact_of(sent, "= 0", "frames")
        if sent.increase:
            port = f"{storm.switch} {storm.switch_port}"
            why = f"{name_of(sent)} grew by {sent.increase}, and {_HOLD_NOBODY[storm.form]}"
            yield failed(f"pauses {_of(storm)} held {port}: {why}", fact)
        elif sent.increase is None and not pauses.cannot_pause(evidence, place, sent):
            yield missing(sent, "= 0", "frames")


def _came(control: Evidence, evidence: Evidence) -> bool:
    """Whether the same storm, by pauses of its priority, came to the port there, by its own
    count. Of other pauses no port counts what it gets."""
    storm = control.storm
    if storm is None or evidence.storm is None:
        return False
    if storm.form != "priority" or storm != replace(evidence.storm, form="priority"):
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


_HOLD_NOBODY = {
    "priority": "PFC is off for it",
    "no source": "PFC is off for it",
    "link": "a port in PFC mode has to ignore them",
    "no class": "they name no priority",
}


def _counted_as_none(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """A pause of the link, or for no class, is none of any priority."""
    if storm.form not in ("link", "no class"):
        return
    for priority in range(8):
        port = (storm.switch, storm.switch_port)
        got = evidence.change(port, "priority", priority, c.PFC_RX_FRAMES)
        told = any(each and each.value is not None for each in (got.before, got.after))
        due = told or (priority == storm.priority and evidence.has(got))
        if got.increase is None and due:  # a port need not show priorities without PFC
            yield missing(got, "= 0", "frames")
        if got.increase:
            yield failed(
                f"{name_of(got)} grew by {got.increase} with pauses {_of(storm)}",
                fact_of(got, "= 0", "frames"),
            )


def _said(evidence: Evidence) -> str:
    storm = evidence.storm
    if storm is None:
        return "no pauses"
    return f"{storm.frames} pauses {_of(storm)} ({storm.times} x {storm.lasting_ms} ms)"


def _of(storm: StormResult | None) -> str:
    if storm is None:
        return "of nobody"
    if storm.form == "link":
        return "of the whole link (802.3x)"
    if storm.form == "no class":
        return "for no class"
    source = " without a source address" if storm.form == "no source" else ""
    return f"of priority {storm.priority}{source}"
