"""The counters of a switch as its management sees them: of this moment, or of its last refresh."""

from collections.abc import Callable
from typing import Any, TypeVar

from labtests.network import (
    PfcCounters,
    PortCounters,
    PortDrops,
    QueueCounters,
    Switch,
)
from labtests.simlab.faults import UnknownFault
from labtests.simlab.losses import Fault, Losses
from labtests.simlab.timeline import NS_PER_S, Timeline

Counted = TypeVar("Counted")


class ShownCounters:
    """What faces read. With the fault `slow-counters`, everything is of the last refresh."""

    def __init__(self, network: Switch, timeline: Timeline, losses: Losses) -> None:
        self._network, self._timeline = network, timeline
        self._period_ns = 0
        self._held: dict[tuple[str, str], Any] = {}
        losses.acts |= {"slow-counters": self._slow_down, "ignores-dscp": self._ignore_dscp}
        losses.on_heal.append(self._heal)

    @property
    def ports(self) -> tuple[str, ...]:
        """See Switch."""
        return self._network.ports

    def queue_counters(self, port: str) -> tuple[QueueCounters, ...]:
        """See Switch."""
        return self._read("queues", port, self._network.queue_counters)

    def pfc_counters(self, port: str) -> tuple[PfcCounters, ...]:
        """See Switch."""
        return self._read("pfc", port, self._network.pfc_counters)

    def drop_counters(self, port: str) -> PortDrops:
        """See Switch."""
        return self._read("drops", port, self._network.drop_counters)

    def port_counters(self, port: str) -> PortCounters:
        """See Switch."""
        return self._read("traffic", port, self._network.port_counters)

    def _read(self, what: str, port: str, live: Callable[[str], Counted]) -> Counted:
        if not self._period_ns:
            return live(port)
        held: Counted = self._held[what, port]
        return held

    def _slow_down(self, fault: Fault) -> None:
        period_ns = round(float(fault["seconds"]) * NS_PER_S)
        if period_ns <= 0:
            raise UnknownFault(f"counters are not refreshed every {fault['seconds']} s")
        self._hold()
        self._period_ns = period_ns
        self._wait(period_ns)

    def _hold(self) -> None:
        """Everything as it is now. Until the first refresh it stays as it was when it slowed."""
        self._period_ns = 0
        for port in self.ports:
            self._held["queues", port] = self.queue_counters(port)
            self._held["pfc", port] = self.pfc_counters(port)
            self._held["drops", port] = self.drop_counters(port)
            self._held["traffic", port] = self.port_counters(port)

    def _wait(self, period_ns: int) -> None:
        due_ns = (self._timeline.now_ns // period_ns + 1) * period_ns
        self._timeline.at(due_ns, lambda: self._refresh(period_ns))

    def _refresh(self, period_ns: int) -> None:
        if self._period_ns == period_ns:  # neither healed nor slowed down to another pace
            self._hold()
            self._period_ns = period_ns
            self._wait(period_ns)

    def _ignore_dscp(self, fault: Fault) -> None:
        if fault["port"] not in self.ports:
            raise UnknownFault(f"{fault['device']} has no cable in {fault['port']!r}")
        self._network.ignore_dscp(str(fault["port"]), deaf=True)

    def _heal(self) -> None:
        self._period_ns = 0
        for port in self.ports:
            self._network.ignore_dscp(port, deaf=False)
