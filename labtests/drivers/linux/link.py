"""The MTU of a host port, by sysfs and `ip link`."""

import re

from labtests.capabilities.settings import MTU, Commands
from labtests.drivers.answers import Complaint, Tool
from labtests.drivers.linux.session import ShellSetting
from labtests.drivers.parsing import refuse, whole
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import program, root

IP = Tool(
    install="install the package iproute2 on this host",
    complaints=(
        Complaint(
            says=r"mtu (greater than device maximum|less than device minimum)|Invalid argument",
            remedy="see minmtu and maxmtu in `ip -d link show` of this interface",
        ),
    ),
)


class Mtu(ShellSetting[int]):
    """The MTU of a port, in bytes of an IP packet."""

    kind, tool = MTU, IP
    remedy = "look at what manages the interface (NetworkManager, networkd)"

    def read(self, port: str) -> Asking[int]:
        """From /sys/class/net/IF/mtu."""
        reply = yield from ask(program("cat", f"/sys/class/net/{self._interface(port)}/mtu"))
        if reply.status not in (0, None):
            self._no_interface(reply.command, port)
        found = re.fullmatch(r"([0-9]+)\s*", whole(reply))
        if found is None:
            refuse(reply, f"{reply.text!r} is not an MTU")
        return int(found[1])

    def commands(self, port: str, earlier: int, wanted: int, around: None = None) -> Commands:
        """One `ip link set`. Connections in progress are cut down or stall: set it before."""
        if earlier == wanted:
            return ()
        return (root("ip", "link", "set", "dev", self._interface(port), "mtu", wanted),)
