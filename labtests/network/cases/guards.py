"""The guards of a case against endless pause: as said, what is wrong with them, what they did."""

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
from labtests.network.cases.device_form import (
    DeadlockPart,
    PauseTimeoutPart,
    PortPart,
    WatchdogPart,
)
from labtests.network.cases.figures import GuardFigures
from labtests.network.cases.form import (
    CaseFile,
)
from labtests.network.watchdog import Guard

NS_PER_MS = 1e6


KEYS = ("watchdog", "deadlock", "pause_timeout")


def without_other_guard(given: dict[str, object]) -> dict[str, object]:
    """Settings that replace others: a guard of one kind replaces those of the other kinds."""
    if any(key in given for key in KEYS):
        return {**dict.fromkeys(KEYS), **given}
    return given


def set_guard(switch: Switch, port: str, part: PortPart) -> None:
    """The port has the guard that its settings name."""
    guard = _guard(part)
    if guard is not None:
        switch.guards.set(port, guard)


def _guard(part: PortPart) -> Guard | None:
    if part.watchdog is not None:
        return _watchdog(part.watchdog)
    if part.deadlock is not None:
        return _deadlock(part.deadlock)
    if part.pause_timeout is not None:
        return _pause_timeout(part.pause_timeout)
    return None


def _priorities(part: PauseTimeoutPart | WatchdogPart | DeadlockPart) -> frozenset[int] | None:
    return None if part.priorities is None else frozenset(part.priorities)


def _pause_timeout(part: PauseTimeoutPart) -> PauseTimeout:
    return PauseTimeout(
        timeout_ms=part.timeout_ms,
        poll_ms=part.poll_ms,
        phase_ms=part.phase_ms,
        priorities=_priorities(part),
    )


def _watchdog(part: WatchdogPart) -> PfcWatchdog:
    return PfcWatchdog(
        interval_ms=part.interval_ms,
        shutdown_multiplier=part.shutdown_multiplier,
        auto_restore_multiplier=part.auto_restore_multiplier,
        fixed_restore_multiplier=part.fixed_restore_multiplier,
        action=part.action,
        poll_ms=part.poll_ms,
        phase_ms=part.phase_ms,
        priorities=_priorities(part),
    )


def _deadlock(part: DeadlockPart) -> DeadlockDetection:
    return DeadlockDetection(
        interval_ms=part.interval_ms,
        delay_ms=part.delay_ms,
        recover_mode=part.recover_mode,
        action=part.action,
        precision_ms=part.precision_ms,
        phase_ms=part.phase_ms,
        priorities=_priorities(part),
    )


def check_guards(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes two guards on one port, and what a guard cannot be told."""
    boxes: list[tuple[Where, PortPart | None]] = [(("switch",), case.switch)]
    boxes += [(("switches", name), own) for name, own in case.switches.items()]
    for path, box in list(boxes):
        for name, own in (getattr(box, "ports", None) or {}).items():
            boxes.append(((*path, "ports", name), own))
    for path, part in boxes:
        if part is not None:
            _check_guard(path, part, mistakes)


def _check_guard(path: Where, part: PortPart, mistakes: Mistakes) -> None:
    given = [key for key in KEYS if getattr(part, key) is not None]
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
    return GuardFigures(
        switch=switch,
        port=port,
        priority=priority,
        shutdowns=counters.shutdowns,
        restored=counters.restored,
        drained=counters.drained,
        dropped=counters.dropped,
        aggregate_dropped=counters.aggregate_dropped,
        ingress_dropped=counters.ingress_dropped,
        aggregate_ingress_dropped=counters.aggregate_ingress_dropped,
        last_shut_ms=None if shut_ns is None else shut_ns / NS_PER_MS,
        last_restored_ms=None if restored_ns is None else restored_ns / NS_PER_MS,
    )
