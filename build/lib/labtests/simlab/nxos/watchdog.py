"""The PFC watchdog: its lines for the switch and at a port, and what it does there.

A port is watched where both say `on` (a guide has it at both places; that both are needed is from
memory). Which queues: the lossless ones, where PFC works.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from labtests.network import GuardCounters, PfcWatchdog
from labtests.simlab.nxos import policies
from labtests.simlab.switch_cli import CliSection, EmulatedSwitch, setting

_PFC = "priority-flow-control"
_ON = f"{_PFC} watch-dog-interval"
DEFAULTS = {"interval": 100, "shutdown": 1, "auto": 10, "fixed": 0}
_KEYS = {
    "interval": f"{_PFC} watch-dog interval",
    "shutdown": f"{_PFC} watch-dog shutdown-multiplier",
    "auto": f"{_PFC} auto-restore multiplier",
    "fixed": f"{_PFC} fixed-restore multiplier",
}
_SWITCHED = setting(f"{_ON} {{ on | off }}", undo=(f"{_ON} [ on | off ]",))
IN_ROOT = (
    replace(_SWITCHED, default=f"{_ON} off"),
    *(
        setting(
            f"{key} <{name}>",
            key=key,
            undo=(f"{key} [ <{name}> ]",),
            default=f"{key} {DEFAULTS[name]}",
        )
        for name, key in _KEYS.items()
    ),
)
AT_A_PORT = (_SWITCHED,)


def is_on(section: CliSection) -> bool:
    """What stands there, in the switch's or in a port's section."""
    return section.rest(_ON) == "on"


def times(switch: EmulatedSwitch) -> dict[str, int]:
    """The interval in ms and the multipliers, by the words of DEFAULTS."""
    root = switch.configuration.root
    return {name: root.value(key, name, DEFAULTS[name]) for name, key in _KEYS.items()}


def guard(switch: EmulatedSwitch, port: CliSection) -> PfcWatchdog | None:
    """What watches the port."""
    if not (is_on(switch.configuration.root) and is_on(port)):
        return None
    of = times(switch)
    return PfcWatchdog(
        interval_ms=of["interval"],
        shutdown_multiplier=of["shutdown"],
        auto_restore_multiplier=of["auto"],
        fixed_restore_multiplier=of["fixed"],
        priorities=policies.no_drop(switch),
    )


# -- displays --------------------------------------------------------------------------------------


def _watched(switch: EmulatedSwitch, port: str) -> frozenset[int]:
    if port not in switch.network.ports or not switch.network.pfc_operational(port):
        return frozenset()
    found = switch.network.guards.get(port)
    return frozenset() if found is None else found.priorities or frozenset()


def counters(switch: EmulatedSwitch, port: str) -> tuple[GuardCounters, ...]:
    """Of its eight queues; none without a cable."""
    wired = port in switch.network.ports
    return switch.network.guards.counters(port) if wired else ()


def row(switch: EmulatedSwitch, port: str) -> dict[str, Any]:
    """A line of `show queuing pfc-queue`: states of queues 7 to 0."""
    watched, counted = _watched(switch, port), counters(switch, port)
    states = {queue: "Y" if counted[queue].shut else "N" for queue in watched}
    return {
        "port": port,
        "on": bool(watched),
        "bitmap": sum(1 << queue for queue in watched),
        "states": [states.get(queue, "-") for queue in range(7, -1, -1)],
    }


def detail(switch: EmulatedSwitch, port: str) -> dict[str, Any]:
    """`show queuing pfc-queue interface X detail`: the queues that are watched."""
    return {"on": bool(_watched(switch, port)), "groups": list(_groups(switch, port))}


def _groups(switch: EmulatedSwitch, port: str) -> Iterator[tuple[int, GuardCounters]]:
    counted = counters(switch, port)
    for queue in sorted(_watched(switch, port), reverse=True):
        yield queue, counted[queue]
