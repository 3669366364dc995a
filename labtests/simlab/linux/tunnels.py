"""VXLAN devices of an emulated host, over its ports: `ip link add NAME type vxlan ...`.

As recorded with iproute2 6.1 and Linux 6.18: `tos inherit` is shown as 0x1 and the device's MTU is
50 bytes less than that of its port; the kernel counts a packet of a tunnel twice, and once more
among the datagrams that came in. Acknowledgements have the outer DSCP of their data.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from labtests.network import OuterHeaders
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.ports import NicPort

ADDED_BYTES = 50
_FOREVER = 2**32 - 1
_EXISTS = "RTNETLINK answers: File exists\n"
_SAME_VNI = "Error: A VXLAN device with the specified VNI already exists.\n"


@dataclass(slots=True, kw_only=True)
class VxlanDevice:
    """One device."""

    name: str
    index: int
    vni: int
    udp_port: int
    lower: NicPort
    remote: str = ""
    inherits: bool = False
    up: bool = False
    address: IPv4Interface | None = None

    @property
    def mtu_bytes(self) -> int:
        """Of the packets inside."""
        return self.lower.mtu_bytes - ADDED_BYTES

    def reaches(self, address: str) -> bool:
        """Whether packets to this address go through it."""
        if self.address is None or not (self.up and self.lower.up):
            return False
        return IPv4Address(address) in self.address.network

    def outer(self, *, deaf: bool, losing: bool) -> OuterHeaders:
        """What it adds; `deaf`, `losing`: faults of this host and of the other one."""
        return OuterHeaders(inherits_dscp=self.inherits and not deaf, loses_marks=losing)

    def shown(self) -> dict[str, Any]:
        """`ip -j -d addr show`."""
        data: dict[str, Any] = {"id": self.vni}
        data |= {"remote": self.remote} if self.remote else {}
        data |= {"link": self.lower.interface, "port_range": {"low": 0, "high": 0}}
        data |= {"port": self.udp_port, "learning": True}
        data |= {"tos": "0x1"} if self.inherits else {}
        data |= {"ttl": 0, "df": "unset", "ageing": 300, "udp_csum": True}
        data |= {"udp_zero_csum6_tx": False, "udp_zero_csum6_rx": False}
        flags = ["BROADCAST", "MULTICAST", *(["UP", "LOWER_UP"] if self.up else [])]
        return {
            "ifindex": self.index,
            "ifname": self.name,
            "flags": flags,
            "mtu": self.mtu_bytes,
            "qdisc": "noqueue" if self.up else "noop",
            "operstate": "UNKNOWN" if self.up else "DOWN",
            "linkinfo": {"info_kind": "vxlan", "info_data": data},
            "addr_info": [] if self.address is None else [_address(self.address, self.name)],
        }


def _address(address: IPv4Interface, label: str) -> dict[str, Any]:
    found = {"family": "inet", "local": str(address.ip), "prefixlen": address.network.prefixlen}
    times = dict.fromkeys(("valid_life_time", "preferred_life_time"), _FOREVER)
    return {**found, "scope": "global", "label": label, **times}


class VxlanDevices:
    """Those of one host. `found(address, there)`: the lab is told where an address is."""

    def __init__(self, found: Callable[[str, bool], None]) -> None:
        self._found = found
        self._by_name: dict[str, VxlanDevice] = {}
        self._made = 0
        self.deaf = self.losing = False  # faults

    def named(self, name: str) -> VxlanDevice | None:
        """The device of this name."""
        return self._by_name.get(name)

    def to(self, address: str) -> VxlanDevice | None:
        """The one that packets to this address go through."""
        return next((each for each in self._by_name.values() if each.reaches(address)), None)

    def at(self, address: str) -> VxlanDevice | None:
        """The one that has this address."""
        named = self._by_name.values()
        return next((e for e in named if e.address and str(e.address.ip) == address), None)

    def clear(self) -> None:
        """A reboot."""
        for name in list(self._by_name):
            self.remove(name)

    def add(self, name: str, words: list[str], port: Callable[[str], NicPort | None]) -> None:
        """The words behind `type vxlan`. Raises Refused, NotEmulated."""
        told = dict(zip(words[::2], words[1::2], strict=False))
        if len(words) % 2 or set(told) - {"id", "dstport", "dev", "remote", "tos"}:
            raise NotEmulated(" ".join(["ip link add", name, "type vxlan", *words]))
        lower = port(told.get("dev", ""))
        if lower is None:
            raise Refused(f'Cannot find device "{told.get("dev", "")}"\n', 255)
        if told.get("tos", "inherit") != "inherit":
            raise NotEmulated("`tos` of a VXLAN device but `inherit`")
        if name in self._by_name or port(name) is not None:
            raise Refused(_EXISTS, 2)
        vni = int(told["id"])
        if any(each.vni == vni for each in self._by_name.values()):
            raise Refused(_SAME_VNI, 2)
        self._made += 1
        self._by_name[name] = VxlanDevice(
            name=name,
            index=1000 + self._made,
            vni=vni,
            udp_port=int(told.get("dstport", "8472")),
            lower=lower,
            remote=told.get("remote", ""),
            inherits="tos" in told,
        )

    def remove(self, name: str) -> None:
        """The device and its address are gone."""
        gone = self._by_name.pop(name)
        if gone.address is not None:
            self._found(str(gone.address.ip), False)

    def give(self, tunnel: VxlanDevice, address: str) -> None:
        """Its address. Raises Refused."""
        try:
            tunnel.address = IPv4Interface(address)
        except ValueError:
            text = f'Error: any valid prefix is expected rather than "{address}".\n'
            raise Refused(text, 1) from None
        self._found(str(tunnel.address.ip), True)


def shown(tunnel: VxlanDevice) -> str:
    """JSON of one device."""
    return json.dumps([tunnel.shown()], separators=(",", ":")) + "\n"
