"""A Linux host with ConnectX NICs (mlx5)."""

from labtests.inventory import Device
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import LinuxHost

KIND: Kind = "host"


def face(lab: SimulatedLab, device: Device) -> Face:
    """The host as it is after boot: default QoS, no process."""
    return LinuxHost(lab, device)
