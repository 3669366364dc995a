"""The counters of a switch as its management sees them: of this moment, or of its last refresh."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

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

Counted = Literal["queues", "pfc", "drops", "traffic"]
Found = TypeVar("Found")


class ShownCounters:
    """What faces read. What `usual` has is of the last refresh, every so many seconds; with the
    fault `slow-counters`, everything is."""

    def __init__(
        self,
        network: Switch,
        timeline: Timeline,
        losses: Losses,
        usual: Mapping[Counted, float] | None = None,
    ) -> None:
        self._network, self._timeline = network, timeline
        self._periods_ns: dict[Counted, int] = {}
        self.usual = dict(usual or {})
        self._held: dict[tuple[Counted, str], Any] = {}
        self._pace(self.usual)
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

    def refresh_every(self, what: Counted, seconds: float) -> None:
        """From now on these counters are refreshed so often."""
        self.usual[what] = seconds
        self._pace(self.usual)

    def _read(self, what: Counted, port: str, live: Callable[[str], Found]) -> Found:
        if what not in self._periods_ns:
            return live(port)
        held: Found = self._held[what, port]
        return held

    def _slow_down(self, fault: Fault) -> None:
        seconds = float(fault["seconds"])
        if round(seconds * NS_PER_S) <= 0:
            raise UnknownFault(f"counters are not refreshed every {fault['seconds']} s")
        self._pace(dict.fromkeys(self._live, seconds))

    def _pace(self, seconds: Mapping[Counted, float]) -> None:
        """Until the first refresh all stays as it is now."""
        self._periods_ns = {}
        for what in seconds:
            self._hold(what)
        self._periods_ns = {what: round(each * NS_PER_S) for what, each in seconds.items()}
        for what, period_ns in self._periods_ns.items():
            self._wait(what, period_ns)

    @property
    def _live(self) -> Mapping[Counted, Callable[[str], Any]]:
        network = self._network
        return {
            "queues": network.queue_counters,
            "pfc": network.pfc_counters,
            "drops": network.drop_counters,
            "traffic": network.port_counters,
        }

    def _hold(self, what: Counted) -> None:
        for port in self.ports:
            self._held[what, port] = self._live[what](port)

    def _wait(self, what: Counted, period_ns: int) -> None:
        due_ns = (self._timeline.now_ns // period_ns + 1) * period_ns
        paced = self._periods_ns
        self._timeline.at(due_ns, lambda: self._refresh(what, period_ns, paced))

    def _refresh(self, what: Counted, period_ns: int, paced: object) -> None:
        if self._periods_ns is paced:  # not paced anew since
            self._hold(what)
            self._wait(what, period_ns)

    def _ignore_dscp(self, fault: Fault) -> None:
        if fault["port"] not in self.ports:
            raise UnknownFault(f"{fault['device']} has no cable in {fault['port']!r}")
        self._network.ignore_dscp(str(fault["port"]), deaf=True)

    def _heal(self) -> None:
        self._pace(self.usual)
        for port in self.ports:
            self._network.ignore_dscp(port, deaf=False)
