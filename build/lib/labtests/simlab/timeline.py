"""Simulated time: integer nanoseconds since the lab's start, and what is due when."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

NS_PER_S = 1_000_000_000


class Advancing(Protocol):
    """What moves along with the timeline: the packet network."""

    def advance_to(self, time_ns: int) -> None:
        """Bring everything inside to this moment."""
        ...


@dataclass(order=True, slots=True)
class Appointment:
    """A callback that is due. Ties go to the one registered first."""

    time_ns: int
    number: int
    callback: Callable[[], None] = field(compare=False)


class Timeline:
    """Owns the network's clock: it alone advances it, from one due callback to the next."""

    def __init__(self, network: Advancing) -> None:
        self._network = network
        self._now_ns = 0
        self._registered = 0
        self._due: list[Appointment] = []

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the lab's start."""
        return self._now_ns

    def at(self, time_ns: int, callback: Callable[[], None]) -> Appointment:
        """Have this called at that time; at the present when it has passed. Never called at once:
        the earliest is the next `advance_to`."""
        self._registered += 1
        due = Appointment(max(time_ns, self._now_ns), self._registered, callback)
        heapq.heappush(self._due, due)
        return due

    def after(self, delay_ns: int, callback: Callable[[], None]) -> Appointment:
        """Have this called when so much simulated time has passed."""
        return self.at(self._now_ns + delay_ns, callback)

    def advance_to(self, time_ns: int) -> None:
        """Let time pass. Every callback runs at its own time, with the network at that time too;
        callbacks may register more, also for the same time."""
        if time_ns < self._now_ns:
            raise ValueError(f"time runs forward: now {self._now_ns} ns, asked for {time_ns} ns")
        while self._due and self._due[0].time_ns <= time_ns:
            appointment = heapq.heappop(self._due)
            self._reach(appointment.time_ns)
            appointment.callback()
        self._reach(time_ns)

    def _reach(self, time_ns: int) -> None:
        if time_ns > self._now_ns:
            self._network.advance_to(time_ns)
            self._now_ns = time_ns
