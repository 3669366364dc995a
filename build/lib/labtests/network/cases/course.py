"""Time passes in the network of a case: flows start and stop, what happened is noted.

The work is linear in what happens: flows start and stop by two sorted lists, and what they have
delivered is copied as a column, at the ends of bins only.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from labtests.network import Network, QueueWatch
from labtests.network.cases import happenings, pauses
from labtests.network.cases.building import AnyFlow, build, start
from labtests.network.cases.form import CaseFile
from labtests.network.cases.pauses import NS_PER_US

NS_PER_MS = 1_000_000
DEFAULT_SAMPLES = 20_000
DEFAULT_BINS = 50
FIRST_STEP_NS = 1_000
LONG_S, SHORT_S = 0.4, 0.1
"""A step of the simulation that takes longer is halved, one that takes less is doubled: so often
it is asked whether to end, and told how far it is."""

QueueKey = tuple[str, str, int]


class Onlooker(Protocol):
    """Who is told how far a run is, and may end it."""

    def ends(self, reached_ms: float, duration_ms: float, /) -> bool:
        """Whether the run ends here, with what it has."""


@dataclass(slots=True, kw_only=True)
class Course:
    """One run under way: what has started, and what was noted so far."""

    case: CaseFile
    network: Network
    watch: QueueWatch
    onlooker: Onlooker | None = None
    flows: dict[int, AnyFlow] = field(default_factory=dict)
    owners: list[int] = field(default_factory=list)  # by row of the flow table: number in the case
    delivered: dict[int, Any] = field(default_factory=dict)  # ns -> bytes of each flow
    delivered_at_stop: dict[int, int] = field(default_factory=dict)
    pauses_at_warmup: Mapping[pauses.PauseKey, int] = field(default_factory=dict)
    held: dict[int, Mapping[pauses.PauseKey, int]] = field(default_factory=dict)  # ps, by ns
    rates: dict[int, Any] = field(default_factory=dict)  # ns -> bits/s that each flow may send
    alphas: dict[int, Any] = field(default_factory=dict)  # ns -> the mean of its queue pairs
    step_ns: int = FIRST_STEP_NS
    numbers: dict[str, int] = field(default_factory=dict)  # of flows by name, where some wait

    def column(self, name: str) -> Any:
        """A column of the flow table, one number for each row in use."""
        return self.network.tables.flow[name][: self.network.flow_rows]

    def owner_rows(self) -> Any:
        """Of each of those rows: the number of its flow in the case."""
        return np.array(self.owners, np.int64)

    def total(self, name: str) -> Any:
        """The sum of a column over the rows of each flow of the case."""
        sums = np.zeros(len(self.case.flows), np.int64)
        np.add.at(sums, self.owner_rows(), self.column(name))
        return sums

    def note(self) -> None:
        """The flows' delivered bytes and how long ports were held, now."""
        self.delivered[self.network.now_ns] = self.total("delivered_bytes")
        self.held[self.network.now_ns] = pauses.held_ps(self.network)
        self._note_limiters()

    def _note_limiters(self) -> None:
        """What DCQCN lets each flow send now, and alpha; without a limiter line rate and 0."""
        limited = self.column("limited") != 0
        most = self.network.tables.host["max_rate"][self.column("source")]
        rate = np.where(limited, self.column("rate"), most)
        alpha = np.where(limited, self.column("alpha"), 0.0)
        flows = len(self.case.flows)
        owners = self.owner_rows()
        pairs = np.maximum(1, np.bincount(owners, minlength=flows))
        self.rates[self.network.now_ns] = np.bincount(owners, rate, flows)
        self.alphas[self.network.now_ns] = np.bincount(owners, alpha, flows) / pairs

    def start(self, number: int) -> None:
        """A flow of the case starts now."""
        part = self.case.flows[number]
        ahead = [self.flows[self.numbers[name]] for name in part.after or ()]
        self.flows[number] = start(self.network, self.case, part, ahead)
        self.owners += [number] * (self.network.flow_rows - len(self.owners))

    def stop(self, number: int) -> None:
        """A flow of the case stops now."""
        flow = self.flows[number]
        self.delivered_at_stop[number] = arrived(flow)
        flow.stop()

    def advance_to(self, time_ns: int) -> bool:
        """Everything up to then has happened; False: the onlooker has ended it earlier."""
        while self.onlooker and self.network.now_ns < time_ns:
            begun_s = time.perf_counter()
            self.watch.advance_to(min(time_ns, self.network.now_ns + self.step_ns))
            taken_s = time.perf_counter() - begun_s
            if taken_s > LONG_S:
                self.step_ns = max(1, self.step_ns // 2)
            elif taken_s < SHORT_S:
                self.step_ns *= 2
            if self.onlooker.ends(self.network.now_ns / NS_PER_MS, self.case.duration_ms):
                return False
        self.watch.advance_to(time_ns)
        return True


def arrived(flow: AnyFlow) -> int:
    """Bytes that have come in order."""
    return sum(int(record.delivered_bytes) for record in flow.records())


def passed(case: CaseFile, *, seed: int | None, onlooker: Onlooker | None = None) -> Course:
    """The case, run to its end or until the onlooker ends it."""
    network = build(case, seed=seed)
    period_us = case.sampling.queue_period_us or case.duration_ms * 1000 / DEFAULT_SAMPLES
    watch = QueueWatch(network, watched(case), period_ns=max(1, round(period_us * NS_PER_US)))
    course = Course(case=case, network=network, watch=watch, onlooker=onlooker)
    network.count_delays()
    course.numbers = {flow.name: n for n, flow in enumerate(case.flows) if flow.name}
    agenda = Agenda(case)
    for time_ns in agenda.moments:
        if not course.advance_to(time_ns):
            course.note()
            break
        agenda.act(course, time_ns)
    return course


class Agenda:
    """What is due when."""

    def __init__(self, case: CaseFile) -> None:
        self._case = case
        self._starts = _Due(made_us(case))
        self._stops = _Due([flow.stop_us for flow in case.flows])
        self._warmup_ns = round(case.warmup_ms * NS_PER_MS)
        end_ns = round(case.duration_ms * NS_PER_MS)
        self._noted = {*bin_ends(case), self._warmup_ns, end_ns}
        self._events = happenings.moments(case)
        self._pauses = pauses.moments_ns(case)
        times = self._noted | self._events | self._pauses
        times |= set(self._starts.times) | set(self._stops.times)
        self.moments = sorted(time for time in times if time <= end_ns)

    def act(self, course: Course, time_ns: int) -> None:
        """What is due at this time happens, and is noted."""
        if time_ns in self._events:
            happenings.happen(course.network, self._case, time_ns)
        for number in self._starts.taken(time_ns):
            course.start(number)
        for number in self._stops.taken(time_ns):
            course.stop(number)
        if time_ns in self._pauses:
            pauses.act(course.network, self._case, time_ns)
        if time_ns in self._noted:
            course.note()
        if time_ns == self._warmup_ns:
            course.network.count_delays()  # from here on
            course.pauses_at_warmup = pauses.sent_frames(self._case, course.network)


class _Due:
    """Flows in the order of a time of theirs, and how many of them have had it."""

    def __init__(self, times_us: Sequence[float | None]) -> None:
        at = ((us, number) for number, us in enumerate(times_us))
        due = sorted((round(us * NS_PER_US), number) for us, number in at if us is not None)
        self.times = [time_ns for time_ns, _ in due]
        self._numbers = [number for _, number in due]
        self._done = 0

    def taken(self, time_ns: int) -> Iterator[int]:
        while self._done < len(self.times) and self.times[self._done] <= time_ns:
            self._done += 1
            yield self._numbers[self._done - 1]


def made_us(case: CaseFile) -> list[float]:
    """When each flow is made: at its start, or with the last of the flows that it waits for."""
    numbers = {flow.name: n for n, flow in enumerate(case.flows) if flow.name}
    times: list[float] = []
    for flow in case.flows:
        ahead = [times[numbers[name]] for name in flow.after or ()]
        times.append(max(ahead) if ahead else flow.start_us)
    return times


def watched(case: CaseFile) -> tuple[QueueKey, ...]:
    """The egress queues whose length is sampled."""
    if case.sampling.queues is not None:
        return tuple((queue.switch, queue.port, queue.queue) for queue in case.sampling.queues)
    leading: dict[str, list[str]] = {}
    for link in case.links:
        for one, other in (link.between, link.between[::-1]):
            if one in case.switches:
                leading.setdefault(other, []).append(one)
    targets = dict.fromkeys((flow.target, flow.priority) for flow in case.flows)
    found = [
        (switch, target, priority)
        for target, priority in targets
        for switch in leading.get(target, ())
    ]
    return tuple(dict.fromkeys(found))


def bin_ends(case: CaseFile) -> list[int]:
    """The ends of the bins of all series, in ns; the first is 0."""
    width = (case.sampling.bin_ms or case.duration_ms / DEFAULT_BINS) * NS_PER_MS
    end = round(case.duration_ms * NS_PER_MS)
    count = max(1, math.ceil(end / width - 1e-9))  # the last bin may be shorter
    return [min(round(number * width), end) for number in range(count + 1)]
