"""The egress queues of a port: who is served before whom, and RED with ECN, both in one policy-map
`type queuing`, applied by the port or by `system qos`.

Classes are those of the 8-queue template (`c-out-8q-q3`); other queuing classes are refused.
Scheduling is read from the configuration and held against what `show queuing interface` says is in
force. Thresholds of RED are kept in bytes; a kbyte is taken for 1000 of them (not documented).
"""

from collections.abc import Hashable, Mapping

from labtests.capabilities import records as r
from labtests.capabilities import settings as s
from labtests.capabilities.device import MemoryLimits, QueueShares, Shares
from labtests.drivers.marking import MarkingOnArrival
from labtests.drivers.nxos.configuration import Configured, PolicyClass
from labtests.drivers.nxos.policies import IPQOS, QUEUES, QueuePolicySetting
from labtests.drivers.nxos.queuing import LAST, QUEUING, sharing, strict
from labtests.drivers.nxos.session import NXOS, NxosPart
from labtests.drivers.parsing import refuse
from labtests.drivers.sharing import in_levels, round_robin
from labtests.transport.asking import Asking, both

_PRIORITY = NXOS.shape("priority( level <level:number>)?")
_BANDWIDTH = NXOS.shape("bandwidth( remaining)? percent <percent:number>")
_RED = NXOS.shape(
    "random-detect minimum-threshold <low_limit:size> maximum-threshold <high_limit:size> "
    "drop-probability <drop_probability_percent:number> weight <weighting_exponent:number>"
    "( <ecn:(?:ecn)>)?"
)
_SERVING, _MARKING = ("priority", "bandwidth"), ("random-detect",)

_MOST_LEVELS = 7
_DELIVERED = (
    PolicyClass("c-out-8q-q7", ("priority level 1",)),
    *(PolicyClass(f"c-out-8q-q{n}", ("bandwidth remaining percent 0",)) for n in range(6, 0, -1)),
    PolicyClass("c-out-8q-q-default", ("bandwidth remaining percent 100",)),
)
"""default-8q-out-policy, which is in no configuration (recorded: show queuing summary)."""


class _Egress(QueuePolicySetting[s.T]):
    """A setting of the egress policy, which leaves the lines of others in it alone."""

    slot = "queuing output"
    template = "c-out-8q-q"
    delivered = _DELIVERED
    understood = (*_SERVING, *_MARKING)

    def _said(self, queue: int, block: PolicyClass) -> Hashable:
        return self.served(queue, block), self.red(queue, block)

    def served(self, queue: int, block: PolicyClass) -> r.QueueSchedule:
        """How a queue is served; one without a line gets nothing of its own."""
        for text in block.lines:
            if found := _PRIORITY.pattern.fullmatch(text):
                return strict(queue, int(found["level"] or 1))
            if found := _BANDWIDTH.pattern.fullmatch(text):
                return sharing(queue, int(found["percent"]))
        return sharing(queue, 0)

    def red(self, queue: int, block: PolicyClass) -> r.WredQueue | None:
        """RED of a queue; None without."""
        lines = block.about(_MARKING)
        if not lines:
            return None
        found = _RED.first(lines)
        if not found or len(lines) > 1:
            problem = f"its thresholds cannot be read from {lines[0]!r}"
            remedy = "write minimum and maximum threshold, drop-probability and weight out"
            raise self.reject(f"class type queuing {self.named(queue)}", problem, remedy)
        return r.WredQueue(queue=queue, **{**found, "ecn": "ecn" in found})


class NxosEcn(_Egress[r.EcnSetting], MarkingOnArrival):
    """RED of each queue. A queue that is not in the setting drops at the tail."""

    about = _MARKING
    usual = (150_000, 600_000, 7, 0)
    """As in published RoCE configurations (Cisco's AI/ML blueprints), but for the upper threshold:
    theirs, 3000 kbytes, is for 100G; at 10G three DCQCN senders fill a buffer before they slow."""

    def value(self, of: Configured, port: str) -> r.EcnSetting:
        """The profile is the policy-map that says so, at the port or for the switch."""
        reds = (self.red(*each) for each in self.eight(self.in_force(of, port)))
        queues = tuple(each for each in reds if each is not None)
        name = of.at(self.place(port)) or of.at(("", self.slot))
        return r.EcnSetting(profile=name, queues=queues) if queues else r.EcnSetting()

    def _wanted(self, of: Configured, port: str, wanted: r.EcnSetting) -> Mapping[int, str]:
        return {each.queue: _red_line(each) for each in wanted.queues}


class NxosScheduling(_Egress[r.SchedulingSetting], QueueShares):
    """Priority levels, and percent of what they leave."""

    kind = s.SCHEDULING
    about = _SERVING

    def read(self, port: str) -> Asking[r.SchedulingSetting]:
        """As configured, and as displayed."""
        of, (reply, queuing) = yield from both(self.state(port), self.shown(QUEUING, port))
        found = self.value(of, port)
        told = {each.queue: each for each in queuing.table}
        for each in found.queues:
            if told.get(each.queue) != each:
                shown = f"queue {each.queue} is shown as {told.get(each.queue)}"
                remedy = "see `show policy-map interface` for the policy that is in force"
                refuse(reply, f"{shown}, and by the configuration it is {each}", remedy)
        return found

    def value(self, of: Configured, port: str) -> r.SchedulingSetting:
        """Of the policy in force."""
        queues = tuple(self.served(*each) for each in self.eight(self.in_force(of, port)))
        return r.SchedulingSetting(discipline="wrr", unit="byte-count", queues=queues)

    def _wanted(self, of: Configured, port: str, wanted: r.SchedulingSetting) -> Mapping[int, str]:
        whole = sum(each.weight or 0 for each in wanted.queues)
        if whole > 100 or {each.queue for each in wanted.queues} != set(QUEUES):
            raise self.reject(IPQOS, f"its shares add up to {whole} %", "give 100 % at most")
        return {each.queue: self._line(each) for each in wanted.queues}

    def _line(self, each: r.QueueSchedule) -> str:
        if each.group == "sp" and each.level is not None and each.level < _MOST_LEVELS:
            return f"priority level {each.level + 1}"
        if each.group == "1" and each.weight is not None and each.level in (None, LAST):
            return f"bandwidth remaining percent {each.weight}"
        where, problem = self.named(each.queue), f"a queue cannot be served like this: {each}"
        remedy = f"give it a priority level of 1 to {_MOST_LEVELS} (0 to 6 here) or a share"
        raise self.reject(f"class type queuing {where}", problem, remedy)

    def scheduling_for(self, shares: Shares) -> r.SchedulingSetting:
        """The highest strict queue first. Queue 0 can be strict only when all are: then it has what
        the seven priority levels leave, which is the same."""
        if shares[0] is None:
            if any(share is not None for share in shares):
                where, remedy = f"class type queuing {self.named(0)}", "make the highest strict"
                problem = "the default queue cannot be strict beside queues with a share"
                raise self.reject(where, problem, remedy)
            shares = (100, *shares[1:])
        return in_levels(round_robin(shares), LAST)


def _red_line(each: r.WredQueue) -> str:
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

    def memory_limits(self, port: str) -> Asking[r.PortMemory]:
        """See MemoryLimits. Of what a class shares, nothing is told."""
        _, shown = yield from self.shown(QUEUING, port)
        ecn = yield from NxosEcn(self.device).read(port)
        pausing = {n: b for n, b in sorted(shown.buffers.items()) if b.size >= b.pause}
        return r.PortMemory(
            priorities=tuple(
                r.PriorityMemory(priority=n, headroom_bytes=b.size - b.pause, static_bytes=b.pause)
                for n, b in pausing.items()
            ),
            kmax_bytes=tuple((each.queue, each.high_limit) for each in ecn.queues if each.ecn),
        )
