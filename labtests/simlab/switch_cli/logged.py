"""An emulated switch that keeps a log, which a reboot empties."""

from abc import abstractmethod
from datetime import datetime

from labtests.inventory import Device, Endpoint
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli.cli import SwitchCli
from labtests.simlab.switch_cli.device import CliSwitch
from labtests.simlab.switch_cli.grammar import CliCall, CliCommand
from labtests.simlab.switch_cli.session import CliSession


def log_of(session: CliSession) -> list[str]:
    """The log, with all that has happened by now."""
    switch = session.switch
    if not isinstance(switch, LoggingSwitch):
        raise TypeError(f"{switch.name} has no log")
    switch.look()
    return switch.log


def _clear(session: CliSession, call: CliCall) -> str:
    log_of(session).clear()
    return ""


clear_log = CliCommand(_clear)
"""Nothing is in the log any more."""


class LoggingSwitch(CliSwitch):
    """Every line is stamped with the switch's own clock; a fault may lose one, or alter it."""

    def __init__(self, lab: SimulatedLab, device: Device, cli: SwitchCli) -> None:
        self.log: list[str] = []
        self._dark: set[str] = set()
        super().__init__(lab, device, cli)
        self.faults.on_down.append(self.log.clear)
        lab.on_link.append(self._heard_of_link)

    @abstractmethod
    def stamped(self, at: datetime, text: str) -> str:
        """A line of the log, as the vendor writes it."""

    @abstractmethod
    def link_lines(self, port: str, *, up: bool) -> tuple[str, ...]:
        """What is logged of a port that went down, or came up."""

    def look(self) -> None:
        """What has happened by now is in the log."""

    def note(self, text: str, at_ns: int | None = None) -> None:
        """It is in the log, as of now or of another moment of the lab."""
        text = text.strip()
        for find, instead in self.faults.defects.log_lines.items():
            if find in text:
                self.faults.met.add(("log-line", find))
                text = text.replace(find, instead) if instead else ""
        at = self.now if at_ns is None else self.clock_at(at_ns)
        self.log += [self.stamped(at, text)] if text else []

    def _heard_of_link(self, end: Endpoint) -> None:
        up, port = self._lab.has_link(end), end.interface
        if end.device != self.name or up == (port not in self._dark):
            return
        (self._dark.discard if up else self._dark.add)(port)
        for text in self.link_lines(port, up=up):
            self.note(text)
