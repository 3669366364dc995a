"""Switches that are Linux boxes: a shell, and a chassis whose ports are not those of a host."""

from abc import abstractmethod
from typing import Generic, TypeVar

from labtests.inventory import Device
from labtests.simlab.face import Announced
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import LinuxHost, toolbox
from labtests.simlab.linux.calls import Tools
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.sysfs import populate_system
from labtests.simlab.switch_cli import Chassis

C = TypeVar("C", bound=Chassis)


class SwitchBox(LinuxHost, Generic[C]):
    """See face.Face. `account` is who logs in, where the testbed does not say."""

    account: str

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self.chassis = self.make_chassis(lab, device)
        super().__init__(lab, device)
        self.user = device.management.user or self.account
        self.network = self.chassis.network

    @abstractmethod
    def make_chassis(self, lab: SimulatedLab, device: Device) -> C:
        """The box below the shell."""

    @abstractmethod
    def programs(self) -> Tools:
        """What it has beside what any box has."""

    def description(self, interface: str) -> str:
        """Of a port, for its neighbours."""
        return interface

    def make_ports(self, device: Device) -> tuple[NicPort, ...]:
        """See Machine: its ports are not those of a host."""
        return ()

    def install(self) -> Tools:
        """See LinuxHost."""
        return {**toolbox.OF_ANY_BOX, **self.programs()}

    def populate(self) -> None:
        """See LinuxHost."""
        populate_system(self)

    def hinder(self) -> None:
        """See LinuxHost: the chassis has its own."""

    def expect_frames(self, frame_bytes: int) -> None:
        """See Forwarding."""
        self.chassis.expect_frames(frame_bytes)

    def announces(self, interface: str) -> Announced:
        """What it says by LLDP on this port."""
        return Announced(
            chassis="0200-0000-0000",
            port_id_type="Interface name",
            port_id=interface,
            description=self.description(interface),
            name=self.name,
        )
