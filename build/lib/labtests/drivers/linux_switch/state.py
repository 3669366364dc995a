"""What of a switch stands in the way of a test, and what to keep in mind."""

import re

from labtests.capabilities.device import Obstacles
from labtests.capabilities.facts import Caveats
from labtests.core.errors import DeviceError, Unreachable
from labtests.drivers.linux.host import RIGHTS, without_rights
from labtests.drivers.linux.links import PHYSICAL, parse_physical
from labtests.drivers.linux.qdisc import NETEM, netem_sentence
from labtests.drivers.linux_switch.handles import Handle
from labtests.drivers.linux_switch.offloads import features_command, parse_merging
from labtests.drivers.linux_switch.session import TcPart
from labtests.drivers.linux_switch.tree import Tree
from labtests.drivers.parsing import refuse, whole
from labtests.transport.asking import Asking, ask, ask_each, both, known, side_by_side
from labtests.transport.commands import script
from labtests.transport.protocol import Reply

_BRIDGED = script("ls -d /sys/class/net/*/brport")
_BRIDGE_PORT = re.compile(r"/sys/class/net/([^/]+)/brport")
_OWN_SHARE = 0.1
"""Rates of classes that add up to more of the port than this are worth a sentence."""


class TcState(TcPart, Obstacles, Caveats):
    """Of the ports of the switch's bridges; a port that is only routed is not looked at."""

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """A user who may change nothing; ports whose queues cannot be told or counted."""
        user, bridged = yield from ask_each(RIGHTS, _BRIDGED)
        told = yield from side_by_side(map(self._obstacle_of, _ports(bridged)))
        return (*without_rights(user), *filter(None, told))

    def caveats(self) -> Asking[tuple[str, ...]]:
        """Ports with one queue only, with packets of several segments, with classes that are served
        beside prio and quantum, with a netem."""
        bridged, of_a_bus = yield from ask_each(_BRIDGED, PHYSICAL)
        ports, physical = _ports(bridged), parse_physical(of_a_bus)
        trees = dict(
            zip(ports, (yield from side_by_side(map(self._tree_or_none, ports))), strict=True)
        )
        each = (
            both(self._merging(p) if p in physical else known(""), self._own_rates(p, trees[p]))
            for p in ports
        )
        told = yield from side_by_side(each)
        netem = (netem_sentence(port, _netem(tree)) for port, tree in trees.items())
        words = (_single(trees), *(words for both in told for words in both), *netem)
        return tuple(filter(None, words))

    def _obstacle_of(self, port: str) -> Asking[str]:
        try:
            tree = yield from self.tree(port)
        except Unreachable:
            raise
        except DeviceError as error:
            return f"the queues of {port} cannot be determined: {error.problem}; {error.remedy}"
        node = tree.scheduler
        if node is None or node.htb is None:
            return ""
        default = Handle(node.handle.major, node.htb.default_minor)
        if any(leaf.of == default for leaf in tree.leaves):
            return ""
        return (
            f"the htb of {port} has no default class: what no filter takes goes past every "
            f"queue and is counted in none; tc qdisc replace ... htb default 10"
        )

    def _merging(self, port: str) -> Asking[str]:
        reply = yield from ask(features_command(self._interface(port)))
        try:
            on = parse_merging(reply)
        except DeviceError as error:
            return f"whether {port} hands on several packets as one is not known: {error.problem}"
        if not on:
            return ""
        off = " ".join(f"{name} off" for name in sorted(on))
        return (
            f"{', '.join(sorted(on))} of {port} is on: of TCP, up to 64 KiB pass as one, "
            "and counts of packets do not add up (docs/testbeds.md); "
            f"`ethtool -K {self._interface(port)} {off}`"
        )

    def _own_rates(self, port: str, tree: Tree | None) -> Asking[str]:
        classes = () if tree is None else (yield from self.htb_classes(port, tree))
        own = sum(each.rate_bits_per_s for each in classes)
        most = max((each.ceil_bits_per_s for each in classes), default=0)
        if own <= _OWN_SHARE * most:
            return ""
        return (
            f"the htb classes of {port} have rates of their own of {own / 1e6:g} Mbit/s "
            f"together, of {most / 1e6:g}: these are served before any prio or quantum, so "
            "shares follow them as well"
        )

    def _tree_or_none(self, port: str) -> Asking[Tree | None]:
        try:
            return (yield from self.tree(port))
        except Unreachable:
            raise
        except DeviceError:
            return None  # obstacles say so


def _ports(bridged: Reply) -> tuple[str, ...]:
    """The ports of all bridges, by name."""
    found = [_BRIDGE_PORT.fullmatch(path) or path for path in whole(bridged).split()]
    if strange := [each for each in found if isinstance(each, str)]:
        refuse(bridged, f"{strange[0]!r} is not a port of a bridge")
    return tuple(sorted(each[1] for each in found if not isinstance(each, str)))


def _netem(tree: Tree | None) -> tuple[str, ...]:
    if tree is None:
        return ()
    inner = (tree.scheduler,) if tree.scheduler is not None else ()
    every = (*tree.above, *inner, *(each for leaf in tree.leaves for each in leaf.chain))
    return tuple(dict.fromkeys(str(each.handle) for each in every if each.kind == NETEM))


def _single(trees: dict[str, Tree | None]) -> str:
    there = {port: tree for port, tree in trees.items() if tree is not None}
    alone = {p: tree.root.kind for p, tree in there.items() if tree.scheduler is None}
    if not alone:
        return ""
    named = ", ".join(f"{port} ({kind})" for port, kind in alone.items())
    return (
        f"not divided into queues: {named}; as a bottleneck such a port tells no classes "
        "apart, and with noqueue it counts nothing (give it htb, prio or ets)"
    )
