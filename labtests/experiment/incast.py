"""An incast, as a suite speaks of it: set the lab, run a phase, judge what was seen."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import ceil

from labtests.experiment import patterns
from labtests.experiment.classes import ClassRounds
from labtests.experiment.failing import Failing
from labtests.experiment.fitting import (
    Class,
    NotHere,
    fastest_without_a_queue,
    roce_payload_bytes,
)
from labtests.experiment.judging import Judged, NotPassed
from labtests.experiment.pace import MINUTE_S, SAMPLES_AT_MOST, Pace, Span
from labtests.experiment.patterns import Pattern
from labtests.experiment.phase import Phase, PhaseRecord, SenderPart
from labtests.experiment.preparing import Prepared
from labtests.experiment.refresh import measure
from labtests.experiment.roles import Roles, apart
from labtests.experiment.traffic import Traffic
from labtests.measure.evidence import Difference, Evidence, Refresh
from labtests.verdicts import Verdict, lossless, ran_on, sound, sound_among
from labtests.verdicts.repeating import LONGEST_WAIT_S, MILLION, TIMEOUT_S, by_chance_at_most
from labtests.workloads import FlowTool, LatencyProbe, PauseStorm, Perftest
from labtests.workloads.perftest import FEWEST_MESSAGES

DROPPED = "dropped_packets grew by"
"""Why a control that drops on purpose is red."""

PATIENCE = 4.0
"""Of the time that transfers take when they fill the line: who is not done then is too late."""

HELD_MESSAGES = 10
TWICE = 2.0
"""Of the time that a transfer takes, where nothing is lost."""
LOST_AT_LEAST = 20
"""Packets of a transfer, in the mean, so that ten are lost but once in a hundred times."""
FLOWS_EACH = 4
FAILURE_LOADS = 4.0
"""In times of a load: how long all goes on where a link fails."""
FILLING_S, REST_SAMPLES, REST_REFRESHES = 1.0, 5, 2.0
"""Of a long storm: until a switch has paused the senders, and what comes after that."""


@dataclass
class Incast(Prepared):
    """The lab's senders against its receiver. One per test; what it changes is put back after.

    `idle` is what the check before the run saw grow, `measured` says how often the switches refresh
    their counters: both go with every phase's evidence."""

    with_controls: bool = True
    idle: tuple[Difference, ...] = ()
    measured: Callable[[bool], Refresh] | None = None  # True: anew; None: by this one itself
    phases: list[PhaseRecord] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    planned: list[Span] = field(default_factory=list)  # in a plan: how long each phase would take
    soak_s: float | None = None
    controls: tuple[Evidence, ...] = field(default=(), init=False)
    _refresh: Refresh | None = field(default=None, init=False)

    # -- traffic: a lab whose links do not carry it skips the test, with the reason -------------

    def udp(self, early: Class, late: Class) -> tuple[SenderPart, ...]:
        """One sender offers one class by iperf3; the others, later, share another."""
        return self.traffic.udp(early, late)

    def loads(self, *classes: Class, refreshes: int = 0) -> tuple[SenderPart, ...]:
        """Sender by sender one class, and round again, all starting together, in datagrams of one
        packet each; `offered_share` is of the line rate, on the wire. They last so many refreshes
        of the switch's counters, at least: where samples of them are judged."""
        if not refreshes or self.lab.planned is not None:
            return self.traffic.loads(*classes)
        seconds = refreshes * (self._measured_refresh().seconds or 0.0)
        return self.traffic.lasting(seconds).loads(*classes)

    def soak(self, *classes: Class) -> tuple[SenderPart, ...]:
        """The same for the hours that a run is asked for by --soak. A run without it skips the
        test, with the reason."""
        if self.soak_s is None:
            raise NotHere("it takes hours, and is run when it is asked for: --soak 8h")
        return self.traffic.lasting(self.soak_s).loads(*classes)

    def alone(self, traffic: Class) -> tuple[SenderPart, ...]:
        """A load of one class by one sender whose link is no faster than the receiver's, so that it
        makes no queue."""
        return self.traffic.alone(traffic)

    def through_failures(self, switches: Iterable[str], traffic: Class) -> tuple[SenderPart, ...]:
        """Paced flows of one class, several of each sender that is plugged into one of these
        switches, so that some take each way. They last from before a failure to well behind it."""
        behind = [r for r in self.senders if r.switch.device in frozenset(switches)]
        lasting = self.traffic.lasting(FAILURE_LOADS * self.pace.load_s)
        return lasting.paced(behind * FLOWS_EACH, traffic)

    def one_flow(self, switches: Iterable[str], traffic: Class) -> tuple[SenderPart, ...]:
        """A load of one class by one sender that is plugged into one of these switches: whatever
        its hash is made of, it takes one way."""
        behind = tuple(r for r in self.senders if r.switch.device in frozenset(switches))
        return self.traffic.one_flow(behind, traffic)

    def apart(self, tool: FlowTool) -> tuple[SenderPart, ...]:
        """Flows of hosts that share no port but those between switches, by several equally short
        ways, each of which carries all of them. A lab without them skips the test."""
        found = apart(self.lab.testbed, self.roles)
        if not found:
            raise NotHere("a cable between switches carries less than one host sends")
        return self.traffic.each(found, (tool,))

    def steady(self, storm: PauseStorm, *classes: Class) -> tuple[SenderPart, ...]:
        """The same for as long as these storms take, and a little longer."""
        return self._outlasting(storm).loads(*classes)

    def filling_one_switch(self, storm: PauseStorm, *classes: Class) -> tuple[SenderPart, ...]:
        """`steady`, of senders that share the receiver's switch: what a storm holds lies nowhere
        else. A lab without such a sender skips the test."""
        return self._outlasting(storm).beside_receiver().loads(*classes)

    def _outlasting(self, storm: PauseStorm) -> Traffic:
        every_s = storm.every_s + self.pace.sample_every_s  # each begins when a sample is taken
        return replace(
            self.traffic, pace=replace(self.pace, load_s=ceil(storm.times * every_s) + 1)
        )

    def tcp(self, traffic: Class, *, streams: int) -> tuple[SenderPart, ...]:
        """So many TCP connections of every sender, as fast as they can."""
        return self.traffic.tcp(traffic, streams=streams)

    def rdma(self, early: Class, late: Class, *, pair: bool = False) -> tuple[SenderPart, ...]:
        """Every sender (`pair`: two of them) as fast as it can by ib_send_bw; all but the first
        later, in another class."""
        return self.traffic.rdma(early, late, pair=pair)

    def flows(
        self,
        pattern: Pattern,
        *tools: FlowTool,
        beside: tuple[SenderPart, ...] = (),
        rows: int = 2,
    ) -> tuple[SenderPart, ...]:
        """A flow for each way of the pattern, by one of the tools in turn, all at the same time,
        `beside` others, for as long as a load lasts, and as so many rows of a tool."""
        return self.traffic.flows(tuple(pattern(self.roles)), tools, beside, rows)

    def probed(self, share: float, held: Class, first: Class) -> tuple[SenderPart, ...]:
        """Two senders offer this share of line rate each in the class that is held; beside them
        small messages of the class that is served first, and a few of that one, which may take many
        milliseconds each."""
        load = self.loads(*(held.offering(share),) * 2)
        probes = LatencyProbe(tos=first.tos), LatencyProbe(tos=held.tos, messages=HELD_MESSAGES)
        return self.flows(patterns.two_to_one, *probes, beside=load)

    def transfers(
        self, senders: int, tool: Perftest, *, greedy_pairs: int = 1
    ) -> tuple[SenderPart, ...]:
        """So many senders send as much each, together what the line carries in the time of a load,
        and have longer than that. The first one has so many times as many queue pairs, and as many
        times the messages."""
        pairs = tool.queue_pairs * (senders - 1 + greedy_pairs)
        each = replace(tool, messages=self.traffic.messages(pairs, tool.message_bytes))
        first = replace(each, queue_pairs=greedy_pairs * tool.queue_pairs)
        parts = self.flows(patterns.fan(senders), first, *(each,) * (senders - 1))
        lasts_s = PATIENCE * self.pace.load_s
        return tuple(replace(part, lasts_s=lasts_s) for part in parts)

    def transfer(self, tool: Perftest, per_million: int = 0) -> tuple[SenderPart, ...]:
        """One sender, whose link is no faster than the receiver's, sends what its link carries in
        the time of a load, or as much less as it waits for repetitions that are lost, too; and has
        longer than that, which it need not take. A lab without such a sender skips the test."""
        line = self.roles.line_bits_per_s
        one = fastest_without_a_queue(self.senders, line)
        whole = self.traffic.messages(tool.queue_pairs, tool.message_bytes)
        each_s = self.pace.load_s * line / one.link_bits_per_s / whole
        again = self._packets_of(tool) * (per_million / MILLION) ** 2  # lost, of each message
        messages = round(self.pace.load_s / (each_s + again * TIMEOUT_S))
        losing = replace(tool, messages=max(messages, FEWEST_MESSAGES))
        waits = by_chance_at_most(messages * again) if per_million else 0
        lasts_s = TWICE * self.pace.load_s + waits * LONGEST_WAIT_S
        return (SenderPart(role=one, tool=losing, starts_after_s=0.0, lasts_s=lasts_s),)

    def losses_to_be_seen(self, tool: Perftest, per_million: Sequence[int]) -> tuple[int, ...]:
        """Those of these losses that a transfer has so many packets for that some are lost for
        certain. A lab where none is skips the test."""
        seen = tuple(each for each in per_million if self._lost(tool, each) >= LOST_AT_LEAST)
        if not seen:
            raise NotHere("a transfer has too few packets here for losses to be seen")
        return seen

    def _lost(self, tool: Perftest, per_million: int) -> float:
        """In the mean."""
        (part,) = self.transfer(tool, per_million)
        assert isinstance(part.tool, Perftest)
        messages = (part.tool.messages or 0) * tool.queue_pairs
        return messages * self._packets_of(tool) * per_million / MILLION

    def _packets_of(self, tool: Perftest) -> int:
        """Of a message."""
        return ceil(tool.message_bytes / roce_payload_bytes(self.traffic.mtu_bytes))

    def pressed(self, slowing: FlowTool, deaf: FlowTool) -> tuple[SenderPart, ...]:
        """One of two senders all the time, the other for a part of it, as `Traffic.pressed`."""
        return self.traffic.pressed(tuple(patterns.pressed(self.roles)), slowing, deaf)

    def overload_each(self, traffic: Class) -> tuple[SenderPart, ...]:
        """Each host in turn gets more than its link carries, by UDP from others."""
        return self.traffic.in_turns(tuple(patterns.turns(self.roles)), traffic)

    def storm(self, priority: int, lasting_ms: int, *, times: int, apart_s: float) -> PauseStorm:
        """Pause frames of the receiver, without end for so long, and again after a while."""
        return PauseStorm(
            priority=priority,
            lasting_ms=lasting_ms,
            times=times,
            apart_s=apart_s,
            link_bits_per_s=self.receiver.link_bits_per_s,
        )

    def long_storm(self, priority: int) -> PauseStorm:
        """One that lasts so long that a part of it, at rest, is seen in some samples, however
        seldom the switch refreshes its counters."""
        refresh_s = 0.0
        if self.lab.planned is None:
            refresh_s = self._measured_refresh().seconds or 0.0
        rest_s = REST_REFRESHES * refresh_s + REST_SAMPLES * self.pace.sample_every_s
        return self.storm(priority, round(1000 * (FILLING_S + rest_s)), times=1, apart_s=0.5)

    def _measured_refresh(self) -> Refresh:
        """Before the first phase, so that no phase rests on a guess; and behind one in which it was
        found to be another one."""
        if self._refresh is None:
            ask = self.measured or (lambda _: measure(self.lab, self.roles, self.progress))
            self._refresh = ask(bool(self.phases))
        return self._refresh

    # -- phases and judging ------------------------------------------------------------------

    def run(
        self,
        name: str,
        traffic: tuple[SenderPart, ...],
        storm: PauseStorm | None = None,
        *,
        failing: Failing | None = None,
        warnings: bool = False,
    ) -> Evidence:
        """One phase: quiet window, counters, traffic with samples, settled counters again.
        `storm`: the receiver pauses the switch meanwhile. `failing`: ports are shut meanwhile.
        `warnings`: what switches log of pause frames is read, too."""
        also = _Also(storm=storm, failing=failing, warnings=warnings)
        return self._phase(name, traffic, control=False, also=also)

    def every_dscp(self, remarked: int | None = None) -> tuple[Evidence, ...]:
        """Rounds of counted packets: all 64 DSCPs from every sender. `remarked`: the DSCP that they
        have behind the port that they come in by, so that ports between switches and the NIC at the
        end count them in its class; then also from the receiver to the first sender, by the same
        maps."""
        if remarked is None:
            return self._rounds(self.roles)
        roles = replace(self.roles, outer_dscp=remarked)
        return (*self._rounds(roles), *self._rounds(_reversed(roles), in_one=True))

    def every_dscp_once(self, remarked: int) -> tuple[Evidence, ...]:
        """One such round, from the first sender alone."""
        roles = replace(self.roles, senders=self.roles.senders[:1], outer_dscp=remarked)
        return self._rounds(roles, in_one=True)

    def _rounds(self, roles: Roles, *, in_one: bool = False) -> tuple[Evidence, ...]:
        rounds = ClassRounds(
            lab=self.lab,
            roles=roles,
            pace=self.pace,
            queues=self.queues,
            progress=self.progress,
            in_one=in_one,
        )
        if self.lab.planned is not None:
            self.planned.append(rounds.span)
            return (self._ready("every DSCP", (), control=False).planned(),)
        tries = replace(rounds, refresh=self._measured_refresh()).run()
        self.phases += [record for each in tries for record in each]
        return tuple(each[-1].evidence for each in tries)

    def control(  # noqa: PLR0913 - one call is one phase; each argument is one of its facts
        self,
        name: str,
        traffic: tuple[SenderPart, ...],
        red: Callable[[Evidence], tuple[Verdict, ...]],
        because: tuple[str, ...],
        storm: PauseStorm | None = None,
        failing: Failing | None = None,
    ) -> None:
        """The same with the mechanism off: every verdict of `red` has to fail on what is seen, and
        its sentence to have its part of `because` in it: a control is red for its own reason.

        Left out with --no-controls; then no counter is proven alive.
        """
        if not self.with_controls:
            return
        also = _Also(storm=storm, failing=failing)
        seen = self._phase(name, traffic, control=True, also=also)
        if self.lab.planned is not None:
            return
        self.controls = (*self.controls, seen)
        self.judged += [
            Judged(verdict=verdict, control=True, reason=reason)
            for verdict, reason in zip(red(seen), because, strict=True)
        ]

    def must_be_red(self, verdict: Verdict, *, because: str = "") -> None:
        """A verdict on a claim that is wrong: it has to fail, and to say this."""
        if self.lab.planned is None and self.with_controls:
            self.judged.append(Judged(verdict=verdict, control=True, reason=because))

    def unproven(self, verdict: Verdict, *, because: str) -> None:
        """A claim that this evidence cannot carry: the verdict has to be inconclusive, and to say
        this. It is the control of the proof that is missing here."""
        if self.lab.planned is None:
            self.judged.append(Judged(verdict=verdict, control=True, unprovable=because))

    def prove_counters(
        self, name: str, traffic: tuple[SenderPart, ...], queues: AbstractSet[int]
    ) -> None:
        """A phase that drops on purpose in these queues: the control of their drop counters."""
        self.control(
            name,
            traffic,
            red=lambda seen: tuple(lossless(seen, {q}, controls=(seen,)) for q in sorted(queues)),
            because=tuple(f"queue {q} {DROPPED}" for q in sorted(queues)),
        )

    def judge(self, *verdicts: Verdict) -> None:
        """Every verdict has to pass and every control to have gone red; otherwise the test is red,
        as fail or as inconclusive. In a plan there is nothing to judge."""
        if self.lab.planned is not None:
            return
        self.judged += [Judged(verdict=verdict, control=False) for verdict in verdicts]
        if not all(j.as_expected for j in self.judged):
            raise NotPassed(self.judged)

    def _ready(self, name: str, traffic: tuple[SenderPart, ...], *, control: bool) -> Phase:
        return Phase(
            lab=self.lab,
            roles=self.roles,
            pace=_lasting(self.pace, traffic),
            name=name,
            control=control,
            progress=self.progress,
            idle=self.idle,
            shown=self.phases[-1].evidence.numbers if self.phases else frozenset(),
            mtu_bytes=self.traffic.mtu_bytes,
            watermarks=self._watermarks,
            sampled_hosts=self._sampled_hosts,
            roce=self._in_roce_mode,
            own_mtu_bytes=self.traffic.own_mtu_bytes,
            dcbx=self.watches_dcbx,
        )

    def _phase(
        self,
        name: str,
        traffic: tuple[SenderPart, ...],
        *,
        control: bool,
        also: "_Also",
    ) -> Evidence:
        phase = also.beside(self._ready(name, traffic, control=control))
        if self.lab.planned is not None:
            self.planned.append(phase.span)
            return phase.planned()
        refresh = self._measured_refresh()
        record = replace(phase, refresh=refresh).run(traffic)
        self.phases.append(record)
        if record.evidence.refresh.seconds is None and refresh.seconds is not None:
            self._refresh = None
        did_their_part = Judged(verdict=self.soundness(record.evidence), control=False)
        if not control or not did_their_part.as_expected:  # that a control ran is not worth a line
            self.judged.append(did_their_part)
        return record.evidence

    def soundness(self, seen: Evidence) -> Verdict:
        """What is asked of every phase. In tunnels that do not show classes, all are in the queue
        of whoever has no class, and no queue's packets are those of a flow."""
        if seen.failure is not None or self.roles.outer_dscp is not None:
            return ran_on(seen)
        return sound_among(seen) if seen.receivers else sound(seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Also:
    """What happens in a phase beside its traffic, and is read of it."""

    storm: PauseStorm | None = None
    failing: Failing | None = None
    warnings: bool = False

    def beside(self, phase: Phase) -> Phase:
        """The same phase with it."""
        return replace(phase, storm=self.storm, failing=self.failing, warnings=self.warnings)


def _reversed(roles: Roles) -> Roles:
    """The receiver as the only sender, to the first of the senders."""
    back = replace(roles, senders=(roles.receiver,), receiver=roles.senders[0], congested=None)
    return replace(back, line_bits_per_s=roles.senders[0].link_bits_per_s)


def _lasting(pace: Pace, traffic: tuple[SenderPart, ...]) -> Pace:
    """When all start together and end by themselves, a phase is as long as the longest of them; or
    as long as they are to last."""
    told = [sending.lasts_s for sending in traffic if sending.lasts_s is not None]
    if told:
        return replace(pace, lab_seconds=max(told))
    ends = [sending.tool.ends_after_s for sending in traffic if not sending.starts_after_s]
    known = [end_s for end_s in ends if end_s is not None]
    if not known or len(known) != len(traffic):
        return pace
    lab_seconds = max(known)
    often_s = min(lab_seconds / SAMPLES_AT_MOST, MINUTE_S)
    return replace(pace, lab_seconds=lab_seconds, sample_every_s=max(pace.sample_every_s, often_s))
