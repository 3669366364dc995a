"""One emulated Nexus between three hosts that only the packet network knows."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "switch_cli"))

from silent_hosts import silence, star

from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSession, CliSwitch

PORTS = ("Ethernet1/13", "Ethernet1/14", "Ethernet1/15", "Ethernet1/16")
HOSTS = {"C": PORTS[0], "A": PORTS[1], "B": PORTS[2]}


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> SimulatedLab:
    silence(monkeypatch)
    return SimulatedLab(star("N9K", "nxos", PORTS, HOSTS), seed=1)


@pytest.fixture
def switch(simulation: SimulatedLab) -> CliSwitch:
    return simulation.devices["N9K"]


@dataclass
class NexusCli:
    """A session."""

    session: CliSession

    def __call__(self, *commands: str) -> str:
        return "".join(self.session.run(command) for command in commands)

    def configure(self, *commands: str) -> None:
        """These lines, none of which is refused."""
        self("configure terminal")
        for command in commands:
            assert self(command) == "", command
        self("end")

    @property
    def prompt(self) -> str:
        return self.session.prompt


@pytest.fixture
def cli(switch: CliSwitch) -> NexusCli:
    return NexusCli(switch.session())
