"""The log: of ports that go down and come up, and of early warning of pause frames, whose lines in
interface view are here.

H3C, "Configuring PFC"; the sentence is from memory, and so is that each priority has a line of its
own, and that a rate is that of the last second. A warning comes when a rate reaches its threshold,
and again when it has been below in between.
"""

from datetime import datetime

from labtests.inventory import Device
from labtests.network import PfcCounters
from labtests.simlab.comware.cli import COMWARE
from labtests.simlab.comware.sensors import Sensors
from labtests.simlab.comware.telemetry import dialled
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import LoggingSwitch
from labtests.simlab.timeline import NS_PER_S

_ALL = "priority-flow-control early-warning"


class ComwareSwitch(LoggingSwitch):
    """Somebody looks at pause frames every second."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        super().__init__(lab, device, COMWARE)
        self.dials = Sensors(self, lambda: dialled(self.configuration))
        self._above: set[tuple[str, str, int]] = set()
        self._seen: dict[str, tuple[PfcCounters, ...]] = {}
        lab.timeline.after(NS_PER_S, self._every_second)

    def stamped(self, at: datetime, text: str) -> str:
        """See LoggingSwitch."""
        time = f"{at:%b} {at.day:>2} {at:%H:%M:%S}:{at.microsecond // 1000:03} {at.year}"
        return f"%{time} {self.hostname} {text}"

    def link_lines(self, port: str, *, up: bool) -> tuple[str, ...]:
        """Two lines."""
        return tuple(
            f"IFNET/{what}: {state} state on the interface {port} changed to "
            f"{'up' if up else 'down'}."
            for what, state in (("3/PHY_UPDOWN", "Physical"), ("5/LINK_UPDOWN", "Line protocol"))
        )

    def _every_second(self) -> None:
        for name in self.network.ports:
            now = self.network.pfc_counters(name)
            before, self._seen[name] = self._seen.get(name, now), now
            for line in self.port(name).under(_ALL):
                counter, side = _WAYS[line.values["way"]]
                priority, threshold = line.values["one"], line.values["frames"]
                frames = getattr(now[priority], counter) - getattr(before[priority], counter)
                which = (name, side, priority)
                if frames < threshold:
                    self._above.discard(which)
                elif which not in self._above:
                    self._above.add(which)
                    self._warn(which, threshold, frames)
        self._lab.timeline.after(NS_PER_S, self._every_second)

    def _warn(self, which: tuple[str, str, int], threshold: int, frames: int) -> None:
        port, side, priority = which
        self.note(
            f"PFC/4/PFC_WARNING:On interface {port}, the rate of "
            f"{side} PFC packets of 802.1p priority {priority} exceeds the PFC early-warning "
            f"threshold {threshold} pps. The current rate is {frames}."
        )


_WAYS = {"inpps": ("rx_frames", "input"), "outpps": ("tx_frames", "output")}
