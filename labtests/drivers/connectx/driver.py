"""A Linux host with NVIDIA ConnectX-4 or newer (driver mlx5)."""

from labtests.drivers.connectx.classes import ClassSettings
from labtests.drivers.connectx.dcqcn import DcqcnSettings
from labtests.drivers.connectx.foresight import Ahead
from labtests.drivers.connectx.host import HostState
from labtests.drivers.connectx.link import LinkSettings
from labtests.drivers.connectx.links import Links
from labtests.drivers.connectx.telemetry import NicCounters


class Driver(HostState, ClassSettings, LinkSettings, DcqcnSettings, Links, NicCounters, Ahead):
    """A Linux host with ConnectX ports behind an open shell.

    ClassSettings: PriorityFlowControl, Trust, DscpMap, NicQosView, TrafficClasses, CableLength by
    mlnx_qos.
    LinkSettings: Mtu by ip.
    DcqcnSettings: ReactionPoint, NotificationPoint, DcqcnParameters, DcqcnWords in sysfs ecn/.
    NicCounters: RdmaDevices, PfcTelemetry, NicTelemetry by rdma, ethtool, sysfs and /proc.
    HostState: Versions, Obstacles.
    Links: LinkState, RocePorts, LinkErrors, OwnClock by ip, ethtool, ibv_devinfo, show_gids, date.
    Ahead: Foresight.
    """
