"""A Linux host with NVIDIA ConnectX-4 or newer (driver mlx5)."""

from typing import Literal

from labtests.capabilities.driver import Driver
from labtests.drivers.connectx import dcqcn, qos
from labtests.drivers.connectx.dcbx import ConnectxDcbx
from labtests.drivers.connectx.host import ConnectxState
from labtests.drivers.connectx.links import ConnectxLinks
from labtests.drivers.linux.host import Without
from labtests.drivers.linux.link import Mtu
from labtests.drivers.linux.tunnel import Tunnelling
from labtests.drivers.linux.vlan import VlanInterfaces

SESSION = "shell"
KIND: Literal["host", "switch"] = "host"

_SETTINGS = (
    *(qos.MlnxPfc, qos.MlnxTrust, qos.MlnxDscpMap, qos.TrafficClasses, qos.CableLength),
    qos.DcbxOwner,
    *(dcqcn.RpEnabled, dcqcn.NpEnabled, dcqcn.DcqcnRp, dcqcn.DcqcnNp),
    *(Mtu, Tunnelling),
)


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    """The driver of one host, by its name and ports in the testbed file."""
    links = ConnectxLinks(device, ports)
    return Driver(
        device,
        settings=tuple(setting(device, ports) for setting in _SETTINGS),
        parts=(
            links,
            ConnectxState(device, ports, links),
            Without(links),
            VlanInterfaces(device, ports),
            ConnectxDcbx(device, ports),
            dcqcn.FieldNames(device, ports),
        ),
    )
