"""Interface view: `qos sp`, `qos wrr`, `qos wfq`, and the queues' groups and weights.

Sentences are ours; that there is a refusal is in the command reference.
"""

from collections.abc import Mapping
from typing import Any, cast

from labtests.network import Schedule
from labtests.simlab import switch_cli as kit
from labtests.simlab.comware.words import QUEUE_NAMES

SCHEDULER = "scheduler"
"""Key of the line with the discipline."""
DELIVERED = "qos wrr byte-count"
UNITS = "{ byte-count | weight }"


def schedule(port: kit.CliSection) -> Schedule:
    """How the network serves the port's queues."""
    discipline, *unit = _scheduler(port)
    if discipline == "sp":
        return Schedule(discipline="sp", unit="weight", queues=(("sp", 1),) * 8)
    served = [("1", 1)] * 8
    for line in port.under(f"qos {discipline}"):
        served[line.values["queue"]] = (line.values["group"], line.values["weight"])
    words: Any = {"discipline": discipline, "unit": unit[0]}
    return Schedule(**words, queues=tuple(served))


def settle(port: kit.CliSection) -> None:
    """The line with the discipline is there when it is not the delivered one or queues need it."""
    if any(port.under(f"qos {discipline}") for discipline in ("wrr", "wfq")):
        port.lines.setdefault(SCHEDULER, DELIVERED_LINE)
    elif port.text(SCHEDULER) == DELIVERED:
        del port.lines[SCHEDULER]


def _scheduler(port: kit.CliSection) -> list[str]:
    return (port.text(SCHEDULER) or DELIVERED).split()[1:]


def _afresh(switch: kit.EmulatedSwitch, port: kit.CliSection, call: kit.CliCall) -> None:
    """Queues keep their groups and weights only if nothing else changes."""
    if list(call.words[1:]) != _scheduler(port):
        for discipline in ("wrr", "wfq"):
            port.clear(f"qos {discipline}")


def _in_force(switch: kit.EmulatedSwitch, port: kit.CliSection, call: kit.CliCall) -> None:
    """Queues need the discipline in force on the port, in the same unit."""
    wanted = "wrr" if "wrr" in call.keywords else "wfq"
    discipline, *unit = _scheduler(port)
    if discipline != wanted:
        raise kit.CommandRefused(f"Please enable {wanted.upper()} queuing on the interface first.")
    if "weight" in call.values and unit[0] not in call.keywords:
        raise kit.CommandRefused(f"The queue weight is counted by {unit[0]}.")


def _queue(call: kit.CliCall) -> list[Mapping[str, Any]]:
    queue = cast(int, call.values["queue"])
    words = {
        "group": next((each for each in ("sp", "2") if each in call.keywords), "1"),
        "unit": "weight" if "weight" in call.keywords else "byte-count",
    }
    return [{"weight": 1, **call.values, "name": QUEUE_NAMES[queue], **words}]


_AFRESH: Any = {"key": SCHEDULER, "before": _afresh}


def _lines(discipline: str) -> tuple[kit.CliSetting, ...]:
    begin = f"qos {discipline} <name> group"
    queue: Any = {"key": f"qos {discipline} <queue>", "expand": _queue, "before": _in_force}
    return (
        kit.setting(
            f"qos {discipline} <queue> [ group {{ 1 | 2 }} ] {UNITS} <weight>",
            line=f"{begin} <group> <unit> <weight>",
            default=f"{begin} 1 <unit> 1",
            **queue,
        ),
        kit.setting(f"qos {discipline} <queue> group sp", line=f"{begin} sp", undo=(), **queue),
    )


SETTINGS = (
    kit.setting("qos sp", undo=("qos sp",), **_AFRESH),
    *(
        kit.setting(f"qos {each} {UNITS}", undo=(f"qos {each} [ {UNITS} ]",), **_AFRESH)
        for each in ("wrr", "wfq")
    ),
    *_lines("wrr"),
    *_lines("wfq"),
)
DELIVERED_LINE = SETTINGS[0].made(DELIVERED, {})
