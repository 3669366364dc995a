"""What a profile would change on an open lab, and changing it: all devices at once, each in order.

A plan reads and sends nothing that changes anything. Its steps are those that are made (`Lab`), so
each is journalled first and read back. At the end every wish is looked at once more: by what a host
has answered behind its last change; by a new reading of all devices where one that answers only one
question at a time, such as a switch, was changed.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TypeVar

from labtests.capabilities.device import Obstacles
from labtests.capabilities.settings import BUFFER_THRESHOLDS, DSCP_MAP, PFC, ROCE_MODE, TRUST
from labtests.check import CheckFinding
from labtests.check.gathering import told
from labtests.check.hosts import obstacles_of
from labtests.core.errors import LabError, LabErrors
from labtests.inventory import Device, Endpoint
from labtests.lab.changes import Step, Wanted
from labtests.lab.lab import Lab
from labtests.profile.form import ProfileFile
from labtests.profile.wanted import ProfileFinding, Wish, wishes_of
from labtests.transport.asking import Asking, both, expect_all, known, outcomes
from labtests.transport.ssh.connecting import AT_ONCE

Item = TypeVar("Item")
Result = TypeVar("Result")
Say = Callable[[str], None]
Found = list[Step | LabError | None]
"""Of each wish: the change that it takes, None, or why that cannot be determined or done."""

READ_AFTER = {DSCP_MAP.name: TRUST.name, BUFFER_THRESHOLDS.name: PFC.name}
"""Settings that a device may not show before another one has changed."""

FRESH_S = 5.0
"""How long what was read for a plan holds, by the lab's clock and by ours: a plan, and applying it
at once. The device may be changed by others in the meantime; the lab's lease keeps them off."""
_BOOT_TIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while suspended


@dataclass(frozen=True, slots=True)
class ReadTime:
    """When a device was read, by both clocks, and as of how many changes of ours."""

    device: str
    lab_s: float
    boot_s: float
    changes: int

    @classmethod
    def now(cls, lab: Lab, device: str) -> "ReadTime":
        """This one."""
        changes = sum(change.device == device for change in lab.changes)
        return cls(device, lab.clock.now_s(), time.clock_gettime(_BOOT_TIME), changes)

    def holds(self, lab: Lab) -> bool:
        """Whether what was read then needs not be read again."""
        now = ReadTime.now(lab, self.device)
        ages_s = (now.lab_s - self.lab_s, now.boot_s - self.boot_s)
        return now.changes == self.changes and all(0 <= age_s <= FRESH_S for age_s in ages_s)


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
    """What is to be done on one device. `wishes` is everything that was asked of it, `read` when it
    was asked."""

    device: str
    wishes: list[Wish]
    findings: list[ProfileFinding] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    read: ReadTime | None = field(default=None, repr=False)
    obstacles: tuple[CheckFinding, ...] = ()

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
        wishes, findings = wishes_of(profile, lab, device)
        plan = DevicePlan(device.name, wishes, findings, read=ReadTime.now(lab, device.name))
        able = lab.able(Obstacles).get(device.name) if obstacles else None
        in_the_way = known(()) if able is None else told(able.obstacles())
        found, said = lab.ask(device.name, both(_looked_at(lab, wishes), in_the_way))
        plan.obstacles = obstacles_of(device.name, said)
        for wish, step in zip(wishes, found, strict=True):
            if isinstance(step, Step):
                plan.steps.append(step)
            elif step is not None:
                plan.troubles.append(_trouble(plan, wish, step))
        return plan

    return at_once(lab.testbed.devices, of)


def _looked_at(lab: Lab, wishes: Sequence[Wish]) -> Asking[Found]:
    return outcomes([_step(lab, wish) for wish in wishes])


def _step(lab: Lab, wish: Wish) -> Asking[Step | None]:
    """None when it is as wanted. Raises LabError when it cannot be read, or not be so."""
    earlier = yield from lab.shown(wish.at, wish.kind)
    return (yield from lab.step(Wanted(wish.at, wish.kind, wish.wanted(earlier))))


def _trouble(plan: DevicePlan, wish: Wish, error: LabError) -> Trouble:
    first = READ_AFTER.get(wish.kind.name)
    later = any(step.intent.setting == first and step.at == wish.at for step in plan.steps)
    return Trouble(at=wish.at, setting=wish.kind.name, problem=str(error), later=later)


# -- making it so --------------------------------------------------------------------------------


def made(
    profile: ProfileFile, lab: Lab, plans: Sequence[DevicePlan], progress: Say = lambda _: None
) -> list[Step]:
    """Make every step of the plans; what was done, by device. `progress` hears of each.

    What the plan has read a moment ago is not read again before the changes (FRESH_S).
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
        raise LabErrors(f"{len(left)} settings do not match after apply", list(map(_undone, left)))
    return [step for made in done for step in made.steps]


@dataclass(slots=True)
class _Made:
    """What was done on one device; and which of its wishes are not so by what it answered last,
    where that was read behind its last change (it `joins`)."""

    steps: list[Step] = field(default_factory=list)
    left: list[Step] = field(default_factory=list)


def _undone(step: Step) -> LabError:
    want = step.intent
    return LabError(
        f"{want.at}: {want.setting} is {want.earlier!r} again and not {want.wanted!r}\n"
        "  remedy: look for what overwrites it: a later setting, lldpad, or DCBX"
    )


def _made(lab: Lab, plan: DevicePlan, stop: threading.Event, progress: Say) -> _Made:
    """Batch by batch. Behind each the next one is looked at; every wish, where all goes at once."""
    done = _Made()
    batches = _batches(lab, plan)
    looked: Sequence[Wish] = ()
    found: Found = []
    for number, batch in enumerate(batches):
        if stop.is_set():
            break
        if number and all(wish in looked for wish in batch):
            steps = _steps_of(batch, looked, found)
        else:
            steps = _first_steps(lab, plan, batch)
        if not steps:
            continue
        later = [wish for batch in batches[number + 1 : number + 2] for wish in batch]
        looked = plan.wishes if lab.joins(plan.device) else later
        found = lab.make(plan.device, steps, _looked_at(lab, looked)) or []
        done.steps += steps
        for step in steps:
            progress(f"{plan.device}: {step.at.interface} {step.intent.setting} changed")
    done.left = [step for step in found if isinstance(step, Step)]
    return done


def _steps_of(wishes: Sequence[Wish], looked: Sequence[Wish], found: Found) -> list[Step]:
    """What these wishes take, by the last look at them. Raises what that met."""
    mine = [step for wish, step in zip(looked, found, strict=True) if wish in wishes]
    return [step for step in expect_all(mine) if step is not None]


def _first_steps(lab: Lab, plan: DevicePlan, wishes: Sequence[Wish]) -> list[Step]:
    """What the plan has read a moment ago is not read again."""
    planned_ones = {(step.at, step.intent.setting): step for step in plan.steps}
    found = [planned_ones.get((wish.at, wish.kind.name)) for wish in wishes]
    if plan.read is not None and plan.read.holds(lab) and None not in found:
        return [step for step in found if step is not None]
    looked = lab.ask(plan.device, _looked_at(lab, wishes))
    return [step for step in expect_all(looked) if step is not None]


def _batches(lab: Lab, plan: DevicePlan) -> list[list[Wish]]:
    """What is to be done, in the plan's order; what can be sent together in one list. A setting
    that another one rebuilds, or hides, is in a later list; behind a RoCE mode, which makes all
    others anew, that is every other one, also what was as wanted before."""
    open_ones = {(step.at, step.intent.setting) for step in plan.steps}
    if any(name == ROCE_MODE.name for _, name in open_ones):
        open_ones |= {(wish.at, wish.kind.name) for wish in plan.wishes}
        open_ones -= {(trouble.at, trouble.setting) for trouble in plan.troubles}
    open_ones |= {(trouble.at, trouble.setting) for trouble in plan.troubles if trouble.later}
    wishes = [wish for wish in plan.wishes if (wish.at, wish.kind.name) in open_ones]
    if not lab.joins(plan.device):
        return [[wish] for wish in wishes]
    batches: list[list[Wish]] = []
    for wish in wishes:
        first = (wish.at, READ_AFTER.get(wish.kind.name))
        there = [(n, each) for n, batch in enumerate(batches, 1) for each in batch]
        behind = [n for n, o in there if o.kind == ROCE_MODE or (o.at, o.kind.name) == first]
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
