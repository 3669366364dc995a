"""VLAN interfaces of an emulated host, and the 802.1p priority that its packets get.

A packet that leaves by a VLAN interface has the PCP that the interface's egress-qos-map gives its
priority (sk_buff), 0 where it gives none: net/8021q/vlan.h, vlan_dev_get_egress_qos_mask. A
socket's priority follows its TOS: net/ipv4/ip_sockglue.c sets it by rt_tos2priority, whose table is
ip_tos2prio of net/ipv4/route.c. A connection of rdma_cm has the service level, which a NIC writes
into the tag, by the same two (drivers/infiniband/core/cma.c, iboe_tos_to_sl, for a device without
traffic classes of mqprio), and its passive side takes the one of the request. Without rdma_cm it is
what the program asks for (`--sl`).
"""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labtests.inventory import Vlan

BEST_EFFORT, BULK, INTERACTIVE_BULK, INTERACTIVE = 0, 2, 4, 6
"""TC_PRIO_... of linux/pkt_sched.h."""
_BY_TOS = (BEST_EFFORT, BULK, INTERACTIVE, INTERACTIVE_BULK)  # four neighbours of ip_tos2prio each
_TOS_BITS = 0x18  # of IPTOS_TOS_MASK, those that ip_tos2prio tells apart
_TOS_SHIFT = 3


def socket_priority(tos: int) -> int:
    """Of a socket with this TOS byte."""
    return _BY_TOS[(tos & _TOS_BITS) >> _TOS_SHIFT]


@dataclass(slots=True, kw_only=True)
class VlanInterface:
    """One, on a port whose address it has."""

    id: int
    name: str
    lower: str  # the port's interface
    index: int  # ifindex
    egress: dict[int, int] = field(default_factory=dict)

    def pcp(self, tos: int) -> int:
        """Of what a socket with this TOS sends."""
        return self.egress.get(socket_priority(tos), 0)


def vlan_interface(vlan: Vlan | None, port: str, index: int) -> VlanInterface | None:
    """The one that the testbed file says, as its user has made it."""
    if vlan is None:
        return None
    return VlanInterface(
        id=vlan.id,
        name=vlan.interface(port),
        lower=port,
        index=index,
        egress=dict(vlan.egress or ()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownInterface:
    """A net device as `ip` shows it: a port, or its VLAN interface. `label` is `VLAN@PORT`."""

    interface: str
    label: str
    interface_index: int
    up: bool
    mtu_bytes: int
    attached: str
    mac: str
    address: str | None
    prefix_length: int
    statistics: str  # the net device in whose statistics its packets are
    vlan: VlanInterface | None = None
    enabled: bool = True

    @property
    def network(self) -> ipaddress.IPv4Network | None:
        """The subnet that it is in."""
        return subnet(self.address, self.prefix_length)

    @property
    def flags(self) -> list[str]:
        """As the kernel names them."""
        carrier, enabled = self.up or not self.enabled, ["UP"] if self.enabled else []
        return [*([] if carrier else ["NO-CARRIER"]), "BROADCAST", "MULTICAST", *enabled] + (
            ["LOWER_UP"] if self.up else []
        )


def subnet(address: str | None, prefix_length: int) -> ipaddress.IPv4Network | None:
    """Of this address; None where there is none."""
    if address is None:
        return None
    return ipaddress.IPv4Network(f"{address}/{prefix_length}", strict=False)


def changed_map(words: list[str], refuse: Callable[[str], Exception]) -> Mapping[int, int]:
    """`4:5 0:0`: what `egress-qos-map` is told."""
    found: dict[int, int] = {}
    for word in words:
        priority, colon, pcp = word.partition(":")
        if not (colon and priority.isdigit() and pcp.isdigit() and int(pcp) < 8):
            raise refuse(word)
        found[int(priority)] = int(pcp)
    return found
