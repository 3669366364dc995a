"""A switch with SONiC."""

from labtests.inventory import Device
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.sonic import SonicBox
from labtests.simlab.sonic.streams import served

KIND: Kind = "switch"
streams = served


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is installed, before `config qos reload`."""
    return SonicBox(lab, device)
