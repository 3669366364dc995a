"""What is to be made of a testbed: boxes (namespaces) and the cables between them. Pure."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from ipaddress import IPv4Network
from pathlib import Path

from labtests.core.errors import LabError
from labtests.inventory import LINUX_LAB_FOLDER, Device, Endpoint, LinuxLab, Testbed
from labtests.inventory.linux_lab import SWITCH

PREFIX = "labtests:"
MANAGEMENT = "mgmt0"
BRIDGE = "br0"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxPort:
    """A data port of a box, one end of a cable at `rate_bits_per_s`."""

    interface: str
    mac: str
    rate_bits_per_s: int
    address: str | None = None
    prefix_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A device of the lab: a namespace with its own sshd. `device` is how it is reached."""

    name: str
    namespace: str
    switch: bool
    ports: tuple[BoxPort, ...]
    device: Device

    @property
    def spoken(self) -> str:
        """Where its sshd listens."""
        return f"{self.device.management.host}:{self.device.management.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plug:
    """One end of a cable. The namespace "" is the machine's own."""

    namespace: str
    interface: str
    device: str
    mac: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinuxLabPlan:
    """Everything that is made."""

    name: str
    file: Path
    lab: LinuxLab
    boxes: tuple[Box, ...]
    cables: tuple[tuple[Plug, Plug], ...]
    digest: str = field(compare=False)

    @property
    def folder(self) -> Path:
        """Keys, logs and notes of the lab."""
        return folder_of(self.name)

    @property
    def management(self) -> str:
        """The namespace with the bridge of the management network."""
        return PREFIX + self.name

    @property
    def runner_interface(self) -> str:
        """The runner's own end: the only link in the machine's own namespace."""
        return runner_interface(self.name)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All that are made."""
        return (self.management, *(box.namespace for box in self.boxes))


def folder_of(name: str) -> Path:
    """The folder of the lab of this name."""
    return Path(LINUX_LAB_FOLDER) / name


def runner_interface(name: str) -> str:
    """At most 15 characters, another one for each lab."""
    return f"lt{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def network_of(address: str, prefix_length: int | None) -> IPv4Network:
    """The network that an address with this prefix is in."""
    return IPv4Network(f"{address}/{prefix_length}", strict=False)


def planned(testbed: Testbed) -> LinuxLabPlan:
    """The plan. Raises LabError when the testbed is not of such a lab."""
    lab = testbed.linux_lab
    if lab is None:
        raise LabError(
            f"{testbed.file}: has no `linux_lab:`, so its devices are real, not created here\n"
            "  remedy: see testbeds/linux-lab.yaml for one that has it"
        )
    boxes = tuple(_box(testbed, device) for device in testbed.devices)
    management = PREFIX + testbed.name
    cables = [
        (
            Plug(namespace="", interface=runner_interface(testbed.name), device="the runner"),
            Plug(namespace=management, interface="runner", device="management network"),
        )
    ]
    for number, box in enumerate(boxes):
        mac = _mac(testbed, Endpoint(device=box.name, interface=MANAGEMENT))
        own = Plug(namespace=box.namespace, interface=MANAGEMENT, device=box.name, mac=mac)
        there = Plug(namespace=management, interface=f"m{number}", device="management network")
        cables.append((own, there))
    cables += [(_plug(testbed, link.a), _plug(testbed, link.b)) for link in testbed.links]
    return LinuxLabPlan(
        name=testbed.name,
        file=testbed.file,
        lab=lab,
        boxes=boxes,
        cables=tuple(cables),
        digest=_digest(lab, boxes, cables),
    )


def _box(testbed: Testbed, device: Device) -> Box:
    return Box(
        name=device.name,
        namespace=_namespace(testbed, device.name),
        switch=device.platform == SWITCH,
        ports=tuple(_port(testbed, port.endpoint) for port in device.ports),
        device=device,
    )


def _port(testbed: Testbed, end: Endpoint) -> BoxPort:
    port, link = testbed.port(end), testbed.link_of(end)
    assert link is not None  # the inventory refuses a port without one
    return BoxPort(
        interface=end.interface,
        mac=_mac(testbed, end),
        rate_bits_per_s=link.speed_bits_per_s,
        address=port.address,
        prefix_length=port.prefix_length,
    )


def _plug(testbed: Testbed, end: Endpoint) -> Plug:
    return Plug(
        namespace=_namespace(testbed, end.device),
        interface=end.interface,
        device=end.device,
        mac=_mac(testbed, end),
    )


def _namespace(testbed: Testbed, device: str) -> str:
    return f"{PREFIX}{testbed.name}:{device}"


def _mac(testbed: Testbed, end: Endpoint) -> str:
    """Locally administered, the same at every start."""
    digest = hashlib.sha256(f"{testbed.name}:{end}".encode()).hexdigest()
    return ":".join(["02", *(digest[at : at + 2] for at in range(0, 10, 2))])


def _digest(lab: LinuxLab, boxes: tuple[Box, ...], cables: list[tuple[Plug, Plug]]) -> str:
    """Another one when another lab would be made."""
    told = [
        asdict(lab),
        [asdict(box) for box in boxes],
        [[asdict(end) for end in cable] for cable in cables],
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
