"""Into which queue each DSCP goes at a port: filters, then htb's default class or the priomap.

Read for IPv4. A packet that no filter takes goes by its priority (sk_buff) in prio and ets: 0 when
it is bridged (it came in with 0: net/core/dev.c resets it also for a veth), by TOS when it is
routed (net/ipv4/ip_forward.c: rt_tos2priority).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from labtests.capabilities.device import DscpClasses
from labtests.core.output import lines_said
from labtests.core.trusted_files import json_of
from labtests.drivers.answers import expect_success
from labtests.drivers.linux.tos import socket_priority
from labtests.drivers.linux_switch.filters import Filter, parse_filters
from labtests.drivers.linux_switch.handles import Handle
from labtests.drivers.linux_switch.session import IP, TcPart
from labtests.drivers.linux_switch.tree import Leaf, Tree
from labtests.drivers.parsing import refuse, whole
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

_DSCPS = range(64)
_ECN_FIELDS = range(4)
_HAND = "give the port filters that choose a queue for every DSCP (docs/testbeds.md)"


class Classes(TcPart, DscpClasses):
    """The classification of a port, read back from what is in force."""

    def dscp_map(self, port: str) -> Asking[tuple[int, ...]]:
        """The queue of each DSCP. Raises UnreadableOutput that names the filter which looks at more
        than the TOS byte, or tells the four ECN codepoints of one DSCP apart."""
        reply, tree = yield from self.read_tree(port)
        yield from self._expect_no_hook(port, tree)
        if tree.scheduler is None:
            return (0,) * len(_DSCPS)
        parent = self.filter_command(port, "parent", str(tree.scheduler.handle))
        filtered = yield from self.shown(parent)
        filters = parse_filters(filtered)
        _expect_order(filtered, filters)
        unfiltered = yield from self._unfiltered(port, reply, tree)
        return tuple(map(_Filtered(filtered, tree, filters, unfiltered).queue, _DSCPS))

    def filter_command(self, port: str, *where: str) -> Shell:
        """Every filter of one qdisc of a port, or of one of its hooks."""
        return program("tc", "filter", "show", "dev", self._interface(port), *where)

    def link_command(self, port: str) -> Shell:
        """Of one port: which bridge it belongs to."""
        return program("ip", "-d", "-j", "link", "show", "dev", self._interface(port))

    def _expect_no_hook(self, port: str, tree: Tree) -> Asking[None]:
        """Filters of clsact come first and may change a packet's class or priority."""
        if "clsact" not in tree.hooks:
            return
        reply = yield from self.shown(self.filter_command(port, "egress"))
        if said := lines_said(whole(reply)):
            refuse(
                reply, f"clsact filter `{said[0]}` may choose the queue before the port does", _HAND
            )

    def _unfiltered(self, port: str, reply: Reply, tree: Tree) -> Asking[Sequence[int | None]]:
        """The queue of each TOS byte that no filter takes; None: past every queue."""
        scheduler = tree.scheduler
        assert scheduler is not None
        if scheduler.htb is not None:
            default = Handle(scheduler.handle.major, scheduler.htb.default_minor)
            leaf = _leaf_at(tree, default)
            return (None if leaf is None else leaf.queue,) * 256
        if scheduler.bands is None:
            refuse(reply, f"labtests does not know how {scheduler} chooses")
        bridged = yield from self._is_bridged(port)
        priomap = scheduler.bands.priomap
        return tuple(priomap[0 if bridged else socket_priority(tos)] for tos in range(256))

    def _is_bridged(self, port: str) -> Asking[bool]:
        reply = yield from ask(self.link_command(port))
        expect_success(reply, IP)
        try:
            (link,) = json_of(reply.text)
            kind = link.get("linkinfo", {}).get("info_slave_kind")
        except (ValueError, TypeError, AttributeError) as error:
            refuse(reply, f"not the JSON of one link: {error}")
        if kind not in (None, "bridge"):
            refuse(
                reply, f"{port} is a port of a {kind}: its packets' priorities are unknown", _HAND
            )
        return bool(kind == "bridge")


def _leaf_at(tree: Tree, of: Handle) -> Leaf | None:
    return next((leaf for leaf in tree.leaves if leaf.of == of), None)


def _expect_order(reply: Reply, filters: Sequence[Filter]) -> None:
    """Of two flower filters of one preference that take the same packet, the order is not shown."""
    for n, first in enumerate(filters):
        for second in filters[n + 1 :]:
            same = first.pref == second.pref and first.kind == second.kind == "flower"
            common = first.tos_mask & second.tos_mask
            if same and first.to != second.to and not (first.tos_value ^ second.tos_value) & common:
                refuse(
                    reply,
                    f"filters `{first.name}` and `{second.name}` may take the same packet, and "
                    "their order is not shown",
                    "give them different preferences (`pref`)",
                )


@dataclass(frozen=True, slots=True)
class _Filtered:
    """How a port puts packets into its queues: by its filters (and the answer that shows them),
    and by TOS byte what none of them takes."""

    reply: Reply
    tree: Tree
    filters: Sequence[Filter]
    unfiltered: Sequence[int | None]

    def queue(self, dscp: int) -> int:
        """The one queue of a DSCP, whatever its ECN field."""
        found = {self._of_tos(dscp << 2 | ecn) for ecn in _ECN_FIELDS}
        if len(found) != 1:
            names = [f.name for f in self.filters if f.tos_mask & 3] or ["the priomap"]
            problem = f"DSCP {dscp} goes to queues {found} by its ECN field: `{names[0]}`"
            refuse(self.reply, problem, _HAND)
        (queue,) = found
        if queue is None:
            lost = f"DSCP {dscp} is in no queue: no filter takes it, and htb has no default class"
            refuse(self.reply, lost, _HAND)
        return queue

    def _of_tos(self, tos: int) -> int | None:
        taken = next((f for f in self.filters if f.takes(tos)), None)
        if taken is None:
            return self.unfiltered[tos]
        leaf = _leaf_at(self.tree, taken.to)
        if leaf is None:
            problem = f"filter `{taken.name}` leads to {taken.to}, which is not a queue"
            refuse(self.reply, problem, _HAND)
        return leaf.queue
