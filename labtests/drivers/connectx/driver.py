"""A Linux host with NVIDIA ConnectX-4 or newer (driver mlx5)."""

from typing import Literal

from labtests.capabilities.driver import Driver
from labtests.drivers.connectx import dcqcn, qos
from labtests.drivers.connectx.host import HostState
from labtests.drivers.connectx.links import Links
from labtests.drivers.linux.host import Without
from labtests.drivers.linux.link import Mtu

SESSION = "shell"
KIND: Literal["host", "switch"] = "host"

_SETTINGS = (
    *(qos.Pfc, qos.Trust, qos.DscpMap, qos.TrafficClasses, qos.CableLength),
    *(dcqcn.ReactionPoint, dcqcn.NotificationPoint, dcqcn.DcqcnRp, dcqcn.DcqcnNp),
    Mtu,
)


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    """The driver of one host, by its name and ports in the testbed file."""
    links = Links(device, ports)
    return Driver(
        device,
        settings=tuple(setting(device, ports) for setting in _SETTINGS),
        parts=(
            links,
            HostState(device, ports, links),
            Without(links),
            qos.NicQosShown(device, ports),
            dcqcn.FieldNames(device, ports),
        ),
    )
