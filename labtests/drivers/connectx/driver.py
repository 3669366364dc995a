"""A Linux host with NVIDIA ConnectX-4 or newer (driver mlx5)."""

from labtests.drivers.connectx.classes import ClassSettings
from labtests.drivers.connectx.dcqcn import DcqcnSettings
from labtests.drivers.connectx.foresight import Ahead
from labtests.drivers.connectx.host import HostState
from labtests.drivers.connectx.links import Links
from labtests.drivers.connectx.telemetry import NicCounters
from labtests.drivers.linux import Driver as LinuxHost


class Driver(HostState, ClassSettings, DcqcnSettings, Links, NicCounters, Ahead, LinuxHost):
    """A Linux host with ConnectX ports behind an open shell: LinuxHost, and what is NVIDIA's own.

    ClassSettings: PriorityFlowControl, Trust, DscpMap, NicQosView, TrafficClasses, CableLength by
    mlnx_qos.
    DcqcnSettings: ReactionPoint, NotificationPoint, DcqcnParameters, DcqcnWords in sysfs ecn/.
    NicCounters: PfcTelemetry and the counters of mlx5 by ethtool, ibdev2netdev.
    HostState: Versions, Obstacles, of OFED, mlnx_qos and lldpad too.
    Links: speed and errors by ethtool, RoCE addresses by show_gids.
    Ahead: Foresight.
    """
