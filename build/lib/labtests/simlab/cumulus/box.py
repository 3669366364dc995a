"""One emulated Cumulus Linux switch: a Linux shell in front of NVUE."""

from functools import partial

from labtests.inventory import Device
from labtests.simlab.boxes import SwitchBox
from labtests.simlab.cumulus.chassis import CumulusChassis
from labtests.simlab.cumulus.model import DEFAULT
from labtests.simlab.cumulus.nv import nv
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.calls import Tools


class CumulusBox(SwitchBox[CumulusChassis]):
    """See face.Face."""

    account = "cumulus"

    def make_chassis(self, lab: SimulatedLab, device: Device) -> CumulusChassis:
        """See SwitchBox."""
        return CumulusChassis(lab, device)

    def programs(self) -> Tools:
        """See SwitchBox."""
        return {"nv": partial(nv, self.chassis)}

    def set_map(self, classes: tuple[int, ...]) -> None:
        """See LinuxHost: all ports have this map from the start."""
        tree, _ = self.chassis.revisions.begin("root")
        dscps = {str(dscp): {"switch-priority": each} for dscp, each in enumerate(classes)}
        tree["qos"]["mapping"] = {DEFAULT: {"trust": "l3", "dscp": dscps}}
        self.chassis.commit("root")
        self.chassis.revisions.startup = self.chassis.revisions.tree
