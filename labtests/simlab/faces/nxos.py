"""A Nexus 9000 with NX-OS."""

from labtests.inventory import Device
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.nxos.logfile import NexusSwitch
from labtests.simlab.nxos.streams import served

KIND: Kind = "switch"
streams = served


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is with an empty configuration."""
    return NexusSwitch(lab, device)
