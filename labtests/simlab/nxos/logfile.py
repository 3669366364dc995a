"""The log file: what the PFC watchdog did, and ports that go down and come up.

That a reboot empties the file: guide. That a queue which somebody recovers by hand is logged like
others: memory.
"""

from dataclasses import asdict
from datetime import datetime

from labtests.inventory import Device
from labtests.network import PfcWatchdog
from labtests.simlab import switch_cli as kit
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.nxos.cli import NXOS

_LOOK_NS = 100_000_000  # a poll of the watchdog: a queue is shut or restored once in it at most


class NexusSwitch(kit.LoggingSwitch):
    """Somebody looks at the queues while they are watched."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self._looking = False
        super().__init__(lab, device, NXOS)

    def stamped(self, at: datetime, text: str) -> str:
        """See LoggingSwitch."""
        return f"{at:%Y %b} {at.day:>2} {at:%H:%M:%S} {self.hostname} {text}"

    def link_lines(self, port: str, *, up: bool) -> tuple[str, ...]:
        """One line."""
        shut = "shutdown" in self.port(port).lines
        return (self.show("log-link", port=port, up=up, shut=shut),)

    def apply(self, port: str, wanted: kit.PortBehaviour) -> None:
        """See Chassis."""
        super().apply(port, wanted)
        if isinstance(wanted.guard, PfcWatchdog) and not self._looking:
            self._look_again()

    def _look_again(self) -> None:
        self.look()
        guards = self.network.guards
        self._looking = any(guards.get(port) for port in self.network.ports)
        if self._looking:
            self._lab.timeline.after(_LOOK_NS, self._look_again)

    def look(self) -> None:
        """Each time is the one at which it happened."""
        for each in self.guard_events():
            self.note(self.show("log-watchdog", **asdict(each)), each.at_ns)
