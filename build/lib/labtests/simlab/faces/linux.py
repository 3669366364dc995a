"""A Linux host with mlx5 NICs, the kernel's own driver and nothing of NVIDIA's installed."""

from labtests.inventory import Device
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import LinuxHost

KIND: Kind = "host"

OF_MLNX_TOOLS = frozenset(
    {"mlnx_qos", "show_gids", "show_counters", "ibdev2netdev", "cma_roce_tos", "ofed_info"}
)


def face(lab: SimulatedLab, device: Device) -> Face:
    """The host as it is after boot. Its driver has no ecn/ folder in sysfs."""
    host = LinuxHost(lab, device)
    host.faults.removed_tools |= OF_MLNX_TOOLS
    host.faults.no_ecn_folder = True
    return host
