"""What a profile would change on an open lab, and changing it: all devices at once, each in order.

A plan reads and sends nothing that changes anything. Making it goes through `Lab.change`, so each
change is journalled first and read back. At the end every wish is looked at once more: by what a
host has answered behind its last change; by a new reading of all devices where one that answers
only one question at a time, such as a switch, was changed.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from labtests.check import Finding as Obstacle
from labtests.check.hosts import obstacles_of
from labtests.core.errors import LabError, LabErrors
from labtests.inventory import Device, Endpoint
from labtests.lab.changes import Wanted
from labtests.lab.lab import Lab
from labtests.profile.form import ProfileFile
from labtests.profile.wanted import Finding, Wish, wishes_of
from labtests.transport.exchanges import Known
from labtests.transport.ssh.connecting import AT_ONCE

Item = TypeVar("Item")
Result = TypeVar("Result")
Say = Callable[[str], None]

READ_AFTER = {"dscp_map": "trust"}
"""Settings that a device may not show before another one has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A setting that differs: what it is, what it becomes, and the commands."""

    at: Endpoint
    setting: str
    earlier: object
    wanted: object
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A setting that cannot be read, or cannot be as wanted. `later`: it can be seen only when
    another one has changed, and is looked at then."""

    at: Endpoint
    setting: str
    problem: str
    later: bool = False


@dataclass(slots=True)
class DevicePlan:
    """What is to be done on one device. `wishes` is everything that was asked of it, `known` what
    it has answered."""

    device: str
    wishes: list[Wish]
    findings: list[Finding] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    known: Known | None = field(default=None, repr=False)
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def same(self) -> int:
        """How many settings are as wanted already."""
        return len(self.wishes) - len(self.steps) - len(self.troubles)

    @property
    def impossible(self) -> list[Trouble]:
        """Those that no later step helps."""
        return [trouble for trouble in self.troubles if not trouble.later]

    @property
    def open_steps(self) -> int:
        """Settings that differ, or may."""
        return len(self.steps) + len(self.troubles) - len(self.impossible)


def planned(profile: ProfileFile, lab: Lab, *, obstacles: bool = False) -> list[DevicePlan]:
    """The difference between the profile and the lab, by device in the testbed's order; with
    `obstacles` also what the check before a run finds that would undo a setting."""

    def of(device: Device) -> DevicePlan:
        with lab.foreseen(device.name, obstacles=obstacles):
            plan = _planned(profile, lab, device)
            plan.obstacles = obstacles_of(lab, device.name) if obstacles else ()
            plan.known = lab.kept(device.name)
            return plan

    return at_once(lab.testbed.devices, of)


def _planned(profile: ProfileFile, lab: Lab, device: Device) -> DevicePlan:
    wishes, findings = wishes_of(profile, lab, device)
    plan = DevicePlan(device.name, wishes, findings)
    for wish in wishes:
        try:
            step = _step(lab, wish)
        except LabError as error:
            later = _comes_later(plan, wish)
            plan.troubles.append(
                Trouble(at=wish.at, setting=wish.setting, problem=str(error), later=later)
            )
            continue
        if step is not None:
            plan.steps.append(step)
    return plan


def _step(lab: Lab, wish: Wish) -> Step | None:
    """None when it is as wanted. Raises LabError when it cannot be read, or not be so."""
    earlier = lab.current(wish.at, wish.setting)
    wanted = wish.wanted(earlier)
    commands = lab.commands(wish.at, wish.setting, earlier, wanted)
    if not commands:
        return None
    return Step(at=wish.at, setting=wish.setting, earlier=earlier, wanted=wanted, commands=commands)


def _comes_later(plan: DevicePlan, wish: Wish) -> bool:
    first = READ_AFTER.get(wish.setting)
    return any(step.setting == first and step.at == wish.at for step in plan.steps)


# -- making it so --------------------------------------------------------------------------------


def made(
    profile: ProfileFile, lab: Lab, plans: Sequence[DevicePlan], progress: Say = lambda _: None
) -> list[Step]:
    """Make every step of the plans; what was done, by device. `progress` hears of each.

    What the plan has read a moment ago is not read again before the changes (exchanges.FRESH_S).
    Settings that the plan could not read are left alone. Raises LabError (LabErrors) when a change
    fails, when a device says yes and does nothing, or when a change undid another; what was changed
    is then still to be undone.
    """
    if not any(plan.open_steps for plan in plans):
        return []
    stop = threading.Event()
    try:
        done = at_once(plans, lambda plan: _made(lab, plan, stop, progress), stop)
        left = [step for made in done for step in made.left]
        if not all(lab.joins(plan.device) for plan in plans if plan.open_steps):
            left = [step for plan in planned(profile, lab) for step in plan.steps]
    except BaseException:
        stop.set()
        raise
    if left:
        raise LabErrors("settings are not as wanted after all was made", list(map(_undone, left)))
    return [step for made in done for step in made.steps]


@dataclass(slots=True)
class _Made:
    """What was done on one device; and which of its wishes are not so by what it answered last,
    where that was read behind its last change (it `joins`)."""

    steps: list[Step] = field(default_factory=list)
    left: list[Step] = field(default_factory=list)


def _undone(step: Step) -> LabError:
    return LabError(
        f"{step.at}: {step.setting} is {step.earlier!r} again and not {step.wanted!r}\n"
        "  remedy: look for what overwrites it: a later setting, lldpad, or DCBX"
    )


def _made(lab: Lab, plan: DevicePlan, stop: threading.Event, progress: Say) -> _Made:
    done = _Made()
    batches = _batches(lab, plan)
    if not batches:
        return done
    with lab.foreseen(plan.device, plan.known):
        for wishes in batches:
            if stop.is_set():
                break
            steps = [step for wish in wishes if (step := _step(lab, wish)) is not None]
            lab.change_together(
                plan.device,
                [Wanted(at=step.at, setting=step.setting, value=step.wanted) for step in steps],
            )
            done.steps += steps
            for step in steps:
                progress(f"{plan.device}: {step.at.interface} {step.setting} changed")
        if lab.joins(plan.device):
            done.left = list(_not_so(lab, plan.wishes))
    return done


def _not_so(lab: Lab, wishes: Sequence[Wish]) -> Iterator[Step]:
    """Those that can be read, and differ."""
    for wish in wishes:
        with suppress(LabError):
            if (step := _step(lab, wish)) is not None:
                yield step


def _batches(lab: Lab, plan: DevicePlan) -> list[list[Wish]]:
    """What is to be done, in the plan's order; what can be sent together in one list. A setting
    that another one rebuilds, or hides, is in a later list."""
    open_ones = {(step.at, step.setting) for step in plan.steps}
    open_ones |= {(trouble.at, trouble.setting) for trouble in plan.troubles if trouble.later}
    wishes = [wish for wish in plan.wishes if (wish.at, wish.setting) in open_ones]
    if not lab.joins(plan.device):
        return [[wish] for wish in wishes]
    batches: list[list[Wish]] = []
    for wish in wishes:
        first = (wish.at, READ_AFTER.get(wish.setting))
        behind = [n for n, b in enumerate(batches, 1) for o in b if (o.at, o.setting) == first]
        number = max(behind, default=0)
        batches += [[] for _ in range(number + 1 - len(batches))]
        batches[number].append(wish)
    return batches


def at_once(
    items: Iterable[Item], act: Callable[[Item], Result], stop: threading.Event | None = None
) -> list[Result]:
    """For all items in parallel, results in order. The first failure, and Ctrl-C, set `stop`; all
    have ended when this returns or raises. Raises the only error, or LabErrors with all of them."""
    things, halt = list(items), stop or threading.Event()
    if not things:
        return []

    def attempt(thing: Item) -> Result:
        try:
            return act(thing)
        except BaseException:
            halt.set()
            raise

    with ThreadPoolExecutor(max_workers=min(len(things), AT_ONCE)) as pool:
        attempts = [pool.submit(attempt, thing) for thing in things]
        try:
            wait(attempts)
        except BaseException:  # Ctrl-C: the workers end at their next step
            halt.set()
            raise
    _raise_failures([error for a in attempts if (error := a.exception()) is not None])
    return [a.result() for a in attempts]


def _raise_failures(failures: list[BaseException]) -> None:
    errors = [error for error in failures if isinstance(error, LabError)]
    for error in failures:
        if len(failures) == 1 or not isinstance(error, LabError):
            raise error
    if errors:
        raise LabErrors(f"{len(errors)} devices failed", errors)
