"""Plans as text and as JSON. What a suite's --plan prints of a change is printed here, too."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from labtests.capabilities.records import EcnSetting, WredQueue
from labtests.journal.values import pack
from labtests.lab.changes import Change, Step
from labtests.profile.planning import DevicePlan

FORMAT = "labtests-plan/1"


def command_lines(device: str, changes: Iterable[Change]) -> Iterator[str]:
    """The exact commands of one device, in order."""
    yield f"{device}:"
    lines = [
        f"    {line}{'    # put back' if change.undo else ''}"
        for change in changes
        for line in change.commands
    ]
    yield from lines or ["    nothing to change"]


def plan_lines(plan: DevicePlan) -> Iterator[str]:
    """One device: what differs, with its commands, and what has to be known."""
    total = len(plan.wishes)
    yield f"{plan.device}: {len(plan.steps)} of {total} settings differ"
    for step in plan.steps:
        yield f"    {_where(step.at.interface)}{step.intent.setting}: {difference(step)}"
        yield from (f"        {line}" for line in step.commands)
    for trouble in plan.troubles:
        word = "afterwards" if trouble.later else "CANNOT"
        first, *rest = trouble.problem.splitlines()
        yield f"    {word}: {_where(trouble.at.interface)}{trouble.setting}: {first}"
        yield from (f"      {line}" for line in rest)
    for found in plan.obstacles:
        yield f"    OBSTACLE ({found.level}): {found.finding}"
        yield f"        remedy: {found.remedy or 'see that it answers, and plan again'}"
    for finding in plan.findings:
        yield f"    {finding.kind}: {_where(finding.port)}{finding.problem}"


def _where(port: str) -> str:
    return f"{port} " if port else ""


def difference(step: Step) -> str:
    """What changes, and only that."""
    return _difference(step.intent.earlier, step.intent.wanted)


def _difference(earlier: object, wanted: object) -> str:
    if type(earlier) is type(wanted) and not isinstance(earlier, EcnSetting):
        if is_dataclass(earlier) and not isinstance(earlier, type):
            pairs = {
                field.name: (getattr(earlier, field.name), getattr(wanted, field.name))
                for field in fields(earlier)
            }
            return _each(pairs)
        if isinstance(earlier, tuple) and isinstance(wanted, tuple):
            return _of_tuples(earlier, wanted)
    return f"{_shown(earlier)} -> {_shown(wanted)}"


def _of_tuples(earlier: tuple[Any, ...], wanted: tuple[Any, ...]) -> str:
    if _named(earlier) and _named(wanted):
        before, after = dict(earlier), dict(wanted)
        names = [*before, *(name for name in after if name not in before)]
        return _each({str(name): (before.get(name), after.get(name)) for name in names})
    if len(earlier) == len(wanted):
        pairs = enumerate(zip(earlier, wanted, strict=True))
        return _each({f"[{number}]": pair for number, pair in pairs})
    return f"{_shown(earlier)} -> {_shown(wanted)}"


def _named(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, tuple) and len(value) == 2 for value in values)


def _each(pairs: Mapping[str, tuple[object, object]]) -> str:
    return ", ".join(
        f"{name} {_difference(before, after)}"
        for name, (before, after) in pairs.items()
        if before != after
    )


def _shown(value: object) -> str:
    if isinstance(value, EcnSetting):
        curves = [_shown_curve(queue) for queue in value.queues if queue.ecn]
        return f"{value.profile or 'none'} ({'; '.join(curves) or 'marks nothing'})"
    if isinstance(value, frozenset):
        return ",".join(map(str, sorted(value))) or "none"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if is_dataclass(value) and not isinstance(value, type):
        return ",".join(
            f"{field.name} {_shown(getattr(value, field.name))}" for field in fields(value)
        )
    return "none" if value is None else str(value)


def _shown_curve(queue: WredQueue) -> str:
    return (
        f"queue {queue.queue}: {queue.low_limit} to {queue.high_limit}, "
        f"{queue.drop_probability_percent} percent, exponent {queue.weighting_exponent}"
    )


def plain(plans: Iterable[DevicePlan]) -> dict[str, Any]:
    """By device, for JSON. Values as in the change journal (journal/values.py)."""
    return {
        plan.device: {
            "settings": len(plan.wishes),
            "changes": [_plain_step(step) for step in plan.steps],
            "troubles": [
                {
                    "port": trouble.at.interface,
                    "setting": trouble.setting,
                    "problem": trouble.problem,
                    "later": trouble.later,
                }
                for trouble in plan.troubles
            ],
            "obstacles": [found.plain() for found in plan.obstacles],
            "findings": [
                {"kind": f.kind, "port": f.port, "problem": f.problem} for f in plan.findings
            ],
        }
        for plan in plans
    }


def _plain_step(step: Step) -> dict[str, Any]:
    return {
        "port": step.at.interface,
        "setting": step.intent.setting,
        "earlier": pack(step.intent.earlier),
        "wanted": pack(step.intent.wanted),
        "difference": difference(step),
        "commands": list(step.commands),
    }
