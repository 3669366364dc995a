"""One emulated SONiC box: a Linux shell in front of CONFIG_DB, which says what its ports do."""

from functools import partial

from labtests.inventory import Device
from labtests.simlab.face import Announced
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import LinuxHost, toolbox
from labtests.simlab.linux.calls import Tools
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.sysfs import populate_system
from labtests.simlab.sonic import configuring, showing
from labtests.simlab.sonic.chassis import SonicChassis


class SonicBox(LinuxHost):
    """See face.Face."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self.chassis = SonicChassis(lab, device)
        super().__init__(lab, device)
        self.user = device.management.user or "admin"
        self.network = self.chassis.network

    def make_ports(self, device: Device) -> tuple[NicPort, ...]:
        """See Machine: its ports are not those of a host."""
        return ()

    def install(self) -> Tools:
        """See LinuxHost."""
        own = {**configuring.TOOLS, "show": showing.show}
        return {**toolbox.OF_ANY_BOX, **{n: partial(tool, self.chassis) for n, tool in own.items()}}

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
        entry = self.chassis.db.entry("PORT", interface)
        return Announced(
            chassis="0200-0000-0000",
            port_id_type="Interface name",
            port_id=interface,
            description=entry.get("description", interface),
            name=self.name,
        )

    def set_map(self, classes: tuple[int, ...]) -> None:
        """See LinuxHost: all ports refer to this map from the start."""
        told = {str(dscp): str(each) for dscp, each in enumerate(classes)}
        self.chassis.db.tables["DSCP_TO_TC_MAP"]["AS_DELIVERED"] = told
        for port in self.chassis.ports:
            entry = self.chassis.db.tables["PORT_QOS_MAP"].setdefault(port, {})
            entry["dscp_to_tc_map"] = "AS_DELIVERED"
        self.chassis.save()
        self.chassis.apply_all()
