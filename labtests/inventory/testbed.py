"""A lab as frozen records: what a valid testbed file says, with defaults and groups applied."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from labtests.core.errors import LabError


class NotInTestbed(LabError):
    """A device, port or role that the testbed does not have was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Endpoint:
    """One port of one device, as a testbed file writes it: `device:interface`."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device}:{self.interface}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Management:
    """How to reach a device over SSH. Holds names of secrets, never a secret.

    `jump` is in OpenSSH's ProxyJump syntax; `password_env` names an environment variable; paths are
    absolute. `host_keys="strict"` refuses unknown host keys, "accept-new" learns them once.
    `known_hosts_beside` is the folder of the testbed file that names `known_hosts`.
    `become` runs commands under `sudo -n`, "commands" only those that need root, one by one.
    `ssh_config` honours the user's own ~/.ssh/config.
    `legacy_ssh` offers old algorithms (CBC, MD5, SHA-1), too.
    """

    host: str
    port: int = 22
    user: str | None = None
    jump: str | None = None
    password_env: str | None = None
    key_file: str | None = None
    become: bool | Literal["commands"] = False
    host_keys: Literal["strict", "accept-new"] = "strict"
    known_hosts: str | None = None
    known_hosts_beside: str | None = None
    ssh_config: bool = True
    legacy_ssh: bool = False


LONGEST_INTERFACE = 15
"""Characters of the name of a Linux interface (IFNAMSIZ, with the byte that ends it)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vlan:
    """A VLAN interface of a host's port. `egress` is the 802.1p priority of each Linux socket
    priority that has one; None means: whatever the host has."""

    id: int
    name: str | None = None
    egress: tuple[tuple[int, int], ...] | None = None

    def interface(self, port: str) -> str:
        """Its name: unless it is given, the port's, a dot, the id."""
        return self.name or f"{port}.{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One port of a device. `rdma is None` means: ask the device which RDMA device belongs to it.

    `address` is IPv4 without mask; `prefix_length` is None when the file gives no mask. With `vlan`
    it is on a VLAN interface of this port, and what is sent from it is tagged.
    """

    device: str
    interface: str
    rdma: str | None = None
    address: str | None = None
    prefix_length: int | None = None
    vlan: Vlan | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Where it is."""
        return Endpoint(device=self.device, interface=self.interface)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """PEM files of one stream, by absolute paths. `server_name` is what the switch's certificate
    is for; None: the address it is reached at."""

    ca: str
    certificate: str
    key: str
    server_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryPlace:
    """How a switch streams (docs/telemetry.md). "gnmi": labtests subscribes at `address` (None: the
    management's host); "dial-out": labtests listens at `address`, and the switch is told to dial
    there. `tls is None` only where the file says `insecure: true`. A switch that polls watermarks
    is told to do so `watermarks_every_s`, one that can push `drop_alarms` to do that; `cell_bytes`
    is a cell of its packet memory. Holds the name of a secret, never one."""

    kind: Literal["gnmi", "dial-out"]
    port: int
    address: str | None = None
    sample_every_s: int = 1
    encoding: Literal["json_ietf", "proto"] = "json_ietf"
    tls: TlsFiles | None = None
    user: str | None = None
    password_env: str | None = None
    watermarks_every_s: int | None = None
    drop_alarms: bool = True
    cell_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One box. `platform` is the name of its module in labtests/drivers and in simlab/faces."""

    name: str
    platform: str
    management: Management
    ports: tuple[Port, ...] = ()
    groups: tuple[str, ...] = ()
    telemetry: TelemetryPlace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A cable between two ports."""

    a: Endpoint
    b: Endpoint
    speed_bits_per_s: int
    length_m: float


LEASE_PATH = "/var/tmp/labtests-lease"
LEASE_EXPIRES_AFTER_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasePlace:
    """Where the testbed's lease is kept (docs/lease.md): a folder on one of its hosts.

    `host is None` means the first Linux host. A run's lease runs out `expires_after_s` (of the
    host's clock) after its last heartbeat. `by_default`: the testbed file says nothing of a lease.
    """

    host: str | None = None
    path: str = LEASE_PATH
    expires_after_s: float = LEASE_EXPIRES_AFTER_S
    by_default: bool = True


LINUX_LAB_FOLDER = "/run/labtests/linuxlab"
"""Each lab's keys and notes are in a folder of its name here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinuxLabEcn:
    """RED of a queue: marks begin at `min_bytes` of average length and reach `probability` at
    `max_bytes`."""

    min_bytes: int
    max_bytes: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LinuxLab:
    """What `labtests linuxlab up` makes of the testbed, beside what stands at devices and links.

    `runner_address` (IPv4, `prefix_length`) is the runner's own in the management network.
    `weights` are those of queues 0..7, empty unless scheduling is "weighted". With "strict", queue
    7 goes first. `ecn is None`: queues only drop, at their limit.
    """

    runner_address: str
    prefix_length: int
    mtu_bytes: int = 1500
    queue_limit_bytes: int = 2**20
    scheduling: Literal["equal", "strict", "weighted"] = "equal"
    weights: tuple[int, ...] = ()
    shaped_senders: bool = True
    ecn: LinuxLabEcn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Testbed:
    """A whole lab. Every name that a link or a role uses is known to exist.

    `lease is None`: nobody asks whether somebody else uses the lab. `linux_lab`: the devices are
    network namespaces of the runner's own machine.
    """

    __test__ = False  # pytest must not take it for a test class

    name: str
    file: Path
    description: str = ""
    devices: tuple[Device, ...] = ()
    links: tuple[Link, ...] = ()
    roles: Mapping[str, tuple[Endpoint, ...]] = field(default_factory=lambda: MappingProxyType({}))
    lease: LeasePlace | None = LeasePlace()
    linux_lab: LinuxLab | None = None

    def device(self, name: str) -> Device:
        """The device of this name."""
        for device in self.devices:
            if device.name == name:
                return device
        known = ", ".join(device.name for device in self.devices)
        raise NotInTestbed(f"{self.file}: no device {name!r}; there are {known}")

    def port(self, endpoint: Endpoint) -> Port:
        """The port at this place."""
        device = self.device(endpoint.device)
        for port in device.ports:
            if port.interface == endpoint.interface:
                return port
        known = ", ".join(port.interface for port in device.ports) or "none"
        raise NotInTestbed(
            f"{self.file}: {device.name} has no port {endpoint.interface!r}; its ports: {known}"
        )

    def link_of(self, endpoint: Endpoint) -> Link | None:
        """The cable in this port; None when nothing is plugged in."""
        for link in self.links:
            if endpoint in (link.a, link.b):
                return link
        return None

    def peer(self, endpoint: Endpoint) -> Endpoint | None:
        """The port at the other end of the cable; None when nothing is plugged in."""
        link = self.link_of(endpoint)
        if link is None:
            return None
        return link.b if endpoint == link.a else link.a

    def rerouted(
        self,
        managements: Mapping[str, Management],
        telemetries: Mapping[str, TelemetryPlace] = MappingProxyType({}),
    ) -> "Testbed":
        """The same lab behind other management addresses, and other ends of its streams: what a dry
        run uses."""
        for name in (*managements, *telemetries):
            self.device(name)
        return replace(
            self,
            devices=tuple(
                replace(
                    device,
                    management=managements.get(device.name, device.management),
                    telemetry=telemetries.get(device.name, device.telemetry),
                )
                for device in self.devices
            ),
        )
