"""An incast, as a suite speaks of it: set the lab, run a phase, judge what was seen."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import Literal

from labtests.capabilities.device import (
    DcqcnWords,
    EcnCurves,
    EcnMarking,
    MemoryLimits,
    QueueShares,
    Shares,
)
from labtests.capabilities.records import (
    DcbxControl,
    DcbxSetting,
    DcqcnSetting,
    EcnSetting,
    MarkingCurve,
    PfcAlarm,
    PfcSetting,
    PortPauseTimeout,
    SchedulingSetting,
    TrustSetting,
    WatchdogTimes,
)
from labtests.capabilities.settings import (
    BUFFER_THRESHOLDS,
    DCBX,
    DCBX_CONTROL,
    DCQCN_NP,
    DCQCN_RP,
    ECN,
    NOTIFICATION_POINT,
    PAUSE_TIMEOUT,
    PFC,
    PFC_ALARM,
    PFC_WATCHDOG,
    REACTION_POINT,
    SCHEDULING,
    TRUST,
    WATCHDOG_TIMES,
    Kind,
    T,
)
from labtests.core.errors import CommandRejected
from labtests.core.units import dscp_of_tos
from labtests.experiment import choosing, patterns
from labtests.experiment.classes import ClassRounds
from labtests.experiment.failing import Failing
from labtests.experiment.fitting import Class, NotHere, at_the_trunk
from labtests.experiment.judging import Judged, NotPassed
from labtests.experiment.negotiating import dcbx_of, settled
from labtests.experiment.pace import MINUTE_S, SAMPLES_AT_MOST, Pace, Span
from labtests.experiment.patterns import Pattern
from labtests.experiment.phase import Phase, PhaseRecord, SenderPart
from labtests.experiment.refresh import measure
from labtests.experiment.roles import Role, Roles, roles_of, ways_in, ways_out, with_bystanders
from labtests.experiment.traffic import Traffic, mtus_of
from labtests.inventory import Endpoint
from labtests.lab.changes import Wanted
from labtests.lab.lab import Lab
from labtests.measure.evidence import Difference, Evidence, Refresh
from labtests.verdicts import Limits, Thresholds, Verdict, lossless, ran_on, sound, sound_among
from labtests.workloads import FlowTool, PauseStorm, Perftest

DROPPED = "dropped_packets grew by"
"""Why a control that drops on purpose is red."""

PATIENCE = 4.0
"""Of the time that transfers take when they fill the line: who is not done then is too late."""

FLOWS_EACH = 4
FAILS_AFTER, FAILS_FOR, FAILURE_LOADS = 1.0, 1.0, 4.0
"""In times of a load: when a link fails, how long it is down, and how long all goes on."""
FILLING_S, REST_SAMPLES, REST_REFRESHES = 1.0, 5, 2.0
"""Of a long storm: until a switch has paused the senders, and what comes after that."""

QUEUES, EQUAL_SHARE = 8, 12
"""Queues of a port; and percent of each when all have the same."""


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
    measured: Callable[[bool], Refresh] | None = None  # True: anew; None: by this one itself
    phases: list[PhaseRecord] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    planned: list[Span] = field(default_factory=list)  # in a plan: how long each phase would take
    soak_s: float | None = None
    controls: tuple[Evidence, ...] = field(default=(), init=False)
    watches_dcbx: bool = field(default=False, init=False)
    _refresh: Refresh | None = field(default=None, init=False)
    _watermarks: bool = field(default=False, init=False)
    _sampled_hosts: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.roles: Roles = self._own_roles()

    def _own_roles(self) -> Roles:
        """Who takes part, by the testbed."""
        return roles_of(self.lab.testbed)

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

    @cached_property
    def traffic(self) -> Traffic:
        """What the senders can be asked, by their links and MTU."""
        mtus = mtus_of(self.lab, self.roles.hosts)
        return Traffic(roles=self.roles, pace=self.pace, own_mtu_bytes=mtus)

    # -- settings ----------------------------------------------------------------------------

    def set(self, at: Endpoint, kind: Kind[T], wanted: T) -> None:
        """One setting of one port, put back when the test ends."""
        self.lab.change(at, kind, wanted)

    def trust_dscp(self) -> None:
        """Every port of the incast, NIC or switch, that can classify otherwise does it by DSCP."""
        ends = [end for role in self.roles.hosts for end in (role.nic, role.switch)]
        for at in (*ends, *self.roles.transit):
            if self.lab.has(at.device, TRUST):
                self.set(at, TRUST, TrustSetting(source="dscp"))

    def trust_tags(self) -> None:
        """The same by the 802.1p priority of packets' tags. A lab whose hosts send none skips the
        test, with the reason."""
        self.roles = replace(self.roles, tags=choosing.tags_of(self.lab, self.roles))
        ends = [end for role in self.roles.hosts for end in (role.nic, role.switch)]
        for at in (*ends, *self.roles.transit):
            self.set(at, TRUST, TrustSetting(source="dot1p"))

    def tagged(self, priority: int) -> Class:
        """A class whose packets have this 802.1p priority in their tags. Skips a lab whose hosts
        give it to none."""
        tags = self.roles.tags or ()
        if priority not in tags:
            raise NotHere(
                f"no TOS gives a packet the 802.1p priority {priority}: the hosts' egress-qos-maps "
                f"lead to {', '.join(map(str, sorted(set(tags)))) or 'none'}"
            )
        return Class(tos=tags.index(priority) << 2)

    def with_bystanders(self) -> None:
        """From here on every host that the testbed names in `roles:` has a part, as patterns give
        it one, and its ports are set and watched like the others'."""
        self.roles = with_bystanders(self.lab.testbed, self.roles)

    def expect_equal_links(self) -> None:
        """Hosts have links of one speed, and cables between switches are no bottleneck. A lab that
        is not so skips the test, with the reason."""
        cables = [self.lab.testbed.link_of(end) for end in self.roles.transit]
        self.traffic.expect_equal_links(float(c.speed_bits_per_s) for c in cables if c is not None)

    def expect_senders(self, *, at_most: int | None = None, at_least: int = 2) -> None:
        """No more than these, and no fewer. Another lab skips the test, with the reason."""
        if at_most is not None and len(self.senders) > at_most:
            raise NotHere(f"the suite is for {at_most} senders at most; there are more here")
        if len(self.senders) < at_least:
            raise NotHere(
                f"the suite is for {at_least} senders or more; there are {len(self.senders)} here"
            )

    def equal_ways(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Of each switch that senders are plugged into and that has several equally short ways to
        the receiver: the ports that they begin with. A lab without one skips the test, with the
        reason."""
        found = ways_out(self.lab.testbed, self.roles)
        if not found:
            raise NotHere("no switch of the senders has two equally short ways to the receiver")
        return found

    def senders_behind(self, switches: Iterable[str], *, times: int) -> dict[str, int]:
        """How many flows come by each of these switches, of so many by each sender."""
        plugged = Counter(role.switch.device for role in self.senders)
        return {switch: times * plugged[switch] for switch in switches}

    def failing(self, *, every: bool = False) -> Failing:
        """The first cable into the receiver's switch fails a while after the start, at its far end,
        and comes back: switches further away have to be told. `every`: all of them, for twice as
        long."""
        ports = ways_in(self.lab.testbed, self.roles)
        return Failing(
            ports=ports if every else ports[:1],
            after_s=FAILS_AFTER * self.pace.load_s,
            lasting_s=(2 if every else 1) * FAILS_FOR * self.pace.load_s,
        )

    def at_the_trunk(self) -> None:
        """The bottleneck is the port on the cable between switches that all senders share, which is
        full first. A lab without such a cable skips the test, with the reason."""
        self.roles = at_the_trunk(self.roles)

    def tell_by_dcbx(self, version: Literal["rev100", "rev101", "standard"]) -> None:
        """The switch ports opposite hosts tell them of PFC and ETS, in this version, where switches
        can be told so."""
        for role in self.roles.hosts:
            if self.lab.has(role.switch.device, DCBX):
                self.set(role.switch, DCBX, DcbxSetting(tells=True, version=version))

    def watch_dcbx(self) -> None:
        """From now on, each phase reads what DCBX has come to at the senders' cables."""
        self.watches_dcbx = True

    def give_to_firmware(self) -> None:
        """DCBX in the senders' NICs sets their PFC and ETS. A lab whose NICs speak none skips the
        test, with the reason."""
        for role in self.senders:
            self.set(role.nic, DCBX_CONTROL, DcbxControl(by="firmware"))
            if self.lab.planned is None:
                host, _ = dcbx_of(self.lab, role)
                if host.willing is not True:
                    raise NotHere(
                        f"{host.device} {host.port} takes nothing over by DCBX: {host.unknown}"
                    )

    def let_dcbx_settle(self) -> None:
        """Until the senders have taken over what their switch ports tell, or it takes too long."""
        if self.lab.planned is None and not settled(self.lab, self.roles):
            self.progress("DCBX has not settled: hosts and switch ports show different priorities")

    def lossless_at_hosts(self) -> frozenset[int]:
        """The priorities for which PFC works at any of the senders now."""
        each = (dcbx_of(self.lab, role)[0].in_force for role in self.senders)
        return frozenset().union(*(some or () for some in each))

    def serve_equally(self) -> None:
        """Every queue of the bottleneck gets the same share."""
        self.serve((EQUAL_SHARE,) * QUEUES)

    def serve_alike(self, queues: AbstractSet[int]) -> None:
        """These queues of the bottleneck get the same share, where its scheduler can be told and
        would serve one of them before, or more than, another."""
        if self.lab.has(self.bottleneck.device, SCHEDULING):
            shares = {replace(q, queue=0) for q in self.served.queues if q.queue in queues}
            if len(shares) > 1:
                self.serve_equally()

    def serve_first(self, queue: int) -> None:
        """This queue has strict priority over the others, at the bottleneck and behind it. Those
        keep their shares where they have any of the same kind, else all get the same."""
        for at in (self.bottleneck, *self.roles.behind):
            self._serve_first(at, queue)

    def serve_cnps_first(self) -> None:
        """The same for the queue of the receiver's CNPs, at each port that they leave a switch by.
        A lab whose receiver does not tell their DSCP, or a port where others have it, skips it."""
        nic, shared = self.receiver.nic, self.queues
        cnps = self.lab.ask(nic.device, choosing.cnps_asked(self.lab, nic))
        dscp = 0 if cnps is None else cnps.dscp
        if shared[dscp] == shared[0]:
            raise NotHere(f"{nic.device}: its CNPs (DSCP {dscp}) have no queue of their own")
        for at in (*(role.switch for role in self.senders), *self.roles.transit):
            self._serve_first(at, choosing.queues_at(self.lab, at, self.roles.tags)[dscp])

    def _serve_first(self, at: Endpoint, queue: int) -> None:
        shares: Shares = tuple(None if n == queue else EQUAL_SHARE for n in range(QUEUES))
        wanted = self.lab.part(at.device, QueueShares).scheduling_for(shares)
        now = self.lab.ask(at.device, self.lab.setting(at, SCHEDULING).read(at.interface))
        kinds = [(each.discipline, each.unit) for each in (now, wanted)]
        if kinds[0] == kinds[1] and all(each.group != "sp" for each in now.queues):
            pairs = zip(now.queues, wanted.queues, strict=True)
            kept = (new if new.queue == queue else old for old, new in pairs)
            wanted = replace(wanted, queues=tuple(kept))
        self.set(at, SCHEDULING, wanted)

    def serve(self, shares: Shares) -> None:
        """The queues of the bottleneck get these shares. A port whose scheduler has no way there
        (tc's prio) skips the test, with the reason."""
        wanted = self.lab.part(self.bottleneck.device, QueueShares).scheduling_for(shares)
        step = self.lab.step(Wanted(self.bottleneck, SCHEDULING, wanted))
        try:
            self.lab.ask(self.bottleneck.device, step)
        except CommandRejected as refused:  # nothing was sent
            raise NotHere(f"{refused.device}: {refused.problem}; {refused.remedy}") from refused
        self.set(self.bottleneck, SCHEDULING, wanted)

    @property
    def served(self) -> SchedulingSetting:
        """How the bottleneck says that it serves its queues."""
        at = self.bottleneck
        return self.lab.ask(at.device, self.lab.setting(at, SCHEDULING).read(at.interface))

    @property
    def queues(self) -> tuple[int, ...]:
        """The queue of each DSCP at the bottleneck, by its maps as read."""
        return choosing.queues_at(self.lab, self.bottleneck, self.roles.tags)

    def queue_of(self, traffic: Class) -> int:
        """The queue of the bottleneck that this class goes to."""
        return self.queues[dscp_of_tos(traffic.tos)]

    def priority_of(self, traffic: Class) -> int:
        """The priority that the hosts give this class."""
        return self._maps.priority_of(dscp_of_tos(traffic.tos))

    def classes(self, *dscps: int, paused: bool = False, rdma: bool = False) -> tuple[Class, ...]:
        """As many classes of traffic, each in a queue of its own: of these DSCPs where they have
        one, else of others. `paused`: hosts and switch mean the same priority by each. `rdma`: none
        is in the queue of the receiver's CNPs. A lab whose maps do not have as many skips the test,
        with the reason."""
        maps = choosing.maps_of(self.lab, self.roles, rdma=rdma)
        return tuple(Class(tos=dscp << 2) for dscp in choosing.chosen(maps, dscps, paused=paused))

    @property
    def _maps(self) -> choosing.Maps:
        return choosing.maps_of(self.lab, self.roles)

    def pfc_at_switch(self, wanted: PfcSetting) -> None:
        """PFC of the switch ports opposite the senders, and of those between switches: a pause goes
        back from switch to switch."""
        for at in (*(role.switch for role in self.senders), *self.roles.transit):
            self.set(at, PFC, wanted)

    def lossless_on_the_way(self, priority: int) -> None:
        """PFC of this priority alone: at the switches, the receiver's port too, and at the NICs."""
        wanted = PfcSetting(mode="on", priorities=frozenset({priority}))
        for at in (*(role.switch for role in self.roles.hosts), *self.roles.transit):
            self.set(at, PFC, wanted)
        for role in self.roles.hosts:
            self.set(role.nic, PFC, wanted)

    def storm(self, priority: int, lasting_ms: int, *, times: int, apart_s: float) -> PauseStorm:
        """Pause frames of the receiver, without end for so long, and again after a while."""
        return PauseStorm(
            priority=priority,
            lasting_ms=lasting_ms,
            times=times,
            apart_s=apart_s,
            link_bits_per_s=self.receiver.link_bits_per_s,
        )

    def no_pfc_anywhere(self) -> None:
        """PFC off at the switches that have it, the receiver's port too."""
        for at in self._switch_ports(PFC):
            self.set(at, PFC, PfcSetting(mode="off", priorities=frozenset()))

    def no_red_anywhere(self) -> None:
        """No RED at the switches that have it: it would drop what cannot be marked."""
        for at in self._switch_ports(ECN):
            self.set(at, ECN, EcnSetting())

    def plain_queues(self) -> None:
        """Queues of the switches fill and drop, whatever profile is in force: no PFC, no RED."""
        self.no_pfc_anywhere()
        self.no_red_anywhere()

    def _switch_ports(self, kind: Kind[T]) -> tuple[Endpoint, ...]:
        """Those on the way that have this setting."""
        opposite = (*(role.switch for role in self.roles.hosts), self.bottleneck)
        ports = (*opposite, *self.roles.transit, *self.roles.behind)
        return tuple(at for at in dict.fromkeys(ports) if self.lab.has(at.device, kind))

    def sample_hosts(self) -> None:
        """In every phase from now on, samples have what NICs sent and got, too."""
        self._sampled_hosts = True

    def long_storm(self, priority: int) -> PauseStorm:
        """One that lasts so long that a part of it, at rest, is seen in some samples, however
        seldom the switch refreshes its counters."""
        refresh_s = 0.0
        if self.lab.planned is None:
            refresh_s = self._measured_refresh().seconds or 0.0
        rest_s = REST_REFRESHES * refresh_s + REST_SAMPLES * self.pace.sample_every_s
        return self.storm(priority, round(1000 * (FILLING_S + rest_s)), times=1, apart_s=0.5)

    def no_watchdog(self) -> None:
        """No queue of the bottleneck is shut because it is paused for long."""
        if self.lab.has(self.bottleneck.device, PFC_WATCHDOG):
            self.set(self.bottleneck, PFC_WATCHDOG, "off")

    def read_watermarks(self) -> None:
        """Every phase from now on tells the most that the senders' switch ports held in it."""
        self._watermarks = True

    def limits(self) -> Limits:
        """What the ports opposite the senders may hold, as they tell it."""
        ports = dict.fromkeys(role.switch for role in self.senders)
        parts = {at: self.lab.part(at.device, MemoryLimits) for at in ports}
        return {
            (at.device, at.interface): self.lab.ask(at.device, part.memory_limits(at.interface))
            for at, part in parts.items()
        }

    @contextmanager
    def headroom_at_switch(self, amount: int) -> Iterator[None]:
        """Inside, the lossless priorities of the ports opposite the senders have so much headroom,
        in each device's own unit, and no more; all else is as it was."""
        with self.lab.restoring():
            for at in dict.fromkeys(role.switch for role in self.senders):
                setting = self.lab.setting(at, BUFFER_THRESHOLDS)
                now = self.lab.ask(at.device, setting.read(at.interface))
                self.set(at, BUFFER_THRESHOLDS, tuple(replace(e, headroom=amount) for e in now))
            yield

    def watch_for_storms(self, times: WatchdogTimes) -> None:
        """The PFC watchdog of the bottleneck's switch works with these times, where they can be
        set, at the bottleneck."""
        at = self.bottleneck
        place = self.lab.place(at, WATCHDOG_TIMES)
        self.set(place, WATCHDOG_TIMES, times.suiting(self.lab.current(place, WATCHDOG_TIMES)))
        self.set(at, PFC_WATCHDOG, "on" if times.on else "off")

    def drop_after(self, timeout: PortPauseTimeout) -> None:
        """The bottleneck's switch drops all that a port has to send which is paused for so long."""
        self.set(self.lab.place(self.bottleneck, PAUSE_TIMEOUT), PAUSE_TIMEOUT, timeout)

    def warn_of_pauses(
        self, thresholds: Thresholds, way: Literal["received", "sent"] = "sent"
    ) -> None:
        """Each of these ports warns when it sends, or receives, so many pause frames a second."""
        allowed: dict[Endpoint, tuple[tuple[int, int], ...]] = {}
        for (device, port, priority), frames in sorted(thresholds.items()):
            at = Endpoint(device=device, interface=port)
            allowed[at] = (*allowed.get(at, ()), (priority, frames))
        for at, numbers in allowed.items():
            alarm = PfcAlarm(sent=numbers) if way == "sent" else PfcAlarm(received=numbers)
            self.set(at, PFC_ALARM, alarm)

    def ecn_at_bottleneck(self, wanted: EcnSetting) -> None:
        """What the bottleneck marks."""
        self.set(self.bottleneck, ECN, wanted)

    def marking(self, queues: AbstractSet[int]) -> EcnSetting:
        """A setting of the bottleneck that marks in these queues, by the switch's own curve."""
        return self.lab.part(self.bottleneck.device, EcnMarking).ecn_on(queues)

    def marking_between(
        self, queue: int, low: int, high: int, *, percent: int, weighting_exponent: int
    ) -> EcnSetting:
        """A setting of the bottleneck that marks in this queue alone, from `low` to `high` of the
        switch's own units of its average length, up to this probability."""
        curve = MarkingCurve(
            queue=queue,
            kmin_bytes=low,
            kmax_bytes=high,
            pmax_percent=percent,
            weighting_exponent=weighting_exponent,
        )
        return self.lab.part(self.bottleneck.device, EcnCurves).ecn_for((curve,), cell_bytes=1)

    def dcqcn_everywhere(self, priorities: frozenset[int], *, times: int = 1) -> None:
        """RP of every sender and NP of the receiver on these priorities, off on the others. A lab
        in which marks come too seldom to hold so many times as many senders skips the test."""
        self.traffic.expect_marks_in_time(times)
        for role in self.senders:
            self.set(role.nic, REACTION_POINT, priorities)
        self.set(self.receiver.nic, NOTIFICATION_POINT, priorities)

    def space_cnps(self, interval_us: int) -> None:
        """The receiver's notification point leaves so long between two CNPs of one flow."""
        self._dcqcn(self.receiver, DCQCN_NP, "roce_np", {"cnp_interval_us": interval_us})

    def reaction_point(self, sender: Role, **values: int) -> None:
        """These parameters of its reaction point, by the field's names (docs/profiles.md)."""
        self._dcqcn(sender, DCQCN_RP, "roce_rp", values)

    def _dcqcn(
        self,
        role: Role,
        kind: Kind[DcqcnSetting],
        side: Literal["roce_rp", "roce_np"],
        values: Mapping[str, int],
    ) -> None:
        part = self.lab.part(role.nic.device, DcqcnWords)
        own = dict(self.lab.current(role.nic, kind).values) | dict(
            part.dcqcn_for(side, values).values
        )
        self.set(role.nic, kind, DcqcnSetting(side=side, values=tuple(sorted(own.items()))))

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
        return replace(self.traffic, roles=replace(self.roles, senders=behind)).alone(traffic)

    def steady(self, storm: PauseStorm, *classes: Class) -> tuple[SenderPart, ...]:
        """The same for as long as these storms take, and a little longer."""
        every_s = storm.every_s + self.pace.sample_every_s  # each begins when a sample is taken
        pace = replace(self.pace, load_s=ceil(storm.times * every_s) + 1)
        return replace(self.traffic, pace=pace).loads(*classes)

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

    def pressed(self, slowing: FlowTool, deaf: FlowTool) -> tuple[SenderPart, ...]:
        """One of two senders all the time, the other for a part of it, as `Traffic.pressed`."""
        return self.traffic.pressed(tuple(patterns.two_to_one(self.roles)), slowing, deaf)

    def overload_each(self, traffic: Class) -> tuple[SenderPart, ...]:
        """Each host in turn gets more than its link carries, by UDP from others."""
        return self.traffic.in_turns(tuple(patterns.turns(self.roles)), traffic)

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

    def every_dscp(self) -> tuple[Evidence, ...]:
        """Rounds of counted packets: all 64 DSCPs from every sender."""
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
        """What is asked of every phase."""
        if seen.failure is not None:
            return ran_on(seen)
        return sound_among(seen) if seen.receivers else sound(seen)

    def _measured_refresh(self) -> Refresh:
        """Before the first phase, so that no phase rests on a guess; and behind one in which it was
        found to be another one."""
        if self._refresh is None:
            ask = self.measured or (lambda _: measure(self.lab, self.roles, self.progress))
            self._refresh = ask(bool(self.phases))
        return self._refresh


@dataclass(frozen=True, slots=True, kw_only=True)
class _Also:
    """What happens in a phase beside its traffic, and is read of it."""

    storm: PauseStorm | None = None
    failing: Failing | None = None
    warnings: bool = False

    def beside(self, phase: Phase) -> Phase:
        """The same phase with it."""
        return replace(phase, storm=self.storm, failing=self.failing, warnings=self.warnings)


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
