"""A simulated lab made from a testbed: the network behind its links, one emulated device each."""

import importlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from labtests.core.errors import LabError
from labtests.inventory import Device, Endpoint, Testbed
from labtests.network import Cable, HostPort, Network, SwitchPort, Wiring
from labtests.simlab.dcbx import DcbxExchange
from labtests.simlab.face import Face, Forwarding
from labtests.simlab.faults import DeviceFaults, Injected, UnknownFault, asked_for
from labtests.simlab.loss_faults import Mischief
from labtests.simlab.routes import CONVERGES_NS, Routes
from labtests.simlab.timeline import NS_PER_S, Timeline
from labtests.simlab.tracing import Tracing

FACES = "labtests.simlab.faces"

NIC_GAP_SHARE = 0.0002
"""NICs send up to this share of a frame's time later than they could: as far as two clocks may be
apart (IEEE 802.3: 100 ppm each), but random. Chosen, not measured: the least that keeps two senders
from locking in phase, and 0.01 % of the rate on average."""

USUAL_MTU_BYTES, ETHERNET_BYTES = 1500, 18

ListenerKey = tuple[str, str, int]
"""(device, service, port): the service is a program's own word, e.g. "rdma_cm" or "tcp"."""


class CannotSimulate(LabError):
    """This testbed cannot be simulated; the text says what to change."""


class SimulatedLab:
    """Emulated devices in front of one packet network, at one present.

    `listeners` is where emulated server programs register, for clients on other hosts to find.
    """

    def __init__(self, testbed: Testbed, *, seed: int) -> None:
        self.testbed, self.seed = testbed, seed
        modules = {device.name: face_module(device) for device in testbed.devices}
        self._kinds = {name: str(module.KIND) for name, module in modules.items()}
        self.wiring = wiring(testbed, self._kinds)
        memory = {name: m.MEMORY for name, m in modules.items() if hasattr(m, "MEMORY")}
        self.network = Network(self.wiring, seed=seed, memory=memory)
        for port in self.wiring.ports():
            if isinstance(port, HostPort):
                self.network.nic(port.device, port.interface).set_random_gap(NIC_GAP_SHARE)
        self.timeline = Timeline(self.network)
        self._unplugged: set[Endpoint] = set()
        self._pulled: set[Endpoint] = set()
        self.routes = Routes(self.network, self.wiring, self.has_link)
        self.dcbx = DcbxExchange(testbed, self.timeline)
        self.faults = {d.name: DeviceFaults(later=self.timeline.after) for d in testbed.devices}
        self.tracing = Tracing(self.network, self.timeline)
        self.streamed: Counter[str] = Counter()  # messages to collectors so far, by device
        self._asked: list[Injected] = []
        for device in testbed.devices:
            self._unplug_while_booting(device)
            Mischief(self, device.name)
        self.listeners: dict[ListenerKey, Any] = {}
        self._tunnels: dict[str, str] = {}  # addresses inside, and whose they are
        self._end_of_address = {
            port.address: port.endpoint
            for device in testbed.devices
            for port in device.ports
            if port.address is not None
        }
        self.on_link: list[Callable[[Endpoint], None]] = []
        """Told of an end whose link may have gone down or come up."""
        self.devices: Mapping[str, Face] = {
            device.name: modules[device.name].face(self, device) for device in testbed.devices
        }

    def advance(self, duration_ns: int) -> None:
        """Let simulated time pass: callbacks and packets, in order."""
        self.timeline.advance_to(self.timeline.now_ns + duration_ns)

    def set_mtu(self, port: Any, size_bytes: int) -> None:
        """Of a host's port; switches have room for the frames that come by it."""
        port.mtu_bytes = size_bytes
        for face in self.devices.values():
            if isinstance(face, Forwarding) and size_bytes > USUAL_MTU_BYTES:
                face.expect_frames(size_bytes + ETHERNET_BYTES)

    def inject(self, fault: Mapping[str, Any]) -> None:
        """Something goes wrong from now on, or in `after_s` (fault_forms.py)."""
        asked = asked_for(fault, self._kinds)
        if (after_s := fault.get("after_s", 0)) > 0:
            self.timeline.after(round(after_s * NS_PER_S), partial(asked.suffer_late, self.faults))
        else:
            asked.suffer(self.faults)
        self._asked.append(asked)

    def not_met(self) -> list[dict[str, Any]]:
        """Faults that have acted on nothing so far, each with why."""
        told = ((asked.fault, asked.not_met()) for asked in self._asked)
        return [{"fault": dict(fault), "why": why} for fault, why in told if why]

    def happened(self, device: str) -> dict[str, int]:
        """What this device has really suffered so far (see DeviceFaults). Raises UnknownFault."""
        if device not in self.faults:
            raise UnknownFault(f"no device {device!r} in this lab")
        return dict(self.faults[device].happened)

    def _unplug_while_booting(self, device: Device) -> None:
        """A device that boots has no link."""
        ends = [port.endpoint for port in device.ports if self.testbed.link_of(port.endpoint)]
        faults = self.faults[device.name]
        for end in ends:
            faults.on_down.append(partial(self.set_link, end, False))
            faults.on_up.append(partial(self.set_link, end, True))

    def set_link(self, end: Endpoint, up: bool) -> None:
        """The cable is plugged in at this end, or not."""
        (self._unplugged.discard if up else self._unplugged.add)(end)
        (self.network.restore if up else self.network.cut)(end.device, end.interface)
        self.dcbx.set_link(end, up)
        self.tell_of_link(end)

    def pull(self, end: Endpoint, out: bool) -> None:
        """The cable is out at this end, and back again: too short for anybody to forget what was
        set up over it."""
        (self._pulled.add if out else self._pulled.discard)(end)
        (self.network.cut if out else self.network.restore)(end.device, end.interface)
        self.tell_of_link(end)

    def tell_of_link(self, end: Endpoint) -> None:
        """Both ends are told, and in a while all switches."""
        if self.routes.choices:
            self.timeline.after(CONVERGES_NS, self.routes.follow)
        peer = self.testbed.peer(end)
        for told in (end, *([] if peer is None else [peer])):
            for tell in self.on_link:
                tell(told)

    def has_link(self, end: Endpoint) -> bool:
        """Whether the cable is plugged in at both ends."""
        peer = self.testbed.peer(end)
        out = self._unplugged | self._pulled
        return peer is not None and end not in out and peer not in out

    def tell_of_tunnel(self, device: str, address: str, there: bool) -> None:
        """A tunnel of this host has an address inside, or has it no longer."""
        if there:
            self._tunnels[address] = device
        else:
            self._tunnels.pop(address, None)

    def device_with_address(self, address: str) -> str | None:
        """Which host has this IPv4 address on a NIC; None when nobody has, or its link is down."""
        if (inside := self._tunnels.get(address)) is not None:
            return inside
        end = self._end_of_address.get(address)
        return None if end is None or end in self._unplugged else end.device


def face_module(device: Device) -> ModuleType:
    """The module that emulates this device's platform."""
    name = f"{FACES}.{device.platform.replace('-', '_')}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        there = ", ".join(
            sorted(each.name for each in iter_modules(importlib.import_module(FACES).__path__))
        )
        raise CannotSimulate(
            f"{device.name}: platform {device.platform!r} cannot be simulated "
            f"(there are: {there}): run this testbed without --dry-run, or write "
            f"{name.replace('.', '/')}.py with KIND and face(lab, device)"
        ) from None


def wiring(testbed: Testbed, kinds: Mapping[str, str]) -> Wiring:
    """The testbed's links as cables between NICs and switch ports. Refuses, all at once, what the
    simulation has no packets for: a cable between two hosts, a linked NIC without an address, a
    switch without any cable."""
    linked = {end.device for link in testbed.links for end in (link.a, link.b)}
    mistakes = [
        f"{name}: a switch without a link cannot be simulated; add one under `links:`"
        for name, kind in kinds.items()
        if kind == "switch" and name not in linked
    ]
    cables: list[Cable] = []
    for link in testbed.links:
        if kinds[link.a.device] == kinds[link.b.device] == "host":
            mistakes.append(f"link {link.a} - {link.b}: two hosts without a switch between them")
            continue
        ends = [_plug(testbed, end, kinds, mistakes) for end in (link.a, link.b)]
        cables.append(
            Cable(
                a=ends[0],
                b=ends[1],
                rate_bits_per_s=link.speed_bits_per_s,
                length_m=link.length_m,
            )
        )
    if mistakes:
        raise CannotSimulate("\n".join(f"{testbed.name}: {mistake}" for mistake in mistakes))
    return Wiring(cables=tuple(cables))


def _plug(
    testbed: Testbed, end: Endpoint, kinds: Mapping[str, str], mistakes: list[str]
) -> HostPort | SwitchPort:
    if kinds[end.device] == "switch":
        return SwitchPort(device=end.device, interface=end.interface)
    address = testbed.port(end).address
    if address is None:
        mistakes.append(f"{end}: the port is linked but has no address; add `address: a.b.c.d/n`")
    return HostPort(device=end.device, interface=end.interface, address=address or "")
