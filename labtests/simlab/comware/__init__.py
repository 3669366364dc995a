"""An emulated H3C switch with Comware 7: its CLI, its configuration, its counters.

Behind it is a switch of the packet network. What it prints has the form of recordings of the real
one (displays.py, reports.py); what it refuses, the command references say is refused.
"""

from typing import Any

from labtests.core.headroom import headroom_for
from labtests.inventory import Device, Endpoint
from labtests.simlab.comware.cli import Terminal, batch
from labtests.simlab.comware.configuration import Configuration
from labtests.simlab.comware.displays import PfcColumns
from labtests.simlab.comware.moving import grammars
from labtests.simlab.comware.neighbours import endpoint
from labtests.simlab.comware.startup import saved
from labtests.simlab.comware.statistics import GROWING, Statistics
from labtests.simlab.face import Announced, Console
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.losses import Fault
from labtests.simlab.refreshing import Shown
from labtests.simlab.timeline import NS_PER_S
from labtests.simlab.transfer import Files


class ComwareSwitch:
    """One switch. `pfc_columns` chooses between the forms of two product generations."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        names = tuple(port.interface for port in device.ports)
        self.user = device.management.user or "admin"
        self.files: Files | None = None  # SFTP is off on such a switch until it is configured
        self.pfc_columns: PfcColumns = "old"
        self.network = lab.network.switch(device.name)
        self.faults = lab.faults[device.name]
        self.configuration = Configuration(device.name, names, self.network)
        shown = Shown(self.network, lab.timeline, self.faults.losses)
        self.statistics = Statistics(names, shown, lab.timeline, self.faults)
        self.faults.losses.acts["growing-counter"] = self._grow
        self.faults.on_loss.append(self.network.drop_randomly)
        self.faults.on_down.append(self._start_again)
        self.faults.on_up.append(self._shut_ports)
        self.faults.defects.on_map.append(self._set_map)
        self.faults.defects.on_ignoring.append(self._ignore_dscp)
        self.startup = saved(self.configuration)
        self.booted_ns = 0
        self._lab, self._name = lab, device.name
        self._known = grammars(names)

    def execute(self, command: str, console: Console) -> None:
        """See Face: the lines of the command, one after the other, without prompts or pages."""
        if not self.faults.given(command):
            return
        console.write(batch(self, self._known, command))
        self.faults.obeyed(command)
        console.exit(0)

    def shell(self, console: Console) -> None:
        """See Face: an interactive CLI session in user view."""
        Terminal(self, self._known, console).open()

    def hang_up(self, console: Console) -> None:
        """See Face: nothing depends on a session."""

    def uptime_s(self) -> float:
        """See Box."""
        return (self._lab.timeline.now_ns - self.booted_ns) / NS_PER_S

    def now_s(self) -> float:
        """See Box."""
        return self._lab.timeline.now_ns / NS_PER_S

    def save(self) -> None:
        """See Box."""
        self.startup = saved(self.configuration)

    def _grow(self, fault: Fault) -> None:
        port, counter, by = str(fault["port"]), str(fault["counter"]), int(fault["by"])
        if port not in self.configuration.ports or counter not in GROWING:
            known = ", ".join(GROWING)
            raise UnknownFault(
                f"{port!r} {counter!r} is no port of {self._name} and one of {known}"
            )
        self.faults.losses.grow(port, counter, lambda: by)

    def _start_again(self) -> None:
        self.startup.load(self.configuration)
        self.booted_ns = self._lab.timeline.now_ns
        for reset in self.faults.on_reset:
            reset()

    def _ignore_dscp(self, port: str) -> None:
        self.configuration.ignoring.add(port)
        self.configuration.apply(port)

    def expect_frames(self, frame_bytes: int) -> None:
        """See Forwarding: a lossless port has headroom for two of them, by the white paper's rule
        (S23). Chosen: a real switch does not follow the hosts' MTU, who sets one sets the other."""
        for name in self.configuration.ports:
            link = self._lab.testbed.link_of(Endpoint(device=self._name, interface=name))
            if link is not None:
                self.configuration.usual_headroom[name] = headroom_for(
                    link.speed_bits_per_s, link.length_m, frame_bytes=frame_bytes
                )
                self.configuration.apply(name)

    def _set_map(self, classes: tuple[int, ...]) -> None:
        for dscp, dot1p in enumerate(classes):
            self.configuration.set_map("dscp-dot1p", dscp, dot1p)
        for name, port in self.configuration.ports.items():
            port.trust = "dscp"
            self.configuration.apply(name)
        self.save()

    def _shut_ports(self) -> None:
        for name, settings in self.configuration.ports.items():
            if settings.shutdown:
                self.set_link(name, up=False)

    def announces(self, interface: str) -> Announced:
        """See Announcing."""
        return Announced(
            chassis="0200-0000-0000",
            port_id_type="Interface name",
            port_id=interface,
            description=self.configuration.ports[interface].description or f"{interface} Interface",
            name=self._name,
        )

    def hears(self, port: str) -> Announced | None:
        """See Box: the testbed's cabling, unless a fault says otherwise."""
        peer = self._lab.testbed.peer(Endpoint(device=self._name, interface=port))
        if port in (wrong := self.faults.defects.neighbours):
            peer = endpoint(wrong[port])
        if peer is None or self.configuration.ports[port].shutdown:
            return None
        face: Any = self._lab.devices[peer.device]
        return face.announces(peer.interface)  # type: ignore[no-any-return]

    def rate_bits_per_s(self, port: str) -> int | None:
        """See Box."""
        link = self._lab.testbed.link_of(Endpoint(device=self._name, interface=port))
        return None if link is None else link.speed_bits_per_s

    def set_link(self, port: str, *, up: bool) -> None:
        """See Box. A port without a cable has nothing to cut."""
        if port in self.network.ports:
            change = self._lab.network.restore if up else self._lab.network.cut
            change(self._name, port)
