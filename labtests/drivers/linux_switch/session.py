"""The open shell of a Linux switch: what it is asked about a port, and how it says no."""

from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.linux.session import HostSession
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.linux_switch.tree import Tree, tree_of
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

IP = Tool(name="ip", install="install the package iproute2 on this switch")
TC = Tool(
    name="tc",
    install="install the package iproute2 (Debian) or iproute-tc (RHEL) on this switch",
    complaints=(
        Complaint(
            says=r"Specified qdisc kind is unknown|Specified qdisc not found|Unknown qdisc",
            remedy="this kernel has no such queueing discipline: install its module "
            "(Debian: linux-image, not its cloud flavour) or leave the tests out that need it",
        ),
        Complaint(
            says=r"Invalid qdisc name|Failed to find specified qdisc|Class not found"
            r"|Invalid handle|Exclusivity flag on|Parent Qdisc doesn't exists",
            remedy="the port's tc tree is not as it was read: look at `tc qdisc show`; "
            "something else (NetworkManager, a script) changes it",
        ),
    ),
)


class SwitchSession(HostSession):
    """A Linux box whose ports have tc queues, behind an open session. Keeps nothing else."""

    def qdiscs_command(self, port: str) -> Shell:
        """Of one port: every qdisc with its counters, also those that tc hides by default."""
        dev = self._interface(port)
        return program("tc", "-s", "-d", "-j", "qdisc", "show", "dev", dev, "invisible")

    def read_tree(self, port: str) -> tuple[Reply, Tree]:
        """The queues of a port as they are now, and the answer that says so."""
        reply = self.shown(self.qdiscs_command(port))
        return reply, tree_of(reply, parse_qdiscs(reply))

    def tree(self, port: str) -> Tree:
        """The queues of a port, as they are now."""
        return self.read_tree(port)[1]

    def shown(self, command: Shell) -> Reply:
        """The answer to a `tc ... show`. Raises CommandRejected, ToolMissing."""
        reply = self._run(command)
        expect_success(reply, TC)
        return reply
