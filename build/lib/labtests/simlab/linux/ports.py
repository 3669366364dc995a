"""The NIC ports of an emulated host: names, addresses, and the counters as its tools see them."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256

from labtests.inventory import Device
from labtests.network import Nic, NicCounters
from labtests.simlab.faults import DeviceFaults
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.vlans import ShownInterface, VlanInterface, subnet, vlan_interface

DEFAULT_PREFIX = 24
FIRST_VLAN_INDEX = 100  # ifindex: made long after the ports
FIRMWARE = "12.28.2006"
MELLANOX_OUI = "b8:59:9f"
DEFAULT_MTU_BYTES = 1500
FCS_BYTES = 4
LEAST_MTU_BYTES, LARGEST_MTU_BYTES = 68, 9978  # minmtu and maxmtu of mlx5 (from memory)


@dataclass(slots=True)
class EchoFrames:
    """Echo requests and answers that the packet network does not know: they go before and after
    traffic, and hold no queue. Bytes are of frames without their FCS."""

    rx_packets: int = 0
    rx_bytes: int = 0
    tx_packets: int = 0
    tx_bytes: int = 0

    def of(self, counted: NicCounters) -> NicCounters:
        """The same counters with them: of priority 0, as they ask for nothing else."""

        def first(values: tuple[int, ...], more: int) -> tuple[int, ...]:
            return (values[0] + more, *values[1:])

        fcs_in, fcs_out = FCS_BYTES * self.rx_packets, FCS_BYTES * self.tx_packets
        return replace(
            counted,
            rx_packets=first(counted.rx_packets, self.rx_packets),
            tx_packets=first(counted.tx_packets, self.tx_packets),
            rx_bytes=first(counted.rx_bytes, self.rx_bytes + fcs_in),
            tx_bytes=first(counted.tx_bytes, self.tx_bytes + fcs_out),
            ip_in_receives=counted.ip_in_receives + self.rx_packets,
            ip_in_bytes=counted.ip_in_bytes + self.rx_bytes,
            ip_out_packets=counted.ip_out_packets + self.tx_packets,
            ip_out_bytes=counted.ip_out_bytes + self.tx_bytes,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class NicPort:
    """One port. `nic` is None when nothing is plugged in: the link is down."""

    index: int  # of this port on the host; ifindex is this + 2
    interface: str
    rdma: str
    address: str | None
    prefix_length: int
    mac: str
    nic: Nic | None
    speed_mbit_per_s: int
    faults: DeviceFaults
    now_ns: Callable[[], int] = lambda: 0
    zero: NicCounters | None = None  # the readings at the last reset
    default_roce_tos: int = 0
    mtu_bytes: int = DEFAULT_MTU_BYTES
    attached: str = "qdisc mq"  # as `ip link` says it, with the bridge if it is in one
    vlan: VlanInterface | None = None  # has the address
    enabled: bool = True  # `ip link set IF up`
    echoes: EchoFrames = field(default_factory=EchoFrames)

    @property
    def up(self) -> bool:
        """Whether there is a link."""
        return self.nic is not None and self.enabled

    @property
    def network(self) -> ipaddress.IPv4Network | None:
        """The subnet that the port is in."""
        return subnet(self.address, self.prefix_length)

    @property
    def roce_mtu_bytes(self) -> int:
        """The payload of a RoCE frame: the largest size of InfiniBand that fits, with 96 B of
        headers, as the kernel's iboe_get_mtu counts (from memory)."""
        sizes = (256, 512, 1024, 2048, 4096)
        return max((size for size in sizes if size + 96 <= self.mtu_bytes), default=256)

    @property
    def shown_mbit_per_s(self) -> int:
        """The speed that the port claims."""
        return self.faults.defects.speeds_mbit_per_s.get(self.interface, self.speed_mbit_per_s)

    @property
    def rdma_up(self) -> bool:
        """Whether the RDMA link is active."""
        return self.up and self.interface not in self.faults.defects.rdma_down

    @property
    def firmware(self) -> str:
        """Of the NIC."""
        return self.faults.defects.firmware or FIRMWARE

    @property
    def interface_index(self) -> int:
        """Linux's number of the interface; 1 is lo."""
        return self.index + 2

    @property
    def data_interface(self) -> str:
        """The net device that has the address."""
        return self.interface if self.vlan is None else self.vlan.name

    def pcp(self, tos: int) -> int | None:
        """In the tag of what a socket with this TOS sends; None: no tag."""
        return None if self.vlan is None else self.vlan.pcp(tos)

    def shown(self) -> tuple[ShownInterface, ...]:
        """Its net devices: its own, and the one of its VLAN."""
        own = ShownInterface(
            interface=self.interface,
            label=self.interface,
            interface_index=self.interface_index,
            up=self.up,
            enabled=self.enabled,
            mtu_bytes=self.mtu_bytes,
            attached=self.attached,
            mac=self.mac,
            address=None if self.vlan else self.address,
            prefix_length=self.prefix_length,
            statistics=self.interface,
        )
        if self.vlan is None:
            return (own,)
        upper = replace(
            own,
            interface=self.vlan.name,
            label=f"{self.vlan.name}@{self.interface}",
            interface_index=self.vlan.index,
            attached="qdisc noqueue",
            address=self.address,
            vlan=self.vlan,
        )
        return (own, upper)

    def counted(self) -> NicCounters | None:
        """All counters, whatever has been reset; None without a link."""
        return None if self.nic is None else self.echoes.of(self.nic.counters())

    def counters(self) -> NicCounters | None:
        """All counters since the last reset; None without a link."""
        now = self.counted()
        if now is None:
            return None
        return now if self.zero is None else _difference(now, self.zero)

    def reset(self) -> None:
        """All counters start at 0 again, as when the driver is loaded anew."""
        self.zero = self.counted()

    def reading(self, counter: str, live: Callable[[], int]) -> int:
        """What a tool shows for a counter: alive, or stuck. "pfc" means all pause counters."""
        if ("pause" in counter or "pfc" in counter) and (
            self.interface,
            "pfc",
        ) in self.faults.dead_counters:
            self.faults.dead_counters.setdefault((self.interface, counter), None)
            self.faults.met.add(("dead", self.interface, "pfc"))
        grown = self.faults.losses.grown
        return self.faults.reading(
            self.interface, counter, lambda: live() + grown(self.interface, counter)
        )

    def missing(self, counter: str) -> bool:
        """Whether a counter has disappeared from all output."""
        return self.faults.missing(self.interface, counter) or (
            "pause" in counter and self.faults.missing(self.interface, "pfc")
        )


def _difference(now: NicCounters, before: NicCounters) -> NicCounters:
    values: dict[str, int | tuple[int, ...]] = {}
    for counter in fields(NicCounters):
        later, earlier = getattr(now, counter.name), getattr(before, counter.name)
        if isinstance(later, tuple):
            values[counter.name] = tuple(a - b for a, b in zip(later, earlier, strict=True))
        else:
            values[counter.name] = later - earlier
    return NicCounters(**values)  # type: ignore[arg-type]


def ports_of(lab: SimulatedLab, device: Device) -> tuple[NicPort, ...]:
    """The ports that the testbed gives this host."""
    found: list[NicPort] = []
    for index, port in enumerate(device.ports):
        link = lab.testbed.link_of(port.endpoint)
        found.append(
            NicPort(
                index=index,
                interface=port.interface,
                rdma=port.rdma or f"mlx5_{index}",
                address=port.address,
                prefix_length=port.prefix_length or DEFAULT_PREFIX,
                mac=_mac(device.name, port.interface),
                nic=lab.network.nic(device.name, port.interface) if link else None,
                speed_mbit_per_s=link.speed_bits_per_s // 1_000_000 if link else -1,
                faults=lab.faults[device.name],
                now_ns=lambda: lab.timeline.now_ns,
                vlan=vlan_interface(port.vlan, port.interface, FIRST_VLAN_INDEX + index),
            )
        )
    return tuple(found)


def _mac(device: str, interface: str) -> str:
    digest = sha256(f"{device} {interface}".encode()).hexdigest()
    return f"{MELLANOX_OUI}:{digest[0:2]}:{digest[2:4]}:{digest[4:6]}"


def dotted(mac: str) -> str:
    """A MAC address as Comware writes it: four digits a group."""
    digits = mac.replace(":", "")
    return "-".join(digits[at : at + 4] for at in range(0, 12, 4))


def guid(port: NicPort) -> str:
    """The port's EUI-64 as 16 hex digits."""
    octets = port.mac.split(":")
    return "".join((*octets[:3], "03", "00", *octets[3:]))


def gids(port: NicPort) -> list[tuple[str, str]]:
    """(GID, RoCE type) by index: link-local v1 and v2, then the address v1 and v2."""
    octets = [int(octet, 16) for octet in port.mac.split(":")]
    octets[0] ^= 2
    local = "fe80:0000:0000:0000:{:02x}{:02x}:{:02x}ff:fe{:02x}:{:02x}{:02x}".format(*octets)
    found = [(local, "IB/RoCE v1"), (local, "RoCE v2")]
    if port.address is not None:
        packed = ipaddress.IPv4Address(port.address).packed.hex()
        mapped = f"0000:0000:0000:0000:0000:ffff:{packed[:4]}:{packed[4:]}"
        found.append((mapped, "IB/RoCE v1"))
        if port.interface not in port.faults.defects.without_roce_v2:
            found.append((mapped, "RoCE v2"))
    return found


def gid_interface(port: NicPort, gid: str) -> str:
    """The net device of a GID: the link-local ones are the port's own."""
    return port.interface if gid.startswith("fe80") else port.data_interface
