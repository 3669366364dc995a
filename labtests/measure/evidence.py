"""Differences of counters: computed here, once, purely. Nothing else subtracts counters.

A difference is an integer or it is not there. Missing before or after, a counter that ran backwards
(wrapped, reset or cleared), two reads at the same moment, a changed source: `increase is None` and
`unusable` says which. That is never 0.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeVar

from labtests.capabilities import counters as c
from labtests.capabilities.counters import GAUGES
from labtests.capabilities.facts import DcbxState
from labtests.capabilities.flows import FlowResult, StormResult
from labtests.capabilities.readings import (
    DeviceLog,
    Message,
    PfcWarning,
    Reading,
    Scope,
    WatchdogMessage,
)
from labtests.capabilities.records import PfcSetting, WatchdogTimes
from labtests.core.units import BitsPerSecond
from labtests.measure.streamed import Streamed

M = TypeVar("M", bound=Message)
Logs = tuple[tuple[DeviceLog[M], DeviceLog[M]], ...]
"""Of each switch, before and after the traffic."""
Key = tuple[str, str, str, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much one counter grew between two reads, with both reads."""

    key: Key
    before: Reading | None
    after: Reading | None
    increase: int | None
    unusable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFailure:
    """Switch ports that were shut while the traffic ran, and opened again, or not before its end.
    Times are of the lab's clock, when the port said so; None: it did not come to it."""

    ports: tuple[tuple[str, str], ...]
    shut_s: float | None
    open_s: float | None


Backend = Literal["hardware", "namespaces", "simulated"]
"""What a result is about. "namespaces": real programs and kernel queues, all on one machine."""

When = Literal["in the check before the run", "in the quiet window before the phase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A counter that grew while nothing of ours ran; `seconds` of the lab's clock lie between the
    two reads."""

    when: When
    difference: Difference

    @property
    def seconds(self) -> float:
        """How long it was watched."""
        before, after = self.difference.before, self.difference.after
        return after.time_s - before.time_s if before and after else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """How long a switch of the way may show the same counters while packets go through it.

    `seconds` 0: they are those of the moment. None: not known, and `because` says why.
    """

    seconds: float | None
    because: str = ""


LIVE = Refresh(seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CnpReturn:
    """A switch port that the CNPs for these senders pass before the ports opposite them, and their
    queue there by the maps of the port where they came in, as read."""

    port: tuple[str, str]
    queue: int
    senders: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CnpClass:
    """The DSCP that the receiver gives to its CNPs, as read, the queue of it at the switch port
    opposite each sender: (switch, port, queue), and where they pass before that. `interval_us`:
    how long it says that it waits between two of one flow; None: it does not."""

    dscp: int
    queues: tuple[tuple[str, str, int], ...]
    returns: tuple[CnpReturn, ...] = ()
    interval_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A switch port towards the receiver that flows pass before the bottleneck, and the queue there
    of each of them (by number of the flow), by the maps of the port where it came in, as read. Or
    the receiver's NIC, and the class there."""

    port: tuple[str, str]
    queues: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one role stands: its NIC port, the switch port opposite, and its class of traffic.

    `priority` is the NIC's (PFC, counters), `queue` the switch's; both come from maps as read. A
    host whose port has no classes has no priority. `link_bits_per_s` is the speed of the cable.
    """

    device: str
    port: str
    switch: str
    switch_port: str
    priority: int | None
    queue: int
    link_bits_per_s: BitsPerSecond | None = None

    @property
    def group(self) -> int:
        """The priority by which the switch holds, on the way in, what comes from here; of a NIC
        without classes its queue's number."""
        return self.queue if self.priority is None else self.priority


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleHop:
    """A cable of a cycle of switches: the port (device, port) that sends on it, with the queue of
    the traffic that goes round, and the port that it comes in by, which may pause the priority."""

    out: tuple[str, str]
    into: tuple[str, str]
    queue: int
    priority: int


_OF_COUNTERS = ("changes", "noise", "numbers", "keys_of", "samples_of")
"""What an Evidence has worked out of its counters alone, whichever flows are looked at."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Everything one phase of an experiment saw, raw: both snapshots, samples, flows, quiet window.

    Times are seconds of the lab's clock. The bottleneck is the switch port opposite the receiver,
    or the one before it that is `congested`;
    `transit` are the ports (device, port) of cables between switches on the senders' way to it.
    `idle` is what the check before the run saw grow. `changed` has a sentence for each setting that
    was another one when the phase had ended. `pfc` is what was read of each port (device, port)
    that has it, `mtu_bytes` the smallest of the hosts', which are in `own_mtu_bytes` by name.
    `storm` is what the receiver paused by a tool, `crossings` are the ports of `transit` that flows
    pass for certain. Where the senders have a receiver each, `receivers` are these (`receiver` is
    one of them), and `cycle` is the way that all of them go round. `warnings` and `watchdog_logs`
    are logs of switches, before and after the traffic, where they were asked for; `watchdog` is
    what the stormed switch had set of its own; `peaks` are watermarks, read when they
    had been forgotten and when the traffic was over. `restless` names what went on counting.
    `classified_by` is the field of a packet that ports were told to trust.
    `probes` are what tools tell that measure beside the flows, and load nothing.
    `dcbx` is what each sender's NIC port and the switch port opposite showed of it, when asked for.
    `shown` are the counters that had a number in a phase before this one: one that has none now is
    missing, and not one that the device has not. `streamed` is what switches sent of themselves;
    None: none was asked to.
    """

    name: str
    kind: Literal["experiment", "control"]
    backend: Backend
    start_s: float
    end_s: float
    line_bits_per_s: BitsPerSecond
    senders: tuple[Place, ...]
    receiver: Place
    transit: tuple[tuple[str, str], ...] = ()
    congested: tuple[str, str] | None = None
    crossings: tuple[Crossing, ...] = ()
    flows: tuple[FlowResult, ...] = ()
    before: tuple[Reading, ...] = ()
    after: tuple[Reading, ...] = ()
    quiet_before: tuple[Reading, ...] = ()
    idle: tuple[Difference, ...] = ()
    samples: tuple[Reading, ...] = ()
    settled: bool = False
    restless: str = ""
    unreachable: tuple[str, ...] = ()
    refresh: Refresh = LIVE
    changed: tuple[str, ...] = ()
    cnp: CnpClass | None = None
    pfc: Mapping[tuple[str, str], PfcSetting] = field(default_factory=dict)
    mtu_bytes: int | None = None
    own_mtu_bytes: Mapping[str, int] = field(default_factory=dict)
    storm: StormResult | None = None
    failure: LinkFailure | None = None
    receivers: tuple[Place, ...] = ()
    cycle: tuple[CycleHop, ...] = ()
    warnings: Logs[PfcWarning] = ()
    watchdog_logs: Logs[WatchdogMessage] = ()
    watchdog: WatchdogTimes | None = None
    dcbx: tuple[tuple[DcbxState, DcbxState], ...] = ()
    peaks: tuple[tuple[Reading, ...], tuple[Reading, ...]] = ((), ())
    shown: frozenset[Key] = frozenset()
    probes: tuple[FlowResult, ...] = ()
    classified_by: Literal["DSCP", "802.1p"] = "DSCP"
    streamed: Streamed | None = None
    derived: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What verdicts have worked out of it, which many of them ask for."""

    def receiver_of(self, sender: int) -> Place:
        """Whom this one of the senders, by its number, sends to."""
        return self.receivers[sender] if sender < len(self.receivers) else self.receiver

    @cached_property
    def numbers(self) -> frozenset[Key]:
        """The counters that had a number in this phase, or in one before it."""
        reads = (r for r in (*self.before, *self.after) if r.value is not None)
        return self.shown | {r.key for r in reads}

    def peak(self, port: tuple[str, str], scope: Scope, index: int, counter: str) -> Reading | None:
        """The most that was held in this phase. What was shown when it had just been forgotten is
        the most of some other time, unless it is less; None: not read."""
        key = (*port, scope, index, counter)
        first, last = ({r.key: r for r in read}.get(key) for read in self.peaks)
        if first is None or last is None or last.value is None:
            return last
        if first.value is None or 0 < first.value >= last.value:
            shown = (
                f"it was {first.value} when it had just been forgotten, so it is not of this phase"
            )
            why = shown if first.value is not None else f"not known before: {first.missing}"
            return replace(last, value=None, missing=why)
        return last

    def has(self, difference: Difference) -> bool:
        """Whether the device has this counter: it was answered, if only with a reason why there is
        no number, or it had one in an earlier phase."""
        known = (difference.before, difference.after) != (None, None)
        return known or difference.key in self.shown

    @cached_property
    def samples_of(self) -> Mapping[Key, tuple[Reading, ...]]:
        """The samples of each counter, in the order in which they were read."""
        found: dict[Key, list[Reading]] = {}
        for reading in self.samples:
            found.setdefault(reading.key, []).append(reading)
        return {key: tuple(readings) for key, readings in found.items()}

    @property
    def of_rdma(self) -> bool:
        """Whether RDMA was all the traffic."""
        return bool(self.flows) and all(flow.is_rdma for flow in self.flows)

    @cached_property
    def by_class(self) -> bool:
        """Whether the NICs count packets by class at both ends: each sender's, and the
        receiver's."""
        receiver = (self.receiver.device, self.receiver.port)
        return all(place.priority is not None for place in self.senders) and any(
            self.has(self.change(receiver, "priority", priority, c.RX_PACKETS))
            for priority in range(8)
        )

    @cached_property
    def changes(self) -> dict[Key, Difference]:
        """Every counter's difference over the phase: one that was read after the traffic had begun,
        or before it had ended, has none."""
        found = differences(self.before, self.after)
        return {key: self._over_the_traffic(difference) for key, difference in found.items()}

    def _over_the_traffic(self, difference: Difference) -> Difference:
        before, after = difference.before, difference.after
        if before is None or after is None or difference.increase is None:
            return difference
        if before.time_s <= self.start_s and after.time_s >= self.end_s:
            return difference
        return replace(difference, increase=None, unusable="it was read while the traffic ran")

    @cached_property
    def keys_of(self) -> Mapping[tuple[str, str, str], tuple[Key, ...]]:
        """The counters of each device, port and scope that were ever read: verdicts ask for those
        of every port on the way, and would look through all of them each time."""
        found: dict[tuple[str, str, str], dict[Key, None]] = {}
        for key in (*self.changes, *sorted(self.shown)):
            found.setdefault(key[:3], {})[key] = None
        return {place: tuple(keys) for place, keys in found.items()}

    @cached_property
    def noise(self) -> dict[Key, Difference]:
        """Every counter's difference over the quiet window before the phase."""
        return differences(self.quiet_before, self.before)

    @cached_property
    def disturbances(self) -> tuple[Noise, ...]:
        """Every counter that grew while nothing of ours ran: before the run, before the phase."""
        windows: tuple[tuple[When, Iterable[Difference]], ...] = (
            ("in the check before the run", self.idle),
            ("in the quiet window before the phase", self.noise.values()),
        )
        return tuple(
            Noise(when=when, difference=each)
            for when, seen in windows
            for each in seen
            if each.increase
        )

    @property
    def bottleneck(self) -> tuple[str, str]:
        """Switch and port that everybody sends through."""
        return self.congested or self.last

    @property
    def last(self) -> tuple[str, str]:
        """The switch port opposite the receiver."""
        return (self.receiver.switch, self.receiver.switch_port)

    @property
    def behind(self) -> tuple[tuple[str, str], ...]:
        """That one, where it is not the bottleneck."""
        return () if self.last == self.bottleneck else (self.last,)

    @property
    def queues(self) -> tuple[int, ...]:
        """The bottleneck's queues that the senders' traffic is mapped to, in order."""
        return tuple(sorted({place.queue for place in self.senders}))

    @property
    def read_queues(self) -> tuple[int, ...]:
        """Every queue of the bottleneck that was read, and those under load, in order."""
        keys = self.keys_of.get((*self.bottleneck, "queue"), ())
        return tuple(sorted({key[3] for key in keys if key[3] >= 0} | set(self.queues)))

    def of_queues(self, queues: Container[int]) -> Self:
        """The same counters, and the flows into these queues only."""
        pairs = zip(self.senders, self.flows, strict=False)
        own = [(place, flow) for place, flow in pairs if place.queue in queues]
        found = replace(self, senders=tuple(p for p, _ in own), flows=tuple(f for _, f in own))
        worked_out = {n: v for n, v in vars(self).items() if n in _OF_COUNTERS}
        vars(found).update(worked_out)
        return found

    def flows_into(self, queue: int) -> tuple[FlowResult, ...]:
        """What the tools said of flows into this queue of the bottleneck."""
        pairs = zip(self.senders, self.flows, strict=False)
        return tuple(flow for place, flow in pairs if place.queue == queue)

    def change(
        self, where: tuple[str, str], scope: Scope, index: int | None, counter: str
    ) -> Difference:
        """One counter's difference over the phase; unusable when it was never read."""
        return _look_up(self.changes, where, scope, index, counter)

    def background(
        self, where: tuple[str, str], scope: Scope, index: int | None, counter: str
    ) -> Difference:
        """The same over the quiet window."""
        return _look_up(self.noise, where, scope, index, counter)


def _look_up(
    found: dict[Key, Difference],
    where: tuple[str, str],
    scope: Scope,
    index: int | None,
    counter: str,
) -> Difference:
    key: Key = (*where, scope, -1 if index is None else index, counter)
    absent = Difference(
        key=key, before=None, after=None, increase=None, unusable="the counter was never read"
    )
    return found.get(key, absent)


def differences(before: Iterable[Reading], after: Iterable[Reading]) -> dict[Key, Difference]:
    """Every counter that either snapshot has, except gauges."""
    first, second = _by_key(before), _by_key(after)
    return {key: _difference(key, first.get(key), second.get(key)) for key in first | second}


def _by_key(readings: Iterable[Reading]) -> dict[Key, Reading]:
    """Each counter once. One that a snapshot has twice, with two values, has none."""
    found: dict[Key, Reading] = {}
    for reading in readings:
        if reading.counter in GAUGES:
            continue
        earlier = found.get(reading.key)
        if earlier is not None and earlier.value != reading.value:
            missing = f"read twice at the same time: {earlier.value} and {reading.value}"
            found[reading.key] = replace(reading, value=None, missing=missing)
        else:
            found[reading.key] = reading
    return found


def _difference(key: Key, before: Reading | None, after: Reading | None) -> Difference:
    unusable = _why_unusable(before, after)
    increase = None
    if not unusable and before and after and before.value is not None and after.value is not None:
        increase = after.value - before.value
    return Difference(key=key, before=before, after=after, increase=increase, unusable=unusable)


def _why_unusable(before: Reading | None, after: Reading | None) -> str:
    if before is None or after is None:
        when = "before" if before is None else "after"
        return f"the counter did not exist {when} the run"
    for when, reading in (("before", before), ("after", after)):
        if reading.value is None:
            return f"no value {when} the run: {reading.missing or 'the device gave none'}"
    return _why_not_comparable(before, after)


def _why_not_comparable(before: Reading, after: Reading) -> str:
    if before.source != after.source:
        return f"read from {before.source!r} before and from {after.source!r} after"
    if after.time_s <= before.time_s:
        return "both reads have the same timestamp (stale)"
    assert before.value is not None
    assert after.value is not None
    if after.value < before.value:
        return f"ran backwards from {before.value} to {after.value}: wrapped, reset or cleared"
    return ""
