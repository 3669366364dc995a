"""What a device tells of itself and its links, beside its settings: abilities and their records.

None means that the device does not tell; nobody takes that for good. What asks the device
returns an Asking, which raises a DeviceError (errors.py).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from labtests.capabilities.readings import ClockReading, Reading
from labtests.transport.asking import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """One port and its cable. `mtu_bytes` is the largest IP packet of a host's port,
    `frame_bytes` the largest frame that a switch's port passes; `fec` is the encoding in force
    ("off", "rs", "baser", ...); `mac` is twelve hexadecimal digits. A `virtual` port (veth, bridge,
    tap) has no cable: speed and FEC are not its own."""

    up: bool
    speed_bits_per_s: int | None = None
    mtu_bytes: int | None = None
    frame_bytes: int | None = None
    fec: str | None = None
    mac: str | None = None
    virtual: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceFacts:
    """The RDMA side of a port. `v2_addresses` are the IPv4 addresses that have a RoCEv2 GID."""

    rdma: str
    active: bool
    active_mtu_bytes: int | None
    v2_addresses: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Who is at the other end of a port, by LLDP (IEEE 802.1AB). "" where it does not say."""

    port: str
    name: str = ""
    port_id: str = ""
    port_description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The VLAN interface that has a port's address, and the 802.1p priority in the tag of what is
    sent from it: by DSCP (`of_dscp`, 64 of them), and how the host says it (`egress`: of each
    socket priority that has one)."""

    interface: str
    vlan: int
    egress: tuple[tuple[int, int], ...]
    of_dscp: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DcbxTold:
    """What one end of a cable tells the other by DCBX: the version, and the priorities with PFC."""

    version: str
    pfc: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DcbxState:
    """What DCBX has come to at one port. `willing`: it takes what its peer tells. `told` and
    `heard`: what it tells, and what its peer tells; None: it is not shown, or nothing is.
    `in_force`: the priorities for which PFC works there. `unknown`: what the device does not tell,
    and why."""

    device: str
    port: str
    control: Literal["switch", "os", "firmware"]
    willing: bool | None
    told: DcbxTold | None
    heard: DcbxTold | None
    in_force: frozenset[int] | None
    unknown: str = ""


@runtime_checkable
class DcbxView(Protocol):
    """A device that shows what DCBX has come to at its ports."""

    @abstractmethod
    def dcbx_state(self, port: str) -> Asking[DcbxState]:
        """Of one port, now."""


@runtime_checkable
class TaggedPorts(Protocol):
    """A host that tells with which 802.1p priority packets leave it by a VLAN interface."""

    @abstractmethod
    def tags(self, port: str, interface: str, vlan: int) -> Asking[Tags | None]:
        """Of the interface of this VLAN on the port, by its name; None where the host has none."""


@runtime_checkable
class LinkState(Protocol):
    """A device that tells how its links are."""

    @abstractmethod
    def link(self, port: str) -> Asking[LinkFacts]:
        """Speed, MTU, FEC and address of one port."""


@runtime_checkable
class RocePorts(Protocol):
    """A host that tells how the RDMA side of its ports is."""

    @abstractmethod
    def roce(self, port: str) -> Asking[RoceFacts | None]:
        """State, MTU and GIDs of the RDMA device behind this port; None where it has none and
        needs none."""


@runtime_checkable
class LinkErrors(Protocol):
    """A device that counts what a bad cable does."""

    @abstractmethod
    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "port": CRC errors, symbol errors and the like; each only rises."""


@runtime_checkable
class PortTelemetry(Protocol):
    """A switch that counts on the port itself, beside its queues."""

    @abstractmethod
    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Scope "port": frames in and out, and each that can mean a loss on the wire or in the
        port; what it does not count is None, with the reason."""


@runtime_checkable
class Neighbours(Protocol):
    """A device that hears LLDP."""

    @abstractmethod
    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """All of them, by port."""


@runtime_checkable
class OwnClock(Protocol):
    """A device that has a clock."""

    @abstractmethod
    def own_clock(self) -> Asking[ClockReading]:
        """What it shows now."""


@runtime_checkable
class TcpEcn(Protocol):
    """A host that tells whether its TCP asks for ECN (RFC 3168)."""

    @abstractmethod
    def tcp_ecn(self) -> Asking[bool]:
        """Whether connections that it opens ask for it."""


@runtime_checkable
class RdmaEcn(Protocol):
    """A host that tells whether its RDMA packets carry the ECN field of the TOS byte that a tool
    asked for. A NIC with DCQCN makes them ECN-capable by itself."""

    @abstractmethod
    def rdma_ecn(self) -> Asking[bool]:
        """Whether `-T 96` is not ECN-capable here, and `-T 98` is; and RoCE packets are counted."""


@runtime_checkable
class LiveCounters(Protocol):
    """A device whose counters are those of the moment in which it answers, never older."""

    @abstractmethod
    def counts_live(self) -> bool:
        """Whether it is so with this device."""


@runtime_checkable
class Caveats(Protocol):
    """A device that can tell what makes its numbers mean less, and prevents nothing."""

    @abstractmethod
    def caveats(self) -> Asking[tuple[str, ...]]:
        """One sentence each, e.g. that a port hands on several packets as one."""


@runtime_checkable
class Lacking(Protocol):
    """A device that has an ability by its kind, and not as it is: a kernel without a module."""

    @abstractmethod
    def lacks(self) -> Asking[dict[str, str]]:
        """Setting or counter family (the name of its method) -> why it cannot be had here, in one
        sentence that names what is missing and what follows. Empty when nothing is missing."""
