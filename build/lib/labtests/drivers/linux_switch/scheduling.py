"""How the queues of a port are served: htb's prio and quantum, ets, prio (order.py)."""

from dataclasses import dataclass

from labtests.capabilities.device import QueueShares, Shares
from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.capabilities.settings import SCHEDULING, Commands
from labtests.drivers.linux_switch import order
from labtests.drivers.linux_switch.classes import HtbClass, burst_to_ask
from labtests.drivers.linux_switch.qdiscs import Bands, Qdisc
from labtests.drivers.linux_switch.red import FRAME_BYTES
from labtests.drivers.linux_switch.session import TcSetting
from labtests.drivers.linux_switch.tree import Tree, at_place
from labtests.drivers.sharing import round_robin
from labtests.transport.asking import Asking
from labtests.transport.commands import Shell, root


@dataclass(frozen=True, slots=True)
class Served:
    """The queues of a port, and the classes of its htb where it has one."""

    tree: Tree
    classes: tuple[HtbClass, ...]

    @property
    def queues(self) -> order.Queues:
        """How they are served."""
        if self.tree.scheduler is None:
            return order.WHOLE_PORT
        if self.tree.scheduler.bands is not None:
            return order.of_bands(self.tree.scheduler.bands)
        return order.of_classes(self.classes)

    @property
    def kept(self) -> object:
        """What a change of the scheduling must leave alone."""
        if self.tree.scheduler is None:
            return None
        if self.tree.scheduler.bands is not None:
            return self.tree.scheduler.bands.priomap
        return [(str(c.handle), c.rate, c.ceil, c.burst, c.cburst) for c in self.classes]


class TcScheduling(TcSetting[SchedulingSetting], QueueShares):
    """The scheduler of a port, as far as its own qdisc can be told. Rates, bursts and the priomap,
    which no setting holds, stay as they are. Queues that the port does not have are left out of
    what is wanted; a queue that is left out there is an error."""

    kind = SCHEDULING

    def read(self, port: str) -> Asking[SchedulingSetting]:
        """How the queues are served now. A port that nothing divides is one queue, served alone."""
        return order.setting((yield from self.around(port)).queues)

    def around(self, port: str, values: tuple[SchedulingSetting, ...] = ()) -> Asking[Served]:
        """The tree and its classes."""
        tree = yield from self.tree(port)
        return Served(tree, (yield from self.htb_classes(port, tree)))

    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """Strict queues first, in the scheduler's own order; the others share by quanta of at least
        one frame; one of 0 percent has a tenth of a frame. Ports of this platform differ in what
        they can do: `commands` says so."""
        least = min((share for share in shares if share), default=1)
        return order.setting(round_robin(shares, lambda share: _quantum(share, least)).queues)

    def commands(
        self, port: str, earlier: SchedulingSetting, wanted: SchedulingSetting, around: Served
    ) -> Commands:
        """`tc class change` for each class of htb that differs, `tc qdisc change` for ets."""
        before, after = self._meant(port, around, earlier), self._meant(port, around, wanted)
        if before == after:
            return ()
        node = around.tree.scheduler
        if node is not None and node.htb is not None:
            classes = zip(around.classes, before, after, strict=True)
            return tuple(
                self._change_class(port, each, new) for each, old, new in classes if old != new
            )
        if node is None or node.bands is None or node.kind != "ets":
            self._reject(
                f"scheduling of {port}",
                f"{node or around.tree.root} serves its queues in one way only, band 0 first",
                "give the port an htb or ets to have another (docs/testbeds.md)",
            )
        return (self._change_ets(port, node, node.bands, after),)

    def wrong(
        self,
        wanted: SchedulingSetting,
        found: SchedulingSetting,
        before: Served,
        after: Served,
    ) -> str:
        """Also when something was changed that had to stay."""
        del found
        asked = self._meant("it", after, wanted)
        if after.queues != asked:
            return f"reads back as {after.queues}, not {asked}"
        return "" if before.kept == after.kept else f"also changed {before.kept} to {after.kept}"

    def _meant(self, port: str, served: Served, wanted: SchedulingSetting) -> order.Queues:
        node = served.tree.scheduler
        htb = node is not None and node.htb is not None
        found = order.meant(wanted, served.queues, htb=htb)
        if found is None:
            self._reject(
                f"scheduling of {port}",
                f"it has {len(served.tree.leaves)} queues, and the setting does not name them all",
                "name every queue of the port",
            )
        return found

    def _change_class(self, port: str, old: HtbClass, new: QueueSchedule) -> Shell:
        command = _class_change(self._interface(port), old, new)
        if old.odd:
            self._reject(
                command,
                f"class {old.handle} has {old.odd}, which the change would lose",
                "take that off the class, or set prio and quantum by hand",
            )
        return command

    def _change_ets(self, port: str, node: Qdisc, bands: Bands, wanted: order.Queues) -> Shell:
        strict = [each.queue for each in wanted if each.group == "sp"]
        start = ("tc", "qdisc", "change", "dev", self._interface(port), *at_place(node), "handle")
        start += (str(node.handle), "ets", "bands", str(len(wanted)))
        in_order = [(each.queue, each.level) for each in wanted[: len(strict)]]
        if in_order != [(band, band) for band in range(len(strict))]:
            self._reject(
                " ".join(start),
                f"ets serves bands strictly from 0 upwards, so queues {strict} cannot be strict "
                "in that order",
                "ask for strict queues from 0 upwards, or give the port an htb",
            )
        quanta = [str(each.weight) for each in wanted[len(strict) :]]
        strictly = ("strict", len(strict)) if strict else ()
        shared = ("quanta", *quanta) if quanta else ()
        return root(*start, *strictly, *shared, "priomap", *bands.priomap)


def _class_change(interface: str, old: HtbClass, new: QueueSchedule) -> Shell:
    place = ("parent", str(old.parent)) if old.parent is not None else ("root",)
    return root(
        *("tc", "class", "change", "dev", interface, *place),
        *("classid", str(old.handle), "htb"),
        *("rate", str(old.rate), "ceil", str(old.ceil)),
        *("burst", burst_to_ask(old.rate, old.burst)),
        *("cburst", burst_to_ask(old.ceil, old.cburst)),
        *("prio", str(new.level), "quantum", str(new.weight)),
    )


def _quantum(share: int, least: int) -> int:
    return round(FRAME_BYTES * share / least) or FRAME_BYTES // 10
