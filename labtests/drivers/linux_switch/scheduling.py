"""How the queues of a port are served: htb's prio and quantum, ets, prio (order.py)."""

from labtests.capabilities.device import Commands, Scheduling
from labtests.capabilities.profile import QueueShares, Shares
from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.drivers.answers import expect_success
from labtests.drivers.linux_switch import order
from labtests.drivers.linux_switch.classes import HtbClass, burst_to_ask, parse_classes
from labtests.drivers.linux_switch.qdiscs import Bands, Qdisc
from labtests.drivers.linux_switch.red import FRAME_BYTES
from labtests.drivers.linux_switch.session import TC, SwitchSession
from labtests.drivers.linux_switch.tree import Tree, at_place
from labtests.drivers.parsing import refuse
from labtests.transport.commands import Shell, program, root

_LOOK = "look at `tc -d class show` and `tc qdisc show`: something else may change them"


class Schedulers(SwitchSession, Scheduling, QueueShares):
    """The scheduler of a port, as far as its own qdisc can be told."""

    def classes_command(self, port: str) -> Shell:
        """Every class of a port."""
        return program("tc", "-d", "class", "show", "dev", self._interface(port))

    def scheduling(self, port: str) -> SchedulingSetting:
        """How the queues are served now. A port that nothing divides is one queue, served alone."""
        return order.setting(self._served(port, self.tree(port)))

    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """Strict queues first, in the scheduler's own order; the others share by quanta of at least
        one frame; one of 0 percent has a tenth of a frame. Ports of this platform differ in what
        they can do: `set_scheduling` says so."""
        least = min((share for share in shares if share), default=1)
        return order.setting(
            tuple(
                QueueSchedule(queue=q, group="sp", weight=None)
                if share is None
                else QueueSchedule(queue=q, group="1", weight=_quantum(share, least))
                for q, share in enumerate(shares)
            )
        )

    def scheduling_commands(
        self, port: str, earlier: SchedulingSetting, wanted: SchedulingSetting
    ) -> Commands:
        """`tc class change` for each class of htb that differs, `tc qdisc change` for ets. Rates,
        bursts and the priomap, which no setting holds, are read and stay as they are."""
        tree = self.tree(port)
        before, after = self._meant(port, tree, earlier), self._meant(port, tree, wanted)
        if before == after:
            return ()
        node = tree.scheduler
        if node is not None and node.htb is not None:
            classes = zip(self.htb_classes(port, tree), before, after, strict=True)
            return tuple(
                self._change_class(port, each, new) for each, old, new in classes if old != new
            )
        if node is None or node.bands is None or node.kind != "ets":
            self._reject(
                f"scheduling of {port}",
                f"{node or tree.root} serves its queues in one way only, band 0 first",
                "give the port an htb or ets to have another (docs/testbeds.md)",
            )
        return (self._change_ets(port, node, node.bands, after),)

    def set_scheduling(self, port: str, wanted: SchedulingSetting) -> None:
        """Apply it, and verify by read-back, with what had to stay. Queues that the port has not
        are left out of `wanted`; a queue that `wanted` leaves out is an error."""
        kept = self._kept(port)
        commands = self.scheduling_commands(port, self.scheduling(port), wanted)
        for reply in self._change(commands):
            expect_success(reply, TC)
        tree = self.tree(port)
        read, asked = self._served(port, tree), self._meant(port, tree, wanted)
        what = commands[-1] if commands else f"scheduling of {port}"
        if read != asked:
            self._reject(what, f"accepted, but reads back as {read}, not {asked}", _LOOK)
        if (now := self._kept(port)) != kept:
            self._reject(what, f"accepted, but it also changed {kept} to {now}", _LOOK)

    def htb_classes(self, port: str, tree: Tree) -> tuple[HtbClass, ...]:
        """The class of each queue, by queue."""
        reply = self.shown(self.classes_command(port))
        found = {each.handle: each for each in parse_classes(reply)}
        wanted = [leaf.of for leaf in tree.leaves if leaf.of is not None]
        if missing := [str(of) for of in wanted if of not in found]:
            refuse(reply, f"there is no leaf class {', '.join(missing)}")
        return tuple(found[of] for of in wanted)

    def _served(self, port: str, tree: Tree) -> order.Queues:
        if tree.scheduler is None:
            return order.WHOLE_PORT
        if tree.scheduler.bands is not None:
            return order.of_bands(tree.scheduler.bands)
        return order.of_classes(self.htb_classes(port, tree))

    def _meant(self, port: str, tree: Tree, wanted: SchedulingSetting) -> order.Queues:
        node = tree.scheduler
        htb = node is not None and node.htb is not None
        found = order.meant(wanted, self._served(port, tree), htb=htb)
        if found is None:
            self._reject(
                f"scheduling of {port}",
                f"it has {len(tree.leaves)} queues, and the setting has not all of them",
                "name every queue of the port",
            )
        return found

    def _kept(self, port: str) -> object:
        """What a change of the scheduling must leave alone."""
        tree = self.tree(port)
        if tree.scheduler is None:
            return None
        if tree.scheduler.bands is not None:
            return tree.scheduler.bands.priomap
        classes = self.htb_classes(port, tree)
        return [(str(c.handle), c.rate, c.ceil, c.burst, c.cburst) for c in classes]

    def _change_class(self, port: str, old: HtbClass, new: QueueSchedule) -> Shell:
        place = ("parent", str(old.parent)) if old.parent is not None else ("root",)
        command = root(
            *("tc", "class", "change", "dev", self._interface(port), *place),
            *("classid", str(old.handle), "htb"),
            *("rate", str(old.rate), "ceil", str(old.ceil)),
            *("burst", burst_to_ask(old.rate, old.burst)),
            *("cburst", burst_to_ask(old.ceil, old.cburst)),
            *("prio", str(new.level), "quantum", str(new.weight)),
        )
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


def _quantum(share: int, least: int) -> int:
    return round(FRAME_BYTES * share / least) or FRAME_BYTES // 10
