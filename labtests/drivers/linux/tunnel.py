"""A VXLAN tunnel over a host's port, made for a test: one device by labtests' own name.

`tos inherit` (shown as 0x1) copies the DSCP of an inner packet to the outer header, which has DSCP
0 without; the ECN field is copied by the kernel in any case, and CE comes back (RFC 6040; Linux,
drivers/net/vxlan, include/net/inet_ecn.h). A host without `remote` answers whom it has heard of.
The device has no IPv6 address, so that nobody asks for neighbours or routers through it.
"""

from labtests.capabilities.records import VxlanTunnel
from labtests.capabilities.settings import TUNNEL, Commands
from labtests.core.trusted_files import json_of
from labtests.drivers.answers import expect_success
from labtests.drivers.linux.link import IP
from labtests.drivers.linux.session import ShellSetting
from labtests.drivers.parsing import READ_AGAIN, refuse
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Word, program, root
from labtests.transport.protocol import Reply

NAME = "labtests-vx"
PORT = 4789
"""IANA's (RFC 7348); Linux has another one by default."""
_NO_SUCH = f'Device "{NAME}" does not exist'
_INHERITED = 1


def parse_tunnel(reply: Reply) -> tuple[str, VxlanTunnel] | None:
    """`ip -j -d addr show dev NAME`: the port below, and the tunnel; None where there is none."""
    if _NO_SUCH in reply.errors:
        return None
    expect_success(reply, IP)
    try:
        shown = json_of(reply.text)
        (device,) = shown
        data = device["linkinfo"]["info_data"]
        addresses = [
            f"{each['local']}/{each['prefixlen']}"
            for each in device["addr_info"]
            if each["family"] == "inet"
        ]
        tos = int(data.get("tos", "0"), 0)
        found = VxlanTunnel(
            vni=data["id"],
            address=addresses[0] if len(addresses) == 1 else "",
            remote=data.get("remote", ""),
            inherits_tos=tos == _INHERITED,
        )
        below, port = data["link"], data["port"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        refuse(reply, f"this is not one VXLAN device in JSON: {error}", READ_AGAIN)
    if len(addresses) > 1 or tos not in (0, _INHERITED) or port != PORT:
        refuse(reply, f"{NAME} is not as labtests makes it", f"ip link del {NAME}")
    return str(below), found


class Tunnelling(ShellSetting[VxlanTunnel | None]):
    """The one over a port; None where there is none."""

    kind, tool = TUNNEL, IP
    remedy = f"look at `ip -d addr show dev {NAME}`, and at what manages interfaces there"

    def read(self, port: str) -> Asking[VxlanTunnel | None]:
        """What is over another port is none of this one."""
        reply = yield from ask(program("ip", "-j", "-d", "addr", "show", "dev", NAME))
        found = parse_tunnel(reply)
        return found[1] if found is not None and found[0] == self._interface(port) else None

    def commands(
        self,
        port: str,
        earlier: VxlanTunnel | None,
        wanted: VxlanTunnel | None,
        around: None = None,
    ) -> Commands:
        """Another tunnel is a new device."""
        if earlier == wanted:
            return ()
        gone = () if earlier is None else (root("ip", "link", "del", "dev", NAME),)
        if wanted is None:
            return gone
        remote: tuple[Word, ...] = ("remote", wanted.remote) if wanted.remote else ()
        tos: tuple[Word, ...] = ("tos", "inherit") if wanted.inherits_tos else ()
        dev = self._interface(port)
        how: tuple[Word, ...] = ("id", wanted.vni, "dstport", PORT, "dev", dev, *remote, *tos)
        return (
            *gone,
            root("ip", "link", "add", NAME, "type", "vxlan", *how),
            root("ip", "link", "set", "dev", NAME, "addrgenmode", "none"),
            root("ip", "addr", "add", wanted.address, "dev", NAME),
            root("ip", "link", "set", "dev", NAME, "up"),
        )
