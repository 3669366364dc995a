"""The counters of a switch as its management sees them: of this moment, or of its last refresh."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal

from labtests.network import (
    Mistimed,
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
_METHODS: Mapping[Counted, str] = {
    "queues": "queue_counters",
    "pfc": "pfc_counters",
    "drops": "drop_counters",
    "traffic": "port_counters",
}
"""Of Switch."""
_MISTAKES = {"heeds any": "heeds_any", "wants a source": "wants_source"}
NOTHING = QueueCounters(**dict.fromkeys((f.name for f in fields(QueueCounters)), 0))
_OF_NO_CABLE: Mapping[Counted, Any] = {
    "queues": (NOTHING,) * 8,
    "pfc": (PfcCounters(rx_frames=0, tx_frames=0),) * 8,
    "drops": PortDrops(**dict.fromkeys((f.name for f in fields(PortDrops)), 0)),
    "traffic": PortCounters(rx_packets=0, rx_bytes=0, tx_packets=0, tx_bytes=0),
}


class ShownCounters:
    """What faces read; a port without a cable counts nothing. What `usual` has is of the last
    refresh, every so many seconds; with the fault `slow-counters`, everything is."""

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
        losses.acts |= {
            "slow-counters": self._slow_down,
            "ignores-dscp": self._ignore_dscp,
            "ignores-udp-port": self._ignore_udp_port,
            "ignores-rate-limits": self._ignore_rate_limits,
            "ignores-remarks": self._ignore_remarks,
            "misplaces-roce": self._misplace_roce,
            "mistakes-pauses": self._mistake_pauses,
            "mistimed-watchdog": self._mistime,
            "lingering-timeout": self._mistime,
        }
        losses.on_heal.append(self._heal)

    @property
    def ports(self) -> tuple[str, ...]:
        """See Switch."""
        return self._network.ports

    def queue_counters(self, port: str) -> tuple[QueueCounters, ...]:
        """See Switch."""
        found: tuple[QueueCounters, ...] = self._read("queues", port)
        return found

    def pfc_counters(self, port: str) -> tuple[PfcCounters, ...]:
        """See Switch."""
        found: tuple[PfcCounters, ...] = self._read("pfc", port)
        return found

    def drop_counters(self, port: str) -> PortDrops:
        """See Switch."""
        found: PortDrops = self._read("drops", port)
        return found

    def port_counters(self, port: str) -> PortCounters:
        """See Switch."""
        found: PortCounters = self._read("traffic", port)
        return found

    def refresh_every(self, what: Counted, seconds: float) -> None:
        """From now on these counters are refreshed so often."""
        self.usual[what] = seconds
        self._pace(self.usual)

    def _read(self, what: Counted, port: str) -> Any:
        if port not in self.ports:
            return _OF_NO_CABLE[what]
        return self._held[what, port] if what in self._periods_ns else self._live(what, port)

    def _live(self, what: Counted, port: str) -> Any:
        return getattr(self._network, _METHODS[what])(port)

    def _slow_down(self, fault: Fault) -> None:
        seconds = float(fault["seconds"])
        if round(seconds * NS_PER_S) <= 0:
            raise UnknownFault(f"counters are not refreshed every {fault['seconds']} s")
        self._pace(dict.fromkeys(_METHODS, seconds))

    def _pace(self, seconds: Mapping[Counted, float]) -> None:
        """Until the first refresh all stays as it is now."""
        self._periods_ns = {}
        for what in seconds:
            self._hold(what)
        self._periods_ns = {what: round(each * NS_PER_S) for what, each in seconds.items()}
        for what, period_ns in self._periods_ns.items():
            self._wait(what, period_ns)

    def _hold(self, what: Counted) -> None:
        for port in self.ports:
            self._held[what, port] = self._live(what, port)

    def _wait(self, what: Counted, period_ns: int) -> None:
        due_ns = (self._timeline.now_ns // period_ns + 1) * period_ns
        paced = self._periods_ns
        self._timeline.at(due_ns, lambda: self._refresh(what, period_ns, paced))

    def _refresh(self, what: Counted, period_ns: int, paced: object) -> None:
        if self._periods_ns is paced:  # not paced anew since
            self._hold(what)
            self._wait(what, period_ns)

    def _ignore_dscp(self, fault: Fault) -> None:
        self._network.ignore_dscp(self._plugged(fault), deaf=True)

    def _ignore_udp_port(self, fault: Fault) -> None:
        self._network.ignore_udp_port(self._plugged(fault))

    def _ignore_rate_limits(self, fault: Fault) -> None:
        self._network.ignore_rate_limits(self._plugged(fault))

    def _ignore_remarks(self, fault: Fault) -> None:
        self._network.ignore_remarks(self._plugged(fault))

    def _mistime(self, fault: Fault) -> None:
        how = Mistimed(
            shuts=float(fault.get("shuts", 1)),
            serves=float(fault.get("serves", 1)),
            lingers_ms=float(fault.get("milliseconds", 0)),
        )
        self._network.guards.mistime(self._plugged(fault), how)

    def _misplace_roce(self, fault: Fault) -> None:
        queues = {int(fault["dscp"]): int(fault["queue"])}
        self._network.misplace_roce(self._plugged(fault), queues)

    def _mistake_pauses(self, fault: Fault) -> None:
        control = self._network.flow_control(self._plugged(fault))
        if fault["how"] not in _MISTAKES:
            raise UnknownFault(f"pauses are mistaken as {' or '.join(_MISTAKES)}")
        control.mistake_pauses(**{_MISTAKES[fault["how"]]: True})

    def _plugged(self, fault: Fault) -> str:
        if fault["port"] not in self.ports:
            raise UnknownFault(f"{fault['device']} has no cable in {fault['port']!r}")
        return str(fault["port"])

    def _heal(self) -> None:
        self._pace(self.usual)
        for port in self.ports:
            self._network.ignore_dscp(port, deaf=False)
            self._network.ignore_udp_port(port, ignores=False)
            self._network.ignore_rate_limits(port, ignores=False)
            self._network.ignore_remarks(port, ignores=False)
            self._network.misplace_roce(port, {})
            self._network.flow_control(port).mistake_pauses()
            self._network.guards.mistime(port, Mistimed())
