"""A VLAN interface of a host's port: which it is, and the 802.1p priority of what leaves by it.

The priority (sk_buff) of a packet goes by its socket's TOS (tos.py); the interface's egress-qos-map
gives that a PCP, 0 where it has none (net/8021q). A connection of rdma_cm gets its service level by
the same two (drivers/infiniband/core/cma.c, iboe_tos_to_sl), unless the port has traffic classes of
mqprio: then by those, which is not read here.
"""

import re

from labtests.capabilities.facts import TaggedPorts, Tags
from labtests.drivers.answers import expect_success
from labtests.drivers.linux.link import IP
from labtests.drivers.linux.session import HostPart
from labtests.drivers.linux.tos import socket_priority
from labtests.drivers.parsing import incomplete, refuse, whole
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

_NO_SUCH = re.compile(r'^Device "[^"]*" does not exist\.?$', re.MULTILINE)
_HEAD = re.compile(r"\A[0-9]+: ([^@:\s]+)@([^@:\s]+): <")
_VLAN = re.compile(r"^    vlan protocol 802\.1Q id ([0-9]{1,4}) (?:<[A-Z0-9_,]*> )?", re.MULTILINE)
_MAP = re.compile(r"egress-qos-map \{ ((?:[0-9]+:[0-7] )+)\} ")
_ALIAS = re.compile(r"^    alias .*$", re.MULTILINE)  # anybody's words
_BEHIND_IT = " numtxqueues "
_DSCPS = range(64)


def parse_vlan(reply: Reply) -> Tags | None:
    """`ip -d link show dev IF.ID`. None where there is no such interface. What comes behind the map
    has to be there, too: a map that is cut off is not an empty one."""
    if _NO_SUCH.search(reply.errors):
        return None
    expect_success(reply, IP)
    text = _ALIAS.sub("", whole(reply))
    heads, vlans, maps = _HEAD.findall(text), _VLAN.findall(text), _MAP.findall(text)
    if len(heads) != 1 or len(vlans) != 1:
        refuse(reply, "this is not one VLAN interface (802.1Q) with its number")
    if _BEHIND_IT not in text or not text.endswith("\n"):
        incomplete(reply, f"there is no {_BEHIND_IT.strip()!r} behind the VLAN's map")
    if len(maps) != text.count("egress-qos-map"):
        refuse(reply, "its egress-qos-map is not one of 802.1p by socket priority")
    egress = tuple(_pair(word) for each in maps for word in each.split())
    if len(dict(egress)) != len(egress):
        refuse(reply, "its egress-qos-map has a priority twice")
    return Tags(
        interface=heads[0][0],
        vlan=int(vlans[0]),
        egress=egress,
        of_dscp=tuple(dict(egress).get(socket_priority(dscp << 2), 0) for dscp in _DSCPS),
    )


def _pair(word: str) -> tuple[int, int]:
    priority, _, pcp = word.partition(":")
    return int(priority), int(pcp)


class VlanInterfaces(HostPart, TaggedPorts):
    """Those that the testbed file names; they are read, never made."""

    def tags(self, port: str, interface: str, vlan: int) -> Asking[Tags | None]:
        """Raises UnreadableOutput for an interface of that name that is of another VLAN, or on
        another port."""
        name = self._interface(interface)
        reply = yield from ask(program("ip", "-d", "link", "show", "dev", name))
        found = parse_vlan(reply)
        if found is None:
            return None
        on = _HEAD.findall(whole(reply))[0][1]
        if found.vlan != vlan or on != self._interface(port):
            refuse(
                reply,
                f"{found.interface} is not VLAN {vlan} of {port}, but VLAN {found.vlan}",
                "name the VLAN interface of the port in the testbed file (`vlan: {name: ...}`)",
            )
        return found
