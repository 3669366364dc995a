"""Any Linux server."""

from labtests.drivers.linux.foresight import Ahead
from labtests.drivers.linux.host import HostState, Without
from labtests.drivers.linux.link import LinkSettings
from labtests.drivers.linux.links import Links


class Driver(HostState, Without, LinkSettings, Links, Ahead):
    """A Linux host behind an open shell.

    LinkSettings: Mtu by ip.
    Links: LinkState, RocePorts, LinkErrors, OwnClock by ip, sysfs, ethtool, rdma, date.
    NicCounters (below Links): RdmaDevices, NicTelemetry by sysfs, ethtool, tc, rdma and /proc.
    HostState: Versions, Obstacles. Without: Lacking, where there is no RDMA device.
    Ahead: Foresight.
    """
