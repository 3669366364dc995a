"""Does a PFC watchdog shut a queue that is paused for too long, and no other?"""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.capabilities.records import StormResult
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import checks, idle
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


def left_alone(evidence: Evidence) -> Verdict:
    """Storms too short for the watchdog shut no queue, and no packet was dropped."""
    return conclude(
        "Did the PFC watchdog leave short pauses alone?",
        evidence,
        _left_alone(evidence),
        passing=f"{_said(evidence)} shut no queue, and nothing was dropped",
    )


def _left_alone(evidence: Evidence) -> Iterator[Finding]:
    yield from _stormed(evidence)
    for priority in range(8):
        yield from _shut(evidence, priority, 0)
    for queue in evidence.queues:
        yield from checks.no_drop(evidence, queue)


def shut_in_time(evidence: Evidence) -> Verdict:
    """Every storm that lasted long enough shut the queue, which was served again after each; the
    other classes lost nothing."""
    return conclude(
        "Did the PFC watchdog shut the paused queue, and no other?",
        evidence,
        _shut_in_time(evidence),
        passing=f"{_said(evidence)} shut the queue each time; it was served again, and the other "
        "queues dropped nothing",
    )


def _shut_in_time(evidence: Evidence) -> Iterator[Finding]:
    yield from _stormed(evidence)
    if evidence.storm is None:
        return
    for priority in range(8):
        of_storm = priority == evidence.storm.priority
        yield from _shut(evidence, priority, evidence.storm.times if of_storm else 0)
    shut, served = (
        _counted(evidence, evidence.storm.priority, name)
        for name in (c.WATCHDOG_SHUTDOWNS, c.WATCHDOG_RESTORED)
    )
    if served.increase is None:
        yield missing(served, "as often as it was shut", "times")
    elif shut.increase is not None and served.increase != shut.increase:
        yield failed(
            f"{name_of(served)} grew by {served.increase}, and the queue was shut {shut.increase} "
            "times: it is still shut",
            fact_of(served, f"= {shut.increase}", "times"),
        )
    for queue in evidence.queues:
        if queue not in _of_storm(evidence, evidence.storm):
            yield from checks.no_drop(evidence, queue)


def _of_storm(evidence: Evidence, storm: StormResult) -> set[int]:
    return {place.queue for place in evidence.senders if place.priority == storm.priority}


def _stormed(evidence: Evidence) -> Iterator[Finding]:
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


def _shut(evidence: Evidence, priority: int, times: int) -> Iterator[Finding]:
    """The queue of this priority was shut exactly so often. One that is not watched has no counter,
    and need have none when it is not to be shut."""
    shut = _counted(evidence, priority, c.WATCHDOG_SHUTDOWNS)
    of_storm = evidence.storm is not None and priority == evidence.storm.priority
    if shut.increase is None:
        if of_storm:
            yield missing(shut, f"= {times}", "times")
    elif shut.increase != times:
        how = f"grew by {shut.increase}" if shut.increase else "stayed 0"
        yield failed(
            f"{name_of(shut)} {how}, not {times}, in {_said(evidence)}",
            fact_of(shut, f"= {times}", "times", -abs(times - shut.increase)),
        )
    else:
        yield passed(fact_of(shut, f"= {times}", "times", 0))


def _counted(evidence: Evidence, priority: int, counter: str) -> Difference:
    storm = evidence.storm
    port = evidence.bottleneck if storm is None else (storm.switch, storm.switch_port)
    return evidence.change(port, "priority", priority, counter)


def _said(evidence: Evidence) -> str:
    storm = evidence.storm
    if storm is None:
        return "no pause storm"
    return f"{storm.times} pause storms of {storm.lasting_ms} ms on priority {storm.priority}"
