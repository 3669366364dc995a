"""Who takes part in an incast, where, and by which maps their packets go."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from labtests.capabilities.settings import Kind, T
from labtests.core.units import dscp_of_tos
from labtests.experiment import choosing
from labtests.experiment.failing import Failing
from labtests.experiment.fitting import Class, NotHere, at_the_trunk
from labtests.experiment.pace import Pace
from labtests.experiment.roles import Role, Roles, roles_of, ways_in, ways_out, with_bystanders
from labtests.experiment.traffic import Traffic, mtus_of
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab

FAILS_AFTER, FAILS_FOR = 1.0, 1.0
"""In times of a load: when a link fails, and how long it is down."""


@dataclass
class Parties:
    """The lab's senders and its receiver, and what is between them."""

    lab: Lab
    pace: Pace

    def __post_init__(self) -> None:
        self.roles: Roles = self._own_roles()

    def _own_roles(self) -> Roles:
        """Who takes part, by the testbed."""
        return roles_of(self.lab.testbed)

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

    def _switch_ports(self, kind: Kind[T]) -> tuple[Endpoint, ...]:
        """Those on the way that have this setting."""
        opposite = (*(role.switch for role in self.roles.hosts), self.bottleneck)
        ports = (*opposite, *self.roles.transit, *self.roles.behind)
        return tuple(at for at in dict.fromkeys(ports) if self.lab.has(at.device, kind))
