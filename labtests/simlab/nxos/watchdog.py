"""The PFC watchdog: its lines for the switch and at a port, and what it does there.

A port is watched where both say `on` (a guide has it at both places; that both are needed is from
memory). Which queues: the lossless ones, where PFC works.
"""

from dataclasses import replace
from typing import Any

from labtests.network import PfcWatchdog
from labtests.simlab.nxos import policies
from labtests.simlab.switch_cli import CliSection, EmulatedSwitch, setting

_PFC = "priority-flow-control"
_ON = f"{_PFC} watch-dog-interval"
_TIMES = {
    "interval_ms": ("interval", f"{_PFC} watch-dog interval", 100),
    "shutdown_multiplier": ("shutdown", f"{_PFC} watch-dog shutdown-multiplier", 1),
    "auto_restore_multiplier": ("auto", f"{_PFC} auto-restore multiplier", 10),
    "fixed_restore_multiplier": ("fixed", f"{_PFC} fixed-restore multiplier", 0),
}
"""Argument and key of the line of each, and what holds without one."""
_SWITCHED = setting(f"{_ON} {{ on | off }}", optional=True)
IN_ROOT = (
    replace(_SWITCHED, default=f"{_ON} off"),
    *(
        setting(f"{key} <{name}>", optional=True, default=f"{key} {usual}")
        for name, key, usual in _TIMES.values()
    ),
)
AT_A_PORT = (_SWITCHED,)


def _is_on(section: CliSection) -> bool:
    """What stands there, in the switch's or in a port's section."""
    return section.rest(_ON) == "on"


def _times(switch: EmulatedSwitch) -> dict[str, Any]:
    root = switch.configuration.root
    return {what: root.value(key, name, usual) for what, (name, key, usual) in _TIMES.items()}


def guard(switch: EmulatedSwitch, port: CliSection) -> PfcWatchdog | None:
    """What watches the port."""
    if not (_is_on(switch.configuration.root) and _is_on(port)):
        return None
    return PfcWatchdog(**_times(switch), priorities=policies.no_drop(switch))


# -- displays --------------------------------------------------------------------------------------


def of_switch(switch: EmulatedSwitch) -> dict[str, Any]:
    """Whether it works at all, and its times by the names of PfcWatchdog."""
    return {"on": _is_on(switch.configuration.root), "times": _times(switch)}


def shown(switch: EmulatedSwitch, port: str) -> dict[str, Any]:
    """The queues that are watched, and what was done to them."""
    found = switch.network.guards.get(port) if switch.pfc_works(port) else None
    watched = frozenset() if found is None else found.priorities or frozenset()
    counted = switch.guard_counters(port)
    return {"groups": {queue: counted[queue] for queue in sorted(watched, reverse=True)}}
