"""What is plugged into what: host ports, switch ports and the cables between them."""

from collections.abc import Iterator
from dataclasses import dataclass

from labtests.network.tables import OVERHEAD_BYTES

LEAST_BITS_PER_S, MOST_BITS_PER_S = 10**6, 8 * 10**12
MOST_OVERHEAD_BYTES, MOST_LENGTH_M = 2**20, 2 * 10**14
"""The length: 1e6 s of propagation, far more than any network has; times are 62 bits of ps."""
NS_PER_M = 5
"""Propagation in copper and fibre: 2e8 m/s (802.1Qbb Annex O uses the same)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPort:
    """One NIC port of a host. `address` is its IPv4 address, without mask."""

    device: str
    interface: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPort:
    """One port of a switch, by the interface name of the testbed."""

    device: str
    interface: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """A full-duplex link.

    `overhead_bytes` go with every frame on the wire: preamble, start delimiter and gap (IEEE
    802.3: 20). 0 compares with simulators that leave them out. `loss`: the share of frames, of
    every kind, that arrive corrupted at either end and are lost, each independently.
    """

    a: HostPort | SwitchPort
    b: HostPort | SwitchPort
    rate_bits_per_s: int
    length_m: float
    overhead_bytes: int = OVERHEAD_BYTES
    loss: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.loss <= 1:
            raise ValueError(f"not a share 0..1 of lost frames: {self.loss}")
        if not LEAST_BITS_PER_S <= self.rate_bits_per_s <= MOST_BITS_PER_S:
            raise ValueError(f"not a rate of 1M to 8T bit/s: {self.rate_bits_per_s}")
        if not 0 <= self.overhead_bytes <= MOST_OVERHEAD_BYTES:
            raise ValueError(
                f"overhead of {self.overhead_bytes} bytes is not 0..{MOST_OVERHEAD_BYTES}"
            )
        if not 0 <= self.length_m <= MOST_LENGTH_M:
            raise ValueError(f"length of {self.length_m} m is not 0..{MOST_LENGTH_M}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """All cables of a lab. Ports are numbered 0, 1, 2, … as they appear: a and b of each cable."""

    cables: tuple[Cable, ...]

    def __post_init__(self) -> None:
        seen: set[tuple[str, str]] = set()
        addresses: set[str] = set()
        for port in self.ports():
            name = (port.device, port.interface)
            if name in seen:
                raise ValueError(f"{port.device} {port.interface} has two cables")
            seen.add(name)
            if isinstance(port, HostPort) and port.address in addresses:
                raise ValueError(f"{port.device} {port.interface}: {port.address} is used twice")
            if isinstance(port, HostPort):
                addresses.add(port.address)

    def ports(self) -> Iterator[HostPort | SwitchPort]:
        """Every port, in the order of the port numbers."""
        for cable in self.cables:
            yield cable.a
            yield cable.b
