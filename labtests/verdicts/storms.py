"""Does a PFC watchdog shut a queue that is paused for too long, and no other?"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.measure.evidence import Difference, Evidence, Place
from labtests.verdicts import checks, idle, packets, path, port_drops
from labtests.verdicts.bounds import at_least, at_most, exactly
from labtests.verdicts.outcome import (
    Finding,
    Outcome,
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
from labtests.verdicts.watchdog_log import POLL_S, log_doubts, logged_in_time

SERVED_SHARE = 0.5
"""Of what was sent in the paused class: less was forwarded, and its queue was not served again. The
suite's storms, with the longest time until a queue is served again, are a third of a phase."""
HELD_SHARE = 0.95
"""Of what a queue is sent in the time for which it has to stay shut, it has dropped so much."""
SOON_SHARE = 0.9
"""Of what a queue is sent while no storm keeps it shut, it has forwarded so much: what the switch
held when a storm began is dropped, too."""


def left_alone(evidence: Evidence) -> Verdict:
    """Storms too short for the watchdog shut no queue, and no packet was lost."""
    return conclude(
        "Did the PFC watchdog leave short pauses alone?",
        evidence,
        _left_alone(evidence),
        passing=f"{_said(evidence)} shut no queue, and nothing was lost",
    )


def _left_alone(evidence: Evidence) -> Iterator[Finding]:
    yield from packets.none_dropped(evidence, evidence.read_queues)
    doubts = (*stormed(evidence), *_logged_otherwise(evidence))
    yield from doubts
    if any(finding.outcome is not Outcome.PASS for finding in doubts):
        return
    for priority in range(8):
        yield from _counted_as(evidence, priority, c.WATCHDOG_SHUTDOWNS, 0)
        yield from _counted_as(evidence, priority, c.WATCHDOG_RESTORED, 0)
    yield from port_drops.none_dropped_by_ports(evidence)
    yield from _none_by_the_watchdog(evidence)
    yield from nothing_is_missing(evidence)


def shut_in_time(evidence: Evidence) -> Verdict:
    """Every storm that lasted long enough shut the queue, which was served again after each; the
    other classes lost nothing."""
    return conclude(
        "Did the PFC watchdog shut the paused queue, and no other?",
        evidence,
        _shut_in_time(evidence),
        passing=f"{_said(evidence)} shut the queue each time; it was served again, and the other "
        f"queues lost nothing{_and_logged(evidence)}",
    )


def _shut_in_time(evidence: Evidence) -> Iterator[Finding]:
    """Where nobody stormed as asked, nothing more is said; where the switch says two things of the
    paused queue, what the others lost is said all the same."""
    storm, doubts = evidence.storm, tuple(stormed(evidence))
    yield from doubts
    if storm is None or any(finding.outcome is not Outcome.PASS for finding in doubts):
        return
    doubts = tuple(_doubts(evidence, storm))
    yield from doubts
    if doubts and evidence.kind == "control":
        return
    for priority in sorted(set(range(8)) - {storm.priority}):
        yield from _counted_as(evidence, priority, c.WATCHDOG_SHUTDOWNS, 0)
    if not doubts:  # else what was done to the paused queue is not known
        yield from _counted_as(evidence, storm.priority, c.WATCHDOG_SHUTDOWNS, storm.times)
        yield from _served_again(evidence, storm)
        yield from _shut_long_enough(evidence, storm)
        yield from _served_soon_enough(evidence, storm)
        yield from logged_in_time(evidence, storm)
    paused = {place.queue for place in _paused(evidence, storm)}
    yield from packets.none_dropped(evidence, set(evidence.read_queues) - paused)
    yield from nothing_is_missing(evidence)


def _logged_otherwise(evidence: Evidence) -> Iterator[Finding]:
    return iter(()) if evidence.storm is None else log_doubts(evidence, evidence.storm)


def kept_through(evidence: Evidence) -> Verdict:
    """Storms too short for a pause time-out lost no packet."""
    return conclude(
        "Did the pause time-out leave short pauses alone?",
        evidence,
        _kept_through(evidence),
        passing=f"nothing was lost in {_said(evidence)}",
    )


def _kept_through(evidence: Evidence) -> Iterator[Finding]:
    yield from packets.none_dropped(evidence, evidence.read_queues)
    yield from stormed(evidence)
    yield from port_drops.none_dropped_by_ports(evidence)
    yield from _none_by_the_watchdog(evidence)
    yield from _none_at_other_ports(evidence)
    yield from nothing_is_missing(evidence)


def dropped_all(evidence: Evidence, *, within_ms: int) -> Verdict:
    """Every storm that lasted long enough made the port drop all that it had to send, of every
    class, after `within_ms` at the latest; what came in, and other ports, lost nothing."""
    return conclude(
        "Did the pause time-out drop all that left the paused port, and nothing else?",
        evidence,
        _dropped_all(evidence, within_ms),
        passing=f"{_said(evidence)} each made the port drop every class; what came in, and other "
        "ports, lost nothing",
    )


def _dropped_all(evidence: Evidence, within_ms: int) -> Iterator[Finding]:
    """Where a packet is in no counter, or nobody stormed as asked, what the port dropped is not
    known."""
    storm = evidence.storm
    yield from _none_at_other_ports(evidence)
    doubts = (*stormed(evidence), *nothing_is_missing(evidence))
    doubts += () if storm is None else tuple(_held_back(evidence, storm))
    doubts += () if evidence.kind == "control" else tuple(_by_the_watchdog(evidence))
    yield from doubts
    if storm is None or any(finding.outcome is Outcome.INCONCLUSIVE for finding in doubts):
        return
    dropping_s = storm.times * (storm.lasting_ms - within_ms) / 1000
    most_s = sum(end - start + POLL_S for start, end in _spans(storm))
    for queue in evidence.queues:
        held = queue in {place.queue for place in _paused(evidence, storm)}
        rate = _datagrams_per_s(evidence, queue)
        if rate is None:
            yield unproven(f"how long the flows of queue {queue} sent is not told")
            continue
        drops = port_drops.queue_drops(evidence, queue)
        least = 1 if held else max(1, int(rate * dropping_s))
        bound = at_least(least)
        if drops.increase is None:
            yield missing(drops, bound.said, "packets")
        elif drops.increase < least:
            yield failed(
                f"{name_of(drops)} grew by {drops.increase}, not by {least} or more, in "
                f"{_said(evidence)}",
                fact_of(drops, bound, "packets"),
            )
        elif not held and drops.increase > (most := int(rate * most_s) + path.STRAYS):
            yield failed(
                f"{name_of(drops)} grew by {drops.increase}, more than it is sent in "
                f"{_said(evidence)} ({most}): the port drops when it is paused no longer",
                fact_of(drops, at_most(most), "packets"),
            )
        else:
            yield passed(fact_of(drops, bound, "packets"))


def _spans(storm: StormResult) -> tuple[tuple[float, float], ...]:
    """When each was asked for, and seen to have ended; at the least as long as it was to last."""
    return storm.spans_s or ((0.0, storm.lasting_ms / 1000),) * storm.times


def _of_the_watchdog(evidence: Evidence) -> Difference:
    """What the stormed port says that it dropped for a pause, of all queues: where it counts it."""
    storm = evidence.storm
    port = evidence.bottleneck if storm is None else (storm.switch, storm.switch_port)
    return evidence.change(port, "port", None, c.WATCHDOG_DROPPED_PACKETS)


def _none_by_the_watchdog(evidence: Evidence) -> Iterator[Finding]:
    dropped = _of_the_watchdog(evidence)
    if evidence.has(dropped):
        yield from port_drops.exactly_zero(evidence, dropped)


def _none_at_other_ports(evidence: Evidence) -> Iterator[Finding]:
    """Those opposite the senders drop nothing for a pause, where they count it: nobody pauses
    them."""
    stormed_at = _of_the_watchdog(evidence).key[:2]
    for where in dict.fromkeys((p.switch, p.switch_port) for p in evidence.senders):
        dropped = evidence.change(where, "port", None, c.WATCHDOG_DROPPED_PACKETS)
        if where != stormed_at and evidence.has(dropped):
            yield from port_drops.exactly_zero(evidence, dropped)


def _by_the_watchdog(evidence: Evidence) -> Iterator[Finding]:
    """Some of what the port's queues dropped, and no more than that; nothing where they did not."""
    dropped = _of_the_watchdog(evidence)
    if not evidence.has(dropped):
        return
    if dropped.increase is None:
        yield missing(dropped, "> 0", "packets")
        return
    queues = path.of_queues(evidence, dropped.key[:2], c.QUEUE_DROPPED_PACKETS)
    most = sum(each.increase or 0 for each in queues)
    fact = fact_of(dropped, f"{min(most, 1)} to {most}", "packets", most - dropped.increase)
    grew = f"grew by {dropped.increase}" if dropped.increase else "stayed 0"
    said = f"{name_of(dropped)} {grew}, and its queues dropped {most}"
    agrees = min(most, 1) <= dropped.increase <= most
    yield passed(fact) if agrees else disagreement(said, fact)


def _datagrams_per_s(evidence: Evidence, queue: int, *, held_s: float = 0) -> float | None:
    """So many were sent into a queue, by flows that were held for so long at least; None where a
    tool does not say for how long it sent."""
    pairs = zip(evidence.senders, evidence.flows, strict=False)
    flows = [flow for place, flow in pairs if place.queue == queue]
    ran = [flow for flow in flows if flow.ran_s and flow.ran_s > held_s]
    rates = [(flow.sent_datagrams or 0) / (flow.ran_s - held_s) for flow in ran if flow.ran_s]
    return sum(rates) if rates and len(rates) == len(flows) else None


def _paused(evidence: Evidence, storm: StormResult) -> list[Place]:
    """The senders of the class that the storm pauses."""
    return [place for place in evidence.senders if place.priority == storm.priority]


def _doubts(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """Counters that contradict each other, or the log; a storm that held nothing, a control that
    was none."""
    yield from log_doubts(evidence, storm)
    shut, served, lost = (
        _counted(evidence, storm.priority, name)
        for name in (
            *(c.WATCHDOG_SHUTDOWNS, c.WATCHDOG_RESTORED),
            c.WATCHDOG_DROPPED_OUT_PACKETS,
        )
    )
    queues = dict.fromkeys(place.queue for place in _paused(evidence, storm))
    dropped = [port_drops.queue_drops(evidence, queue) for queue in queues]
    for witness in dropped if shut.increase is not None else ():
        if witness.increase is not None and bool(witness.increase) != bool(shut.increase):
            yield _contradicts(shut, witness, "packets")
    if shut.increase == 0 and lost.increase:
        yield _contradicts(shut, lost, "packets")
    times = (shut.increase, served.increase)
    if None not in times and (times[0] or 0) - (times[1] or 0) not in (0, 1):
        yield _contradicts(shut, served, "times")  # it is shut again only when it is served again
    if shut.increase == 0:
        yield from _held_back(evidence, storm)
    if evidence.kind == "control" and any(
        _counted(evidence, priority, c.WATCHDOG_SHUTDOWNS).increase
        for priority in set(range(8)) - {storm.priority}
    ):
        yield unproven(
            "a queue that nobody paused was shut, too: so this run is not a control of the storm"
        )


def _contradicts(shut: Difference, witness: Difference, unit: str) -> Finding:
    return disagreement(
        f"{name_of(shut)} grew by {shut.increase}, and {name_of(witness)} by {witness.increase}",
        fact_of(witness, "> 0 exactly when it was shut", unit),
    )


def _held_back(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """The class filled the switches so far that they paused a sender of it."""
    ports = ((place.switch, place.switch_port) for place in _paused(evidence, storm))
    pauses = (evidence.change(p, "priority", storm.priority, c.PFC_TX_FRAMES) for p in ports)
    if not any(each.increase for each in pauses):
        yield unproven(
            f"no sender of priority {storm.priority} was paused by its switch in {_said(evidence)}:"
            " the storms held nothing, their pause frames may be too short or too far apart"
        )


def _served_again(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    shut, served = (
        _counted(evidence, storm.priority, name)
        for name in (c.WATCHDOG_SHUTDOWNS, c.WATCHDOG_RESTORED)
    )
    if served.increase is None or shut.increase is None:
        yield missing(served, "as often as it was shut", "times")
    elif served.increase != shut.increase:
        yield failed(
            f"{name_of(served)} grew by {served.increase}, and it was shut {shut.increase} times: "
            "it is still shut",
            fact_of(served, f"= {shut.increase}", "times"),
        )
    for place in _paused(evidence, storm):
        sent = evidence.change((place.device, place.port), "priority", place.priority, c.TX_PACKETS)
        moved = port_drops.queue_forwarded(evidence, place.queue)
        least = SERVED_SHARE * (sent.increase or 0)
        if moved.increase is None or moved.increase < least:
            yield unproven(
                f"{name_of(moved)} grew by {moved.increase} of {sent.increase} packets sent: less "
                "than a queue forwards that is served again after each storm",
                fact_of(moved, f">= {least:.0f}", "packets"),
            )


def _shut_long_enough(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """A queue that was shut late and is served again when the watchdog's time without pauses is
    over has dropped what was sent into it meanwhile: no less than its flows' mean rate, since
    nobody holds them, as before it was shut, and what waited comes on top."""
    times, queues = evidence.watchdog, {place.queue for place in _paused(evidence, storm)}
    if times is None or not times.auto_restore_multiplier or times.fixed_restore_multiplier:
        return  # nobody says for how long, or the switch does not wait for the last pause
    shut_ms = storm.lasting_ms - times.shut_after_ms - 1000 * POLL_S + times.quiet_ms
    held_s = storm.times * times.shut_after_ms / 1000
    for queue in sorted(queues):
        rate = _datagrams_per_s(evidence, queue, held_s=held_s)
        dropped = port_drops.queue_drops(evidence, queue)
        if rate is None or dropped.increase is None:
            yield unproven(
                f"what queue {queue} was sent, or dropped, while it was shut is not told"
            )
            continue
        least = int(HELD_SHARE * rate * storm.times * shut_ms / 1000)
        fact = fact_of(dropped, at_least(least), "packets")
        if dropped.increase >= least:
            yield passed(fact)
        else:
            yield unproven(
                f"{name_of(dropped)} grew by {dropped.increase}: fewer than it is sent in the "
                f"{storm.times} x {shut_ms:g} ms for which it has to stay shut ({least}); it was "
                "served again too early, or its sender sent less meanwhile",
                fact,
            )


def _served_soon_enough(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """From the begin of a storm until the watchdog's time without pauses is over, and one look of
    the switch later, nothing need be forwarded; all the rest of the time it is, as it is offered:
    by that a queue that is served again too late is told where the switch keeps no log."""
    times = evidence.watchdog
    if times is None or not times.auto_restore_multiplier or times.fixed_restore_multiplier:
        return
    quiet_s = times.quiet_ms / 1000 + POLL_S
    closed_s = sum(end - start + quiet_s for start, end in _spans(storm))
    for queue in sorted({place.queue for place in _paused(evidence, storm)}):
        offered = _offered_datagrams(evidence, queue, closed_s=closed_s)
        moved = port_drops.queue_forwarded(evidence, queue)
        if offered is None or moved.increase is None:
            continue  # said elsewhere
        least = int(SOON_SHARE * offered)
        fact = fact_of(moved, at_least(least), "packets")
        if moved.increase >= least:
            yield passed(fact)
        else:
            yield unproven(
                f"{name_of(moved)} grew by {moved.increase}: fewer than it is offered while it has "
                f"to be served ({least}); it was served again later than {1000 * quiet_s:g} ms "
                "behind a storm, or its sender sent less meanwhile",
                fact,
            )


def _offered_datagrams(evidence: Evidence, queue: int, *, closed_s: float) -> float | None:
    """By all flows into a queue, but for so long; None where a tool does not say."""
    total = 0.0
    for place, flow in zip(evidence.senders, evidence.flows, strict=False):
        if place.queue != queue:
            continue
        sent, asked, _ = checks.sent_and_asked(flow)
        if not (sent and asked and flow.ran_s and flow.sent_datagrams):
            return None
        total += flow.sent_datagrams / sent * asked * max(1 - closed_s / flow.ran_s, 0.0)
    return total


def nothing_is_missing(evidence: Evidence) -> Iterator[Finding]:
    """Every packet is forwarded or dropped, and received, by all that count it; and no port on the
    way dropped one."""
    yield from port_drops.switch_ports_kept(evidence)
    yield from packets.accounted(evidence)


def stormed(evidence: Evidence) -> Iterator[Finding]:
    """The traffic ran, and the port was paused by as many frames as were sent."""
    yield from checks.ran(evidence)
    yield from checks.kept_pace(evidence)
    yield from idle.quiet_queues(evidence, evidence.queues)
    storm = evidence.storm
    if storm is None or storm.because:
        yield unproven(storm.because if storm else "nobody stormed")
        return
    port = (storm.switch, storm.switch_port)
    received = evidence.change(port, "priority", storm.priority, c.PFC_RX_FRAMES)
    bound = f">= {storm.frames}"
    if received.increase is None:
        yield missing(received, bound, "frames")
    elif received.increase < storm.frames:
        yield unproven(
            f"{name_of(received)} grew by {received.increase} of the {storm.frames} pause frames "
            "that the host was told to send: its NIC does not send them, or the port takes none",
            fact_of(received, bound, "frames"),
        )
    else:
        yield passed(fact_of(received, bound, "frames", received.increase - storm.frames))


def _counted_as(evidence: Evidence, priority: int, counter: str, times: int) -> Iterator[Finding]:
    """The queue of this priority was shut, or served again, exactly so often. One that is not
    watched has no counter, and need have none when it is not to be shut."""
    shut = _counted(evidence, priority, counter)
    of_storm = evidence.storm is not None and priority == evidence.storm.priority
    if shut.increase is None:
        if of_storm:
            yield missing(shut, f"= {times}", "times")
    elif shut.increase != times:
        how = f"grew by {shut.increase}" if shut.increase else "stayed 0"
        yield failed(
            f"{name_of(shut)} {how}, not {times}, in {_said(evidence)}",
            fact_of(shut, exactly(times), "times"),
        )
    else:
        yield passed(fact_of(shut, exactly(times), "times"))


def _counted(evidence: Evidence, priority: int, counter: str) -> Difference:
    storm = evidence.storm
    port = evidence.bottleneck if storm is None else (storm.switch, storm.switch_port)
    return evidence.change(port, "priority", priority, counter)


def _and_logged(evidence: Evidence) -> str:
    return "; the log says the same, in whole seconds" if evidence.watchdog_logs else ""


def _said(evidence: Evidence) -> str:
    storm = evidence.storm
    if storm is None:
        return "no pause storm"
    return f"{storm.times} pause storms of {storm.lasting_ms} ms on priority {storm.priority}"
