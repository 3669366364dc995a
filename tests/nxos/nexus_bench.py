"""A driver of the emulated Nexus, with its CLI in this process: no SSH, no lab."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.simlab.lab import SimulatedLab
from labtests.transport.protocol import Reply

PORTS = ("Ethernet1/13", "Ethernet1/14", "Ethernet1/15")


class _Silent:
    user = "root"


def emulated():
    """A Nexus with a host at each port."""
    module = ModuleType("labtests.simlab.faces.silent")
    module.KIND, module.face = "host", lambda simulation, device: _Silent()
    sys.modules["labtests.simlab.faces.silent"] = module
    ports = tuple(Port(device="N9K", interface=name) for name in PORTS)
    devices = [Device(name="N9K", platform="nxos", management=Management(host="n9k"), ports=ports)]
    links = []
    for number, port in enumerate(PORTS, start=10):
        nic = Port(device=f"H{number}", interface="eth0", address=f"192.168.10.{number}")
        at = Management(host=f"h{number}")
        devices.append(Device(name=f"H{number}", platform="silent", management=at, ports=(nic,)))
        end = Endpoint(device="N9K", interface=port)
        links.append(Link(a=nic.endpoint, b=end, speed_bits_per_s=10**10, length_m=3.0))
    file = Path("bench.yaml")
    return SimulatedLab(
        Testbed(name="bench", file=file, devices=tuple(devices), links=tuple(links)), seed=1
    ).devices["N9K"]


@dataclass
class NexusBench:
    """A transport to it."""

    switch: object
    device: str = "N9K"
    asked: list = field(default_factory=list)
    configured: list = field(default_factory=list)

    def run(self, command, *, timeout_s=30.0):
        self.asked.append(str(command))
        return Reply(device="N9K", command=command, text=self.switch.session().run(str(command)))

    def configure(self, commands):
        session, printed = self.switch.session(), ""
        for line in ("configure terminal", *commands, "end"):
            printed += session.run(str(line))
            self.configured.append(str(line))
            if printed.rpartition("\n")[0].rpartition("\n")[2].startswith("% "):
                break
        return Reply(device="N9K", command="configure terminal", text=printed)

    def type(self, *lines):
        """By hand, and nothing is refused."""
        session = self.switch.session()
        session.run("configure terminal")
        for line in lines:
            assert session.run(line) == "", line

    def shown(self):
        """All that is configured."""
        return self.switch.session().run("show running-config").split("\n", 5)[5]
