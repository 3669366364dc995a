"""The log: of ports that go down and come up, and of early warning of pause frames, whose lines in
interface view are here.

H3C, "Configuring PFC"; the sentence is from memory, and so is that each priority has a line of its
own, and that a rate is that of the last second. A warning comes when a rate reaches its threshold,
and again when it has been below in between.
"""

from collections.abc import Mapping
from typing import Any

from labtests.inventory import Device, Endpoint
from labtests.network import PfcCounters
from labtests.simlab.comware.cli import COMWARE
from labtests.simlab.comware.sensors import Sensors
from labtests.simlab.comware.telemetry import dialled
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSwitch
from labtests.simlab.timeline import NS_PER_S

_ALL = "priority-flow-control early-warning"


class ComwareSwitch(CliSwitch):
    """With a log, and somebody who looks at pause frames every second."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        super().__init__(lab, device, COMWARE)
        self.log: list[str] = []
        self.dials = Sensors(self, lambda: dialled(self.configuration))
        self._above: set[tuple[str, str, int]] = set()
        self._seen: dict[str, tuple[PfcCounters, ...]] = {}
        self.faults.on_reset.append(self.log.clear)
        self._dark: set[str] = set()
        lab.on_link.append(self._heard_of_link)
        lab.timeline.after(NS_PER_S, self._look)

    def _heard_of_link(self, end: Endpoint) -> None:
        """A port that went down or came up: two lines."""
        up, port = self._lab.has_link(end), end.interface
        if end.device != self.name or up == (port not in self._dark):
            return
        (self._dark.discard if up else self._dark.add)(port)
        for what, state in (("3/PHY_UPDOWN", "Physical"), ("5/LINK_UPDOWN", "Line protocol")):
            self.log.append(
                f"%{self._stamp()} {self.hostname} IFNET/{what}: {state} state on the interface "
                f"{port} changed to {'up' if up else 'down'}."
            )

    def _look(self) -> None:
        for name in self.network.ports:
            now = self.network.pfc_counters(name)
            before = self._seen.get(name, now)
            self._seen[name] = now
            for line in self.port(name).under(_ALL):
                self._compare(name, line.values, before, now)
        self._lab.timeline.after(NS_PER_S, self._look)

    def _compare(
        self,
        port: str,
        line: Mapping[str, Any],
        before: tuple[PfcCounters, ...],
        now: tuple[PfcCounters, ...],
    ) -> None:
        priority, counter = line["one"], _COUNTERS[line["way"]]
        frames = getattr(now[priority], counter) - getattr(before[priority], counter)
        which = (port, line["way"], priority)
        if frames < line["frames"]:
            self._above.discard(which)
        elif which not in self._above:
            self._above.add(which)
            self.log.append(self._sentence(which, line["frames"], frames))

    def _sentence(self, which: tuple[str, str, int], threshold: int, frames: int) -> str:
        port, way, priority = which
        return (
            f"%{self._stamp()} {self.hostname} PFC/4/PFC_WARNING:On interface {port}, the rate of "
            f"{_SAID[way]} PFC packets of 802.1p priority {priority} exceeds the PFC early-warning "
            f"threshold {threshold} pps. The current rate is {frames}."
        )

    def _stamp(self) -> str:
        now = self.now
        return f"{now:%b} {now.day:>2} {now:%H:%M:%S}:{now.microsecond // 1000:03} {now.year}"


_COUNTERS = {"inpps": "rx_frames", "outpps": "tx_frames"}
_SAID = {"inpps": "input", "outpps": "output"}
