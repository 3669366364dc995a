"""Who sends to whom. A pattern is a function from the roles of a testbed to ways, each from one
host to another: `incast.flows(pattern, tool)` makes a flow of each. A suite may bring its own.
"""

from collections.abc import Callable, Iterator

from labtests.experiment.fitting import (
    NotHere,
    expect_overload,
    fastest_at_the_ends,
    fastest_without_a_queue,
)
from labtests.experiment.roles import Role, Roles

Way = tuple[Role, Role]
Pattern = Callable[[Roles], Iterator[Way]]


def incast(roles: Roles) -> Iterator[Way]:
    """Every sender to the receiver."""
    return ((sender, roles.receiver) for sender in roles.senders)


def two_to_one(roles: Roles) -> Iterator[Way]:
    """Two senders with the fastest links to the receiver, each of which fills its link alone."""
    first, *_, last = fastest_at_the_ends(roles.senders)
    for sender in (first, last):
        expect_overload(sender, roles.line_bits_per_s)
        yield sender, roles.receiver


def pressed(roles: Roles) -> Iterator[Way]:
    """A sender that fills its link alone and makes no queue by that, and another one beside it.
    Raises NotHere."""
    line = roles.line_bits_per_s
    one = fastest_without_a_queue(roles.senders, line)
    others = [role for role in fastest_at_the_ends(roles.senders) if role != one]
    for sender in (one, max(reversed(others), key=lambda role: role.link_bits_per_s)):
        expect_overload(sender, line)
        yield sender, roles.receiver


def fan(senders: int) -> Pattern:
    """So many of the senders to the receiver, from all over the lab."""

    def ways(roles: Roles) -> Iterator[Way]:
        there = len(roles.senders)
        chosen = dict.fromkeys(number * there // senders for number in range(senders))
        return ((roles.senders[number], roles.receiver) for number in chosen)

    return ways


def outcast(roles: Roles) -> Iterator[Way]:
    """The receiver to every sender: the reverse direction."""
    return ((roles.receiver, sender) for sender in roles.senders)


def pairs(roles: Roles) -> Iterator[Way]:
    """Hosts in twos, one to the other; of an odd number the last one has none."""
    hosts = roles.hosts
    return zip(hosts[::2], hosts[1::2], strict=False)


def ring(roles: Roles) -> Iterator[Way]:
    """Each host to the next one, the last one to the first."""
    hosts = roles.hosts
    return zip(hosts, (*hosts[1:], hosts[0]), strict=True)


def all_to_all(roles: Roles) -> Iterator[Way]:
    """Each host to every other one: the order in which collectives do it, one on, two on, ..."""
    hosts = roles.hosts
    for apart in range(1, len(hosts)):
        yield from zip(hosts, (*hosts[apart:], *hosts[:apart]), strict=True)


def turns(roles: Roles) -> Iterator[tuple[Way, ...]]:
    """Ways group by group, in which each host gets more than its link carries, once. In a group a
    host sends to one other at most. Raises NotHere where no others can overload a host."""
    waiting = list(roles.hosts)
    while waiting:
        free, group = list(roles.hosts), list[Way]()
        for there in tuple(waiting):
            senders = _overloading(there, [host for host in free if host.name != there.name])
            if senders:
                group += [(sender, there) for sender in senders]
                waiting.remove(there)
                free = [host for host in free if host not in senders]
        if not group:
            raise NotHere(f"no hosts together overload {waiting[0].name}")
        yield tuple(group)


def _overloading(there: Role, others: list[Role]) -> list[Role]:
    """As few of these as overload its link; none where they all do not."""
    found, sent = list[Role](), 0.0
    for host in others:
        if sent >= OVERLOAD * there.link_bits_per_s:
            break
        found.append(host)
        sent += host.link_bits_per_s
    return found if sent >= OVERLOAD * there.link_bits_per_s else []


OVERLOAD = 1.5
"""Of a host's link, what others can send it together where a queue is sure to drop."""


def victim(roles: Roles) -> Iterator[Way]:
    """One more flow of the first sender, that goes past the congested port: to a bystander, or to
    another sender where the testbed has none."""
    first, *others = roles.senders
    there = next((host for host in roles.bystanders if host.nic.device != first.name), others[-1])
    if there.name == first.name:
        raise NotHere(f"{first.name} has nobody to send to but the receiver")
    yield first, there
