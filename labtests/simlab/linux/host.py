"""One emulated Linux server with ConnectX NICs: the Face behind its SSH server.

When the SSH client goes away, programs do as under a real sshd without a terminal: they run on
until they next write to the lost channel and die of SIGPIPE then (or by their `timeout`); a login
shell on a terminal and what runs in it gets SIGHUP.
"""

import re
from dataclasses import replace
from functools import partial

from labtests.inventory import Device
from labtests.network import UdpFlow, UdpRequest
from labtests.simlab.defects import Defects
from labtests.simlab.face import Announced, Console
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import toolbox
from labtests.simlab.linux.booting import boots_with
from labtests.simlab.linux.calls import Call, Tool, Tools
from labtests.simlab.linux.hindering import Hindered
from labtests.simlab.linux.login import Login
from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.options import (
    NOT_HERE,
    SAY_NO_MORE,
    STATUS_OF_USAGE,
    BadOption,
    NotEmulated,
    Refused,
    UnknownOption,
)
from labtests.simlab.linux.ports import dotted
from labtests.simlab.linux.processes import (
    Birth,
    HostProcess,
    Pause,
    Program,
    StandardStreams,
)
from labtests.simlab.linux.qos import QosState
from labtests.simlab.linux.streams import Capture, nothing
from labtests.simlab.linux.sysfs import populate
from labtests.simlab.linux.vlans import changed_map
from labtests.simlab.tree import File, FileTree

BACKGROUND_BYTES = 996  # one packet each
TAG = "LABTESTS_RUN"  # the mark of a run's processes, as a host's own environment has it


class LinuxHost(Machine):
    """A server: its sessions, and what is wrong with it. Implements face.Face."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        super().__init__(lab, device)
        self.user = device.management.user or "root"
        self.files: FileTree | None = self.tree
        self._logins: dict[int, Login] = {}
        self._background: list[UdpFlow] = []
        self.kernel.on_birth = self._show_process
        self.populate()
        self.installed = self.install()
        for name in self.installed:
            hidden = partial(self.faults.lacks, name)
            self.tree.add(self.path_of(name), File(read=lambda: "\x7fELF", hidden=hidden))
        self._at_boot = [boots_with(port.nic) for port in self.ports if port.nic is not None]
        self._expect_faults()
        self.hinder()

    # -- what a box of another kind has otherwise --

    def install(self) -> Tools:
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
        self._log_in(console).run(command)
        self.faults.obeyed(command)

    def shell(self, console: Console) -> None:
        """See Face."""
        self._log_in(console).interact()

    def _log_in(self, console: Console) -> Login:
        login = Login(self, console, lambda: self._logins.pop(id(console), None))
        self._logins[id(console)] = login
        return login

    def hang_up(self, console: Console) -> None:
        """See Face."""
        login = self._logins.pop(id(console), None)
        if login is not None:
            login.hang_up()

    def announces(self, interface: str) -> Announced:
        """What lldpd says on this port unless it is told otherwise."""
        port = self.port(interface)
        mac = "" if port is None else dotted(port.mac)
        return Announced(
            chassis=dotted(self.ports[0].mac),
            port_id_type="MAC address",
            port_id=mac,
            description=interface,
            name=self.name,
        )

    # -- programs --

    def tools(self) -> list[str]:
        """The names of all that are installed."""
        return [name for name in self.installed if not self.faults.without(name)]

    def run_tool(self, process: HostProcess, argv: tuple[str, ...]) -> Program:
        """See Machine."""
        tool = self.program(argv[0])
        assert tool is not None, argv
        call = Call(host=self, process=process, argv=argv)
        typed = " ".join(argv)
        if "timeout" not in typed and self.faults.hangs(typed):
            return _never_ending()
        if not self.faults.truncates(typed):
            return _guarded(call, tool)
        return self._truncated(call, tool)

    def _show_process(self, process: HostProcess) -> None:
        path = f"/proc/{process.pid}/environ"
        text = lambda: "".join(f"{k}={v}\0" for k, v in process.environment.items())  # noqa: E731
        self.tree.add(path, File(read=text))
        process.at_end.append(lambda: self.tree.drop(path))

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
        defects.on_egress_map.append(self._set_egress_map)
        defects.on_willing.append(self._give_dcbx_away)

    def _reset_counters(self) -> None:
        for port in self.ports:
            port.reset()

    def _set_mtu(self, interface: str, size_bytes: int) -> None:
        if (port := self.port(interface)) is not None:
            self.lab.set_mtu(port, size_bytes)

    def _set_egress_map(self, interface: str, told: str) -> None:
        port = self.port(interface)
        if port is None or port.vlan is None:
            raise UnknownFault(f"{self.name}: {interface} has no VLAN interface")
        refuse = partial(UnknownFault, "not an egress-qos-map, such as 4:5:")
        port.vlan.egress = dict(changed_map(told.split(), refuse))

    def set_map(self, classes: tuple[int, ...]) -> None:
        """Its ports have this map from DSCP to priority."""
        for qos in self.qos.values():
            qos.set_trust("dscp")
            for dscp, priority in enumerate(classes):
                qos.set_dscp(dscp, priority)

    def _give_dcbx_away(self, interface: str) -> None:
        self.qos[interface].dcbx = "fw"
        self.dcbx[interface].update()

    def _leave(self, command: str, run: str) -> None:
        """A process of a run that died: it sleeps, and only a signal ends it."""
        birth = Birth(
            parent_pid=1,
            user="root",
            streams=StandardStreams(input=nothing(), out=Capture(), err=Capture()),
            environment={TAG: run},
            directory="/root",
        )
        self.kernel.spawn(birth, tuple(command.split()), lambda process: _never_ending())

    def _send_for_others(
        self, address: str, tos: int, bits_per_s: float, milliseconds: float | None = None
    ) -> None:
        """UDP that nobody here asked for, in frames of 1042 B, for so long (None: without end);
        0 bits/s ends all of it."""
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
            pcp=port.pcp(tos),
        )
        flow = self.lab.network.start_udp(request)
        self._background.append(flow)
        if milliseconds is not None:
            self.lab.timeline.after(round(1e6 * milliseconds), flow.stop)

    def _kill(self, name: str) -> int:
        found = [process for process in self.kernel.living() if process.name == name[:15]]
        for process in found:
            self.kernel.deliver(process, "KILL")
        return len(found)

    def _lose_everything(self) -> None:
        """A reboot: no process, no file that was only in memory, default settings."""
        for process in list(self.kernel.living()):
            self.kernel.deliver(process, "KILL")
        self.tree.forget_memory()
        self.tunnels.clear()
        self.booted_ns = self.kernel.now_ns
        self._reset_counters()
        self.qos = {port.interface: QosState(port) for port in self.ports}
        for boot in (*self._at_boot, *(each.boot for each in self.dcbx.values())):
            boot()
        for port in self.ports:
            port.default_roce_tos = 0

    def _truncated(self, call: Call, tool: Tool) -> Program:
        capture, real = Capture(), call.process.streams.out
        self.redirect(call.process, replace(call.process.streams, out=capture))
        status = yield from _guarded(call, tool)
        real.write(self.faults.truncate(" ".join(call.argv), capture.text))
        return status


def _never_ending() -> Program:
    """Only a signal ends it."""
    while True:
        yield Pause()


def _guarded(call: Call, tool: Tool) -> Program:
    """A program whose write fails says so, as coreutils do; so it does of options it lacks."""
    try:
        outcome = tool(call)
        if isinstance(outcome, str):
            call.out(outcome)
            return 0
        return outcome if isinstance(outcome, int) else (yield from outcome)
    except BrokenPipeError:
        raise
    except (BadOption, NotEmulated, Refused, re.error, OSError) as error:
        return _complained(call, error)


def _complained(call: Call, error: Exception) -> int:
    """The status after an error, of which it has spoken."""
    usage = STATUS_OF_USAGE.get(call.name, 1)
    if isinstance(error, Refused):
        call.out(error.printed)
        call.err(str(error))
        return error.status
    if isinstance(error, NotEmulated | UnknownOption):
        return call.fail(f"{NOT_HERE}: {error}", usage)
    if isinstance(error, OSError):
        return call.fail(f"write error: {error.strerror}")
    if isinstance(error, re.error):
        return call.fail("Invalid regular expression", 2)
    call.fail(str(error))
    if call.name not in SAY_NO_MORE:
        call.err(f"Try '{call.name} --help' for more information.\n")
    return usage
