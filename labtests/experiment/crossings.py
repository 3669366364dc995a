"""The switch ports that flows pass before the bottleneck, and which queues there are theirs."""

from collections.abc import Iterator, Mapping, Sequence

from labtests.experiment.roles import Role, Roles
from labtests.inventory import Endpoint
from labtests.measure.evidence import CnpReturn, Crossing

Queues = Mapping[Endpoint, tuple[int, ...]]
"""The queue of each DSCP by the maps of a switch port."""


def entries(roles: Roles) -> tuple[Endpoint, ...]:
    """Where packets come into a switch that has not the bottleneck, and where those that come back
    do: its maps tell their queues there."""
    ways = [[*_sure_way(roles, role)] for role in roles.senders]
    towards = (entry for role in roles.senders for entry, _ in _passed(roles, role))
    back = (out for way in ways for _, out, _ in way[1:])
    return tuple(dict.fromkeys((*towards, *back)))


def crossings(
    roles: Roles, queues: Queues, sent: Sequence[tuple[Role, int]]
) -> tuple[Crossing, ...]:
    """Of flows of these senders and TOS bytes, as far as their ways and queues are known."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    for number, (role, tos) in enumerate(sent):
        for entry, out in _passed(roles, role):
            if entry in queues:
                due = found.setdefault((out.device, out.interface), {})
                due[number] = queues[entry][roles.dscp_of(tos)]
    return tuple(Crossing(port=port, queues=due) for port, due in found.items())


def returns(roles: Roles, queues: Queues, dscp: int) -> tuple[CnpReturn, ...]:
    """Where what the receiver sends back with this DSCP leaves a switch before the sender's own."""
    found: dict[Endpoint, tuple[int, list[str]]] = {}
    for role in roles.senders:
        way = [*_sure_way(roles, role)]
        if not way or way[-1][2].device != roles.bottleneck.device:
            continue
        came_by = [*(out for _, out, _ in way[1:]), roles.bottleneck]
        for (_, _, into), entry in zip(way, came_by, strict=True):
            if entry in queues:
                found.setdefault(into, (queues[entry][dscp], []))[1].append(role.name)
    return tuple(
        CnpReturn(port=(at.device, at.interface), queue=queue, senders=tuple(dict.fromkeys(names)))
        for at, (queue, names) in found.items()
    )


def _passed(roles: Roles, role: Role) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Before the bottleneck, and behind it where it is on a cable to the last switch."""
    yield from ((entry, out) for entry, out, _ in _sure_way(roles, role))
    for trunk in roles.trunks:
        if roles.congested == trunk.ends[0]:
            yield trunk.ends[1], roles.receiver.switch


def _sure_way(roles: Roles, role: Role) -> Iterator[tuple[Endpoint, Endpoint, Endpoint]]:
    """Port that a sender's packets come in by, port that they leave by and the one opposite, switch
    by switch up to the last one, or to where there are several ways on: which one they take is not
    known."""
    entry, last = role.switch, roles.bottleneck.device
    for _ in roles.trunks:
        here = entry.device
        ends = [end for end in roles.transit if end.device == here]
        on = [trunk.ends for trunk in roles.trunks if trunk.ends[0].device == here]
        back = [trunk for trunk in roles.trunks if trunk.ends[1].device == here]
        if here == last or len(on) != 1 or len(ends) != len(on) + len(back):
            return
        ((out, into),) = on
        yield entry, out, into
        entry = into
