"""A ring of switches, each of whose hosts sends to the host two switches on: what comes in by a
cable of the ring waits for the next cable, all the way round. That is a cyclic buffer dependency,
which PFC can lock for good.

Five switches at least: of four, the two on opposite sides have two shortest ways to each other, and
which one a packet takes is not known.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from labtests.capabilities.device import DeadlockDetecting
from labtests.capabilities.records import DeadlockTimes, PfcSetting, PortDeadlockDetection
from labtests.capabilities.settings import DEADLOCK_DETECTION, DEADLOCK_TIMES, PFC
from labtests.core.units import BitsPerSecond
from labtests.experiment.fitting import Class, NotHere
from labtests.experiment.incast import Incast
from labtests.experiment.phase import Phase, SenderPart
from labtests.experiment.roles import Role, Roles, role_of
from labtests.experiment.settings import Places
from labtests.inventory import Endpoint, Testbed
from labtests.lab.changes import Wanted
from labtests.lab.paths import transit_ports
from labtests.measure.evidence import CycleHop, Evidence
from labtests.verdicts import Verdict, sound_in_a_cycle

ROLE = "ring"
DRAINED_S = 1.0
"""Chosen: at 1 Gb/s a switch of 32 MiB is empty in a quarter of that."""
LEAST, APART = 5, 2
LASTS_S, REFRESHES = 6, 4
"""Of a load: so long that a cycle which stands still is seen to, behind its own first half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RingRoles:
    """Hosts in the order of their switches; behind each switch its cable to the next one."""

    hosts: tuple[Role, ...]
    cables: tuple[tuple[Endpoint, Endpoint], ...]  # port that sends on, port that it comes in by
    line_bits_per_s: BitsPerSecond

    @property
    def as_roles(self) -> Roles:
        """Everybody sends; of the receivers, which all of them are, one stands for all."""
        return Roles(
            senders=self.hosts,
            receiver=self.towards(self.hosts[0]),
            line_bits_per_s=self.line_bits_per_s,
            transit=tuple(end for cable in self.cables for end in cable),
        )

    def towards(self, host: Role) -> Role:
        """Whom a host sends to."""
        number = self.hosts.index(host)
        return self.hosts[(number + APART) % len(self.hosts)]


def ring_of(testbed: Testbed) -> RingRoles:
    """The ring that a testbed's `roles:` describe. Raises NotHere with what is missing."""
    hosts = tuple(role_of(testbed, each) for each in testbed.roles.get(ROLE, ()))
    switches = [host.switch.device for host in hosts]
    if len(set(switches)) < LEAST or len(set(switches)) != len(hosts):
        raise NotHere(
            f"{testbed.name} has no ring: `roles:` needs `{ROLE}` with hosts on {LEAST} switches "
            "or more, one on each, in the order of the switches"
        )
    following = [*switches[1:], switches[0]]
    cables = tuple(
        _cable(testbed, here, there) for here, there in zip(switches, following, strict=True)
    )
    for number, here in enumerate(switches):
        _expect_one_way(testbed, cables, number, here)
    speeds = {link.speed_bits_per_s for link in testbed.links if link.a in sum(cables, ())}
    slowest = min(*speeds, *(host.link_bits_per_s for host in hosts))
    if max(speeds) > slowest:
        raise NotHere(
            f"{testbed.name}: a cable of the ring ({max(speeds) / 1e9:g} Gb/s) is faster than a "
            f"host's ({slowest / 1e9:g} Gb/s): two hosts may not fill it, and nothing is paused"
        )
    return RingRoles(hosts=hosts, cables=cables, line_bits_per_s=BitsPerSecond(slowest))


def _cable(testbed: Testbed, here: str, there: str) -> tuple[Endpoint, Endpoint]:
    found = [
        ends
        for link in testbed.links
        for ends in ((link.a, link.b), (link.b, link.a))
        if [end.device for end in ends] == [here, there]
    ]
    if len(found) != 1:
        raise NotHere(f"{testbed.name}: {len(found)} cables from {here} to {there}, not one")
    return found[0]


def _expect_one_way(
    testbed: Testbed, cables: tuple[tuple[Endpoint, Endpoint], ...], number: int, here: str
) -> None:
    """The only shortest way to the switch two further on is that of the ring."""
    after = [cables[(number + step) % len(cables)] for step in range(APART)]
    there = after[-1][-1].device
    if set(transit_ports(testbed, {here}, there)) != {end for cable in after for end in cable}:
        raise NotHere(f"{testbed.name}: from {here} to {there} there is another way than the ring")


class Ring(Incast):
    """The hosts of a ring, each against the one two switches on. One per test, as an incast."""

    def _own_roles(self) -> Roles:
        self.ring = ring_of(self.lab.testbed)
        return self.ring.as_roles

    @cached_property
    def _ports(self) -> dict[str, list[Endpoint]]:
        """Of each switch, those of the ring and the one of its host."""
        found: dict[str, list[Endpoint]] = {host.switch.device: [] for host in self.ring.hosts}
        for end in (*self.roles.transit, *(host.switch for host in self.ring.hosts)):
            found[end.device].append(end)
        return found

    @property
    def ends(self) -> Iterator[Endpoint]:
        """Every port of the switches that traffic goes through."""
        return (end for ends in self._ports.values() for end in ends)

    # -- settings ----------------------------------------------------------------------------

    def pfc_everywhere(self, wanted: PfcSetting) -> None:
        """PFC of every port of the ring and of its hosts' ports, and of the NICs: of each device
        all ports at once. Off, what a locked ring held is let go before anything else is done."""
        for device, ends in self._ports.items():
            self.lab.change_all(device, [Wanted(end, PFC, wanted) for end in ends])
        for host in self.ring.hosts:
            self.set(host.nic, PFC, wanted)
        if wanted.mode == "off" and self.lab.planned is None:
            self.lab.clock.sleep(DRAINED_S)

    def look_for_deadlocks(
        self, priority: int, *, detect_ms: int, release_ms: int, by_hand: bool = False
    ) -> None:
        """Every switch detects after about detect_ms, and releases for about release_ms, or
        (`by_hand`) until somebody recovers it. What waits for that by now is recovered."""
        detection = PortDeadlockDetection(on=True, recovery="manual" if by_hand else "auto")
        for device, ends in self._ports.items():
            able = self.lab.part(device, DeadlockDetecting)
            times = able.deadlock_times_for({priority}, detect_ms=detect_ms, release_ms=release_ms)
            self._detect(device, ends, times, detection)

    def look_for_no_deadlocks(self) -> None:
        """No switch does, of those that can."""
        for device, ends in self._ports.items():
            if self.lab.has(device, DEADLOCK_DETECTION):
                self._detect(device, ends, DeadlockTimes(), PortDeadlockDetection(on=False))

    def _detect(
        self,
        device: str,
        ends: list[Endpoint],
        times: DeadlockTimes,
        detection: PortDeadlockDetection,
    ) -> None:
        self.set(Endpoint(device=device, interface=""), DEADLOCK_TIMES, times)
        for end in ends:
            self.set(end, DEADLOCK_DETECTION, detection)

    # -- traffic -----------------------------------------------------------------------------

    def loads(self, *classes: Class, refreshes: int = REFRESHES) -> tuple[SenderPart, ...]:
        """Every host sends one of the classes, in turns, to the host two switches on."""
        seconds: float = LASTS_S
        if self.lab.planned is None:
            seconds += refreshes * (self._measured_refresh().seconds or 0.0)
        each = [classes[number % len(classes)] for number in range(len(self.ring.hosts))]
        parts = self.traffic.lasting(ceil(seconds)).loads(*each)
        return tuple(replace(part, to=self.ring.towards(part.role)) for part in parts)

    def _ready(self, name: str, traffic: tuple[SenderPart, ...], *, control: bool) -> Phase:
        tos = traffic[0].tool.tos
        hops = tuple(
            CycleHop(
                out=(out.device, out.interface),
                into=(into.device, into.interface),
                queue=self.queue_of(Class(tos=tos)),
                priority=self.priority_of(Class(tos=tos)),
            )
            for out, into in self.ring.cables
        )
        switches = (Endpoint(device=name, interface="") for name in self._ports)
        beside: Places = (
            *((at, DEADLOCK_TIMES) for at in switches),
            *((end, DEADLOCK_DETECTION) for end in self.ends),
        )
        return replace(
            super()._ready(name, traffic, control=control),
            cycle=hops,
            beside=tuple((at, kind) for at, kind in beside if self.lab.has(at.device, kind)),
        )

    def soundness(self, seen: Evidence) -> Verdict:
        """See Incast: of each host and its receiver."""
        return sound_in_a_cycle(seen)
