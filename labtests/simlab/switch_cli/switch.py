"""The emulated switch behind a command line: its configuration."""

from datetime import datetime
from typing import Any

from labtests.inventory import Device
from labtests.simlab.face import Announced
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.screens import render
from labtests.simlab.switch_cli.arguments import short_name
from labtests.simlab.switch_cli.chassis import Chassis
from labtests.simlab.switch_cli.cli import SwitchCli
from labtests.simlab.switch_cli.configuration import CliSection, Configuration, top
from labtests.simlab.switch_cli.counters import RATE_WINDOW_S

NOMINAL_BITS_PER_S = 25_000_000_000  # of a port without a cable


class EmulatedSwitch(Chassis):
    """One switch, as commands see it."""

    def __init__(self, lab: SimulatedLab, device: Device, cli: SwitchCli) -> None:
        super().__init__(lab, device, cli.counting)
        self.cli = cli
        self.forms: dict[str, str] = {}
        """Screens that this product generation replaces, and by which."""
        self.changed_at: datetime | None = None
        """When somebody last changed the running configuration; None since it was loaded."""
        self.configuration = Configuration(cli.kinds)
        self._configure()

    def _configure(self) -> None:
        """Factory defaults are in force."""
        for port in self.ports:
            self.configuration.create(top("interface", port))
        for path in self.cli.initial_sections:
            self.configuration.create(path)
        self._apply_all()
        self.save()

    # -- for displays -----------------------------------------------------------------------------

    @property
    def hostname(self) -> str:
        """The name in the prompt."""
        return self.configuration.root.rest(self.cli.hostname) or self.name

    def show(self, screen: str, **values: Any) -> str:
        """The screen filled with these values."""
        return render(self.cli.screens, self.forms.get(screen, screen), **values)

    def short(self, port: str) -> str:
        """The port's name as tables print it."""
        return short_name(port, self.cli.types)

    def port(self, name: str) -> CliSection:
        """The port's section of the configuration."""
        return self.configuration.find(top("interface", name))

    def port_facts(self, port: str) -> dict[str, Any]:
        """What displays of a port have in common. `frame_bytes` is the longest, where a fault says
        it; a port without a cable has a nominal rate."""
        section, rate = self.port(port), self.rate_bits_per_s(port)
        shut = "shutdown" in section.lines
        return {
            "address": f"02000000{self.ports.index(port):04x}",  # locally administered
            "shut": shut,
            "cabled": rate is not None,
            "linked": rate is not None and not shut,
            "rate_bits_per_s": rate or NOMINAL_BITS_PER_S,
            "description": section.rest("description"),
            "frame_bytes": self.faults.defects.mtus.get(port),
        }

    def port_counts(self, port: str) -> dict[str, Any]:
        """What they count of it, but for queues and pauses."""
        return {
            "window_s": RATE_WINDOW_S,
            "traffic": self.statistics.traffic(port),
            "per_s": self.statistics.traffic_per_s(port),
            "crc_errors": self.crc_errors(port),
            "in_discards": self.refused(port),
        }

    def announces(self, interface: str) -> Announced:
        """What it says by LLDP on this port."""
        usual = self.cli.words.port_description.format(port=interface)
        return Announced(
            chassis="0200-0000-0000",
            port_id_type="Interface name",
            port_id=interface,
            description=self.port(interface).rest("description") or usual,
            name=self.name,
        )

    # -- applying the configuration ---------------------------------------------------------------

    def changed(self, section: CliSection) -> None:
        """Somebody has changed the section: it is applied to the network."""
        self.changed_at = self.now
        self._apply(section)

    def _apply(self, section: CliSection) -> None:
        self.cli.kinds[section.kind].changed(self, section)

    def save(self) -> None:
        """The running configuration is the startup configuration."""
        self._saved, self.saved_at = self.configuration.saved(), self.now

    @property
    def startup(self) -> Configuration:
        """The startup configuration."""
        startup = Configuration(self.cli.kinds)
        startup.load(self._saved)
        return startup

    def _apply_all(self) -> None:
        for section in self.configuration.everything():
            self._apply(section)
        self.changed_at = None

    def renew(self, port: str) -> None:
        """See Chassis."""
        self._apply(self.port(port))

    def load_saved(self) -> None:
        """See Chassis."""
        self.configuration.load(self._saved)
        self._apply_all()
