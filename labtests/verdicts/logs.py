"""Logs of switches as evidence: what is new in one, and whether all of a phase is in it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

from labtests.capabilities.readings import DeviceLog
from labtests.verdicts.outcome import Finding, unproven

T = TypeVar("T")
CLOCK_S = 1.0
"""So much may the time that passed by a switch's clock differ from that of the lab, in a phase:
what it takes to be asked for."""


def since(before: tuple[T, ...], after: tuple[T, ...]) -> list[T]:
    """Those of a log that it did not have before; two may be alike."""
    left = Counter(before)
    new = []
    for each in after:
        if left[each]:
            left[each] -= 1
        else:
            new.append(each)
    return new


def doubts_of_a_log(before: DeviceLog[Any], after: DeviceLog[Any]) -> Iterator[Finding]:
    """What was not read, is not all, or is not understood."""
    if why := before.missing or after.missing:
        yield unproven(f"{after.device}: {why}")
    elif before.device != after.device:
        yield unproven(f"the log of {after.device} is held against that of {before.device}")
    elif after.noted <= after.kept and Counter(before.messages) - Counter(after.messages):
        yield unproven(f"{after.device}: its log was cleared meanwhile")
    elif not 0 <= after.noted - before.noted <= after.kept:
        yield unproven(
            f"{after.device}: its log had {before.noted} messages before and {after.noted} after, "
            f"and keeps {after.kept}: those of this phase are not all there"
        )
    elif after.noted - before.noted < len(since(before.messages, after.messages)):
        yield unproven(f"{after.device}: its log shows more new messages than it counts")
    if new := since(before.unread, after.unread):
        times = "" if len(new) == 1 else f" in {len(new)} lines, of which the first is"
        yield unproven(f"{after.device} says what labtests does not know{times}: {new[0]}")


def clock_ran_s(log: DeviceLog[Any]) -> float | None:
    """How far the clock of its time stamps is ahead of the lab's; None: not known."""
    return None if log.clock is None else log.clock.device_s - log.clock.lab_s


def doubts_of_its_clock(before: DeviceLog[Any], after: DeviceLog[Any]) -> Iterator[Finding]:
    """Whether it was set during the phase, or was not read."""
    first, last = clock_ran_s(before), clock_ran_s(after)
    if first is None or last is None:
        yield unproven(f"{after.device}: the clock of its log was not read")
    elif abs(last - first) > CLOCK_S:
        yield unproven(
            f"{after.device}: its clock was set by {last - first:+.1f} s during the phase, so the "
            "time stamps of its log say nothing"
        )
