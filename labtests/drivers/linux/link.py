"""The MTU of a host port, by sysfs and `ip link`."""

import re

from labtests.capabilities.device import Commands
from labtests.capabilities.profile import Mtu
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.linux.session import HostSession
from labtests.drivers.parsing import refuse, whole
from labtests.transport.commands import Shell, program, root

IP = Tool(
    name="ip",
    install="install the package iproute2 on this host",
    complaints=(
        Complaint(
            says=r"mtu (greater than device maximum|less than device minimum)|Invalid argument",
            remedy="see minmtu and maxmtu in `ip -d link show` of this interface",
        ),
    ),
)


def mtu_command(interface: str) -> Shell:
    """Reads it."""
    return program("cat", f"/sys/class/net/{interface}/mtu")


class LinkSettings(HostSession, Mtu):
    """What belongs to the net device itself."""

    def mtu(self, port: str) -> int:
        """Bytes of an IP packet, from /sys/class/net/IF/mtu."""
        reply = self._run(mtu_command(self._interface(port)))
        if reply.status not in (0, None):
            self._no_interface(reply.command, port)
        found = re.fullmatch(r"([0-9]+)\s*", whole(reply))
        if found is None:
            refuse(reply, f"{reply.text!r} is no MTU")
        return int(found[1])

    def mtu_commands(self, port: str, earlier: int, wanted: int) -> Commands:
        """One `ip link set`. Connections in progress are cut down or stall: set it before."""
        if earlier == wanted:
            return ()
        return (root("ip", "link", "set", "dev", self._interface(port), "mtu", wanted),)

    def set_mtu(self, port: str, wanted: int) -> None:
        """Apply it, and verify by read-back."""
        commands = self.mtu_commands(port, self.mtu(port), wanted)
        for reply in self._change(commands):
            expect_success(reply, IP)
        if commands and (found := self.mtu(port)) != wanted:
            self._reject(
                commands[-1],
                f"accepted, but the MTU of {port} is {found}",
                "look at what manages the interface (NetworkManager, networkd)",
            )
