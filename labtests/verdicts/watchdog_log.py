"""What a switch logs of its PFC watchdog, as a second witness beside what it displays.

Each message has to have its count in the display, and each count its message. A queue that is
served again is logged with the packets that were dropped meanwhile: those on their way out are the
display's drained + dropped, those on their way in its ingress dropped (document 001). Of all
shutdowns of a phase those on their way in are what its aggregate grew by; those on their way out
are no fewer than its aggregate, which has none that were drained, and no more than were sent. A
queue is shut and served again in turn.

Time stamps are whole seconds. So a queue may be called late only where it was shut, or served
again, more than a second behind the last moment at which that was due; nearer than that nothing is
said. When a storm began is not known: after it was asked for, and so long before its tool was seen
to have ended as it lasts. By that the last moment is told; a slow host makes no queue late.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from labtests.capabilities import counters as c
from labtests.capabilities.flows import StormResult
from labtests.capabilities.readings import DeviceLog, WatchdogMessage
from labtests.capabilities.records import WatchdogTimes
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts.logs import CLOCK_S, clock_ran_s, doubts_of_a_log, doubts_of_its_clock, since
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    disagreement,
    fact_of,
    failed,
    missing,
    name_of,
    passed,
    unproven,
)

RESOLUTION_S = 1.0
"""Of time stamps: what is stamped with a second was then, or less than one later."""
POLL_S = 0.1
"""So often the switch looks at its queues (document 001)."""
What = Literal["shut", "restored"]
_COUNTERS: dict[What, str] = {"shut": c.WATCHDOG_SHUTDOWNS, "restored": c.WATCHDOG_RESTORED}
_SAID: dict[What, str] = {"shut": "shut", "restored": "served again"}


def log_doubts(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """What is wrong with the log, or in it other than displayed; nothing where there is no log."""
    for before, after in evidence.watchdog_logs:
        broken = (*doubts_of_a_log(before, after), *doubts_of_its_clock(before, after))
        yield from broken
        if not broken:
            new = since(before.messages, after.messages)
            yield from _in_order(before, after, new)
            yield from _of_others(storm, new)
            yield from _as_often(evidence, storm, new)
            yield from _as_many(evidence, storm, new)
            yield from _in_turn(storm, new)


def _in_order(
    before: DeviceLog[WatchdogMessage],
    after: DeviceLog[WatchdogMessage],
    new: list[WatchdogMessage],
) -> Iterator[Finding]:
    """Messages of this phase are of its time, one behind the other."""
    if before.clock is None or after.clock is None:
        return
    earlier_s = before.clock.device_s - RESOLUTION_S - CLOCK_S
    for message in new:
        if not earlier_s <= message.device_s <= after.clock.device_s + CLOCK_S:
            yield unproven(
                f"{after.device}: the time stamps of its log go back, or are not of this phase: "
                f"{message.text}"
            )
        earlier_s = message.device_s


def _of_others(storm: StormResult, new: list[WatchdogMessage]) -> Iterator[Finding]:
    """Ports whose watchdog nobody displays."""
    others = [each for each in new if each.port != storm.switch_port]
    if others:
        yield unproven(f"the log of {storm.switch} is of another port, too: {others[0].text}")


def _in_turn(storm: StormResult, new: list[WatchdogMessage]) -> Iterator[Finding]:
    """A queue is shut first, and again only when it is served again. A log has its lines in their
    order, and stamps of one second leave nothing else to tell."""
    for queue in range(8):
        ours = _ours(storm, new, queue)
        if ours and ours[0].what == "restored":
            yield unproven(
                f"the log of {storm.switch} says that queue {queue} of {storm.switch_port} was "
                f"served again before it was shut: {ours[0].text}"
            )
        for one, other in pairwise(ours):
            if one.what == other.what:
                yield unproven(
                    f"the log of {storm.switch} says twice in turn that queue {queue} of "
                    f"{storm.switch_port} was {_SAID[one.what]}: {one.text}, and {other.text}"
                )


def _ours(storm: StormResult, new: list[WatchdogMessage], queue: int) -> list[WatchdogMessage]:
    return [m for m in new if (m.port, m.queue) == (storm.switch_port, queue)]


def _change(evidence: Evidence, storm: StormResult, queue: int, counter: str) -> Difference:
    return evidence.change((storm.switch, storm.switch_port), "priority", queue, counter)


def _as_often(
    evidence: Evidence, storm: StormResult, new: list[WatchdogMessage]
) -> Iterator[Finding]:
    """Each queue was shut, and served again, as often as displayed."""
    for queue in range(8):
        for what, counter in _COUNTERS.items():
            said = [each for each in _ours(storm, new, queue) if each.what == what]
            shown = _change(evidence, storm, queue, counter)
            if (shown.increase or 0) != len(said):
                last = f" (the last: {said[-1].text})" if said else ""
                yield disagreement(
                    f"the log of {storm.switch} has {_messages(said)} that queue {queue} of "
                    f"{storm.switch_port} was {_SAID[what]}{last}, and {name_of(shown)} "
                    f"{_grew(shown)}",
                    fact_of(shown, f"= {len(said)}, as logged", "times"),
                )


def _messages(said: list[WatchdogMessage]) -> str:
    return f"{len(said)} message{'' if len(said) == 1 else 's'}"


def _grew(shown: Difference) -> str:
    unknown = f"is not known: {shown.unusable}"
    return unknown if shown.increase is None else f"grew by {shown.increase}"


def _as_many(
    evidence: Evidence, storm: StormResult, new: list[WatchdogMessage]
) -> Iterator[Finding]:
    """Packets of the last time, which are displayed, too; and of all times together."""
    ours = _ours(storm, new, storm.priority)
    served = [each for each in ours if each.what == "restored"]
    if not served:
        return
    if ours[-1] is not served[-1]:
        return  # the display is of a later time, which is not over
    for counter, logged in (
        (c.WATCHDOG_LAST_DROPPED_PACKETS, served[-1].dropped_packets),
        (c.WATCHDOG_LAST_DROPPED_IN_PACKETS, served[-1].dropped_in_packets),
    ):
        shown = _last(evidence, storm, counter)
        if shown != logged:
            name = f"{storm.switch} {storm.switch_port} priority {storm.priority} {counter}"
            yield disagreement(
                f"the log says {logged} packets ({served[-1].text}), and {name} is "
                f"{'not known' if shown is None else shown}",
                Fact(name=name, measured=shown, bound=f"= {logged}, as logged", unit="packets"),
            )
    every = sum(each.dropped_in_packets or 0 for each in served)
    grew = _change(evidence, storm, storm.priority, c.WATCHDOG_DROPPED_IN_PACKETS)
    if grew.increase != every:
        yield disagreement(
            f"the log of {storm.switch} has {every} ingress packets in {_messages(served)}, "
            f"and {name_of(grew)} {_grew(grew)}",
            fact_of(grew, f"= {every}, as logged", "packets"),
        )
    yield from _way_out(evidence, storm, served)


def _way_out(
    evidence: Evidence, storm: StormResult, served: list[WatchdogMessage]
) -> Iterator[Finding]:
    """On their way out, of all times together: no fewer than the aggregate, which is without those
    that were drained, and no more than were sent; where these are counted."""
    every = sum(each.dropped_packets or 0 for each in served)
    says = f"the log of {storm.switch} has {every} egress packets in {_messages(served)}, and"
    shown = _change(evidence, storm, storm.priority, c.WATCHDOG_DROPPED_OUT_PACKETS)
    bound = f"<= {every}, as logged"
    if shown.increase is None and evidence.has(shown):
        yield missing(shown, bound, "packets")
    if (shown.increase or 0) > every:
        fact = fact_of(shown, bound, "packets")
        yield disagreement(f"{says} {name_of(shown)} {_grew(shown)}", fact)
    sent = [
        evidence.change((place.device, place.port), "priority", place.priority, c.TX_PACKETS)
        for place in evidence.senders
        if place.priority == storm.priority
    ]
    most = sum(each.increase or 0 for each in sent)
    if every > most and all(each.increase is not None for each in sent):
        named = ", ".join(map(name_of, sent))
        fact = Fact(name=named, measured=most, bound=f">= {every}, as logged", unit="packets")
        yield disagreement(f"{says} only {most} were sent ({named})", fact)


def _last(evidence: Evidence, storm: StormResult, counter: str) -> int | None:
    """What is displayed of the last time, which is no count that goes on."""
    key = (storm.switch, storm.switch_port, "priority", storm.priority, counter)
    return next((each.value for each in evidence.after if each.key == key), None)


def logged_in_time(evidence: Evidence, storm: StormResult) -> Iterator[Finding]:
    """Each time the queue was shut, and served again, no later than is due: interval and
    multiplier, and one poll; as far as whole seconds tell."""
    for before, after in evidence.watchdog_logs:
        ours = _ours(storm, since(before.messages, after.messages), storm.priority)
        ahead_s, times = clock_ran_s(after), evidence.watchdog
        if ahead_s is None or times is None or len(storm.spans_s) != storm.times:
            yield unproven(f"when the storms were, or what {storm.switch} waits, is not known")
            continue
        for what in _COUNTERS:
            found = [each for each in ours if each.what == what]
            for span_s, message in zip(storm.spans_s, found, strict=False):
                due_s = _due_s(storm, times, what, span_s)
                if due_s is not None:
                    yield _on_time(message, message.device_s - ahead_s, span_s[0], due_s)


def _due_s(
    storm: StormResult, times: WatchdogTimes, what: What, span_s: tuple[float, float]
) -> tuple[float, float] | None:
    """The first and the last moment at which it is due, for a storm that was inside of this span
    and lasted at least as long as told; None: nothing tells."""
    detect_s, quiet_s, lasts_s = (
        ms / 1000 for ms in (times.shut_after_ms, times.quiet_ms, storm.lasting_ms)
    )
    asked_s, ended_s = span_s
    if what == "shut":
        return asked_s + detect_s, max(asked_s, ended_s - lasts_s) + detect_s + POLL_S
    if not quiet_s:
        return None
    return asked_s + lasts_s + quiet_s, max(asked_s + lasts_s, ended_s) + quiet_s + POLL_S


def _on_time(
    message: WatchdogMessage, at_s: float, asked_s: float, due_s: tuple[float, float]
) -> Finding:
    """`at_s`: when it was logged, or up to RESOLUTION_S later; all of the lab's clock."""
    first_s, last_s = due_s
    fact = Fact(
        name=f"{message.port} queue {message.queue} {_SAID[message.what]}, as logged",
        measured=round(at_s - asked_s, 1),
        bound=f"<= {last_s - asked_s:.1f}",
        unit="s",
        margin=round(last_s - at_s, 1),
        note=f"after its storm was asked for, or up to {RESOLUTION_S:g} s later (time stamps are "
        f"whole seconds); due {first_s - asked_s:.1f} s after it, if the storm began at once",
    )
    if at_s - CLOCK_S > last_s:
        return failed(
            f"queue {message.queue} of {message.port} was {_SAID[message.what]} "
            f"{at_s - asked_s:.1f} s after its storm was asked for, and {last_s - asked_s:.1f} s "
            f"are the most: {message.text}",
            fact,
        )
    if at_s + RESOLUTION_S + CLOCK_S < first_s:
        return disagreement(f"it was logged before it can have been due: {message.text}", fact)
    return passed(fact)
