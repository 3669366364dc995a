"""An H3C switch with Comware 7."""

from labtests.inventory import Device
from labtests.simlab.comware.cli import COMWARE
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSwitch

KIND: Kind = "switch"


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is with an empty configuration."""
    return CliSwitch(lab, device, COMWARE)
