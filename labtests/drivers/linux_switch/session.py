"""The open shell of a Linux switch: what it is asked about a port, and how it says no."""

from labtests.capabilities.settings import T
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.linux.session import HostPart, ShellSetting
from labtests.drivers.linux_switch.classes import HtbClass, parse_classes
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.linux_switch.tree import Tree, tree_of
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

IP = Tool(install="install the package iproute2 on this switch")
TC = Tool(
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


class TcPart(HostPart):
    """A part of the driver of a Linux box whose ports have tc queues."""

    def qdiscs_command(self, port: str) -> Shell:
        """Of one port: every qdisc with its counters, also those that tc hides by default."""
        dev = self._interface(port)
        return program("tc", "-s", "-d", "-j", "qdisc", "show", "dev", dev, "invisible")

    def classes_command(self, port: str) -> Shell:
        """Every class of a port."""
        return program("tc", "-d", "class", "show", "dev", self._interface(port))

    def htb_classes(self, port: str, tree: Tree) -> Asking[tuple[HtbClass, ...]]:
        """The class of each queue, by queue; none where no htb divides the port."""
        if tree.scheduler is None or tree.scheduler.htb is None:
            return ()
        reply = yield from self.shown(self.classes_command(port))
        found = {each.handle: each for each in parse_classes(reply)}
        wanted = [leaf.of for leaf in tree.leaves if leaf.of is not None]
        if missing := [str(of) for of in wanted if of not in found]:
            refuse(reply, f"there is no leaf class {', '.join(missing)}")
        return tuple(found[of] for of in wanted)

    def read_tree(self, port: str) -> Asking[tuple[Reply, Tree]]:
        """The queues of a port as they are now, and the answer that says so."""
        reply = yield from self.shown(self.qdiscs_command(port))
        return reply, tree_of(reply, parse_qdiscs(reply))

    def tree(self, port: str) -> Asking[Tree]:
        """The queues of a port, as they are now."""
        return (yield from self.read_tree(port))[1]

    def shown(self, command: Shell) -> Asking[Reply]:
        """The answer to a `tc ... show`. Raises CommandRejected, ToolMissing."""
        reply = yield from ask(command)
        expect_success(reply, TC)
        return reply


class TcSetting(TcPart, ShellSetting[T]):
    """A setting of a port that tc makes and shows."""

    tool = TC
    remedy = "look at `tc -d qdisc show` and `tc -d class show`: something else may change it"
