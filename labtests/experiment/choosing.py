"""Which DSCPs an experiment uses: those that the maps, as read, give a class of their own.

A queue under test must have nothing in it but the test, and none of them is served before another.
So no class is in a queue that has strict priority over others (a Nexus as delivered has one), and
no class is in the queue (or at a host
in the priority) of what a tool sends with TOS 0 beside it, and of what has no DSCP at all, as ARP.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labtests.capabilities.device import DscpClasses
from labtests.capabilities.facts import TaggedPorts, Tags
from labtests.capabilities.settings import (
    DCQCN_NP,
    NOTIFICATION_POINT,
    QUEUE_MAP,
    SCHEDULING,
    TRUST,
)
from labtests.core.errors import CommandRejected, LabError
from labtests.experiment.fitting import NotHere
from labtests.experiment.roles import Roles
from labtests.inventory import Endpoint
from labtests.journal.values import in_one_line
from labtests.lab.lab import Lab
from labtests.transport.asking import Asking, both

DSCPS = range(64)
DEFAULT_MAP = tuple(dscp >> 3 for dscp in DSCPS)
"""Of a port that begins to trust DSCP."""

SELECTORS = (24, 40, 16, 8, 32)
"""Class selectors (RFC 2474) that come first where those asked for are not free; 48 and 56, which
routing protocols and CNPs use, come with the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CnpSetting:
    """The DSCP of a receiver's CNPs, and how long it waits between two of one flow."""

    dscp: int
    interval_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Maps:
    """The class of each DSCP: `queues` at the bottleneck, `priorities` at hosts that have some (the
    same at all of them, or None), `pauses`: the priority that the switch pauses for it."""

    where: str
    queues: tuple[int, ...]
    untagged: int  # the queue of what has no DSCP
    priorities: tuple[int | None, ...] | None = None
    pauses: tuple[int, ...] | None = None
    strict: frozenset[int] = frozenset()  # queues that are served before others
    cnp_dscp: int | None = None  # of the receiver's CNPs, where they come back
    odd: tuple[str, ...] = ()  # ports of hosts whose map is not that of most

    def mark(self, dscp: int) -> tuple[int, int | None]:
        """Queue, and priority at the hosts."""
        return self.queues[dscp], None if self.priorities is None else self.priorities[dscp]

    def priority_of(self, dscp: int) -> int:
        """At the hosts. Raises LabError where they do not agree, or have none."""
        found = None if self.priorities is None else self.priorities[dscp]
        if found is None:
            raise LabError(
                f"{self.where}: hosts map DSCP {dscp} to different priorities, or to none"
            )
        return found

    @property
    def _of_cnps(self) -> frozenset[int]:
        return frozenset() if self.cnp_dscp is None else frozenset({self.queues[self.cnp_dscp]})

    def usable(self, dscp: int, *, paused: bool) -> bool:
        """Whether its queue is served like others and has no CNPs, and all hosts agree about it,
        and, for pauses, the switch with them."""
        if self.queues[dscp] in self.strict | self._of_cnps:
            return False
        if self.priorities is None:
            return True
        agreed = self.priorities[dscp]
        return agreed is not None and not (paused and self.pauses and self.pauses[dscp] != agreed)


def tags_of(lab: Lab, roles: Roles) -> tuple[int, ...]:
    """The 802.1p priority by DSCP of what the hosts send, as they tell: the same at all of them.
    Raises NotHere where packets have no tags, LabError where hosts do not agree."""
    found: dict[Endpoint, Tags] = {}
    for role in (*roles.senders, roles.receiver):
        if lab.testbed.port(role.nic).vlan is None:
            raise NotHere(
                f"packets of {role.nic} have no 802.1Q tag: the testbed file gives it no `vlan:`"
            )
        found[role.nic] = lab.ask(role.name, _tags_asked(lab, role.nic))
    (first, tags), *others = found.items()
    for at, other in others:
        if other.of_dscp != tags.of_dscp:
            raise LabError(
                f"{at} and {first} tag packets differently (egress-qos-map {other.egress} and "
                f"{tags.egress}, `ip -d link show dev {other.interface}`)\n"
                "  remedy: give the VLAN interfaces of all hosts one map"
            )
    return tags.of_dscp


def _tags_asked(lab: Lab, at: Endpoint) -> Asking[Tags]:
    vlan = lab.testbed.port(at).vlan
    assert vlan is not None
    name = vlan.interface(at.interface)
    tags = yield from lab.part(at.device, TaggedPorts).tags(at.interface, name, vlan.id)
    if tags is None:
        raise LabError(
            f"{at.device} has no VLAN interface {name}\n"
            "  remedy: `labtests check` has the command that makes it"
        )
    return tags


def queues_at(lab: Lab, at: Endpoint, tags: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """The class of each DSCP at a port: a NIC's priority, a switch's queue. A switch that maps a
    DSCP to an 802.1p priority has a second map, from that to a queue. As it is on the device now,
    in a plan too."""
    return lab.ask(at.device, queues_asked(lab, at, tags))


def queues_asked(
    lab: Lab, at: Endpoint, tags: tuple[int, ...] | None = None
) -> Asking[tuple[int, ...]]:
    """The same, to be asked with other questions. `tags`: where ports trust those; a host tells its
    own."""
    if not lab.has(at.device, QUEUE_MAP):
        return (yield from _priorities(lab, at, tags))
    priorities, queue_of = yield from both(_priorities(lab, at, tags), _queue_map(lab, at))
    return tuple(queue_of[priority] for priority in priorities)


def _priorities(lab: Lab, at: Endpoint, tags: tuple[int, ...] | None) -> Asking[tuple[int, ...]]:
    if tags is None:
        return (yield from _dscp_map(lab, at))
    if lab.testbed.port(at).vlan is not None:
        return (yield from _tags_asked(lab, at)).of_dscp
    yield from ()
    return tags


def _dscp_map(lab: Lab, at: Endpoint) -> Asking[tuple[int, ...]]:
    """In a plan, trust is not changed yet: then the map will be the default one."""
    try:
        return (yield from lab.part(at.device, DscpClasses).dscp_map(at.interface))
    except CommandRejected as refused:
        if lab.planned is None:
            raise (yield from _taken_away(lab, at, refused)) from refused
        return DEFAULT_MAP


def _taken_away(lab: Lab, at: Endpoint, refused: CommandRejected) -> Asking[CommandRejected]:
    """The same refusal; but where the port trusted as this run had asked for, and somebody else has
    changed that since, with that, and not with the advice to set it."""
    ours = lab.in_force.get((at, TRUST.name))
    now = None if ours is None else (yield from lab.shown(at, TRUST))
    if now == ours:
        return refused
    problem = (
        f"{refused.problem}: {TRUST} of {at.interface} was changed externally since this run asked "
        f"for it: {in_one_line(ours)} then, {in_one_line(now)} now"
    )
    remedy = "find out who or what sets this device beside labtests, stop that, and run again"
    return CommandRejected(at.device, refused.command, problem, remedy)


def _queue_map(lab: Lab, at: Endpoint) -> Asking[tuple[int, ...]]:
    return lab.setting(at, QUEUE_MAP).read("")


def cnps_asked(lab: Lab, at: Endpoint) -> Asking[CnpSetting | None]:
    """How a receiver sends its CNPs, where it has a notification point that tells their DSCP."""
    if not (lab.has(at.device, DCQCN_NP) and lab.has(at.device, NOTIFICATION_POINT)):
        return None
    values = dict((yield from lab.shown(at, DCQCN_NP)).values)
    if "cnp_dscp" not in values:
        return None
    return CnpSetting(dscp=values["cnp_dscp"], interval_us=values.get("min_time_between_cnps"))


def maps_of(lab: Lab, roles: Roles, *, rdma: bool = False) -> Maps:
    """As the devices have them now. `rdma`: with the receiver's CNPs."""
    at, nic = roles.bottleneck, roles.receiver.nic
    pauses, untagged = None, 0
    queues = queues_at(lab, at)
    if lab.has(at.device, QUEUE_MAP):
        pauses, queue_of = lab.ask(at.device, both(_dscp_map(lab, at), _queue_map(lab, at)))
        untagged = queue_of[0]
    able = lab.able(DscpClasses)
    nics = dict.fromkeys(r.nic for r in (*roles.senders, roles.receiver) if r.nic.device in able)
    of_hosts = [lab.ask(each.device, _dscp_map(lab, each)) for each in nics]
    cnps = lab.ask(nic.device, cnps_asked(lab, nic)) if rdma else None
    return Maps(
        where=str(at),
        queues=queues,
        untagged=untagged,
        priorities=tuple(_agreed(each) for each in zip(*of_hosts, strict=True)) or None,
        pauses=pauses,
        strict=_strict(lab, at),
        cnp_dscp=cnps.dscp if cnps is not None else None,
        odd=_odd(dict(zip(nics, of_hosts, strict=True))),
    )


def _odd(maps: Mapping[Endpoint, tuple[int, ...]]) -> tuple[str, ...]:
    usual = Counter(maps.values()).most_common(1)
    return tuple(str(at) for at, found in maps.items() if found != usual[0][0])


def _strict(lab: Lab, at: Endpoint) -> frozenset[int]:
    """Queues with strict priority, where others have none; in a plan, which does not set the
    scheduler, none is known."""
    if lab.planned is not None or not lab.has(at.device, SCHEDULING):
        return frozenset()
    queues = lab.ask(at.device, lab.setting(at, SCHEDULING).read(at.interface)).queues
    strict = frozenset(each.queue for each in queues if each.group == "sp")
    return frozenset() if len(strict) == len(queues) else strict


def chosen(maps: Maps, wanted: Sequence[int], *, paused: bool = False) -> tuple[int, ...]:
    """As many DSCPs as are wanted, those themselves where they have a class of their own.

    `paused`: hosts and switch must mean the same priority by a DSCP. Raises NotHere."""
    taken = _Taken(maps)
    found: dict[int, int] = {}
    for number, dscp in enumerate(wanted):
        if maps.usable(dscp, paused=paused) and taken.take(dscp):
            found[number] = dscp
    for number in range(len(wanted)):
        if number not in found:
            usable = (dscp for dscp in _others() if maps.usable(dscp, paused=paused))
            free = next((dscp for dscp in usable if taken.take(dscp)), None)
            if free is None:
                raise NotHere(_why_not(maps, len(wanted), len(found)))
            found[number] = free
    return tuple(found[number] for number in range(len(wanted)))


class _Taken:
    """Queues, and priorities of hosts, that something else uses."""

    def __init__(self, maps: Maps) -> None:
        self._maps = maps
        queue, priority = maps.mark(0)
        self._queues = {queue, maps.untagged}
        self._priorities: set[int | None] = {priority, 0}

    def take(self, dscp: int) -> bool:
        """Whether both are free; they are not any more."""
        queue, priority = self._maps.mark(dscp)
        if queue in self._queues or (priority is not None and priority in self._priorities):
            return False
        self._queues.add(queue)
        self._priorities.add(priority)
        return True


def _others() -> Iterator[int]:
    yield from SELECTORS
    yield from (dscp for dscp in DSCPS if dscp not in SELECTORS)


def _agreed(priorities: tuple[int, ...]) -> int | None:
    return priorities[0] if len(set(priorities)) == 1 else None


def _why_not(maps: Maps, needed: int, found: int) -> str:
    used: Mapping[int, None] = dict.fromkeys(sorted(maps.queues))
    shared = sorted({maps.queues[0], maps.untagged})
    first = ", ".join(map(str, sorted(maps.strict)))
    served = f"; {first} served before others" if first else ""
    if maps.cnp_dscp is not None:
        served += f"; CNPs (DSCP {maps.cnp_dscp}) use {maps.queues[maps.cnp_dscp]}"
    if maps.odd:
        served += f"; another map than most hosts: {', '.join(maps.odd)}"
    return (
        f"{maps.where}: the suite needs {needed} classes of traffic, each in a queue (and at the "
        f"hosts in a priority, the same on all) of its own, and the maps leave {found}: DSCPs lead "
        f"to queues {', '.join(map(str, used))}, of which ARP and packets without DSCP use "
        f"{', '.join(map(str, shared))}{served}"
    )
