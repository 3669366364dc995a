"""The guards of a case against endless pause: as said, what is wrong with them, what they did."""

from collections.abc import Callable, Mapping

from labtests.inventory.mistakes import Mistakes
from labtests.inventory.mistakes import Path as Where
from labtests.network import (
    DeadlockDetection,
    GuardCounters,
    Network,
    PauseTimeout,
    PfcWatchdog,
    Switch,
)
from labtests.network.cases.device_form import PortPart
from labtests.network.cases.figures import GuardFigures
from labtests.network.cases.form import CaseFile, port_parts
from labtests.network.counting import counted
from labtests.network.watchdog import Guard

NS_PER_MS = 1e6

KINDS: Mapping[str, Callable[..., Guard]] = {
    "watchdog": PfcWatchdog,
    "deadlock": DeadlockDetection,
    "pause_timeout": PauseTimeout,
}


def without_other_guard(given: dict[str, object]) -> dict[str, object]:
    """Settings that replace others: a guard of one kind replaces those of the other kinds."""
    if any(key in given for key in KINDS):
        return {**dict.fromkeys(KINDS), **given}
    return given


def set_guard(switch: Switch, port: str, part: PortPart) -> None:
    """The port has the guard that its settings name."""
    guard = _guard(part)
    if guard is not None:
        switch.guards.set(port, guard)


def _guard(part: PortPart) -> Guard | None:
    for key, kind in KINDS.items():
        given = getattr(part, key)
        if given is not None:
            watched = None if given.priorities is None else frozenset(given.priorities)
            return kind(**given.model_dump(exclude={"priorities"}), priorities=watched)
    return None


def check_guards(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes two guards on one port, and what a guard cannot be told."""
    for path, part in port_parts(case):
        _check_guard(path, part, mistakes)


def _check_guard(path: Where, part: PortPart, mistakes: Mistakes) -> None:
    given = [key for key in KINDS if getattr(part, key) is not None]
    if len(given) > 1:
        mistakes.add((*path, given[1]), f"{given[0]} is given too: a port has one of them")
    elif given:
        try:
            _guard(part)
        except ValueError as error:
            mistakes.add((*path, given[0]), str(error).replace(" ms", "_ms"))


def figures(network: Network) -> tuple[GuardFigures, ...]:
    """Every port and priority that a guard has shut."""
    return tuple(
        _figures(name, port, priority, counters)
        for name in network.memory
        for port in network.switch(name).ports
        for priority, counters in enumerate(network.switch(name).guards.counters(port))
        if counters.shutdowns
    )


def _figures(switch: str, port: str, priority: int, counters: GuardCounters) -> GuardFigures:
    shut_ns, restored_ns = counters.last_shut_ns, counters.last_restored_ns
    return counted(
        GuardFigures,
        counters,
        switch=switch,
        port=port,
        priority=priority,
        last_shut_ms=None if shut_ns is None else shut_ns / NS_PER_MS,
        last_restored_ms=None if restored_ns is None else restored_ns / NS_PER_MS,
    )
