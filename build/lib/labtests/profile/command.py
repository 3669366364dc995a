"""`labtests plan` and `labtests apply`, without the command line around them.

Exit codes: 0 nothing to do, or all done (plan: everything could be read); 1 something cannot be as
the profile wants (apply then changes nothing, unless `partial`), or a change failed, or it was
interrupted, and everything was put back; 10 an earlier run has left changes, or putting back
failed, or something would undo what apply makes (nothing was changed); 15 a device cannot be
reached, or somebody else has the lab (its lease).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from labtests.check import CheckFinding, judged
from labtests.core.errors import LabError, LeaseBusy, LeaseLost, WrongOption, unreachable
from labtests.lab.changes import Step
from labtests.profile.planning import DevicePlan, made, planned
from labtests.profile.reader import Profile
from labtests.profile.rendering import FORMAT, plain, plan_lines
from labtests.recovery import NotPutBack
from labtests.recovery.opening import OpenedLab, OpenRequest, opened

DONE, NOT_AS_WANTED, UNUSABLE, UNREACHABLE = 0, 1, 10, 15

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """What the command line asks for."""

    profile: Profile
    opening: OpenRequest
    as_json: bool = False
    partial: bool = False
    tolerated: Sequence[str] = ()


def run(asked: ProfileRequest, say: Say, tell: Say) -> int:
    """Plan, and apply if the opening is for changes; the exit code. `say` is for results, `tell`
    for everything around them (stderr)."""
    for warning in asked.profile.warnings:
        tell(f"warning: {warning}")
    try:
        with opened(asked.opening, tell) as session:
            return _run(asked, session, say, tell)
    except NotPutBack as error:
        tell(str(error))
        return UNUSABLE
    except WrongOption:
        raise  # nothing was opened
    except LabError as error:
        tell(str(error))
        return UNREACHABLE if unreachable(error, LeaseBusy, LeaseLost) else NOT_AS_WANTED
    except KeyboardInterrupt:  # the lab has been closed, which puts back what was changed
        tell("interrupted; run `labtests restore --list` to see what was left changed")
        return NOT_AS_WANTED


def _run(asked: ProfileRequest, session: OpenedLab, say: Say, tell: Say) -> int:
    lab = session.lab
    plans = planned(asked.profile.form, lab, obstacles=True)
    done: list[Step] = []
    impossible = [trouble for plan in plans for trouble in plan.impossible]
    obstacles = _in_the_way(asked, plans)
    blocked = asked.opening.changes and bool(obstacles or (impossible and not asked.partial))
    if asked.opening.changes and not blocked:
        if not asked.as_json:
            _say_plan(asked, session, plans, say)
        done = made(asked.profile.form, lab, plans, tell)
        lab.ahead.keep()
    if asked.as_json:
        say(json.dumps(_plain(asked, session, plans, done), indent=1))
    elif not asked.opening.changes or blocked:
        _say_plan(asked, session, plans, say)
    end = say if not asked.as_json else tell
    if obstacles and asked.opening.changes:
        for found in obstacles:
            tell(str(found))
        end("nothing was changed; --tolerate obstacles goes on all the same")
        return UNUSABLE
    _say_end(asked, session, plans, done, end)
    return NOT_AS_WANTED if impossible else DONE


def _in_the_way(asked: ProfileRequest, plans: list[DevicePlan]) -> list[CheckFinding]:
    """What stops the check before a run stops this, too: it would undo what is made."""
    found = [each for plan in plans for each in plan.obstacles]
    kept = judged(found, tolerated=frozenset(asked.tolerated))
    return [each for each in kept if each.level == "failure"]


def _say_plan(asked: ProfileRequest, session: OpenedLab, plans: list[DevicePlan], say: Say) -> None:
    lab = session.lab
    say(f"profile {asked.profile.name} on {lab.testbed.name} ({lab.backend})")
    for plan in plans:
        for line in plan_lines(plan):
            say(line)


def _say_end(
    asked: ProfileRequest, session: OpenedLab, plans: list[DevicePlan], done: list[Step], say: Say
) -> None:
    impossible = sum(len(plan.impossible) for plan in plans)
    if impossible:
        say(f"{impossible} settings cannot be as the profile wants")
    if not asked.opening.changes:
        count = sum(plan.open_steps for plan in plans)
        say(f"{count} to change; nothing was changed" if count else "nothing to change")
    elif impossible and not asked.partial:
        say("nothing was changed; --partial changes what can be")
    elif done:
        say(f"{len(done)} settings changed and read back")
        say(f"to put them back: labtests restore {session.folder}")
    else:
        say("no changes needed")


def _plain(
    asked: ProfileRequest, session: OpenedLab, plans: list[DevicePlan], done: list[Step]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "profile": asked.profile.name,
        "testbed": session.lab.testbed.name,
        "backend": session.lab.backend,
        "run": session.run,
        "folder": str(session.folder),
        "warnings": list(asked.profile.warnings),
        "changed": len(done),
        "devices": plain(plans),
    }
