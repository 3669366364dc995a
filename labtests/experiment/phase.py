"""One phase of an experiment: quiet window, counters, traffic with samples, settled counters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.device import PfcWarnings, RdmaDevices, WatchdogMessages, Watermarks
from labtests.capabilities.readings import DeviceLog, PfcWarning, Reading, WatchdogMessage
from labtests.capabilities.settings import BUFFER_THRESHOLDS
from labtests.core.errors import DeviceError
from labtests.experiment.crossings import crossings, returns
from labtests.experiment.failing import Failing, FailingLinks, failing_links
from labtests.experiment.negotiating import dcbx_seen
from labtests.experiment.pace import Pace, Span
from labtests.experiment.reachability import unreachable
from labtests.experiment.refresh import still
from labtests.experiment.roles import Role, Roles
from labtests.experiment.settings import (
    DeviceSettings,
    Places,
    SettingSeen,
    set_by_others,
    settings_seen,
)
from labtests.experiment.storming import ReceiverStorm, storming
from labtests.experiment.streaming import StreamsOfPhase
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.measure.evidence import (
    LIVE,
    CnpClass,
    CycleHop,
    Difference,
    Evidence,
    Key,
    Place,
    Refresh,
)
from labtests.measure.telemetry import Telemetry, Watch
from labtests.verdicts import out_of_balance
from labtests.workloads import FlowTool, Party, PauseStorm, Stream, incast

SETTLING = frozenset(
    {
        c.QUEUE_FORWARDED_PACKETS,
        c.QUEUE_DROPPED_PACKETS,
        c.PFC_RX_FRAMES,
        c.PFC_TX_FRAMES,
        c.TX_PACKETS,
        c.RX_PACKETS,
        c.NP_CNP_SENT,
        c.RP_CNP_HANDLED,
        c.RP_CNP_IGNORED,
        c.NP_ECN_MARKED_PACKETS,
    }
)
"""Counters that must stand still before the second snapshot counts."""
REFRESHES = 1.25
"""Between two reads that are so many refresh periods apart there was a refresh for certain."""
OF_CLASSES = frozenset({c.TX_PACKETS, c.RX_PACKETS})
"""Those of them that a port with classes counts for each class, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderPart:
    """One flow: who sends by which tool. `to`: whom it sends to, where that is not the receiver."""

    role: Role
    tool: FlowTool
    starts_after_s: float
    to: Role | None = None
    lasts_s: float | None = None  # of the whole traffic; None: as the pace has it


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRecord:
    """What a phase saw, and the settings it ran under, as read back."""

    evidence: Evidence
    settings: tuple[SettingSeen, ...] = ()
    exact: tuple[Mapping[str, Any], ...] = ()  # a simulated lab's own state, which nobody judges


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase, ready to run."""

    lab: Lab
    roles: Roles
    pace: Pace
    name: str
    control: bool
    progress: Callable[[str], None]
    idle: tuple[Difference, ...] = ()
    refresh: Refresh = LIVE
    shown: frozenset[Key] = frozenset()
    mtu_bytes: int | None = None
    own_mtu_bytes: Mapping[str, int] = field(default_factory=dict)
    storm: PauseStorm | None = None
    failing: Failing | None = None
    cycle: tuple[CycleHop, ...] = ()
    beside: Places = ()
    warnings: bool = False  # what the senders' switches log of pause frames is read, too
    dcbx: bool = False  # and what DCBX has come to at the senders' cables
    watermarks: bool = False  # and the most that their ports held
    roce: bool = False  # and what its switches, in RoCE mode, count of RoCE
    sampled_hosts: bool = False  # samples have what NICs sent and got, too

    def planned(self) -> Evidence:
        """No traffic, no evidence: what a `--plan` run has instead of a phase."""
        return self._evidence((), self.lab.clock.now_s())

    def run(self, traffic: tuple[SenderPart, ...]) -> PhaseRecord:
        """Run it to its end and return everything it saw, raw."""
        self.lab.expect_lease()  # traffic disturbs whoever has the lab by now
        counters = _Counters(Telemetry(self.lab, self.lab.clock), self._watch())
        streams = StreamsOfPhase(self.lab, self._watch(), self.pace)
        streams.begin()
        self._say("quiet window")
        seen = self._settings()
        by_others = set_by_others(self.lab, seen)
        evidence = self._at_rest(traffic, seen, counters)
        logged, forgotten = self._logged(), self._peaks(forget=True)
        watched = self._watchdog_logged()
        streams.quiet()
        evidence = self._under_traffic(evidence, traffic, counters, streams)
        evidence = self._settled(evidence, counters)
        peaks = (forgotten, self._peaks())
        logs = tuple(zip(logged, self._logged(), strict=True))
        watchdog_logs = tuple(zip(watched, self._watchdog_logged(), strict=True))
        evidence = self._with_late_counters(evidence, counters.all)
        refresh = still(self.lab, self.roles, self.refresh)
        agreed = dcbx_seen(self.lab, self.roles) if self.dcbx else ()
        self.lab.expect_lease()  # what was seen is of our settings only while nobody else sets any
        changed = by_others + self._settings(after=True).changed_since(seen)
        evidence = replace(evidence, refresh=refresh, changed=changed, warnings=logs, peaks=peaks)
        evidence = replace(evidence, dcbx=agreed, streamed=streams.end())
        evidence = replace(evidence, watchdog_logs=watchdog_logs, watchdog=seen.watchdog)
        return PhaseRecord(evidence=evidence, settings=seen.settings, exact=streams.exact())

    def _logged(self) -> tuple[DeviceLog[PfcWarning], ...]:
        """What the senders' switches, and the receiver's, have logged so far."""
        switches = dict.fromkeys(role.switch.device for role in self.roles.hosts)
        return tuple(
            self.lab.ask(name, self.lab.part(name, PfcWarnings).pfc_warnings())
            for name in (switches if self.warnings else ())
        )

    def _watchdog_logged(self) -> tuple[DeviceLog[WatchdogMessage], ...]:
        """What the stormed switch has logged of its watchdog so far, where it does."""
        name = self.roles.receiver.switch.device
        able = self.lab.able(WatchdogMessages) if self.storm is not None else {}
        return (self.lab.ask(name, able[name].watchdog_log()),) if name in able else ()

    @property
    def span(self) -> Span:
        """How long it takes."""
        wait_s = 2 * self._age_s()
        return self.pace.phase + Span(least_s=wait_s, most_s=wait_s)

    @property
    def _watermarked(self) -> tuple[Endpoint, ...]:
        ports = dict.fromkeys(role.switch for role in self.roles.senders)
        return tuple(ports) if self.watermarks else ()

    def _age_s(self) -> float:
        """What is longer ago is in all watermarks."""
        parts = {at.device: self.lab.part(at.device, Watermarks) for at in self._watermarked}
        ages = [self.lab.ask(name, part.watermark_age_s()) for name, part in parts.items()]
        return max(ages, default=0.0)

    def _peaks(self, *, forget: bool = False) -> tuple[Reading, ...]:
        """Of the ports opposite the senders, with all in it that has happened so far; and of the
        time from now on."""
        ports = self._watermarked
        parts = {at.device: self.lab.part(at.device, Watermarks) for at in ports}
        if age_s := self._age_s():
            self._say(f"waiting {age_s:g} s until watermarks have all that has happened")
            self.lab.clock.sleep(age_s)
        for name, part in parts.items() if forget else ():
            self.lab.expect_lease()
            self.lab.ask(name, part.forget_watermarks())
        each = (self.lab.ask(at.device, parts[at.device].watermarks(at.interface)) for at in ports)
        return tuple(reading for readings in each for reading in readings)

    def _at_rest(
        self, traffic: tuple[SenderPart, ...], seen: DeviceSettings, counters: "_Counters"
    ) -> Evidence:
        """Who sends what where, and the first read of the quiet window."""
        everything, traffic = traffic, loads(traffic)
        places = tuple(self._place(s.role, s.tool.tos, seen) for s in traffic)
        return replace(
            self._evidence(places, self.lab.clock.now_s()),
            receivers=self._towards(traffic, seen),
            unreachable=tuple(self._unreachable(everything)),
            refresh=self.refresh,
            crossings=crossings(self.roles, seen.queues, [(s.role, s.tool.tos) for s in traffic]),
            cnp=self._cnp_class(seen),
            pfc=seen.pfc,
            quiet_before=counters.all(),
        )

    def _under_traffic(
        self,
        evidence: Evidence,
        traffic: tuple[SenderPart, ...],
        counters: "_Counters",
        streams: StreamsOfPhase,
    ) -> Evidence:
        """The rest of the quiet window, and the traffic to its end."""
        clock, receiver = self.lab.clock, self.roles.receiver
        clock.sleep(max(self.pace.quiet_s, self.refresh.seconds or 0.0))
        asked_s = clock.now_s()
        before = counters.all()
        samples: list[Reading] = []
        started_s = clock.now_s()
        streams.traffic(evidence.senders)
        self._say(f"traffic for {self.pace.lab_seconds:g} s")
        with (
            storming(self.storm, receiver, self.lab.transports[receiver.name], clock) as storm,
            failing_links(self.lab, self.failing) as links,
        ):
            flows = incast(
                tuple(self._stream(s) for s in traffic),
                clock=clock,
                duration_s=self.pace.lab_seconds,
                during=partial(
                    _meanwhile, storm, links, lambda: samples.extend(counters.sampled())
                ),
                sample_every_s=self.pace.sample_every_s,
                sample_takes_s=started_s - asked_s,  # a snapshot is a sample and more
                progress=self.progress,
            )
            stormed = None if storm is None else storm.result()
            failed = None if links is None else links.result()
        return replace(
            evidence,
            start_s=started_s,
            end_s=clock.now_s(),
            flows=tuple(f for f, s in zip(flows, traffic, strict=True) if not s.tool.probes),
            probes=tuple(f for f, s in zip(flows, traffic, strict=True) if s.tool.probes),
            before=before,
            samples=tuple(samples),
            storm=stormed,
            failure=failed,
        )

    def _settled(self, evidence: Evidence, counters: "_Counters") -> Evidence:
        """With the last read of the counters, and whether they stood still by then."""
        self._say("waiting for counters to settle")
        step_s, deadline_s = settling(self.pace, self.refresh)
        after, moving = counters.telemetry.settled(
            counters.watch,
            _settling(evidence.before, evidence.senders),
            step_s=step_s,
            deadline_s=deadline_s,
        )
        return replace(evidence, after=after, settled=not moving, restless=in_words(moving))

    def _with_late_counters(
        self, evidence: Evidence, read: Callable[[], tuple[Reading, ...]]
    ) -> Evidence:
        """A switch may refresh some of its counters less often than others, and none of them was
        seen to change here before: what does not add up is read again, for a while. Only while the
        hosts send and get nothing in the classes of the flows, by their own count: else what comes
        now could stand for what is missing. (What balances there are, is of one bottleneck.)"""
        if self.cycle:
            return evidence
        for wait_s in self.pace.late_s:
            if not (sentences := out_of_balance(evidence)):
                break
            self._say(f"re-reading counters that may lag, in {wait_s:g} s: {sentences[0]}")
            self.lab.clock.sleep(wait_s)
            again = replace(evidence, after=read())
            if not _hosts_stood_still(evidence, again):
                break
            evidence = again
        return evidence

    def _evidence(self, places: tuple[Place, ...], start_s: float) -> Evidence:
        receiver, full = self.roles.receiver, self.roles.congested
        return Evidence(
            name=self.name,
            kind="control" if self.control else "experiment",
            backend=self.lab.backend,
            start_s=start_s,
            end_s=start_s,
            line_bits_per_s=self.roles.line_bits_per_s,
            senders=places or tuple(place(r, 0, 0) for r in self.roles.senders),
            receiver=place(receiver, 0, 0),
            transit=tuple((at.device, at.interface) for at in self.roles.transit),
            congested=None if full is None else (full.device, full.interface),
            idle=self.idle,
            shown=self.shown,
            mtu_bytes=self.mtu_bytes,
            own_mtu_bytes=self.own_mtu_bytes,
            cycle=self.cycle,
            classified_by="DSCP" if self.roles.tags is None else "802.1p",
        )

    def _say(self, what: str) -> None:
        kind = "control" if self.control else "experiment"
        self.progress(f"{kind} {self.name!r}: {what}")

    def _settings(self, *, after: bool = False) -> DeviceSettings:
        watchdog = self.storm is not None
        able = (at for at in self._watermarked if self.lab.has(at.device, BUFFER_THRESHOLDS))
        beside = (*self.beside, *((at, BUFFER_THRESHOLDS) for at in able))
        return settings_seen(self.lab, self.roles, watchdog=watchdog, beside=beside, after=after)

    def _watch(self) -> Watch:
        ends = [end for role in self.roles.hosts for end in (role.nic, role.switch)]
        ports: dict[str, tuple[str, ...]] = {}
        for end in dict.fromkeys((*ends, *self.roles.transit)):
            ports[end.device] = (*ports.get(end.device, ()), end.interface)
        bottleneck, failing = self.roles.bottleneck, self.failing.ports if self.failing else ()
        return Watch(
            ports=ports,
            bottleneck=(bottleneck.device, bottleneck.interface),
            cycle=(*(hop.out for hop in self.cycle), *((p.device, p.interface) for p in failing)),
            watchdog=self.storm is not None,
            roce=self.roce,
            sampled_hosts=self.sampled_hosts,
        )

    def _place(self, role: Role, tos: int, seen: DeviceSettings) -> Place:
        """The class a TOS byte gets at the NIC and at the bottleneck, from the maps as read."""
        dscp, at_nic = self.roles.dscp_of(tos), seen.queues.get(role.nic)
        priority = at_nic[dscp] if at_nic is not None else None
        return place(role, priority, seen.queues[self.roles.bottleneck][dscp])

    def _towards(self, traffic: tuple[SenderPart, ...], seen: DeviceSettings) -> tuple[Place, ...]:
        """Where each flow leaves the switches, with its class there; nothing where all of them go
        to the one receiver."""
        to = [sending.to or self.roles.receiver for sending in traffic]
        if set(to) <= {self.roles.receiver}:
            return ()
        places = (self._place(role, s.tool.tos, seen) for role, s in zip(to, traffic, strict=True))
        return tuple(
            replace(there, queue=seen.queues[role.switch][self.roles.dscp_of(s.tool.tos)])
            for there, role, s in zip(places, to, traffic, strict=True)
        )

    def _cnp_class(self, seen: DeviceSettings) -> CnpClass | None:
        """Where the receiver's CNPs go on their way back, by the maps as read."""
        if (cnps := seen.cnps) is None:
            return None
        ports = dict.fromkeys(role.switch for role in self.roles.senders)
        return CnpClass(
            dscp=cnps.dscp,
            interval_us=cnps.interval_us,
            queues=tuple(
                (at.device, at.interface, seen.queues[at][cnps.dscp])
                for at in ports
                if at in seen.queues
            ),
            returns=returns(self.roles, seen.queues, cnps.dscp),
        )

    def _unreachable(self, traffic: Iterable[SenderPart]) -> Iterable[str]:
        for sending in traffic:
            host, to = sending.role.name, sending.to or self.roles.receiver
            found = unreachable(host, self.lab.transports[host], to.address)
            if found is not None:
                yield found

    def _stream(self, sending: SenderPart) -> Stream:
        return Stream(
            sender=self._party(sending.role, sending.tool),
            receiver=self._party(sending.to or self.roles.receiver, sending.tool),
            tool=sending.tool,
            starts_after_s=sending.starts_after_s,
        )

    def _party(self, role: Role, tool: FlowTool) -> Party:
        rdma = self._rdma_device(role.nic) if tool.of_rdma else None
        return Party(
            name=role.name,
            transport=self.lab.transports[role.name],
            address=role.address,
            rdma=rdma,
        )

    def _rdma_device(self, nic: Endpoint) -> str:
        """The RDMA device behind a port, discovered; the testbed file must not say another one."""
        devices = self.lab.part(nic.device, RdmaDevices)
        links = self.lab.ask(nic.device, devices.rdma_links())
        found = {link.interface: link.rdma for link in links}.get(nic.interface)
        stated = self.lab.testbed.port(nic).rdma
        if found is None or stated not in (None, found):
            raise DeviceError(
                nic.device,
                "rdma link",
                f"{nic.interface} belongs to {found or 'no RDMA device'}, testbed says {stated}",
                "correct `rdma:` of this port in the testbed file, or load the RDMA driver",
            )
        return found


def loads(traffic: tuple[SenderPart, ...]) -> tuple[SenderPart, ...]:
    """What fills queues: all but probes."""
    return tuple(sending for sending in traffic if not sending.tool.probes)


@dataclass(frozen=True, slots=True)
class _Counters:
    """Those of the ports that a phase looks at."""

    telemetry: Telemetry
    watch: Watch

    def all(self) -> tuple[Reading, ...]:
        """Every one of them, now."""
        return self.telemetry.snapshot(self.watch)

    def sampled(self) -> tuple[Reading, ...]:
        """Those that are read while the traffic runs."""
        return self.telemetry.sample(self.watch)


def _hosts_stood_still(earlier: Evidence, later: Evidence) -> bool:
    """Whether no packet of the flows' classes left or reached a host between the last reads of the
    two. False where a host does not count its classes."""
    hosts = (*later.senders, *later.receivers, later.receiver)
    classes = [place.priority for place in later.senders]
    keys: list[Key] = [
        (place.device, place.port, "priority", -1 if priority is None else priority, counter)
        for place in hosts
        for priority in classes
        for counter in OF_CLASSES
    ]
    before, now = ({r.key: r.value for r in seen.after} for seen in (earlier, later))
    return all(now.get(key) is not None and now.get(key) == before.get(key) for key in keys)


def _meanwhile(
    storm: ReceiverStorm | None,
    links: FailingLinks | None,
    sample: Callable[[], None],
    now_s: float,
) -> None:
    """What is done while the traffic runs, now and then."""
    if storm is not None:
        storm.begin(now_s)
    if links is not None:
        links.step(now_s)
    sample()


def in_words(keys: frozenset[Key]) -> str:
    """Counters, as a sentence names them; the first of many."""
    named = [f"{d} {p} {scope} {index} {name}" for d, p, scope, index, name in sorted(keys)]
    named = [each.replace(" -1 ", " ") for each in named]
    return ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")


def settling(pace: Pace, refresh: Refresh) -> tuple[float, float]:
    """How far apart two equal reads have to be, and how long they are waited for, in seconds."""
    step_s = max(pace.settle_step_s, REFRESHES * (refresh.seconds or 0.0))
    return step_s, max(pace.settle_deadline_s, 4 * step_s)


def place(role: Role, priority: int | None, queue: int) -> Place:
    """A role's ports, with its class at both of them."""
    return Place(
        device=role.nic.device,
        port=role.nic.interface,
        switch=role.switch.device,
        switch_port=role.switch.interface,
        priority=priority,
        queue=queue,
        link_bits_per_s=role.link_bits_per_s,
    )


def _settling(readings: Iterable[Reading], places: tuple[Place, ...]) -> frozenset[Key]:
    """The counters of the classes under test; those of other people's traffic may go on, and with
    them what a port counts of all classes together."""
    classes = {p.priority for p in places} | {p.queue for p in places}
    whole_ports = {r.key for r in readings if r.index is None and r.counter not in OF_CLASSES}
    return frozenset(
        r.key
        for r in readings
        if r.counter in SETTLING and (r.index in classes or r.key in whole_ports)
    )
