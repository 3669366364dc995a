"""Interface view: `qos sp`, `qos wrr`, `qos wfq`, and the queues' groups and weights."""

from dataclasses import replace
from typing import Literal

from labtests.network import Schedule
from labtests.simlab.comware.configuration import Refused
from labtests.simlab.comware.grammar import Call, Handler
from labtests.simlab.comware.views import Context

_DEFAULT_QUEUE = ("1", 1)


def _discipline(call: Call) -> Literal["wrr", "wfq"]:
    return "wrr" if "wrr" in call.keywords else "wfq"


def _unit(call: Call) -> Literal["weight", "byte-count"]:
    return "weight" if "weight" in call.keywords else "byte-count"


def _schedule(context: Context, call: Call) -> str:
    """`qos wrr weight`: queues keep their groups and weights only if nothing else changes."""
    kind, unit = _discipline(call), _unit(call)
    for port in context.settings():
        if (port.schedule.discipline, port.schedule.unit) != (kind, unit):
            port.schedule = Schedule(discipline=kind, unit=unit, queues=(_DEFAULT_QUEUE,) * 8)
    return context.apply()


def _strict_priority(context: Context, call: Call) -> str:
    for port in context.settings():
        port.schedule = Schedule(discipline="sp", unit="weight", queues=(("sp", 1),) * 8)
    return context.apply()


def _undo_schedule(context: Context, call: Call) -> str:
    for port in context.settings():
        port.schedule = context.box.configuration.default_schedule
    return context.apply()


def _queue(context: Context, call: Call) -> str:
    if "sp" in call.keywords:
        return _set_queue(context, call, ("sp", 1), unit=None)
    group = "2" if "2" in call.keywords else "1"
    return _set_queue(context, call, (group, call.values["weight"]), unit=_unit(call))


def _undo_queue(context: Context, call: Call) -> str:
    return _set_queue(context, call, _DEFAULT_QUEUE, unit=None)


def _set_queue(context: Context, call: Call, setting: tuple[str, int], *, unit: str | None) -> str:
    """Needs `qos wrr` (or `wfq`) in force on the port, in the same unit (command reference)."""
    kind = _discipline(call)
    for port in context.settings():
        if port.schedule.discipline != kind:
            raise Refused(f"Please enable {kind.upper()} queuing on the interface first.")  # ours
        if unit not in (None, port.schedule.unit):
            raise Refused(f"The queue weight is counted by {port.schedule.unit}.")  # our words
        queues = list(port.schedule.queues)
        queues[call.values["queue"]] = setting
        port.schedule = replace(port.schedule, queues=tuple(queues))
    return context.apply()


def _scheduling(kind: str) -> dict[str, Handler]:
    units = "{ byte-count | weight }"
    return {
        f"qos {kind} {units}": _schedule,
        f"undo qos {kind} [ {units} ]": _undo_schedule,
        f"qos {kind} <queue> [ group {{ 1 | 2 }} ] {units} <weight>": _queue,
        f"qos {kind} <queue> group sp": _queue,
        f"undo qos {kind} <queue>": _undo_queue,
    }


SCHEDULE_SETTINGS: dict[str, Handler] = {
    **_scheduling("wrr"),
    **_scheduling("wfq"),
    "qos sp": _strict_priority,
    "undo qos sp": _undo_schedule,
}
