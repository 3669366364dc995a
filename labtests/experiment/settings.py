"""The settings a phase ran under, as read from the devices."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from labtests.capabilities import (
    DscpClasses,
    EcnMarking,
    NotificationPoint,
    PriorityFlowControl,
    QueueLimits,
    ReactionPoint,
    Scheduling,
    Trust,
)
from labtests.experiment.choosing import queues_at
from labtests.experiment.roles import Roles
from labtests.inventory import Endpoint
from labtests.lab import Lab
from labtests.moments import at_once

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the devices of an incast said before a phase. `queues`: the DSCP map of each port that
    has one."""

    settings: tuple[SettingSeen, ...]
    queues: Mapping[Endpoint, tuple[int, ...]]


def settings_seen(lab: Lab, roles: Roles) -> Seen:
    """PFC, trust, WRED, scheduler, queue lengths, RP and NP of every port of the incast that has
    them; and the maps that tell a packet's class. Devices are asked side by side."""
    ends = [roles.bottleneck]
    for role in (*roles.senders, roles.receiver):
        ends += [role.nic, role.switch] if role is not roles.receiver else [role.nic]
    ends += roles.transit
    mapped = [roles.bottleneck, *(role.nic for role in roles.senders)]
    devices = list(dict.fromkeys(end.device for end in ends))

    def of(device: str) -> Seen:
        own = [end for end in ends if end.device == device]
        ports = tuple(end.interface for end in own)
        with at_once(lab, device, "settings", lambda ahead: ahead.setting_commands(ports)):
            return Seen(
                settings=tuple(seen for end in own for seen in _settings_of(lab, end)),
                queues={at: queues_at(lab, at) for at in mapped if at.device == device}
                if device in lab.able(DscpClasses)
                else {},
            )

    with ThreadPoolExecutor(max_workers=len(devices)) as pool:
        found = list(pool.map(of, devices))
    settings = [seen for each in found for seen in each.settings]
    return Seen(
        settings=tuple(sorted(settings, key=lambda seen: ends.index(seen.at))),
        queues={at: queues for each in found for at, queues in each.queues.items()},
    )


def _settings_of(lab: Lab, at: Endpoint) -> list[SettingSeen]:
    return [
        SettingSeen(at=at, setting=name, value=lab.current(at, name))
        for name, ability in _SHOWN.items()
        if at.device in lab.able(ability)
    ]
