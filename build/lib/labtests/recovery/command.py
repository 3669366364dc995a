"""`labtests restore [RUN]`: what it does, without the command line around it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote

from labtests.core.errors import LabError, LeaseBusy
from labtests.inventory import Testbed
from labtests.journal import InUse, Unfinished, read_changes
from labtests.recovery import replay
from labtests.recovery.asking import NotAgreed, Source, expect_yes
from labtests.recovery.guard import changes_left, drop_gone, held_by
from labtests.recovery.replay import find, recover

DONE, LEFT, HELD = 0, 10, 15

Say = Callable[[str], None]
Agree = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRequest:
    """What the command line asks for. No `runs`: all unfinished ones. `agree` asks a person whether
    to go on, having said what with; without it nobody can be asked."""

    runs: Sequence[str] = ()
    testbed: Testbed | None = None
    only_list: bool = False
    runner_is_dead: bool = False
    without_lease: bool = False
    forget: bool = False
    agree: Agree | None = None


def restore(asked: RecoveryRequest, say: Say) -> int:
    """Put back these runs, or all unfinished ones, the newest first; the exit code.

    Raises LabError for a name that means no run."""
    if asked.forget and not asked.runs:
        raise LabError("--forget needs the RUN that is given up")
    registered = drop_gone(say)
    runs = [find(name) for name in asked.runs] or [
        run for run in registered if asked.only_list or not _is_at_work(run, say)
    ]
    if not runs:
        say("no unfinished runs; nothing to restore")
    if asked.only_list:
        for run in runs:
            say(_listed(run))
        return DONE
    put_back = partial(_recover, asked=asked, kept=bool(asked.runs))
    act = _forget if asked.forget else put_back
    act = partial(act, say=say)
    codes = [DONE]
    try:
        while runs:
            run = runs.pop()
            codes.append(_held(run, say, asked.runner_is_dead) or _tried(run, act, say))
    except _Stopped:
        for run in reversed(runs):
            say(f"run {run.run} was not looked at: {run.restore_command}")
        return LEFT
    return max(codes)


class _Stopped(Exception):
    """A signal has come, and the run that was being put back is in order."""


def _held(run: Unfinished, say: Say, dead: bool) -> int:
    if _ended(run):  # whoever it was, it is done with the lab
        return DONE
    state = run.state
    if state == "alive" or (state == "unknown" and not dead):
        say(held_by(run))
        return HELD
    return DONE


def _is_at_work(run: Unfinished, say: Say) -> bool:
    """Whether nobody but its own runner has anything to do for it."""
    if run.state != "alive" or _ended(run):
        return False
    say(f"run {run.run} of {run.testbed} ({run.runner}) still runs: left to itself")
    return True


def _ended(run: Unfinished) -> bool:
    try:
        return read_changes(run.journal).ended
    except LabError:
        return False


def _tried(run: Unfinished, act: Callable[[Unfinished], int], say: Say) -> int:
    try:
        return act(run)
    except InUse as error:
        say(f"run {run.run}: somebody else puts it back at this moment ({error})")
        return HELD
    except LeaseBusy as error:
        say(f"run {run.run}: {error}")
        return HELD
    except NotAgreed:
        raise
    except LabError as error:
        say(f"run {run.run}: {error}\n  remedy: look at the lab, then restore {run.run} --forget")
        return LEFT


def _recover(run: Unfinished, *, asked: RecoveryRequest, say: Say, kept: bool) -> int:
    if run.file is None:  # not of this user's own index: somebody may have handed it over
        expect_agreed(run, asked.testbed, asked.agree)
    done = recover(run, testbed=asked.testbed, kept=kept, without_lease=asked.without_lease)
    for line in done.lines():
        say(line)
    if done.stopped_by:
        say(f"nothing more is done; to go on: {_again(run)}" if done.problems else "that was all")
        raise _Stopped
    if done.complete:
        return DONE
    say(
        f"something is left: fix it and run `{_again(run)}` again, which checks it "
        "(or give up: --forget)"
    )
    return LEFT


def expect_agreed(run: Unfinished, testbed: Testbed | None, agree: Agree | None) -> None:
    """A person knows where the journal leads, as far as the testbed file that was named does not
    say so itself. Raises NotAgreed, LabError."""
    story = read_changes(run.journal)
    led = replace(replay.whole_of(story, None), devices=replay.devices_of(story, testbed))
    what = f"{run.journal} ({len(story.entries)} changes to put back)"
    expect_yes(Source(what=what, file=story.begun.file), led, agree, named=testbed)


def _again(run: Unfinished) -> str:
    """A run that is not registered is found by its folder only."""
    known = run.file is not None
    return run.restore_command if known else f"labtests restore {quote(str(run.journal.parent))}"


def _forget(run: Unfinished, *, say: Say) -> int:
    lines = replay.forget(run)
    say(f"run {run.run} is given up; what would have undone its changes:")
    for line in lines or ["nothing was left"]:
        say(f"    {line}")
    return DONE


def _listed(run: Unfinished) -> str:
    left = "changes left" if changes_left(run) else "no change left"
    return f"{run.run}  {run.testbed}  {run.runner}: {run.state}, {left}  ({run.journal})"
