"""ECN at the queues of a port: a RED with `ecn` in each, made, changed and taken away again.

Making a RED moves the queue's own fifo below it, same handle and limit; taking it away puts that
fifo back. Both begin their counters anew, and what the queue held is lost: never while something
is measured. A queue without a qdisc of its own gets back the class's default.
"""

import re
from collections.abc import Iterator, Sequence

from labtests.capabilities.facts import Lacking
from labtests.capabilities.records import EcnSetting, WredQueue
from labtests.capabilities.settings import ECN, PACKET_LOSS, Commands
from labtests.drivers.linux_switch import red
from labtests.drivers.linux_switch.session import TcSetting
from labtests.drivers.linux_switch.tree import Leaf, Tree, at_place
from labtests.drivers.marking import MarkingInBytes
from labtests.drivers.parsing import whole
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, Word, if_done, root, script

KERNEL = script(
    "grep -hs '^sch_' /proc/modules; "
    'grep -hs /sch_ /lib/modules/"$(uname -r)"/modules.dep '
    '/lib/modules/"$(uname -r)"/modules.builtin; '
    'zcat -f /proc/config.gz /boot/config-"$(uname -r)" 2>/dev/null '
    "| grep CONFIG_NET_SCH_; true"
)
"""Which qdiscs this kernel has: loaded, installed, built in, or left out. Changes nothing."""
_NO_RED = (
    "this kernel has no sch_red (CONFIG_NET_SCH_RED): its queues cannot mark by ECN, so nothing "
    "can be shown of marking here"
)
_NO_NETEM = (
    "this kernel has no sch_netem (CONFIG_NET_SCH_NETEM): its queues cannot be told to lose packets"
)


class OfTheKernel(Lacking):
    """Whether the kernel can mark, and lose on purpose."""

    def lacks(self) -> Asking[dict[str, str]]:
        """What the kernel says by /proc, /lib/modules and its configuration that it has not: RED
        for ECN, netem for losses. One that says nothing of it lacks nothing: the first command
        will tell."""
        said = whole((yield from ask(KERNEL)))
        found = {} if _has(said, "red") else dict.fromkeys(("ecn", "ecn_on", "ecn_for"), _NO_RED)
        return found if _has(said, "netem") else found | {PACKET_LOSS.name: _NO_NETEM}


def _has(said: str, qdisc: str) -> bool:
    """Whether it has it, or does not say."""
    config = f"CONFIG_NET_SCH_{qdisc.upper()}"
    words = re.split(r"[\s=./:]+", said)
    return f"sch_{qdisc}" in words or f"{config}=y" in said or config not in words


class TcEcn(TcSetting[EcnSetting], MarkingInBytes):
    """The REDs of a port; limits in bytes, the exponent is RED's Wlog."""

    kind = ECN
    usual = (30_000, 90_000, 10, 3)
    """From 20 full frames to 60, and an average over 8 packets, so that a queue of 64 KiB and more
    marks before it is full at 0.1 to 10 Gbit/s. (It is not told the port.)"""
    ours = red.OURS

    def read(self, port: str) -> Asking[EcnSetting]:
        """RED of every queue that has one."""
        return red.setting((yield from self.tree(port)))

    def around(self, port: str, values: tuple[EcnSetting, ...] = ()) -> Asking[Tree]:
        """The port's tree: which fifo a queue has of its own is in no setting."""
        return self.tree(port)

    def commands(
        self, port: str, earlier: EcnSetting, wanted: EcnSetting, around: Tree
    ) -> Commands:
        """One line for each queue that differs. Raises CommandRejected for a queue that the port
        has not."""
        there = [leaf.queue for leaf in around.leaves]
        if lacking := [curve.queue for curve in wanted.queues if curve.queue not in there]:
            self._reject(
                f"ecn of {port}",
                f"it has the queues {there}, and is to mark in {lacking}",
                "give the port more queues, or mark in one that it has (docs/testbeds.md)",
            )
        return tuple(self._lines(port, around, earlier, wanted))

    def wrong(self, wanted: EcnSetting, found: EcnSetting, before: object, after: object) -> str:
        """No queues: no profile either."""
        return super().wrong(wanted if wanted.queues else EcnSetting(), found, before, after)

    def _lines(
        self, port: str, tree: Tree, earlier: EcnSetting, wanted: EcnSetting
    ) -> Iterator[Shell]:
        before, after = _by_queue(earlier), _by_queue(wanted)
        for leaf in tree.leaves:
            if before.get(leaf.queue) != after.get(leaf.queue):
                curve, detail = after.get(leaf.queue, (None, None))
                where = _Where(self, port, tree, leaf)
                yield where.without_red() if curve is None else where.with_red(curve, detail)


Curve = tuple[WredQueue, red.Detail | None]


def _by_queue(setting: EcnSetting) -> dict[int, Curve]:
    more = red.details(setting.profile)
    return {curve.queue: (curve, more.get(curve.queue)) for curve in setting.queues}


class _Where:
    """One queue of a port, and the lines that change what is in it."""

    def __init__(self, session: TcEcn, port: str, tree: Tree, leaf: Leaf) -> None:
        self._session, self._tree, self._leaf = session, tree, leaf
        self._what = f"ecn of {port}, queue {leaf.queue}"
        node = leaf.red or (leaf.chain[-1] if leaf.chain else None)
        self._fifo = leaf.fifo
        if node is None or self._fifo is None or (node.parent is None and not node.handle.major):
            session._reject(
                self._what,
                f"the queue is {' over '.join(each.kind for each in leaf.chain) or 'not shown'}, "
                "which labtests cannot put a RED into",
                "give it a bfifo (docs/testbeds.md)",
            )
        self._node, self._at = node, node.parent
        self._dev = session._interface(port)
        self._place = at_place(node)

    def with_red(self, curve: WredQueue, detail: red.Detail | None) -> Shell:
        """RED in the queue, and its fifo below; a RED of others just as it was."""
        fifo = self._fifo
        assert fifo is not None
        limit = red.limit_bytes(fifo) if detail is None else detail.limit_bytes
        handle = red.our_handle(red.OUR_RED, self._at) if detail is None else detail.handle
        if curve.high_limit > limit:
            self._session._reject(
                self._what,
                f"it marks up to {curve.high_limit} bytes, and the queue holds {limit}",
                "make the queue longer (queue_limits), or the curve lower",
            )
        self._expect_free(handle)
        if detail is None and not fifo.handle.major and self._leaf.red is None:
            self._expect_default()
        burst = red.burst_for(curve.weighting_exponent, curve.low_limit)
        if burst is None:
            self._session._reject(
                self._what,
                f"tc has no burst for the exponent {curve.weighting_exponent} at "
                f"{curve.low_limit} bytes",
                "take an exponent from 1 to 31, and a Kmin of several packets",
            )
        words = red.red_words(curve, detail, limit, burst)
        made = self._replace(self._place, f"{handle:x}:", "red", *words)
        below = detail.below if detail is not None else self._own_fifo() or self._stand_in(limit)
        return if_done(made, self._fifo_line(("parent", f"{handle:x}:1"), below)) if below else made

    def without_red(self) -> Shell:
        """The queue's own fifo; the class's default where it had none."""
        fifo, own = self._fifo, self._own_fifo()
        assert fifo is not None
        if not own and red.is_ours(self._node):
            return root("tc", "qdisc", "del", "dev", self._dev, *self._place)
        handle = red.our_handle(red.PASSING if own else red.OUR_FIFO, self._at)
        self._expect_free(handle)
        limit = red.limit_bytes(fifo)
        made = self._replace(self._place, f"{handle:x}:", "bfifo", "limit", limit)
        return if_done(made, self._fifo_line(self._place, own)) if own else made

    def _stand_in(self, limit: int) -> str:
        """A fifo as long as that of somebody else's RED, for when ours is taken away."""
        if self._leaf.red is None or red.is_ours(self._node):
            return ""
        return f"bfifo {red.our_handle(red.OUR_FIFO, self._at):x}: limit {limit}"

    def _own_fifo(self) -> str:
        fifo = self._fifo
        return red.fifo_words(fifo) if fifo is not None and fifo.handle.major else ""

    def _fifo_line(self, place: Sequence[str], words: str) -> Shell:
        kind, handle, *limit = words.split()
        return self._replace(place, handle, kind, *limit)

    def _replace(self, place: Sequence[str], handle: str, *words: Word) -> Shell:
        return root("tc", "qdisc", "replace", "dev", self._dev, *place, "handle", handle, *words)

    def _expect_free(self, handle: int) -> None:
        mine = {each.handle.major for each in self._leaf.chain}
        if handle in self._tree.handles - mine:
            self._session._reject(
                self._what,
                f"the handle {handle:x}: is taken by another qdisc",
                "give that one another handle",
            )

    def _expect_default(self) -> None:
        """Only a class of the scheduler gets a new fifo when its qdisc is deleted. That of a class
        of htb is in no list of tc (htb_graft hides it, qdisc_hash_add is not called): the queue
        would be gone for whoever reads the tree."""
        above = self._tree.scheduler
        if above is None or self._at is None or self._at.major != above.handle.major:
            problem = f"{self._at} would have none after a RED"
        elif above.kind == "htb":
            problem = f"tc would not show the one that {self._at} gets after a RED"
        else:
            return
        self._session._reject(
            self._what,
            f"its fifo has no handle, and {problem}",
            "give the queue a bfifo of its own: tc qdisc add ... handle 10: bfifo limit ...",
        )
