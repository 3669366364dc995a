"""A switch with Cumulus Linux 5 and NVUE."""

from labtests.inventory import Device
from labtests.simlab.cumulus import CumulusBox
from labtests.simlab.cumulus.streams import served
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab

KIND: Kind = "switch"
streams = served


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is installed, with memory for lossless traffic."""
    return CumulusBox(lab, device)
