"""How much each queue of a port may hold: the limits of its fifos, below a RED too."""

from labtests.capabilities.records import QueueLimitSetting, WredQueue
from labtests.capabilities.settings import QUEUE_LIMITS, Commands
from labtests.core.units import Bytes
from labtests.drivers.linux_switch import red
from labtests.drivers.linux_switch.qdiscs import Qdisc
from labtests.drivers.linux_switch.session import TcSetting
from labtests.drivers.linux_switch.tree import Leaf, Tree, at_place
from labtests.transport.asking import Asking
from labtests.transport.commands import Shell, Word, root

_HAND = "give it a fifo of its own: tc qdisc add ... handle 10: bfifo limit ..."


class QueueLimits(TcSetting[QueueLimitSetting]):
    """Tail drop. A pfifo counts packets; here each is a full frame of 1514 bytes. What a queue
    holds at the moment of a change may be lost."""

    kind = QUEUE_LIMITS

    def read(self, port: str) -> Asking[QueueLimitSetting]:
        """By queue. One that is not a fifo (fq_codel, as a port has by default) has no such limit
        and is left out."""
        tree = yield from self.tree(port)
        return QueueLimitSetting(
            limits=tuple(
                (leaf.queue, Bytes(red.limit_bytes(leaf.fifo)))
                for leaf in tree.leaves
                if leaf.fifo is not None
            )
        )

    def around(self, port: str, values: tuple[QueueLimitSetting, ...] = ()) -> Asking[Tree]:
        """The port's tree."""
        return self.tree(port)

    def commands(
        self, port: str, earlier: QueueLimitSetting, wanted: QueueLimitSetting, around: Tree
    ) -> Commands:
        """`tc qdisc change`, one for each queue that differs; counters go on. Queues that the port
        has not, or that `wanted` leaves out, stay as they are. Raises CommandRejected where a queue
        that is to have a limit is no fifo."""
        before = dict(earlier.limits)
        return tuple(
            self._line(port, leaf, limit)
            for queue, limit in wanted.limits
            if before.get(queue) != limit and (leaf := around.leaf_of(queue)) is not None
        )

    def wrong(
        self, wanted: QueueLimitSetting, found: QueueLimitSetting, before: Tree, after: Tree
    ) -> str:
        """See Setting."""
        read = dict(found.limits)
        return "; ".join(
            f"queue {queue} holds {read[queue]} bytes, not {limit}"
            for queue, limit in wanted.limits
            if queue in read and read[queue] != _possible(after, queue, limit)
        )

    def _fifo(self, port: str, leaf: Leaf) -> Qdisc:
        if leaf.fifo is None:
            kinds = " over ".join(each.kind for each in leaf.chain) or "not shown"
            self._reject(
                f"queue_limits of {port}", f"queue {leaf.queue} is {kinds}, not a fifo", _HAND
            )
        return leaf.fifo

    def _line(self, port: str, leaf: Leaf, limit: int) -> Shell:
        fifo = self._fifo(port, leaf)
        if not fifo.handle.major:
            return self._line_of_red(port, leaf, limit)
        number = max(1, limit // red.FRAME_BYTES) if fifo.kind == "pfifo" else limit
        return self._change_of(port, fifo, fifo.kind, "limit", number)

    def _line_of_red(self, port: str, leaf: Leaf, limit: int) -> Shell:
        """A RED makes the nameless fifo below itself, as long as its own limit says."""
        node, curve = leaf.red, red.curve_of(leaf)
        burst = None if curve is None else _burst(curve)
        if node is None or curve is None or burst is None:
            problem = f"the fifo of queue {leaf.queue} has no handle"
            self._reject(f"queue_limits of {port}", problem, _HAND)
        words = red.red_words(curve, red.detail_of(leaf), limit, burst)
        return self._change_of(port, node, "red", *words)

    def _change_of(self, port: str, node: Qdisc, *words: Word) -> Shell:
        at = (*at_place(node), "handle", str(node.handle))
        return root("tc", "qdisc", "change", "dev", self._interface(port), *at, *words)


def _possible(tree: Tree, queue: int, limit: int) -> int:
    leaf = tree.leaf_of(queue)
    packets = leaf is not None and leaf.fifo is not None and leaf.fifo.kind == "pfifo"
    return max(1, limit // red.FRAME_BYTES) * red.FRAME_BYTES if packets else limit


def _burst(curve: WredQueue) -> int | None:
    return red.burst_for(curve.weighting_exponent, curve.low_limit)
