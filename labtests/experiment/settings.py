"""The settings a phase ran under, as read from the devices."""

from dataclasses import dataclass

from labtests.capabilities import (
    EcnMarking,
    NotificationPoint,
    PriorityFlowControl,
    QueueLimits,
    ReactionPoint,
    Scheduling,
    Trust,
)
from labtests.experiment.roles import Roles
from labtests.inventory import Endpoint
from labtests.lab import Lab

_SHOWN = {
    "pfc": PriorityFlowControl,
    "trust": Trust,
    "ecn": EcnMarking,
    "scheduling": Scheduling,
    "queue_limits": QueueLimits,
    "reaction_point": ReactionPoint,
    "notification_point": NotificationPoint,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSeen:
    """One setting of one port, as the device gave it."""

    at: Endpoint
    setting: str
    value: object


def settings_seen(lab: Lab, roles: Roles) -> tuple[SettingSeen, ...]:
    """PFC, trust, WRED, scheduler, queue lengths, RP and NP of every port of the incast that has
    them."""
    ends = [roles.bottleneck]
    for role in (*roles.senders, roles.receiver):
        ends += [role.nic, role.switch] if role is not roles.receiver else [role.nic]
    return tuple(
        SettingSeen(at=end, setting=name, value=lab.current(end, name))
        for end in ends
        for name, ability in _SHOWN.items()
        if end.device in lab.able(ability)
    )
