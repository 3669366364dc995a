"""What of a switch stands in the way of a test, what to keep in mind, and what it will be asked."""

import re
from collections.abc import Iterator

from labtests.capabilities.device import Obstacles
from labtests.capabilities.facts import Caveats, Foresight
from labtests.core.errors import DeviceError, Unreachable
from labtests.drivers.linux.host import IPROUTE2, KERNEL, RIGHTS, without_rights
from labtests.drivers.linux.links import DATE_COMMAND, PHYSICAL, link_commands, parse_physical
from labtests.drivers.linux.statistics import statistics_command
from labtests.drivers.linux_switch.classes import HtbClass
from labtests.drivers.linux_switch.handles import Handle
from labtests.drivers.linux_switch.offloads import features_command, parse_merging
from labtests.drivers.linux_switch.scheduling import Schedulers
from labtests.drivers.linux_switch.telemetry import Counters
from labtests.drivers.linux_switch.tree import Tree
from labtests.drivers.parsing import refuse, whole
from labtests.transport.commands import Shell, script
from labtests.transport.protocol import Reply

_BRIDGED = script("ls -d /sys/class/net/*/brport")
_BRIDGE_PORT = re.compile(r"/sys/class/net/([^/]+)/brport")
_OWN_SHARE = 0.1
"""Rates of classes that add up to more of the port than this are worth a sentence."""


class State(Schedulers, Counters, Obstacles, Caveats, Foresight):
    """Of the ports of the switch's bridges; a port that is only routed is not looked at."""

    def obstacles(self) -> tuple[str, ...]:
        """A user who may change nothing; ports whose queues cannot be told or counted."""
        told = (sentence for port in self._bridged() for sentence in self._obstacles_of(port))
        return (*without_rights(self._run(RIGHTS)), *told)

    def caveats(self) -> tuple[str, ...]:
        """Ports with one queue only, with packets of several segments, with classes that are served
        beside prio and quantum."""
        ports = self._bridged()
        found = list(self._single(ports))
        physical = parse_physical(self._run(PHYSICAL))
        for port in ports:
            found += self._merging(port) if port in physical else ()
            found += self._own_rates(port)
        return tuple(found)

    def state_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight."""
        found: list[Shell] = [
            KERNEL[0],
            IPROUTE2[0],
            PHYSICAL,
            _BRIDGED,
            *self.setting_commands(ports),
        ]
        for port in ports:
            found += [*link_commands(self, port), features_command(self._interface(port))]
        return tuple(dict.fromkeys(found))

    def setting_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight. Where filters hang is known only when the qdiscs are."""
        each = ((self.qdiscs_command(port), self.classes_command(port)) for port in ports)
        return tuple(command for both in each for command in both)

    def obstacle_commands(self) -> tuple[Shell, ...]:
        """See Foresight."""
        return (RIGHTS, _BRIDGED)

    def counter_commands(self, ports: tuple[str, ...]) -> tuple[Shell, ...]:
        """See Foresight."""
        found: list[Shell] = []
        for port in ports:
            found += [self.qdiscs_command(port), statistics_command(self._interface(port))]
        return (*found, DATE_COMMAND)

    def _bridged(self) -> tuple[str, ...]:
        """The ports of all bridges, by name."""
        return _ports(self._run(_BRIDGED))

    def _obstacles_of(self, port: str) -> Iterator[str]:
        try:
            tree = self.tree(port)
        except Unreachable:
            raise
        except DeviceError as error:
            yield f"the queues of {port} cannot be told: {error.problem}; {error.remedy}"
            return
        node = tree.scheduler
        if node is not None and node.htb is not None:
            default = Handle(node.handle.major, node.htb.default_minor)
            if not any(leaf.of == default for leaf in tree.leaves):
                yield (
                    f"the htb of {port} has no default class: what no filter takes goes past every "
                    f"queue and is counted in none; tc qdisc replace ... htb default 10"
                )

    def _single(self, ports: tuple[str, ...]) -> Iterator[str]:
        trees = {port: tree for port in ports if (tree := self._tree_or_none(port)) is not None}
        alone = {p: tree.root.kind for p, tree in trees.items() if tree.scheduler is None}
        if alone:
            named = ", ".join(f"{port} ({kind})" for port, kind in alone.items())
            yield (
                f"not divided into queues: {named}; as a bottleneck such a port tells no classes "
                "apart, and with noqueue it counts nothing (give it htb, prio or ets)"
            )

    def _merging(self, port: str) -> Iterator[str]:
        try:
            on = parse_merging(self._run(features_command(self._interface(port))))
        except Unreachable:
            raise
        except DeviceError as error:
            yield f"whether {port} hands on several packets as one is not known: {error.problem}"
            return
        if on:
            off = " ".join(f"{name} off" for name in sorted(on))
            yield (
                f"{', '.join(sorted(on))} of {port} is on: of TCP, up to 64 KiB pass as one, "
                "and counts of packets do not add up (docs/testbeds.md); "
                f"`ethtool -K {self._interface(port)} {off}`"
            )

    def _own_rates(self, port: str) -> Iterator[str]:
        tree = self._tree_or_none(port)
        classes = () if tree is None else self._classes_of(port, tree)
        own = sum(each.rate_bits_per_s for each in classes)
        most = max((each.ceil_bits_per_s for each in classes), default=0)
        if own > _OWN_SHARE * most:
            yield (
                f"the htb classes of {port} have rates of their own of {own / 1e6:g} Mbit/s "
                f"together, of {most / 1e6:g}: these are served before any prio or quantum, so "
                "shares follow them as well"
            )

    def _classes_of(self, port: str, tree: Tree) -> tuple[HtbClass, ...]:
        if tree.scheduler is None or tree.scheduler.htb is None:
            return ()
        return self.htb_classes(port, tree)

    def _tree_or_none(self, port: str) -> Tree | None:
        try:
            return self.tree(port)
        except Unreachable:
            raise
        except DeviceError:
            return None  # obstacles say so


def _ports(bridged: Reply) -> tuple[str, ...]:
    """The ports of all bridges, by name."""
    found = [_BRIDGE_PORT.fullmatch(path) or path for path in whole(bridged).split()]
    if strange := [each for each in found if isinstance(each, str)]:
        refuse(bridged, f"{strange[0]!r} is no port of a bridge")
    return tuple(sorted(each[1] for each in found))
