"""The log: of ports that go down and come up, and of early warning of pause frames, whose lines in
interface view are here.

H3C, "Configuring PFC"; the sentence is from memory, and so is that each priority has a line of its
own, and that a rate is that of the last second. A warning comes when a rate reaches its threshold,
and again when it has been below in between.
"""

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
        self._lab.timeline.after(NS_PER_S, self._look)

    def _warn(self, which: tuple[str, str, int], threshold: int, frames: int) -> None:
        port, side, priority = which
        self.log.append(
            f"%{self._stamp()} {self.hostname} PFC/4/PFC_WARNING:On interface {port}, the rate of "
            f"{side} PFC packets of 802.1p priority {priority} exceeds the PFC early-warning "
            f"threshold {threshold} pps. The current rate is {frames}."
        )

    def _stamp(self) -> str:
        now = self.now
        return f"{now:%b} {now.day:>2} {now:%H:%M:%S}:{now.microsecond // 1000:03} {now.year}"


_WAYS = {"inpps": ("rx_frames", "input"), "outpps": ("tx_frames", "output")}
