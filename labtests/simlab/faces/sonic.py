"""A switch with SONiC."""

from labtests.inventory import Device
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.sonic import SonicBox

KIND: Kind = "switch"


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is installed, before `config qos reload`."""
    return SonicBox(lab, device)
