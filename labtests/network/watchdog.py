"""Settings and counters of the guards against endless pause. How they work: guarding.py."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from labtests.network.arithmetic import random_below
from labtests.network.counting import counted
from labtests.network.guarding import (
    ALERT,
    DROP,
    DROP_PORT,
    FORWARD,
    restore,
    watch_pauses,
)
from labtests.network.model import NetworkModel
from labtests.network.tables import PS_PER_NS, Tables

PS_PER_MS = 1_000_000_000
SHARES = 1 << 20
_ACTIONS = {"drop": DROP, "forward": FORWARD, "alert": ALERT, "drop-port": DROP_PORT}


def _check(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{what} {value:g} is not {low:g}..{high:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcWatchdog:
    """A pause watchdog with software polling, on the PFC priorities of a port.

    Defaults are NX-OS 10.3(1)'s on the Nexus 9000 (document 001, S6): `interval_ms` 100..1000,
    `shutdown_multiplier` 1..10, `auto_restore_multiplier` and `fixed_restore_multiplier` 0..100
    (0: off), software polling every `poll_ms`. So a queue is shut 100..199 ms after it was blocked.
    A SONiC pfcwd with detection D, restoration R and polling P is interval_ms=D, restoration_ms=R,
    which stands in place of the auto-restore multiplier, poll_ms=P and its action; NX-OS drops.

    `phase_ms`: the polls are at phase_ms + n * poll_ms of the network's time; None: the phase is
    drawn from the network's seed, one for all ports of a switch. `priorities`: None is all with
    PFC.
    """

    interval_ms: float = 100
    shutdown_multiplier: int = 1
    auto_restore_multiplier: float = 10
    fixed_restore_multiplier: float = 0
    restoration_ms: float | None = None
    action: Literal["drop", "forward", "alert"] = "drop"
    poll_ms: float = 100
    phase_ms: float | None = None
    priorities: frozenset[int] | None = None

    def __post_init__(self) -> None:
        _check("interval ms", self.interval_ms, 0.001, 1e6)
        _check("poll ms", self.poll_ms, 0.001, 1e6)
        _check("shutdown multiplier", self.shutdown_multiplier, 1, 10)
        _check("auto-restore multiplier", self.auto_restore_multiplier, 0, 100)
        _check("fixed-restore multiplier", self.fixed_restore_multiplier, 0, 100)
        _check("restoration ms", self.restoration_ms or 0, 0, 1e6)
        for priority in self.priorities or ():
            _check("priority", priority, 0, 7)

    @property
    def detect_ps(self) -> int:
        """How long a queue must have been blocked."""
        return round(self.interval_ms * PS_PER_MS) * self.shutdown_multiplier

    @property
    def quiet_ps(self) -> int:
        """How long no pause may have arrived before a queue is restored; 0: that restores none."""
        return round(self.quiet_ms * PS_PER_MS)

    @property
    def quiet_ms(self) -> float:
        """The same, in milliseconds."""
        told_ms = self.interval_ms * self.auto_restore_multiplier
        return told_ms if self.restoration_ms is None else self.restoration_ms

    @property
    def fixed_ps(self) -> int:
        """How long a queue is shut at most; 0: no limit."""
        return round(self.interval_ms * self.fixed_restore_multiplier * PS_PER_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockDetection:
    """Comware's detection of PFC deadlocks (H3C "Configuring PFC", S11), on a port.

    - `interval_ms` (`priority-flow-control deadlock cos C interval I`; no default there): a
      priority always in XOFF for so long, with packets, is in deadlock.
    - `precision_ms` of the timer (`deadlock precision high | normal | low`, default normal). The
      manual found gives no length; 10 ms is what Pica8's PicOS calls granularity (10 or 100; an
      inference for Comware).
    - `recover_mode` (`deadlock recover-mode auto | manual`, default auto): auto lets PFC and the
      detection work again after `delay_ms` (`deadlock auto-recover cos C delay D`; no default);
      manual waits for `deadlock recover`, here Guards.recover().
    - `action` meanwhile (`deadlock auto-recover action discard | forwarding`, default forwarding).

    Until then PFC is off on the port for that priority (the manual: "on the interface", while the
    delay is set per CoS; taken for that CoS alone). `phase_ms` and `priorities` as in PfcWatchdog.
    The `deadlock threshold ... error-down` of repeated deadlocks is not modelled.
    """

    interval_ms: float
    delay_ms: float | None = None
    recover_mode: Literal["auto", "manual"] = "auto"
    action: Literal["forward", "drop"] = "forward"
    precision_ms: float = 10
    phase_ms: float | None = None
    priorities: frozenset[int] | None = None

    def __post_init__(self) -> None:
        _check("interval ms", self.interval_ms, 0.001, 1e6)
        _check("precision ms", self.precision_ms, 0.001, 1e6)
        for priority in self.priorities or ():
            _check("priority", priority, 0, 7)
        if self.recover_mode == "auto":
            if self.delay_ms is None:
                raise ValueError("recover mode auto needs a delay ms")
            _check("delay ms", self.delay_ms, 0.001, 1e6)

    @property
    def poll_ms(self) -> float:
        """How often the timer looks."""
        return self.precision_ms

    @property
    def detect_ps(self) -> int:
        """How long a queue must have been blocked."""
        return round(self.interval_ms * PS_PER_MS)

    @property
    def quiet_ps(self) -> int:
        """Pauses that still arrive make no difference."""
        return 0

    @property
    def fixed_ps(self) -> int:
        """How long until PFC works again by itself; 0: never."""
        return round((self.delay_ms or 0) * PS_PER_MS) if self.recover_mode == "auto" else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTimeout:
    """Cisco's pause timeout of FCoE ports (document 001, S7): it drops everything on the port.

    A port that pauses kept from sending for `timeout_ms` drops all it has to send, of all
    priorities, and all that is bound for it as long as it is paused; what comes in goes on.
    `timeout_ms`: MDS 500 (pause-drop), Nexus 100..500, UCS 100..1000, in steps of 100; software
    polls every `poll_ms`. Here a priority that is held counts, not an 802.3x pause. `phase_ms`,
    `priorities`: as in PfcWatchdog. `linger_ms`, a defect: it drops on for so long behind the last
    pause frame.
    """

    timeout_ms: float = 500
    poll_ms: float = 100
    phase_ms: float | None = None
    priorities: frozenset[int] | None = None
    linger_ms: float = 0
    action: Literal["drop-port"] = "drop-port"

    def __post_init__(self) -> None:
        _check("timeout ms", self.timeout_ms, 0.001, 1e6)
        _check("linger ms", self.linger_ms, 0, 1e6)
        _check("poll ms", self.poll_ms, 0.001, 1e6)
        for priority in self.priorities or ():
            _check("priority", priority, 0, 7)

    @property
    def detect_ps(self) -> int:
        """How long the port must have been blocked."""
        return round(self.timeout_ms * PS_PER_MS)

    @property
    def quiet_ps(self) -> int:
        """The end of the pause restores, or so long behind the last pause frame."""
        return round(self.linger_ms * PS_PER_MS)

    @property
    def fixed_ps(self) -> int:
        """No limit."""
        return 0


Guard = PfcWatchdog | DeadlockDetection | PauseTimeout


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistimed:
    """A defect of a port's guard: so many times what it was told, and of a pause timeout how long
    it drops on. `shuts`: the time until a watchdog shuts a queue; `serves`: the time without pauses
    until it serves the queue again."""

    shuts: float = 1
    serves: float = 1
    lingers_ms: float = 0

    def of(self, guard: Guard) -> Guard:
        """What the port does where it was told to do this."""
        if isinstance(guard, PauseTimeout):
            return replace(guard, linger_ms=self.lingers_ms)
        if isinstance(guard, DeadlockDetection):
            return guard
        return replace(
            guard,
            interval_ms=guard.interval_ms * self.shuts,
            restoration_ms=guard.quiet_ms * self.serves,
            fixed_restore_multiplier=guard.fixed_restore_multiplier / self.shuts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardCounters:
    """What the guard of one port did to one priority (NX-OS `show queuing pfc-queue ... detail`).

    `drained`, `dropped` and `ingress_dropped` are of the last shutdown: packets in the queue then,
    packets that came for it while it was shut, packets that came in with its priority. Aggregates
    are of all shutdowns. Times are the network's; None: not yet.
    """

    shut: bool
    shutdowns: int
    restored: int
    drained: int
    dropped: int
    aggregate_dropped: int
    ingress_dropped: int
    aggregate_ingress_dropped: int
    last_shut_ns: int | None
    last_restored_ns: int | None


class Guards:
    """The guards of a switch's ports: a watchdog, a deadlock detection or a timeout on each."""

    def __init__(self, network: NetworkModel, ports: Mapping[str, int]) -> None:
        """`ports`: names and rows."""
        self._network = network
        self._ports = ports
        self._set: dict[str, Guard] = {}
        self._mistimed: dict[str, Mistimed] = {}
        self._phase: float | None = None

    def mistime(self, port: str, how: Mistimed) -> None:
        """The port's guard has this defect from now on; Mistimed(): none. get() says what it was
        told."""
        if how != self._mistimed.get(port, Mistimed()):  # else a queue that is shut stays so
            self._mistimed[port] = how
            self.set(port, self.get(port))

    def set(self, port: str, guard: Guard | None) -> None:
        """The port has this guard from now on; None: none. A shut priority is restored first.

        Counters go on.
        """
        p = self._ports[port]
        self.restore_all(port)
        self._network.tables.port[p].guard = 0
        self._set.pop(port, None)
        if guard is not None:
            self._set[port] = guard
            guard = self._mistimed.get(port, Mistimed()).of(guard)
            set_guard(self._network.tables, p, guard, self._offset_ps(guard))
            watch_pauses(self._network.state, p)

    def _offset_ps(self, guard: Guard) -> int:
        """When polls happen, as a part of their period."""
        if guard.phase_ms is not None:
            return round(guard.phase_ms * PS_PER_MS)
        if self._phase is None:
            self._phase = random_below(self._network.state, SHARES) / SHARES
        return round(self._phase * guard.poll_ms * PS_PER_MS)

    def get(self, port: str) -> Guard | None:
        """The guard of a port."""
        self._ports[port]
        return self._set.get(port)

    def counters(self, port: str) -> tuple[GuardCounters, ...]:
        """What the port's guards did to priorities 0..7."""
        first = 8 * self._ports[port]
        return guard_counters(self._network.tables.guard[first : first + 8])

    def recover(self, port: str, priority: int) -> None:
        """By hand: a priority that is shut is restored now (NX-OS, Comware `... recover`)."""
        _check("priority", priority, 0, 7)
        if self._network.tables.guard[8 * self._ports[port] + priority].shut:
            restore(self._network.state, self._ports[port], priority)

    def restore_all(self, port: str) -> None:
        """Every priority of the port that is shut is restored."""
        for priority in range(8):
            self.recover(port, priority)


def set_guard(t: Tables, p: int, guard: Guard, offset_ps: int) -> None:
    """Port p is watched by `guard` from now on, at offset_ps + n polls."""
    rows = t.guard[8 * p : 8 * p + 8]
    period = round(guard.poll_ms * PS_PER_MS)
    now = int(t.clock[0].now)
    rows[0].poll_ps = period
    rows[0].next_poll = now + (offset_ps - now) % period
    rows.detect_ps, rows.quiet_ps, rows.fixed_ps = guard.detect_ps, guard.quiet_ps, guard.fixed_ps
    rows.action = _ACTIONS[guard.action]
    watched = range(8) if guard.priorities is None else guard.priorities
    t.port[p].guard = sum(1 << i for i in watched)


def guard_counters(rows: Any) -> tuple[GuardCounters, ...]:
    """The counters of eight rows of the guard table."""
    return tuple(
        counted(
            GuardCounters,
            row,
            shut=bool(row.shut),
            last_shut_ns=int(row.shut_at) // PS_PER_NS if row.shutdowns else None,
            last_restored_ns=int(row.restored_at) // PS_PER_NS if row.restored else None,
        )
        for row in rows
    )
