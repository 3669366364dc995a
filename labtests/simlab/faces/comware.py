"""An H3C switch with Comware 7."""

from labtests.inventory import Device
from labtests.simlab.comware.alarms import ComwareSwitch
from labtests.simlab.comware.sensors import served
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab

KIND: Kind = "switch"
streams = served


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is with an empty configuration."""
    return ComwareSwitch(lab, device)
