"""The switch ports that flows pass before the bottleneck, and which queues there are theirs."""

from collections.abc import Iterator, Mapping, Sequence

from labtests.core.units import dscp_of_tos
from labtests.experiment.roles import Role, Roles, Trunk
from labtests.inventory import Endpoint
from labtests.measure.evidence import Crossing

Queues = Mapping[Endpoint, tuple[int, ...]]
"""The queue of each DSCP by the maps of a switch port."""


def entries(roles: Roles) -> tuple[Endpoint, ...]:
    """Where packets come into a switch before the last one: its maps tell their queues there."""
    found = (
        _entry(roles, role, trunk.ends[0].device)
        for trunk in roles.trunks
        for role in roles.senders
        if role.name in trunk.senders
    )
    return tuple(dict.fromkeys(at for at in found if at is not None))


def crossings(
    roles: Roles, queues: Queues, sent: Sequence[tuple[Role, int]]
) -> tuple[Crossing, ...]:
    """Of flows of these senders and TOS bytes, as far as their queues are known."""
    found = (
        Crossing(
            port=(trunk.ends[0].device, trunk.ends[0].interface),
            queues=dict(_queues(roles, queues, sent, trunk)),
        )
        for trunk in roles.trunks
    )
    return tuple(each for each in found if each.queues)


def _queues(
    roles: Roles, queues: Queues, sent: Sequence[tuple[Role, int]], trunk: Trunk
) -> Iterator[tuple[int, int]]:
    for number, (role, tos) in enumerate(sent):
        entry = _entry(roles, role, trunk.ends[0].device) if role.name in trunk.senders else None
        if entry is not None and entry in queues:
            yield number, queues[entry][dscp_of_tos(tos)]


def _entry(roles: Roles, role: Role, switch: str) -> Endpoint | None:
    """Where the sender's packets come into this switch; None where that is not known for sure."""
    if role.switch.device == switch:
        return role.switch
    ways = [
        trunk.ends[1]
        for trunk in roles.trunks
        if role.name in trunk.senders and trunk.ends[1].device == switch
    ]
    return ways[0] if len(ways) == 1 else None
