"""Losses on purpose: a netem over the fifo of a queue (tc-netem(8), `loss random`).

The kernel draws for each packet of its own that is to enter the queue, and counts what it loses as
a drop of that netem. What a switch chip forwards never comes there. The fifo hangs below the netem
with the handle and limit that it had, so that the tree itself says how to take the netem away.
"""

from labtests.capabilities.records import LossSetting
from labtests.capabilities.settings import PACKET_LOSS, Commands
from labtests.drivers.linux.qdisc import NETEM
from labtests.drivers.linux_switch.qdiscs import Qdisc
from labtests.drivers.linux_switch.session import TcSetting
from labtests.drivers.linux_switch.tree import Leaf, Tree
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking
from labtests.transport.commands import Word, root

MILLION = 1_000_000
HELD_PACKETS = 10_000
"""Limit of the netem: it hands on what it holds when the port asks for the next packet."""
FIRST_HANDLE = 0x100
_HAND = "give it a fifo of its own: tc qdisc add ... handle 10: bfifo limit ..."


class QueueLosses(TcSetting[LossSetting]):
    """Which queues of a port lose packets on purpose. What a queue holds at the moment of a change
    is lost."""

    kind = PACKET_LOSS

    def read(self, port: str) -> Asking[LossSetting]:
        """By queue, rounded to packets of a million; netem has 2**32 steps. Refuses a netem that
        loses by a model."""
        reply, tree = yield from self.read_tree(port)
        for leaf in tree.leaves:
            if any(_loses(each) and each.loss is None for each in leaf.chain):
                refuse(reply, f"the netem of queue {leaf.queue} loses by a model, of unknown share")
        each = ((leaf.queue, _lost(leaf)) for leaf in tree.leaves)
        return LossSetting(losses=tuple((queue, lost) for queue, lost in each if lost))

    def around(self, port: str, values: tuple[LossSetting, ...] = ()) -> Asking[Tree]:
        """The port's tree."""
        return self.tree(port)

    def commands(
        self, port: str, earlier: LossSetting, wanted: LossSetting, around: Tree
    ) -> Commands:
        """Two for each queue that begins or ceases to lose, one where it loses another part. Raises
        CommandRejected for a queue that is no fifo with a handle."""
        before, after = dict(earlier.losses), dict(wanted.losses)
        taken = set(around.handles)
        found: list[tuple[Word, ...]] = []
        for queue in sorted(before.keys() | after.keys()):
            if before.get(queue) == after.get(queue):
                continue
            netem, fifo, of = self._chain(port, around.leaf_of(queue), queue)
            if queue not in after:
                found.append(("delete", *of, "handle", f"{netem:x}:"))
                found.append(("add", *of, *fifo))
                continue
            verb = "change" if queue in before else "replace"
            if not netem:
                netem = next(n for n in range(FIRST_HANDLE, 0x8000) if n not in taken)
                taken.add(netem)
            loss = ("loss", f"{after[queue] / MILLION:.4%}")
            found.append((verb, *of, "handle", f"{netem:x}:", NETEM, "limit", HELD_PACKETS, *loss))
            if queue not in before:
                found.append(("add", "parent", f"{netem:x}:1", *fifo))
        dev = self._interface(port)
        return tuple(root("tc", "qdisc", verb, "dev", dev, *words) for verb, *words in found)

    def _chain(
        self, port: str, leaf: Leaf | None, queue: int
    ) -> tuple[int, tuple[Word, ...], tuple[Word, ...]]:
        """The handle of its netem, 0 where there is none; its fifo as tc is told it; its place."""
        chain = () if leaf is None else leaf.chain
        netem, *rest = chain if chain and _loses(chain[0]) else (None, *chain)
        fifo = rest[0] if len(rest) == 1 and rest[0] is not None else None
        if leaf is None or leaf.of is None or fifo is None or not _is_plain(fifo):
            kinds = " over ".join(each.kind for each in chain) or "not shown"
            problem = f"queue {queue} is {kinds}, not one fifo with a handle"
            self._reject(f"packet_loss of {port}", problem, _HAND)
        words = ("handle", str(fifo.handle), fifo.kind, "limit", fifo.limit or 0)
        return netem.handle.major if netem else 0, words, ("parent", str(leaf.of))


def _loses(qdisc: Qdisc) -> bool:
    return qdisc.kind == NETEM


def _is_plain(fifo: Qdisc) -> bool:
    return fifo.limit is not None and fifo.handle.major != 0


def _lost(leaf: Leaf) -> int:
    shares = (each.loss for each in leaf.chain if each.loss is not None)
    return round(MILLION * sum(shares))
