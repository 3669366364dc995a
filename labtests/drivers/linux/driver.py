"""Any Linux server."""

from typing import Literal

from labtests.capabilities.driver import Driver
from labtests.drivers.linux.host import HostState, Without
from labtests.drivers.linux.link import Mtu
from labtests.drivers.linux.links import HostLinks
from labtests.drivers.linux.tunnel import Tunnelling
from labtests.drivers.linux.vlan import VlanInterfaces

SESSION = "shell"
KIND: Literal["host", "switch"] = "host"


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    """The driver of one server, by its name and ports in the testbed file."""
    links = HostLinks(device, ports)
    parts = (
        links,
        HostState(device, ports),
        Without(links),
        VlanInterfaces(device, ports),
    )
    return Driver(device, settings=(Mtu(device, ports), Tunnelling(device, ports)), parts=parts)
