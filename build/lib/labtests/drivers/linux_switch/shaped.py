"""The speed of a port that a tbf or htb shapes: that of the shaper, where it is the lower one."""

from dataclasses import replace

from labtests.capabilities.facts import LinkFacts
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.linux_switch.classes import parse_classes
from labtests.drivers.linux_switch.ports import Ports
from labtests.drivers.linux_switch.qdiscs import Qdisc
from labtests.drivers.linux_switch.session import TcPart
from labtests.drivers.linux_switch.tree import Tree
from labtests.transport.asking import Asking, both


class Shaped(Ports, TcPart):
    """Links as they send. A shaper that is not the line rate of the testbed file is then seen by
    whoever compares the two."""

    def link(self, port: str) -> Asking[LinkFacts]:
        """As of any port; a shaper's rate is a fact of a virtual port too."""
        facts, rate = yield from both(super().link(port), self._shaped_to(port))
        if rate is None or (facts.speed_bits_per_s or rate) < rate:
            return facts
        return replace(facts, speed_bits_per_s=rate, virtual=False)

    def _shaped_to(self, port: str) -> Asking[int | None]:
        """The rate that everything of this port passes; None where nothing shapes it, or its tree
        is none that labtests reads (Obstacles says so)."""
        try:
            tree = yield from self.tree(port)
        except (CommandRejected, UnreadableOutput):
            return None
        rates = [each.rate_bits_per_s for each in _passed(tree) if each.rate_bits_per_s is not None]
        if any(each.htb is not None for each in _passed(tree)):
            found = parse_classes((yield from self.shown(self.classes_command(port))))
            rates += [max((each.ceil_bits_per_s for each in found), default=0)]
        return min(rates, default=None)


def _passed(tree: Tree) -> tuple[Qdisc, ...]:
    """The qdiscs that everything goes through: above the queues, and what divides them."""
    inner = tree.scheduler or tree.leaves[0].qdisc
    return tree.above if inner is None else (*tree.above, inner)
