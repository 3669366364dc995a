"""A switch with Onyx (MLNX-OS)."""

from labtests.inventory import Device
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.onyx.cli import ONYX
from labtests.simlab.switch_cli import CliSwitch

KIND: Kind = "switch"


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch with PFC enabled, and nothing else configured."""
    return CliSwitch(lab, device, ONYX)
