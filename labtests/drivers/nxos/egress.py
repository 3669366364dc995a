"""The egress queues of a port: who is served before whom, and RED with ECN, both in one policy-map
`type queuing`, applied by the port or by `system qos`.

Classes are those of the 8-queue template (`c-out-8q-q3`); other queuing classes are refused.
Scheduling is read from the configuration and held against what `show queuing interface` says is in
force. Thresholds of RED are kept in bytes; a kbyte is taken for 1000 of them (not documented).
"""

from collections.abc import Hashable, Mapping

from labtests.capabilities import settings as s
from labtests.capabilities.device import MemoryLimits, QueueShares, Shares
from labtests.capabilities.records import (
    EcnSetting,
    PortMemory,
    PriorityMemory,
    QueueSchedule,
    SchedulingSetting,
    WredQueue,
)
from labtests.drivers.marking import MarkingInBytes, red_curve
from labtests.drivers.nxos.configuration import Block, Classes, Configured, PolicyPlace, configured
from labtests.drivers.nxos.policies import IPQOS, PolicySetting, Use, in_force, of_switch, without
from labtests.drivers.nxos.queuing import QUEUING, TableRow
from labtests.drivers.nxos.session import NXOS, NxosPart
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking, both

QUEUES = range(8)
_PRIORITY = NXOS.shape("priority( level <level:number>)?")
_BANDWIDTH = NXOS.shape("bandwidth( remaining)? percent <percent:number>")
_UNIT = "bytes|kbytes|mbytes"
_RED = NXOS.shape(
    f"random-detect minimum-threshold <low:number> <low_unit:{_UNIT}> "
    f"maximum-threshold <high:number> <high_unit:{_UNIT}> "
    "drop-probability <percent:number> weight <weight:number>( <ecn:(?:ecn)>)?"
)
_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
_SERVING, _MARKING = ("priority", "bandwidth"), ("random-detect",)

_LAST = 8
"""Level of queues without priority; `priority level 1` is level 0."""
_MOST_LEVELS = 7
_DELIVERED = (
    Block("c-out-8q-q7", ("priority level 1",)),
    *(Block(f"c-out-8q-q{n}", ("bandwidth remaining percent 0",)) for n in range(6, 0, -1)),
    Block("c-out-8q-q-default", ("bandwidth remaining percent 100",)),
)
"""default-8q-out-policy, which is in no configuration (recorded: show queuing summary)."""


class _Egress(PolicySetting[s.T]):
    """A setting of the egress policy, which leaves the lines of others in it alone."""

    slot = "queuing output"
    template = "c-out-8q-q"

    def blocks(self, of: Configured, place: PolicyPlace) -> dict[int, Block]:
        """The classes in force, by queue."""
        return {self.queue(each): each for each in in_force(of, place, _DELIVERED)}

    def replaced(
        self,
        of: Configured,
        place: PolicyPlace,
        beginnings: tuple[str, ...],
        lines: Mapping[int, tuple[str, ...]],
    ) -> Use:
        """The policy in force with these lines instead of those that begin so."""
        now = self.blocks(of, place)
        made = []
        for queue in QUEUES:
            block = now.get(queue, Block(self.named(queue), ()))
            made.append(Block(block.name, (*without(block, beginnings), *lines.get(queue, ()))))
        return self.using(
            place, filter(Block.is_told, made), plain=of_switch(of, place, _DELIVERED)
        )

    def _means(self, _: Configured, classes: Classes) -> Hashable:
        blocks = {self.queue(each): each for each in classes}
        return tuple(
            (
                self.served(queue, blocks.get(queue)),
                self.red(queue, blocks.get(queue)),
                frozenset(without(blocks[queue], _SERVING + _MARKING) if queue in blocks else ()),
            )
            for queue in QUEUES
        )

    def served(self, queue: int, block: Block | None) -> QueueSchedule:
        """How a queue is served; one without a line gets nothing of its own."""
        for text in () if block is None else block.lines:
            if found := _PRIORITY.pattern.fullmatch(text):
                level = int(found["level"] or 1) - 1
                return QueueSchedule(queue=queue, group="sp", weight=None, level=level)
            if found := _BANDWIDTH.pattern.fullmatch(text):
                weight = int(found["percent"])
                return QueueSchedule(queue=queue, group="1", weight=weight, level=_LAST)
        return QueueSchedule(queue=queue, group="1", weight=0, level=_LAST)

    def red(self, queue: int, block: Block | None) -> WredQueue | None:
        """RED of a queue; None without."""
        lines = [t for t in (() if block is None else block.lines) if t.startswith(_MARKING)]
        if not lines:
            return None
        found = _RED.pattern.fullmatch(lines[0])
        if found is None or len(lines) > 1:
            raise self.reject(
                f"class type queuing {self.named(queue)}",
                f"its thresholds cannot be read from {lines[0]!r}",
                "write minimum and maximum threshold, drop-probability and weight out",
            )
        low, high = (int(found[n]) * _BYTES[found[f"{n}_unit"]] for n in ("low", "high"))
        percent, weight = int(found["percent"]), int(found["weight"])
        return red_curve(queue, (low, high), percent, ecn=found["ecn"] is not None, exponent=weight)


class NxosEcn(_Egress[EcnSetting], MarkingInBytes):
    """RED of each queue. A queue that is not in the setting drops at the tail."""

    usual = (150_000, 600_000, 7, 0)
    """As in published RoCE configurations (Cisco's AI/ML blueprints), but for the upper threshold:
    theirs, 3000 kbytes, is for 100G; at 10G three DCQCN senders fill a buffer before they slow."""

    def value(self, of: Configured, place: PolicyPlace) -> EcnSetting:
        """The profile is the policy-map that says so, at the port or for the switch."""
        reds = [self.red(queue, block) for queue, block in sorted(self.blocks(of, place).items())]
        queues = tuple(each for each in reds if each is not None)
        if not queues:
            return EcnSetting()
        name = of.at(place) or of.at(PolicyPlace("", place.slot))
        return EcnSetting(profile=name, queues=queues)

    def _use(self, of: Configured, place: PolicyPlace, wanted: EcnSetting) -> Use:
        lines = {each.queue: (_red_line(each),) for each in wanted.queues}
        return self.replaced(of, place, _MARKING, lines)


class NxosScheduling(_Egress[SchedulingSetting], QueueShares):
    """Priority levels, and percent of what they leave."""

    kind = s.SCHEDULING

    def read(self, port: str) -> Asking[SchedulingSetting]:
        """As configured, and as displayed."""
        of, shown = yield from both(configured(), self.shown(QUEUING, port))
        reply, queuing = shown
        found = self.value(of, self.place(port))
        told = {each.queue: _told(each) for each in queuing.table}
        for each in found.queues:
            if told.get(each.queue) != each:
                refuse(
                    reply,
                    f"queue {each.queue} is shown as {told.get(each.queue)}, and by the "
                    f"configuration it is {each}",
                    "see `show policy-map interface` for the policy that is in force",
                )
        return found

    def value(self, of: Configured, place: PolicyPlace) -> SchedulingSetting:
        """Of the policy in force."""
        blocks = self.blocks(of, place)
        queues = tuple(self.served(queue, blocks.get(queue)) for queue in QUEUES)
        return SchedulingSetting(discipline="wrr", unit="byte-count", queues=queues)

    def _use(self, of: Configured, place: PolicyPlace, wanted: SchedulingSetting) -> Use:
        whole = sum(each.weight or 0 for each in wanted.queues)
        if whole > 100 or {each.queue for each in wanted.queues} != set(QUEUES):
            raise self.reject(IPQOS, f"its shares add up to {whole} %", "give 100 % at most")
        lines = {each.queue: (self._line(each),) for each in wanted.queues}
        return self.replaced(of, place, _SERVING, lines)

    def _line(self, each: QueueSchedule) -> str:
        if each.group == "sp" and each.level is not None and each.level < _MOST_LEVELS:
            return f"priority level {each.level + 1}"
        if each.group == "1" and each.weight is not None and each.level in (None, _LAST):
            return f"bandwidth remaining percent {each.weight}"
        raise self.reject(
            f"class type queuing {self.named(each.queue)}",
            f"a queue cannot be served like this: {each}",
            f"give it a priority level of 1 to {_MOST_LEVELS} (0 to 6 here) or a share",
        )

    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """The highest strict queue first. Queue 0 can be strict only when all are: then it has what
        the seven priority levels leave, which is the same."""
        strict = [queue for queue in reversed(QUEUES) if shares[queue] is None]
        if 0 in strict and len(strict) < len(QUEUES):
            raise self.reject(
                "class type queuing c-out-8q-q-default",
                "the default queue cannot be strict beside queues with a share",
                "make the highest queues strict",
            )
        if 0 in strict:
            strict.remove(0)
        return SchedulingSetting(
            discipline="wrr",
            unit="byte-count",
            queues=tuple(
                QueueSchedule(queue=q, group="sp", weight=None, level=strict.index(q))
                if q in strict
                else QueueSchedule(queue=q, group="1", weight=_share(shares[q]), level=_LAST)
                for q in QUEUES
            ),
        )


def _share(share: int | None) -> int:
    return 100 if share is None else share


def _told(row: TableRow) -> QueueSchedule:
    if row.priority is not None:
        level = row.priority - 1
        return QueueSchedule(queue=row.queue, group="sp", weight=None, level=level)
    return QueueSchedule(queue=row.queue, group="1", weight=row.bandwidth or 0, level=_LAST)


def _red_line(each: WredQueue) -> str:
    low, high = (_size(limit) for limit in (each.low_limit, each.high_limit))
    return (
        f"random-detect minimum-threshold {low} maximum-threshold {high} "
        f"drop-probability {each.drop_probability_percent} weight {each.weighting_exponent}"
        f"{' ecn' if each.ecn else ''}"
    )


def _size(limit_bytes: int) -> str:
    whole, rest = divmod(limit_bytes, 1000)
    return f"{limit_bytes} bytes" if rest else f"{whole} kbytes"


# -- what lossless classes of a port may hold ------------------------------------------------------


class NxosMemory(NxosPart, MemoryLimits):
    """Thresholds of the classes that pause, as in force; and the curves of queues."""

    def memory_limits(self, port: str) -> Asking[PortMemory]:
        """See MemoryLimits. Of what a class shares, nothing is told."""
        _, shown = yield from self.shown(QUEUING, port)
        ecn = yield from NxosEcn(self.device).read(port)
        return PortMemory(
            priorities=tuple(
                PriorityMemory(
                    priority=queue, headroom_bytes=each.size - each.pause, static_bytes=each.pause
                )
                for queue, each in sorted(shown.buffers.items())
                if each.size >= each.pause
            ),
            kmax_bytes=tuple((each.queue, each.high_limit) for each in ecn.queues if each.ecn),
        )
