"""How the lab of an incast is set for a suite: queues, pauses, marks, watchdogs, DCBX."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from labtests.capabilities.device import (
    AsymmetricPfc,
    DcqcnWords,
    EcnCurves,
    EcnInBytes,
    EcnMarking,
    EdgeClasses,
    MemoryLimits,
    QueueShares,
    RateLimitedQueues,
    Shares,
)
from labtests.capabilities.records import (
    DcbxControl,
    DcbxSetting,
    DcqcnSetting,
    EcnSetting,
    EdgeRule,
    LossSetting,
    MarkingCurve,
    PfcAlarm,
    PfcSetting,
    PortPauseTimeout,
    RoceMode,
    SchedulingSetting,
    TrustSetting,
    VxlanTunnel,
    WatchdogTimes,
)
from labtests.capabilities.settings import (
    BUFFER_THRESHOLDS,
    CABLE_LENGTH,
    DCBX,
    DCBX_CONTROL,
    DCQCN_NP,
    DCQCN_RP,
    ECN,
    EDGE,
    NOTIFICATION_POINT,
    PACKET_LOSS,
    PAUSE_TIMEOUT,
    PFC,
    PFC_ALARM,
    PFC_WATCHDOG,
    REACTION_POINT,
    ROCE_MODE,
    SCHEDULING,
    TRUST,
    TUNNEL,
    WATCHDOG_TIMES,
    Kind,
    T,
)
from labtests.core.errors import CommandRejected
from labtests.core.units import dscp_of_tos
from labtests.experiment import choosing, fitting
from labtests.experiment.fitting import Class, NotHere
from labtests.experiment.negotiating import dcbx_of, settled
from labtests.experiment.parties import Parties
from labtests.experiment.roles import Role, Roles
from labtests.inventory import Endpoint
from labtests.lab.changes import Wanted
from labtests.verdicts import Limits, Thresholds

ROCE_PORT = 4791
"""UDP port of RoCEv2 (InfiniBand Architecture Specification, annex A17; IANA)."""
QUEUES, EQUAL_SHARE = 8, 12
"""Queues of a port; and percent of each when all have the same."""


VNI, INSIDE, INSIDE_LENGTH, MOST_INSIDE = 4711, "198.18.71.{}", 24, 254
"""Of tunnels: addresses that are set aside for measurements (RFC 2544)."""
VXLAN_BYTES = 50
"""Outer Ethernet, IPv4, UDP and VXLAN header (RFC 7348)."""


def _tunnel(roles: Roles, role: Role, number: int, *, inherit_tos: bool) -> VxlanTunnel:
    """The receiver answers whoever has sent something."""
    return VxlanTunnel(
        vni=VNI,
        address=f"{INSIDE.format(number)}/{INSIDE_LENGTH}",
        remote="" if role == roles.receiver else roles.receiver.address,
        inherits_tos=inherit_tos,
    )


@dataclass
class Prepared(Parties):
    """The parties, set as a suite wants them; all that is changed is put back after the test."""

    progress: Callable[[str], None] = lambda _: None
    watches_dcbx: bool = field(default=False, init=False)
    _watermarks: bool = field(default=False, init=False)
    _sampled_hosts: bool = field(default=False, init=False)
    _in_roce_mode: bool = field(default=False, init=False)

    def set(self, at: Endpoint, kind: Kind[T], wanted: T) -> None:
        """One setting of one port, put back when the test ends."""
        self.lab.change(at, kind, wanted)

    def roce_mode(self, mode: RoceMode) -> None:
        """All switches on the way are in this RoCE mode, the NICs trust DSCP, and each phase from
        now on reads what the switches count of RoCE."""
        self._in_roce_mode = True
        for at in dict.fromkeys(
            self.lab.place(at, ROCE_MODE) for at in self._switch_ports(ROCE_MODE)
        ):
            self.set(at, ROCE_MODE, mode)
        if mode == "lossless":
            self._expect_reach()
        self._trust_dscp(role.nic for role in self.roles.hosts)

    def _expect_reach(self) -> None:
        """The headroom that RoCE mode gives is for cables as long as these, or the test is skipped:
        of a port that was told a length, PFC would be ours, and no more the mode's."""
        for at in self._stopping_ports():
            link = self.lab.testbed.link_of(at)
            if link is None or not self.lab.has(at.device, CABLE_LENGTH):
                continue
            reckoned_m = self.lab.current(at, CABLE_LENGTH)
            if link.length_m > reckoned_m:
                raise NotHere(
                    f"RoCE mode's headroom is for cables of {reckoned_m} m, and that of {at} has "
                    f"{link.length_m:g} m"
                )

    def trust_dscp(self) -> None:
        """Every port of the incast, NIC or switch, that can classify otherwise does it by DSCP."""
        ends = [end for role in self.roles.hosts for end in (role.nic, role.switch)]
        self._trust_dscp((*ends, *self.roles.transit))

    def _trust_dscp(self, ends: Iterable[Endpoint]) -> None:
        for at in ends:
            if self.lab.has(at.device, TRUST):
                self.set(at, TRUST, TrustSetting(source="dscp"))

    def trust_tags(self) -> None:
        """The same by the 802.1p priority of packets' tags. A lab whose hosts send none skips the
        test, with the reason."""
        self.roles = replace(self.roles, tags=choosing.tags_of(self.lab, self.roles))
        ends = [end for role in self.roles.hosts for end in (role.nic, role.switch)]
        for at in (*ends, *self.roles.transit):
            self.set(at, TRUST, TrustSetting(source="dot1p"))

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
        dscp = self.class_of_cnps.tos >> 2
        for at in (*(role.switch for role in self.senders), *self.roles.transit):
            self._serve_first(at, choosing.queues_at(self.lab, at, self.roles.tags)[dscp])

    @property
    def class_of_cnps(self) -> Class:
        """That of the receiver's CNPs. A lab whose receiver does not tell their DSCP, or where
        others are in their queue, skips the test."""
        nic, queues = self.receiver.nic, self.queues
        cnps = self.lab.ask(nic.device, choosing.cnps_asked(self.lab, nic))
        dscp = 0 if cnps is None else cnps.dscp
        if queues[dscp] == queues[0]:
            raise NotHere(f"{nic.device}: its CNPs (DSCP {dscp}) have no queue of their own")
        return Class(tos=dscp << 2)

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
        self._expect(Wanted(self.bottleneck, SCHEDULING, wanted))
        self.set(self.bottleneck, SCHEDULING, wanted)

    def _expect(self, wanted: Wanted[Any]) -> None:
        """This can be set. A device that refuses it skips the test, with its reason."""
        try:
            self.lab.ask(wanted.at.device, self.lab.step(wanted))
        except CommandRejected as refused:  # nothing was sent
            raise NotHere(f"{refused.device}: {refused.problem}; {refused.remedy}") from refused

    def hold_to(self, queue: int, share: float) -> None:
        """This queue of the bottleneck may send no more than this share of line rate. Raises
        LabError where its switch holds no queue to a rate."""
        at, most = self.bottleneck, round(share * self.roles.line_bits_per_s)
        limited = self.lab.part(at.device, RateLimitedQueues).rate_limited(self.served, queue, most)
        self.set(at, SCHEDULING, limited)

    @property
    def served(self) -> SchedulingSetting:
        """How the bottleneck says that it serves its queues."""
        at = self.bottleneck
        return self.lab.ask(at.device, self.lab.setting(at, SCHEDULING).read(at.interface))

    def pfc_at_switch(self, wanted: PfcSetting) -> None:
        """PFC of the switch ports opposite the senders, and of those between switches: a pause goes
        back from switch to switch. That of the receiver stays, but obeys what it sends, no more."""
        self._obey_own(self.bottleneck)
        for at in self._stopping_ports():
            self._pause(at, wanted)

    def _stopping_ports(self) -> tuple[Endpoint, ...]:
        return (*(role.switch for role in self.senders), *self.roles.transit)

    def _pause(self, at: Endpoint, wanted: PfcSetting) -> None:
        """PFC of a switch port; with headroom for its cable, where the port sizes it by a length
        that it is told, and was told a shorter one."""
        self.set(at, PFC, wanted)
        link = self.lab.testbed.link_of(at)
        if wanted.priorities and link is not None and self.lab.has(at.device, CABLE_LENGTH):
            cable_m = math.ceil(link.length_m)
            if self.lab.current(at, CABLE_LENGTH) < cable_m:
                self.set(at, CABLE_LENGTH, cable_m)

    def _obey_own(self, at: Endpoint) -> None:
        """A switch port that can be asymmetric is not."""
        if at.device in self.lab.able(AsymmetricPfc):
            now = self.lab.current(at, PFC)
            if now.asymmetric == "on":
                self.set(at, PFC, replace(now, asymmetric="off"))

    def pfc_at_hosts(self, priority: int) -> None:
        """PFC of this priority alone, at the NICs."""
        for role in self.roles.hosts:
            self.set(role.nic, PFC, PfcSetting(mode="on", priorities=frozenset({priority})))

    def lossless_on_the_way(self, priority: int, *, instead: bool = False) -> None:
        """PFC of this priority alone: at the switches, the receiver's port too, and at the NICs.
        `instead` of another one that they had: a switch that keeps memory for that one alone skips
        the test, with its reason."""
        wanted = PfcSetting(mode="on", priorities=frozenset({priority}))
        ports = (*(role.switch for role in self.roles.hosts), *self.roles.transit)
        for at in ports if instead else ():
            self._expect(Wanted(at, PFC, wanted))
        for at in ports:
            self._pause(at, wanted)
        self.pfc_at_hosts(priority)

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

    def sample_hosts(self) -> None:
        """In every phase from now on, samples have what NICs sent and got, too."""
        self._sampled_hosts = True

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

    def expect_own_headroom(self, priority: int) -> None:
        """Thresholds of this priority are told to the ports opposite the senders, its headroom
        among them: elsewhere neither is known to be in force, or can be made smaller. Skips."""
        for at in dict.fromkeys(role.switch for role in self.senders):
            told = self.lab.ask(
                at.device, self.lab.setting(at, BUFFER_THRESHOLDS).read(at.interface)
            )
            own = {each.priority: each.headroom for each in told}
            if self.lab.planned is None and own.get(priority) is None:
                raise NotHere(
                    f"{at}: no headroom is among the thresholds that priority {priority} is told "
                    "to have: it cannot be made smaller, and a control has to show what that loses"
                )

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

    @contextmanager
    def losing(self, queue: int, per_million: int) -> Iterator[None]:
        """Inside, this queue of the bottleneck loses so many of a million packets at random; then
        none again, as before."""
        with self.lab.restoring():
            wanted = LossSetting(losses=((queue, per_million),))
            self.set(self.bottleneck, PACKET_LOSS, wanted)
            yield

    @contextmanager
    def tunnels(self, *, inherit_tos: bool = True) -> Iterator[None]:
        """Inside, senders reach the receiver by VXLAN tunnels over their ports, and traffic has the
        MTU of these. `inherit_tos`: outer headers have the DSCP of the inner ones. A lab with more
        senders than tunnels have addresses, or several on one host, skips the test."""
        roles, traffic = self.roles, self.traffic
        hosts = [role.name for role in (*roles.senders, roles.receiver)]
        if len(set(hosts)) < len(hosts) or len(hosts) > MOST_INSIDE:
            raise NotHere(f"tunnels are for up to {MOST_INSIDE} hosts, of one link each")
        with self.lab.restoring():
            for number, role in enumerate((roles.receiver, *roles.senders), 1):
                self.set(role.nic, TUNNEL, _tunnel(roles, role, number, inherit_tos=inherit_tos))
            inside = INSIDE.format(1)
            self.roles = replace(
                roles,
                receiver=replace(roles.receiver, address=inside),
                outer_dscp=None if inherit_tos else 0,
            )
            mtus = {name: mtu - VXLAN_BYTES for name, mtu in traffic.own_mtu_bytes.items()}
            self.traffic = replace(traffic, roles=self.roles, own_mtu_bytes=mtus)
            try:
                yield
            finally:
                self.roles, self.traffic = roles, traffic

    def only_roce_in(self, *classes: Class, remarks: bool = True) -> int:
        """At each port opposite a host RoCE (UDP port 4791) with the DSCP of one of these classes,
        or that of the receiver's CNPs, gets the queue that the maps have for it. All else gets the
        DSCP that is returned, which the map of no port and NIC has in one of their classes, and its
        queue; without `remarks`, that queue alone."""
        nic = self.receiver.nic
        cnps = self.lab.ask(nic.device, choosing.cnps_asked(self.lab, nic))
        dscps = [dscp_of_tos(each.tos) for each in classes]
        dscps += [] if cnps is None else [cnps.dscp]
        edges = tuple(dict.fromkeys(role.switch for role in self.roles.hosts))
        switches, nics = (*edges, *self.roles.transit), [role.nic for role in self.roles.hosts]
        maps = {at: choosing.queues_at(self.lab, at) for at in (*switches, *nics)}
        beside = [
            d for d in range(64) if not any(m[d] == m[o] for m in maps.values() for o in dscps)
        ]
        rest = next((d for d in beside if len({maps[at][d] for at in switches}) == 1), None)
        if rest is None:
            raise NotHere(f"the maps have no class beside those of the DSCPs {dscps}")
        for at in edges:
            rules = tuple(EdgeRule(udp_port=ROCE_PORT, dscp=d, queue=maps[at][d]) for d in dscps)
            edge = self.lab.part(at.device, EdgeClasses)
            self.set(at, EDGE, edge.edge_for(rules, maps[at][rest], rest if remarks else None))
        return rest

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

    def mark_by(self, curve: MarkingCurve) -> None:
        """The bottleneck marks in this queue alone, by this curve."""
        part = self.lab.part(self.bottleneck.device, EcnInBytes)
        self.ecn_at_bottleneck(part.ecn_in_bytes(curve))

    def dcqcn_everywhere(self, priorities: frozenset[int], *, times: int = 1) -> None:
        """RP of every sender and NP of the receiver on these priorities, off on the others. A lab
        in which marks come too seldom to hold so many times as many senders skips the test."""
        self.traffic.expect_marks_in_time(times)
        for role in self.senders:
            self.set(role.nic, REACTION_POINT, priorities)
        self.set(self.receiver.nic, NOTIFICATION_POINT, priorities)

    def expect_near_rates(self) -> None:
        """DCQCN alone, without PFC, can hold these senders. A lab in which a sender's link is many
        times as fast as the bottleneck skips the test."""
        fitting.expect_near_rates(self.senders, self.roles.line_bits_per_s)

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
