"""One emulated Nexus between three hosts that only the packet network knows."""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSession, CliSwitch

PORTS = ("Ethernet1/13", "Ethernet1/14", "Ethernet1/15", "Ethernet1/16")
HOSTS = {"C": PORTS[0], "A": PORTS[1], "B": PORTS[2]}


class Silent:
    """A host without a shell; tests start its traffic in the network itself."""

    user = "root"


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> SimulatedLab:
    module = ModuleType("labtests.simlab.faces.silent")
    module.KIND, module.face = "host", lambda simulation, device: Silent()
    monkeypatch.setitem(sys.modules, "labtests.simlab.faces.silent", module)
    ports = tuple(Port(device="N9K", interface=name) for name in PORTS)
    management = Management(host="switch.example", user="admin")
    devices = [Device(name="N9K", platform="nxos", management=management, ports=ports)]
    links = []
    for number, (name, port) in enumerate(HOSTS.items(), start=10):
        nic = Port(device=name, interface="eth0", address=f"192.168.10.{number}")
        at = Management(host=f"{name}.example")
        devices.append(Device(name=name, platform="silent", management=at, ports=(nic,)))
        end = Endpoint(device="N9K", interface=port)
        links.append(Link(a=nic.endpoint, b=end, speed_bits_per_s=10**10, length_m=3.0))
    testbed = Testbed(
        name="three", file=Path("three.yaml"), devices=tuple(devices), links=tuple(links)
    )
    return SimulatedLab(testbed, seed=1)


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
