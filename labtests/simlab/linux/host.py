"""One emulated Linux server with ConnectX NICs: the Face behind its SSH server.

When the SSH client goes away, programs do as under a real sshd without a terminal: they run on
until they next write to the lost channel and die of SIGPIPE then (or by their `timeout`); a login
shell on a terminal and what runs in it gets SIGHUP.
"""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address
from random import Random
from uuid import UUID

from labtests.inventory import Device
from labtests.network import UdpFlow, UdpRequest
from labtests.simlab.defects import Defects
from labtests.simlab.face import Announced, Console
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import builtins, toolbox
from labtests.simlab.linux.booting import settings_of
from labtests.simlab.linux.calls import Call, Tool, Tools
from labtests.simlab.linux.commands.files import usage
from labtests.simlab.linux.hindering import Hindered
from labtests.simlab.linux.login import Login
from labtests.simlab.linux.options import BadOption
from labtests.simlab.linux.perftest_builds import DOCUMENT_000
from labtests.simlab.linux.ports import NicPort, dotted, network_of, ports_of
from labtests.simlab.linux.processes import (
    Birth,
    HostProcess,
    Kernel,
    Pause,
    Program,
    StandardStreams,
)
from labtests.simlab.linux.qos import QosState
from labtests.simlab.linux.rdma_resources import Connected
from labtests.simlab.linux.shell import Builtin, HostShell
from labtests.simlab.linux.sockets import Sockets
from labtests.simlab.linux.streams import Capture, nothing
from labtests.simlab.linux.sysfs import populate
from labtests.simlab.linux.tree import File, FileTree
from labtests.simlab.transfer import Files

FIRST_PID = 2801
BACKGROUND_BYTES = 996  # one packet each
TAG = "LABTESTS_RUN"  # the mark of a run's processes, as a host's own environment has it
RAN_BEFORE_NS = 86_400_000_000_000  # a day, when the lab starts
SBIN = {"ethtool", "ip", "tc", "show_gids", "cma_roce_tos", "ibstat", "lldptool", "rdma"}


class LinuxHost:
    """A server: its processes, files, NIC ports and sessions. Implements face.Face."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self.lab = lab
        self.name = device.name
        self.user = device.management.user or "root"
        self.faults = lab.faults[device.name]
        self.random = Random(f"{lab.seed} {device.name}")
        self.kernel = Kernel(lab.timeline, first_pid=FIRST_PID)
        self.ports: tuple[NicPort, ...] = self.make_ports(device)
        self.qos = {port.interface: QosState(port) for port in self.ports}
        self.next_qpn = self.random.randrange(0x40, 0x200)
        self.connected: list[Connected] = []
        self.sockets = Sockets()
        self.booted_ns = -RAN_BEFORE_NS
        self.perftest_build = DOCUMENT_000
        self.tree = FileTree(lambda: self.faults.read_only)
        self.files: Files | None = self.tree
        self.builtins: Mapping[str, Builtin] = builtins.BUILTINS
        self._tools = self.installed()
        self._logins: dict[int, Login] = {}
        self._background: list[UdpFlow] = []
        self.kernel.on_birth = self._show_process
        self.populate()
        for name in self._tools:
            self.tree.add(self.path_of(name), toolbox.binary(self, name))
        self._at_boot = [settings_of(port.nic) for port in self.ports if port.nic is not None]
        self._expect_faults()
        self.hinder()

    # -- what a box of another kind has otherwise --

    def make_ports(self, device: Device) -> tuple[NicPort, ...]:
        """Its ports."""
        return ports_of(self.lab, device)

    def installed(self) -> Tools:
        """Its programs, by name."""
        return toolbox.TOOLS

    def populate(self) -> None:
        """/sys, /proc and /etc have their files."""
        populate(self)

    def hinder(self) -> None:
        """Its faults know what may be wrong with it."""
        Hindered(self)

    # -- Face --

    def execute(self, command: str, console: Console) -> None:
        """See Face."""
        if not self.faults.given(command):
            return
        login = Login(self, console)
        self._logins[id(console)] = login
        login.run(command)
        self.faults.obeyed(command)

    def shell(self, console: Console) -> None:
        """See Face."""
        login = Login(self, console)
        self._logins[id(console)] = login
        login.interact()

    def hang_up(self, console: Console) -> None:
        """See Face."""
        login = self._logins.pop(id(console), None)
        if login is not None:
            login.hang_up()

    def forget(self, console: Console) -> None:
        """The session has exited."""
        self._logins.pop(id(console), None)

    @property
    def boot_id(self) -> str:
        """Another one after each boot."""
        seed = f"boot {self.lab.seed} {self.name} {self.booted_ns}"
        return str(UUID(int=Random(seed).getrandbits(128)))

    def announces(self, interface: str) -> Announced:
        """See face.Announcing: what lldpd says unless it is told otherwise."""
        port = self.port(interface)
        mac = "" if port is None else dotted(port.mac)
        return Announced(
            chassis=dotted(self.ports[0].mac),
            port_id_type="MAC address",
            port_id=mac,
            description=interface,
            name=self.name,
        )

    def uptime_s(self) -> float:
        """Simulated seconds since it was booted."""
        return (self.kernel.now_ns - self.booted_ns) / 1e9

    # -- programs --

    def program(self, name: str) -> Tool | None:
        """The tool of this name or path; None when it is not installed."""
        folder, _, base = name.rpartition("/")
        if self.faults.lacks(base) or (folder and self.path_of(base) != name):
            return None
        return self._tools.get(base)

    def tools(self) -> list[str]:
        """The names of all that are installed."""
        return [name for name in self._tools if not self.faults.lacks(name)]

    def path_of(self, name: str) -> str:
        """Where a tool is installed."""
        return f"/usr/sbin/{name}" if name in SBIN else f"/usr/bin/{name}"

    def run_tool(self, process: HostProcess, argv: tuple[str, ...]) -> Program:
        """The tool as a program of this process."""
        tool = self.program(argv[0])
        assert tool is not None, argv
        call = Call(host=self, process=process, argv=argv)
        if "timeout" not in call_line(argv) and self.faults.hangs(call_line(argv)):
            return _never_ending()
        if not any(call_line(argv).startswith(start) for start in self.faults.truncated_commands):
            return _guarded(call, tool)
        return self._truncated(call, tool)

    def run_script(
        self, process: HostProcess, name: str, parameters: tuple[str, ...], text: str
    ) -> Program:
        """A shell of this name ($0) that runs a text; its status."""
        shell = HostShell(
            host=self, builtins=self.builtins, process=process, name=name, parameters=parameters
        )
        return shell.run(text)

    def redirect(self, process: HostProcess, streams: StandardStreams) -> None:
        """The process has these streams from now on."""
        streams.hold()
        process.streams.release()
        process.streams = streams

    def _show_process(self, process: HostProcess) -> None:
        path = f"/proc/{process.pid}/environ"
        text = lambda: "".join(f"{k}={v}\0" for k, v in process.environment.items())  # noqa: E731
        self.tree.add(path, File(read=text))
        process.at_end.append(lambda: self.tree.drop(path))

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
            network = network_of(port)
            if port.up and network is not None and target in network:
                return port
        return None

    def new_qpn(self) -> int:
        """The next queue pair number."""
        self.next_qpn += 1
        return self.next_qpn

    # -- faults --

    def _expect_faults(self) -> None:
        self.faults.on_reset.append(self._reset_counters)
        self.faults.on_kill.append(self._kill)
        self.faults.on_down.append(self._lose_everything)
        self._listen(self.faults.defects)

    def _listen(self, defects: Defects) -> None:
        defects.on_leftover.append(self._leave)
        defects.on_background.append(self._send_for_others)
        defects.on_mtu.append(self._set_mtu)
        defects.on_map.append(self.set_map)
        defects.on_willing.append(self._give_dcbx_away)

    def _reset_counters(self) -> None:
        for port in self.ports:
            port.reset()

    def _set_mtu(self, interface: str, size_bytes: int) -> None:
        if (port := self.port(interface)) is not None:
            self.lab.set_mtu(port, size_bytes)

    def set_map(self, classes: tuple[int, ...]) -> None:
        """Its ports have this map from DSCP to priority."""
        for qos in self.qos.values():
            qos.set_trust("dscp")
            for dscp, priority in enumerate(classes):
                qos.set_dscp(dscp, priority)

    def _give_dcbx_away(self, interface: str) -> None:
        self.qos[interface].dcbx = "fw"

    def _leave(self, command: str, run: str) -> None:
        """A process of a run that died: it sleeps, and only a signal ends it."""
        birth = Birth(
            parent_pid=1,
            user="root",
            streams=StandardStreams(input=nothing(), out=Capture(), err=Capture()),
            environment={TAG: run},
            directory="/root",
        )
        self.kernel.spawn(birth, tuple(command.split()), lambda process: _idle())

    def _send_for_others(self, address: str, tos: int, bits_per_s: float) -> None:
        """UDP that nobody here asked for, in frames of 1042 B; 0 bits/s ends all of it."""
        if bits_per_s == 0:
            for flow in self._background:
                flow.stop()
            self._background.clear()
            return
        port = self.route(address)
        if port is None or self.lab.device_with_address(address) in (None, self.name):
            raise UnknownFault(f"{self.name} reaches no other host with the address {address!r}")
        request = UdpRequest(
            device=self.name,
            interface=port.interface,
            destination=address,
            tos=tos,
            rate_bits_per_s=bits_per_s,
            datagram_bytes=BACKGROUND_BYTES,
        )
        self._background.append(self.lab.network.start_udp(request))

    def _kill(self, name: str) -> None:
        for process in list(self.kernel.living()):
            if process.name == name[:15]:
                self.kernel.deliver(process, "KILL")

    def _lose_everything(self) -> None:
        """A reboot: no process, no file that was only in memory, default settings."""
        for process in list(self.kernel.living()):
            self.kernel.deliver(process, "KILL")
        self.tree.forget_memory()
        self.booted_ns = self.kernel.now_ns
        self._reset_counters()
        self.qos = {port.interface: QosState(port) for port in self.ports}
        nics = [port.nic for port in self.ports if port.nic is not None]
        for nic, settings in zip(nics, self._at_boot, strict=True):
            settings.load(nic)
        for port in self.ports:
            port.default_roce_tos = 0

    def _truncated(self, call: Call, tool: Tool) -> Program:
        capture, real = Capture(), call.process.streams.out
        self.redirect(call.process, replace(call.process.streams, out=capture))
        status = yield from _guarded(call, tool)
        real.write(self.faults.truncate(call_line(call.argv), capture.text))
        return status


def _idle() -> Program:
    while True:
        yield Pause()


def call_line(argv: tuple[str, ...]) -> str:
    """A command line as it was typed, more or less."""
    return " ".join(argv)


def _never_ending() -> Program:
    while True:
        yield Pause()


def _guarded(call: Call, tool: Tool) -> Program:
    """A program whose write fails says so, as coreutils do; so it does of options it lacks."""
    try:
        outcome = tool(call)
        return outcome if isinstance(outcome, int) else (yield from outcome)
    except BrokenPipeError:
        raise
    except BadOption as error:
        return usage(call, error)
    except OSError as error:
        return call.fail(f"write error: {error.strerror}")
