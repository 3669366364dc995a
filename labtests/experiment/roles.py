"""Who sends, who receives, and which switch ports stand between: read from a testbed's links."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from labtests.core.errors import LabError
from labtests.core.units import BitsPerSecond, dscp_of_tos
from labtests.inventory import Endpoint, Testbed
from labtests.lab.paths import towards, transit_ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One host's place in an incast: its NIC port, the switch port opposite, the speed of the cable
    between, its data address."""

    nic: Endpoint
    switch: Endpoint
    link_bits_per_s: BitsPerSecond
    address: str

    @property
    def name(self) -> str:
        """The host's name."""
        return self.nic.device


@dataclass(frozen=True, slots=True, kw_only=True)
class Trunk:
    """The only cable between two switches on the way of these senders, by name. Packets come to the
    first of its ends before the other one."""

    ends: tuple[Endpoint, Endpoint]
    bits_per_s: BitsPerSecond
    senders: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Senders in the order they start, the receiver, and the bottleneck between.

    `transit` are both ends of every cable between switches on a shortest way from a sender to the
    receiver, where they are plugged into different switches. `congested` is the port before the
    last switch that is full first, where that is what is looked for. `tags` are the 802.1p
    priorities of packets by DSCP, where ports trust those. `bystanders` are hosts that have no part
    in the incast, and may have one in other patterns. `outer_dscp`: what switches see of all that
    is sent, where tunnels do not show what is inside.
    """

    senders: tuple[Role, ...]
    receiver: Role
    line_bits_per_s: BitsPerSecond
    transit: tuple[Endpoint, ...] = ()
    trunks: tuple[Trunk, ...] = ()
    congested: Endpoint | None = None
    tags: tuple[int, ...] | None = None
    bystanders: tuple[Role, ...] = ()
    outer_dscp: int | None = None

    def dscp_of(self, tos: int) -> int:
        """What switches see of packets with this TOS byte."""
        return dscp_of_tos(tos) if self.outer_dscp is None else self.outer_dscp

    @property
    def hosts(self) -> tuple[Role, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.senders, self.receiver, *self.bystanders)))

    @property
    def bottleneck(self) -> Endpoint:
        """The switch port that everybody sends through: as a rule the one opposite the receiver."""
        return self.congested or self.receiver.switch

    @property
    def behind(self) -> tuple[Endpoint, ...]:
        """The port opposite the receiver, where that is not the bottleneck."""
        return () if self.bottleneck == self.receiver.switch else (self.receiver.switch,)


def roles_of(testbed: Testbed) -> Roles:
    """The incast that a testbed's `roles` describe. Raises LabError naming what is missing."""
    senders = tuple(role_of(testbed, e) for e in testbed.roles.get("senders", ()))
    receivers = tuple(role_of(testbed, e) for e in testbed.roles.get("receiver", ()))
    if len(receivers) != 1 or len(senders) < 2:
        raise LabError(
            f"{testbed.file}: an incast needs `roles:` with at least two `senders` and a `receiver`"
        )
    return Roles(
        senders=senders,
        receiver=receivers[0],
        line_bits_per_s=receivers[0].link_bits_per_s,
        transit=transit_ports(
            testbed, {s.switch.device for s in senders}, receivers[0].switch.device
        ),
        trunks=tuple(_trunks(testbed, senders, receivers[0])),
    )


def with_bystanders(testbed: Testbed, roles: Roles) -> Roles:
    """The same with the hosts that `roles: bystanders` names, and with the cables between switches
    on a way from any host to any other."""
    standing = tuple(role_of(testbed, each) for each in testbed.roles.get("bystanders", ()))
    roles = replace(roles, bystanders=standing)
    switches = dict.fromkeys(role.switch.device for role in roles.hosts)
    ways = [transit_ports(testbed, switches, there) for there in switches]
    return replace(roles, transit=tuple(dict.fromkeys(end for way in ways for end in way)))


def ways_out(testbed: Testbed, roles: Roles) -> dict[str, tuple[tuple[str, str], ...]]:
    """Of each switch with senders, the ports of its equally short ways to the receiver; those with
    one way left out."""
    found = {}
    for switch in dict.fromkeys(role.switch.device for role in roles.senders):
        ends = transit_ports(testbed, {switch}, roles.receiver.switch.device)
        own = tuple((end.device, end.interface) for end in ends if end.device == switch)
        if own[1:]:
            found[switch] = own
    return found


def apart(testbed: Testbed, roles: Roles) -> tuple[tuple[Role, Role], ...]:
    """Senders of switches with several ways to the receiver's, each with a host there that nobody
    else sends to: as many as one of the cables on the way carries, so that no hash slows them."""
    last, ways = roles.receiver.switch.device, ways_out(testbed, roles)
    senders = [role for role in roles.senders if role.switch.device in ways]
    there = [role for role in roles.hosts if role.switch.device == last]
    cables = (testbed.link_of(end) for end in roles.transit)
    speeds = (float(cable.speed_bits_per_s) for cable in cables if cable is not None)
    left = min(speeds, default=0.0)
    found = list[tuple[Role, Role]]()
    for sender, to in zip(senders, there, strict=False):
        left -= min(sender.link_bits_per_s, to.link_bits_per_s)
        if left >= 0:
            found.append((sender, to))
    return tuple(found)


def ways_in(testbed: Testbed, roles: Roles) -> tuple[Endpoint, ...]:
    """The ports that senders' packets leave by towards the receiver's switch, one for each of its
    cables to other switches on the way."""
    last = roles.receiver.switch.device
    opposite = (testbed.peer(end) for end in roles.transit if end.device == last)
    return tuple(end for end in opposite if end is not None)


def _trunks(testbed: Testbed, senders: tuple[Role, ...], receiver: Role) -> Iterator[Trunk]:
    """Which of several cables between the same switches a packet takes is not known: none."""
    target = receiver.switch.device
    ways = {
        role.name: frozenset(transit_ports(testbed, {role.switch.device}, target))
        for role in senders
    }
    pairs = Counter(frozenset((link.a.device, link.b.device)) for link in testbed.links)
    only = [
        link
        for link in testbed.links
        if any(link.a in ends for ends in ways.values())
        and pairs[frozenset((link.a.device, link.b.device))] == 1
    ]
    ordered = towards(testbed, [(link.a, link.b) for link in only], target)
    for link, ends in zip(only, ordered, strict=True):
        yield Trunk(
            ends=ends,
            bits_per_s=BitsPerSecond(link.speed_bits_per_s),
            senders=frozenset(name for name, way in ways.items() if link.a in way),
        )


def role_of(testbed: Testbed, endpoint: Endpoint) -> Role:
    """A host's port, with what is opposite. Raises LabError naming what is missing."""
    opposite, address = testbed.peer(endpoint), testbed.port(endpoint).address
    link = testbed.link_of(endpoint)
    if opposite is None or link is None:
        raise LabError(f"{testbed.file}: {endpoint} has a role but no link")
    if address is None:
        raise LabError(f"{testbed.file}: {endpoint} has a role but no address")
    return Role(
        nic=endpoint,
        switch=opposite,
        link_bits_per_s=BitsPerSecond(link.speed_bits_per_s),
        address=address,
    )
