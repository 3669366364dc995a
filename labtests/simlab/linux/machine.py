"""What programs see of the host that they run on: its files, processes, ports and other programs.

The host is one of these and more: its sessions, boot and faults' hooks are not for programs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from ipaddress import IPv4Address
from random import Random
from typing import Any
from uuid import UUID

from labtests.inventory import Device, Endpoint
from labtests.network import OuterHeaders
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.dcbx import FirmwareDcbx
from labtests.simlab.linux.perftest_builds import DOCUMENT_000
from labtests.simlab.linux.ports import NicPort, ports_of
from labtests.simlab.linux.processes import HostProcess, Kernel, Program, StandardStreams
from labtests.simlab.linux.qos import QosState
from labtests.simlab.linux.sockets import Sockets
from labtests.simlab.linux.tunnels import VxlanDevices
from labtests.simlab.tree import FileTree

FIRST_PID = 2801
RAN_BEFORE_NS = 86_400_000_000_000  # a day, when the lab starts
SBIN = {"ethtool", "ip", "tc", "show_gids", "cma_roce_tos", "ibstat", "rdma"}


class Machine(ABC):
    """All that any program sees."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self.lab = lab
        self.name = device.name
        self.faults = lab.faults[device.name]
        self.random = Random(f"{lab.seed} {device.name}")
        self.kernel = Kernel(lab.timeline, first_pid=FIRST_PID)
        self.ports: tuple[NicPort, ...] = self.make_ports(device)
        self.qos = {port.interface: QosState(port) for port in self.ports}
        self.dcbx = {name: self._firmware_dcbx(name) for name in self.qos}
        self.next_qpn = self.random.randrange(0x40, 0x200)
        self.sockets = Sockets()
        self.tunnels = VxlanDevices(partial(lab.tell_of_tunnel, device.name))
        self.booted_ns = -RAN_BEFORE_NS
        self.perftest_build = DOCUMENT_000
        self.tree = FileTree(lambda: self.faults.refuses_files())
        self.installed: Mapping[str, Any] = {}  # programs by name: calls.Tool

    def make_ports(self, device: Device) -> tuple[NicPort, ...]:
        """Its ports."""
        return ports_of(self.lab, device)

    def _firmware_dcbx(self, interface: str) -> FirmwareDcbx:
        end = Endpoint(device=self.name, interface=interface)
        return FirmwareDcbx(self.lab.dcbx, end, lambda: self.qos[interface])

    # -- programs --

    def program(self, name: str) -> Any | None:
        """The program of this name or path; None when it is not installed."""
        folder, _, base = name.rpartition("/")
        place = self.path_of(base)
        if self.faults.lacks(base) or (folder and name not in (place, place.removeprefix("/usr"))):
            return None
        return self.installed.get(base)

    def path_of(self, name: str) -> str:
        """Where a program is installed."""
        return f"/usr/sbin/{name}" if name in SBIN else f"/usr/bin/{name}"

    @abstractmethod
    def run_tool(self, process: HostProcess, argv: tuple[str, ...]) -> Program:
        """The program as one of this process."""

    def redirect(self, process: HostProcess, streams: StandardStreams) -> None:
        """The process has these streams from now on."""
        streams.hold()
        process.streams.release()
        process.streams = streams

    # -- since it was booted --

    @property
    def boot_id(self) -> str:
        """Another one after each boot."""
        seed = f"boot {self.lab.seed} {self.name} {self.booted_ns}"
        return str(UUID(int=Random(seed).getrandbits(128)))

    def uptime_s(self) -> float:
        """Simulated seconds since it was booted."""
        return (self.kernel.now_ns - self.booted_ns) / 1e9

    # -- network --

    def port(self, name: str) -> NicPort | None:
        """The port of this interface."""
        return next((port for port in self.ports if port.interface == name), None)

    def rdma_port(self, name: str) -> NicPort | None:
        """The port of this RDMA device."""
        return next((port for port in self.ports if port.rdma == name), None)

    def route(self, address: str) -> NicPort | None:
        """The port through which this IPv4 address is reached; None without a route."""
        try:
            target = IPv4Address(address)
        except ValueError:
            return None
        for port in self.ports:
            if port.up and port.network is not None and target in port.network:
                return port
        tunnel = self.tunnels.to(address)
        return None if tunnel is None else tunnel.lower

    def address_below(self, address: str) -> str:
        """Of the port that packets to this own address come in by: of a tunnel, the port's."""
        tunnel = self.tunnels.at(address)
        return address if tunnel is None else tunnel.lower.address or address

    def outer_to(self, address: str) -> OuterHeaders | None:
        """What a tunnel adds to packets to this address; None where they go through none."""
        tunnel, there = self.tunnels.to(address), self.other(address)
        if tunnel is None or there is None:
            return None
        return tunnel.outer(deaf=self.tunnels.deaf, losing=there.tunnels.losing)

    def other(self, address: str) -> "Machine | None":
        """The host of the lab with this address."""
        found = self.lab.devices.get(self.lab.device_with_address(address) or "")
        return found if isinstance(found, Machine) else None

    def new_qpn(self) -> int:
        """The next queue pair number."""
        self.next_qpn += 1
        return self.next_qpn
