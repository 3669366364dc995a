"""One emulated Cumulus Linux box: a Linux shell in front of NVUE."""

from functools import partial

from labtests.inventory import Device
from labtests.simlab.cumulus.chassis import CumulusChassis
from labtests.simlab.cumulus.model import DEFAULT
from labtests.simlab.cumulus.nv import nv
from labtests.simlab.face import Announced
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import LinuxHost, toolbox
from labtests.simlab.linux.calls import Tools
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.sysfs import populate_system


class CumulusBox(LinuxHost):
    """See face.Face."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self.chassis = CumulusChassis(lab, device)
        super().__init__(lab, device)
        self.user = device.management.user or "cumulus"
        self.network = self.chassis.network

    def make_ports(self, device: Device) -> tuple[NicPort, ...]:
        """See Machine: its ports are not those of a host."""
        return ()

    def install(self) -> Tools:
        """See LinuxHost."""
        return {**toolbox.OF_ANY_BOX, "nv": partial(nv, self.chassis)}

    def populate(self) -> None:
        """See LinuxHost."""
        populate_system(self)

    def hinder(self) -> None:
        """See LinuxHost: the chassis has its own."""

    def expect_frames(self, frame_bytes: int) -> None:
        """See Forwarding."""
        self.chassis.expect_frames(frame_bytes)

    def announces(self, interface: str) -> Announced:
        """See face.Announcing."""
        return Announced(
            chassis="0200-0000-0000",
            port_id_type="Interface name",
            port_id=interface,
            description=interface,
            name=self.name,
        )

    def set_map(self, classes: tuple[int, ...]) -> None:
        """See LinuxHost: all ports have this map from the start."""
        tree, _ = self.chassis.revisions.begin("root")
        dscps = {str(dscp): {"switch-priority": each} for dscp, each in enumerate(classes)}
        tree["qos"]["mapping"] = {DEFAULT: {"trust": "l3", "dscp": dscps}}
        self.chassis.commit("root")
        self.chassis.revisions.startup = self.chassis.revisions.tree
