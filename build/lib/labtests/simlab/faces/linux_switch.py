"""A Linux box that is a switch: a bridge whose ports have tc queues."""

from labtests.inventory import Device
from labtests.network import SwitchMemory
from labtests.simlab.face import Face, Kind
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux_switch import LinuxSwitch

KIND: Kind = "switch"

MEMORY = SwitchMemory(total_bytes=2**40, cell_bytes=1, egress_limit_cells=2**40)
"""Packets lie in the box's main memory: nothing but the queues' own limits, in bytes, is ever
reached."""


def face(lab: SimulatedLab, device: Device) -> Face:
    """The switch as it is after boot, with the queues of `labtests linuxlab`."""
    return LinuxSwitch(lab, device)
