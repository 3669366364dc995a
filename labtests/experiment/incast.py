"""An incast, as a suite speaks of it: set the lab, run a phase, judge what was seen."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import cycle

from labtests.capabilities import DscpClasses, EcnMarking, Scheduling, Trust
from labtests.evidence import Difference, Evidence, Refresh
from labtests.experiment.classes import ClassRounds
from labtests.experiment.judging import Judged, NotPassed
from labtests.experiment.pace import Pace, Span
from labtests.experiment.phase import Phase, PhaseRecord, Sending
from labtests.experiment.refresh import measure
from labtests.experiment.roles import Role, Roles, roles_of
from labtests.intents import QueueShares, Shares
from labtests.inventory import Endpoint
from labtests.lab import Lab
from labtests.records import EcnSetting, PfcSetting, SchedulingSetting, TrustSetting
from labtests.units import BitsPerSecond, dscp_of_tos
from labtests.verdicts import Verdict, lossless, sound
from labtests.workloads import Iperf3, Perftest

UDP_GOODPUT_SHARE = 65500 / (65500 + 8 + 45 * (20 + 18 + 20))
"""Goodput per line rate of 65 500 B datagrams in 1500 B packets: 45 fragments, each with 20 B of
IP header, 18 B of Ethernet header and FCS, 20 B of preamble and gap; 8 B of UDP once. 0.9616."""

IPERF3_PORT, PERFTEST_PORT = 5201, 18515

QUEUES, EQUAL_SHARE = 8, 12
"""Queues of a port; and percent of each when all have the same."""

DATAGRAM_BYTES = 1472
"""The longest UDP payload in one packet of 1500 B, so that datagrams can be counted as packets."""

ROOMY_BYTES = 400_000
"""Of a socket: what every Linux grants (net.core.wmem_max, 212992 by default, is doubled), so that
a sender which is woken late has something left to send, and a receiver some room."""

WIRE_BYTES = DATAGRAM_BYTES + 8 + 20 + 18 + 20
"""UDP, IP, Ethernet with FCS, preamble and gap around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A traffic class: the TOS byte, and for paced tools the share of line rate it offers."""

    tos: int
    offered_share: float | None = None
    window_bytes: int | None = None  # of the sockets; None: as much as every host grants


@dataclass
class Incast:
    """The lab's senders against its receiver. One per test; what it changes is put back after.

    `idle` is what the check before the run saw grow, `measured` says how often the switches refresh
    their counters: both go with every phase's evidence."""

    lab: Lab
    pace: Pace
    with_controls: bool = True
    progress: Callable[[str], None] = lambda _: None
    idle: tuple[Difference, ...] = ()
    measured: Callable[[], Refresh] | None = None  # asked once; None: measured by this one itself
    phases: list[PhaseRecord] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    planned: list[Span] = field(default_factory=list)  # in a plan: how long each phase would take

    def __post_init__(self) -> None:
        self.roles: Roles = roles_of(self.lab.testbed)
        self.controls: tuple[Evidence, ...] = ()
        self._refresh: Refresh | None = None

    # -- who and where -----------------------------------------------------------------------

    @property
    def senders(self) -> tuple[Role, ...]:
        """In the order they start."""
        return self.roles.senders

    @property
    def receiver(self) -> Role:
        """The host they all send to."""
        return self.roles.receiver

    @property
    def bottleneck(self) -> Endpoint:
        """The switch port opposite the receiver."""
        return self.roles.bottleneck

    @property
    def udp_ceiling_bits_per_s(self) -> float:
        """The most goodput that 65 500 B datagrams can have through the bottleneck."""
        return UDP_GOODPUT_SHARE * self.roles.line_bits_per_s

    # -- settings ----------------------------------------------------------------------------

    def set(self, at: Endpoint, setting: str, wanted: object) -> None:
        """One setting of one port, put back when the test ends."""
        self.lab.change(at, setting, wanted)

    def trust_dscp(self) -> None:
        """Every port of the incast, NIC or switch, that can classify otherwise does it by DSCP."""
        able = self.lab.able(Trust)
        ends = [end for r in (*self.senders, self.receiver) for end in (r.nic, r.switch)]
        for at in (*ends, *self.roles.transit):
            if at.device in able:
                self.set(at, "trust", TrustSetting(source="dscp"))

    def serve_equally(self) -> None:
        """Every queue of the bottleneck gets the same share."""
        self.serve((EQUAL_SHARE,) * QUEUES)

    def serve(self, shares: Shares) -> None:
        """The queues of the bottleneck get these shares."""
        wanted = self.lab.driver(self.bottleneck.device, QueueShares).scheduling_for(shares)
        self.set(self.bottleneck, "scheduling", wanted)

    @property
    def served(self) -> SchedulingSetting:
        """How the bottleneck says that it serves its queues."""
        return self.lab.driver(self.bottleneck.device, Scheduling).scheduling(
            self.bottleneck.interface
        )

    @property
    def queues(self) -> tuple[int, ...]:
        """The queue of each DSCP at the bottleneck, by its map as read."""
        classes = self.lab.driver(self.bottleneck.device, DscpClasses)
        return classes.dscp_map(self.bottleneck.interface)

    def queue_of(self, tos: int) -> int:
        """The queue of the bottleneck that packets with this TOS byte go to."""
        return self.queues[dscp_of_tos(tos)]

    def pfc_at_switch(self, wanted: PfcSetting) -> None:
        """PFC of the switch ports opposite the senders, and of those between switches: a pause goes
        back from switch to switch."""
        for at in (*(role.switch for role in self.senders), *self.roles.transit):
            self.set(at, "pfc", wanted)

    def no_pfc_anywhere(self) -> None:
        """PFC off at the switches, the receiver's port too."""
        self.pfc_at_switch(PfcSetting(mode="off", priorities=frozenset()))
        self.set(self.receiver.switch, "pfc", PfcSetting(mode="off", priorities=frozenset()))

    def ecn_at_bottleneck(self, wanted: EcnSetting) -> None:
        """What the bottleneck marks."""
        self.set(self.bottleneck, "ecn", wanted)

    def marking(self, queues: AbstractSet[int]) -> EcnSetting:
        """A setting of the bottleneck that marks in these queues, by the switch's own curve."""
        return self.lab.driver(self.bottleneck.device, EcnMarking).ecn_on(queues)

    def dcqcn_everywhere(self, priorities: frozenset[int]) -> None:
        """RP of every sender and NP of the receiver on these priorities, off on the others."""
        for role in self.senders:
            self.set(role.nic, "reaction_point", priorities)
        self.set(self.receiver.nic, "notification_point", priorities)

    # -- traffic -----------------------------------------------------------------------------

    def udp(self, early: Class, late: Class) -> tuple[Sending, ...]:
        """The first sender offers one class by iperf3; the others, later, share another."""
        return tuple(
            Sending(
                role=role,
                tool=self._iperf3(number, late if number else early),
                starts_after_s=self.pace.stagger_s if number else 0.0,
            )
            for number, role in enumerate(self.senders)
        )

    def loads(self, *classes: Class) -> tuple[Sending, ...]:
        """Sender by sender one class, and round again, all starting together, in datagrams of one
        packet each; `offered_share` is of the line rate, on the wire."""
        return tuple(
            Sending(role=role, tool=self._load(number, traffic), starts_after_s=0.0)
            for number, (role, traffic) in enumerate(
                zip(cycle(self.senders), classes, strict=False)
            )
        )

    def tcp(self, *classes: Class, streams: int) -> tuple[Sending, ...]:
        """Sender by sender so many TCP connections of one class, as fast as they can."""
        return tuple(
            Sending(
                role=role,
                tool=Iperf3(
                    protocol="tcp",
                    tos=traffic.tos,
                    port=IPERF3_PORT + number,
                    offered_bits_per_s=None,
                    duration_s=self.pace.load_s,
                    parallel=streams,
                    interval_s=self.pace.row_every_s,
                ),
                starts_after_s=0.0,
            )
            for number, (role, traffic) in enumerate(
                zip(cycle(self.senders), classes, strict=False)
            )
        )

    def _load(self, number: int, traffic: Class) -> Iperf3:
        payload = self.roles.line_bits_per_s * DATAGRAM_BYTES / WIRE_BYTES
        return Iperf3(
            protocol="udp",
            tos=traffic.tos,
            port=IPERF3_PORT + number,
            offered_bits_per_s=BitsPerSecond(round((traffic.offered_share or 1.0) * payload)),
            duration_s=self.pace.load_s,
            datagram_bytes=DATAGRAM_BYTES,
            window_bytes=traffic.window_bytes or ROOMY_BYTES,
            interval_s=self.pace.row_every_s,
        )

    def _iperf3(self, number: int, traffic: Class) -> Iperf3:
        starts_s = self.pace.stagger_s if number else 0.0
        shared_by = len(self.senders) - 1 if number else 1
        share = (traffic.offered_share or 1.0) / shared_by
        return Iperf3(
            protocol="udp",
            tos=traffic.tos,
            port=IPERF3_PORT + number,
            offered_bits_per_s=BitsPerSecond(round(share * self.roles.line_bits_per_s)),
            duration_s=round(self.pace.lab_seconds - starts_s),
            interval_s=self.pace.row_every_s,
        )

    def rdma(self, early: Class, late: Class) -> tuple[Sending, ...]:
        """Every sender as fast as it can by ib_send_bw; the others later, in another class."""
        return tuple(
            Sending(
                role=role,
                tool=Perftest(
                    verb="send",
                    tos=(late if number else early).tos,
                    port=PERFTEST_PORT + number,
                    report_every_s=self.pace.row_every_s,
                ),
                starts_after_s=self.pace.stagger_s if number else 0.0,
            )
            for number, role in enumerate(self.senders)
        )

    # -- phases and judging ------------------------------------------------------------------

    def run(self, name: str, traffic: tuple[Sending, ...]) -> Evidence:
        """One phase: quiet window, counters, traffic with samples, settled counters again."""
        return self._phase(name, traffic, control=False)

    def every_dscp(self) -> tuple[Evidence, ...]:
        """Rounds of counted packets, all 64 DSCPs together, from the first sender."""
        rounds = ClassRounds(
            lab=self.lab,
            roles=self.roles,
            pace=self.pace,
            queues=self.queues,
            progress=self.progress,
        )
        if self.lab.planned is not None:
            self.planned.append(rounds.span)
            return (self._ready("every DSCP", (), control=False).planned(),)
        tries = rounds.run()
        self.phases += [record for each in tries for record in each]
        return tuple(each[-1].evidence for each in tries)

    def control(
        self,
        name: str,
        traffic: tuple[Sending, ...],
        red: Callable[[Evidence], tuple[Verdict, ...]],
        because: str = "",
    ) -> None:
        """The same with the mechanism off: every verdict of `red` has to fail on what is seen, and
        to say `because`.

        Left out with --no-controls; then no counter is proven alive.
        """
        if not self.with_controls:
            return
        seen = self._phase(name, traffic, control=True)
        if self.lab.planned is not None:
            return
        self.controls = (*self.controls, seen)
        self.judged += [
            Judged(verdict=verdict, control=True, reason=because) for verdict in red(seen)
        ]

    def must_be_red(self, verdict: Verdict) -> None:
        """A verdict on a claim that is wrong: it has to fail."""
        if self.lab.planned is None and self.with_controls:
            self.judged.append(Judged(verdict=verdict, control=True))

    def unproven(self, verdict: Verdict, *, because: str) -> None:
        """A claim that this evidence can not carry: the verdict has to be inconclusive, and to say
        this. It is the control of the proof that is missing here."""
        if self.lab.planned is None:
            self.judged.append(Judged(verdict=verdict, control=True, unprovable=because))

    def alive(self, name: str, traffic: tuple[Sending, ...], queues: AbstractSet[int]) -> None:
        """A phase that drops on purpose in these queues: the control of their drop counters."""
        self.control(
            name,
            traffic,
            red=lambda seen: tuple(lossless(seen, {q}, alive_in=(seen,)) for q in sorted(queues)),
        )

    def judge(self, *verdicts: Verdict) -> None:
        """Every verdict has to pass and every control to have gone red; otherwise the test is red,
        as fail or as inconclusive. In a plan there is nothing to judge."""
        if self.lab.planned is not None:
            return
        self.judged += [Judged(verdict=verdict, control=False) for verdict in verdicts]
        if not all(j.as_expected for j in self.judged):
            raise NotPassed(self.judged)

    def _ready(self, name: str, traffic: tuple[Sending, ...], *, control: bool) -> Phase:
        return Phase(
            lab=self.lab,
            roles=self.roles,
            pace=_lasting(self.pace, traffic),
            name=name,
            control=control,
            progress=self.progress,
            idle=self.idle,
        )

    def _phase(self, name: str, traffic: tuple[Sending, ...], *, control: bool) -> Evidence:
        phase = self._ready(name, traffic, control=control)
        if self.lab.planned is not None:
            self.planned.append(phase.pace.phase)
            return phase.planned()
        record = replace(phase, refresh=self._measured_refresh()).run(traffic)
        self.phases.append(record)
        self.judged.append(Judged(verdict=sound(record.evidence), control=False))
        return record.evidence

    def _measured_refresh(self) -> Refresh:
        """Before the first phase, so that no phase rests on a guess."""
        if self._refresh is None:
            ask = self.measured or (lambda: measure(self.lab, self.roles, self.progress))
            self._refresh = ask()
        return self._refresh


def _lasting(pace: Pace, traffic: tuple[Sending, ...]) -> Pace:
    """When all start together and end by themselves, a phase is as long as the longest of them."""
    ends = [sending.tool.ends_after_s for sending in traffic if not sending.starts_after_s]
    known = [end_s for end_s in ends if end_s is not None]
    if not known or len(known) != len(traffic):
        return pace
    return replace(pace, lab_seconds=max(known))
