"""Before a run: is there a lab that an earlier run changed and did not put back?"""

import socket
from collections.abc import Callable
from pathlib import Path

from labtests.core.errors import LabError, LeaseBusy
from labtests.inventory import Testbed
from labtests.journal import (
    Begun,
    ChangeJournal,
    Unfinished,
    read_changes,
    register,
    unfinished_runs,
)
from labtests.journal.unfinished import LOOPBACK, one_at_a_time
from labtests.recovery.replay import recover

KNOCK_S = 1.0

Say = Callable[[str], None]


class LabHeld(LeaseBusy):
    """Another run that still lives, or may, works on this lab."""


class NotPutBack(LabError):
    """An earlier run died and left changes on this lab."""


def left_behind(testbed: Testbed, *, dry_run: bool, say: Say) -> list[Unfinished]:
    """The unfinished runs of this lab, the oldest first. A dry run has a fresh lab: none."""
    registered = drop_gone(say)
    return [] if dry_run else [run for run in registered if run.concerns(testbed)]


def drop_gone(say: Say) -> list[Unfinished]:
    """All unfinished runs but those whose simulated lab is gone, and with it what they changed:
    that is said once, and they are registered no more."""
    left = []
    for run in unfinished_runs():
        if gone := _gone_with_its_lab(run):
            run.remove()
            say(f"run {run.run} ({run.testbed}) did not end properly: {gone}")
        else:
            left.append(run)
    return left


def expect_put_back(testbed: Testbed, *, dry_run: bool, may_recover: bool, say: Say) -> None:
    """The lab is free and as it was found. Raises LabHeld, or NotPutBack unless `may_recover` and
    everything could be put back."""
    runs = left_behind(testbed, dry_run=dry_run, say=say)
    for run in runs:
        if problem := held_by(run):
            raise LabHeld(problem)
    refused = [run for run in runs if not may_recover and changes_left(run)]
    if refused:
        raise NotPutBack("\n".join(_refusal(run) for run in refused))
    for run in reversed(runs):  # the last changes first
        done = recover(run, testbed=testbed)
        for line in done.lines():
            say(line)
        if not done.complete:
            raise NotPutBack("\n".join(done.lines()))


def claim(journal: ChangeJournal, begun: Begun) -> None:
    """From now on the next run finds this journal. Raises LabHeld when another run that lives has
    claimed one of these boxes, and LabError when that cannot be remembered."""
    assert journal.pages is not None
    mine = Testbed(name=begun.testbed, file=Path(begun.file), devices=begun.devices)
    with one_at_a_time():
        others = [] if begun.dry_run else [r for r in unfinished_runs() if r.concerns(mine)]
        for other in others:
            if other.state == "alive":
                raise LabHeld(held_by(other))
        journal.registered = register(journal.pages.path, begun)


def held_by(run: Unfinished) -> str:
    """Why nobody else may touch this lab now; "" when its runner is dead."""
    state = run.state
    if state == "alive":
        return f"the lab is in use: run {run.run} of {run.testbed}, {run.runner}, still runs"
    if state == "unknown":
        return (
            f"run {run.run} of {run.testbed} ({run.runner}) is not finished, and from here it "
            "cannot be determined whether it still runs\n"
            f"  remedy: look there; if it is dead: {run.restore_command} --runner-is-dead"
        )
    return ""


def changes_left(run: Unfinished) -> bool:
    """Whether something is still to be undone, or that cannot be determined."""
    try:
        return bool(read_changes(run.journal).entries)
    except LabError:
        return True


def _refusal(run: Unfinished) -> str:
    try:
        entries = read_changes(run.journal).entries
    except LabError as error:
        return (
            f"run {run.run} ({run.runner}) did not end properly, and what it changed cannot be "
            f"read: {error}\n"
            f"  remedy: look at the lab, then: {run.restore_command} --forget"
        )
    each = "".join(f"\n    {e.intent.at} {e.intent.setting}" for e in entries)
    return (
        f"run {run.run} ({run.runner}) died and left {len(entries)} changes on this lab:{each}\n"
        f"  remedy: {run.restore_command}    (or run again with --recover)"
    )


def _gone_with_its_lab(run: Unfinished) -> str:
    """Why nothing is to be put back; "" when there may be something."""
    if not run.simulated or run.state != "dead":
        return ""
    if run.dry_run:
        return "a dry run; its simulated lab died with it, so nothing is to be put back"
    if all(place.startswith(LOOPBACK) and not _answers(place) for place in run.addresses):
        return "its lab was simulated and is not served any more, so nothing is to be put back"
    return ""


def _answers(place: str) -> bool:
    host, _, port = place.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), KNOCK_S):
            return True
    except (OSError, ValueError):
        return False
