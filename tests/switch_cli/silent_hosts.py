"""An emulated switch between hosts that only the packet network knows."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.simlab.face import Announced

RATE_BITS_PER_S = 10_000_000_000


class Silent:
    """A host without a shell; tests start its traffic in the network itself."""

    user = "root"

    def announces(self, interface: str) -> Announced:
        """What any host says by LLDP."""
        mac = "0200-0000-0001"
        return Announced(
            chassis=mac, port_id_type="MAC address", port_id=mac, description=interface, name="host"
        )


def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a platform `silent`."""
    module = ModuleType("labtests.simlab.faces.silent")
    module.KIND, module.face = "host", lambda simulation, device: Silent()
    monkeypatch.setitem(sys.modules, "labtests.simlab.faces.silent", module)


def star(switch: str, platform: str, ports: Sequence[str], hosts: Mapping[str, str]) -> Testbed:
    """The switch with these ports, and a silent host at some of them."""
    at = Management(host="switch.example", user="admin")
    devices = [
        Device(
            name=switch,
            platform=platform,
            management=at,
            ports=tuple(Port(device=switch, interface=name) for name in ports),
        )
    ]
    links = []
    for number, (name, port) in enumerate(hosts.items(), start=10):
        nic = Port(device=name, interface="eth0", address=f"192.168.10.{number}")
        management = Management(host=f"{name}.example")
        devices.append(Device(name=name, platform="silent", management=management, ports=(nic,)))
        end = Endpoint(device=switch, interface=port)
        links.append(Link(a=nic.endpoint, b=end, speed_bits_per_s=RATE_BITS_PER_S, length_m=3.0))
    return Testbed(
        name="three", file=Path("three.yaml"), devices=tuple(devices), links=tuple(links)
    )
