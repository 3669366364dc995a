"""What programs see of the host that they run on: its files, processes, ports and other programs.

The host hands itself in; its sessions, its boot and the faults' hooks are not for programs.
"""

from random import Random
from typing import Protocol

from labtests.simlab.faults import DeviceFaults
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.perftest_builds import Build
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.processes import HostProcess, Kernel, Program, StandardStreams
from labtests.simlab.linux.qos import QosState
from labtests.simlab.linux.rdma_resources import HasConnections
from labtests.simlab.linux.sockets import Sockets
from labtests.simlab.linux.tree import FileTree


class HasFiles(Protocol):
    """Files."""

    tree: FileTree


class HasProcesses(Protocol):
    """Processes, and the programs that are installed."""

    kernel: Kernel

    def program(self, name: str) -> object | None:
        """The program of this name or path; None when it is not installed."""
        ...

    def path_of(self, name: str) -> str:
        """Where a program is installed."""
        ...

    def run_tool(self, process: HostProcess, argv: tuple[str, ...]) -> Program:
        """The program as one of this process."""
        ...

    def run_script(
        self, process: HostProcess, name: str, parameters: tuple[str, ...], text: str
    ) -> Program:
        """A shell of this name ($0) that runs a text; its status."""
        ...

    def redirect(self, process: HostProcess, streams: StandardStreams) -> None:
        """The process has these streams from now on."""
        ...


class HasPorts(Protocol):
    """Network ports and what they are set to."""

    ports: tuple[NicPort, ...]
    qos: dict[str, QosState]

    def port(self, name: str) -> NicPort | None:
        """The port of this interface."""
        ...

    def rdma_port(self, name: str) -> NicPort | None:
        """The port of this RDMA device."""
        ...

    def route(self, address: str) -> NicPort | None:
        """The port through which this IPv4 address is reached; None without a route."""
        ...


class HasIdentity(Protocol):
    """Which host it is, in which lab, and what is wrong with it."""

    name: str
    lab: SimulatedLab
    faults: DeviceFaults
    random: Random


class HasTraffic(HasConnections, Protocol):
    """What programs that make traffic leave behind in the kernel."""

    sockets: Sockets
    perftest_build: Build

    def new_qpn(self) -> int:
        """The next queue pair number."""
        ...


class Machine(HasFiles, HasProcesses, HasPorts, HasIdentity, HasTraffic, Protocol):
    """All that any program sees."""
