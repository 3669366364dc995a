"""The settings a phase ran under, as read from the devices."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from labtests.capabilities.device import DscpClasses
from labtests.capabilities.records import PfcSetting, WatchdogTimes
from labtests.capabilities.settings import (
    ECN,
    EDGE,
    NOTIFICATION_POINT,
    PACKET_LOSS,
    PAUSE_TIMEOUT,
    PFC,
    PFC_WATCHDOG,
    QUEUE_LIMITS,
    REACTION_POINT,
    SCHEDULING,
    TRUST,
    WATCHDOG_TIMES,
    Kind,
    kind_of,
)
from labtests.core.errors import CommandRejected
from labtests.experiment.choosing import CnpSetting, cnps_asked, queues_asked
from labtests.experiment.crossings import entries
from labtests.experiment.roles import Roles
from labtests.inventory import Endpoint
from labtests.journal.values import in_one_line, in_pairs
from labtests.lab.changes import Wanted
from labtests.lab.lab import Lab
from labtests.transport.asking import Asking, both, by_name, known, side_by_side

_SHOWN: tuple[Kind[Any], ...] = (
    *(PFC, TRUST, EDGE, ECN, SCHEDULING, QUEUE_LIMITS, PACKET_LOSS),
    *(REACTION_POINT, NOTIFICATION_POINT),
)


Places = tuple[tuple[Endpoint, Kind[Any]], ...]
"""Kinds of settings, and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSeen:
    """One setting of one port, as the device gave it."""

    at: Endpoint
    setting: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSettings:
    """What the devices of an incast said before or after a phase. `queues`: the DSCP map of each
    port that has one. `unmapped`: why a port tells none any more, after a phase. `cnps`: the
    receiver's, where it has a notification point."""

    settings: tuple[SettingSeen, ...]
    queues: Mapping[Endpoint, tuple[int, ...]]
    unmapped: Mapping[Endpoint, str] = field(default_factory=dict)
    cnps: CnpSetting | None = None

    @property
    def pfc(self) -> dict[tuple[str, str], PfcSetting]:
        """That of each port (device, port) that has it."""
        return {
            (seen.at.device, seen.at.interface): seen.value
            for seen in self.settings
            if isinstance(seen.value, PfcSetting)
        }

    @property
    def watchdog(self) -> WatchdogTimes | None:
        """That of the bottleneck, where it was asked for."""
        times = (each.value for each in self.settings if isinstance(each.value, WatchdogTimes))
        return next(times, None)

    def changed_since(self, earlier: "DeviceSettings") -> tuple[str, ...]:
        """A sentence for each setting that is another one than it was, by whomever."""
        now = {(seen.at, seen.setting): seen.value for seen in self.settings}
        sentences = [
            _changed(seen.at, seen.setting, seen.value, now.get((seen.at, seen.setting)))
            for seen in earlier.settings
            if now.get((seen.at, seen.setting)) != seen.value
        ]
        sentences += [
            f"{name} of the receiver was changed externally during the phase: "
            f"{before} before, {after} after it"
            for name, before, after in zip(
                _CNPS, _told(earlier.cnps), _told(self.cnps), strict=True
            )
            if before != after
        ]
        sentences += [
            _changed(at, "DSCP map", *_unlike(queues, self.queues.get(at)))
            for at, queues in earlier.queues.items()
            if at not in self.unmapped and self.queues.get(at) != queues
        ]
        sentences += [
            f"the DSCP map of {_named(at)} could be read before the phase, and not after it: {why}"
            for at, why in self.unmapped.items()
        ]
        return tuple(sentences)


_CNPS = ("cnp_dscp", "min_time_between_cnps")


def _told(cnps: CnpSetting | None) -> tuple[int | None, int | None]:
    return (None, None) if cnps is None else (cnps.dscp, cnps.interval_us)


def _changed(at: Endpoint, setting: str, before: object, after: object) -> str:
    return (
        f"{setting} of {_named(at)} was changed externally during the phase: "
        f"{in_one_line(before)} before, {in_one_line(after)} after it"
    )


def _unlike(before: tuple[int, ...], after: tuple[int, ...] | None) -> tuple[str, str]:
    """Of two maps, the DSCPs that they map to different queues: `24-31 3`."""
    if after is None:
        return in_pairs([*enumerate(before)]), "none"
    differ = [n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    return in_pairs([(n, before[n]) for n in differ]), in_pairs([(n, after[n]) for n in differ])


def _named(at: Endpoint) -> str:
    """A port, or a device whose setting it is as a whole."""
    return f"{at.device} {at.interface}".strip()


def set_by_others(lab: Lab, seen: DeviceSettings) -> tuple[str, ...]:
    """A sentence for each setting that this run has made, or asked for and found, and that is not
    so by now."""
    ours = lab.in_force
    return tuple(
        f"{each.setting} of {_named(each.at)} was changed externally before the phase: "
        f"{in_one_line(ours[each.at, each.setting])} was asked for and read back, now it is "
        f"{in_one_line(each.value)}"
        for each in seen.settings
        if (each.at, each.setting) in ours
        and each.value != ours[each.at, each.setting]
        and _differs(lab, each, ours[each.at, each.setting])
    )


def _differs(lab: Lab, seen: SettingSeen, wanted: object) -> bool:
    """As the setting judges it: there would be something to send."""
    want = Wanted(seen.at, kind_of(seen.setting), wanted)
    return lab.ask(seen.at.device, lab.step(want)) is not None


def settings_seen(
    lab: Lab,
    roles: Roles,
    *,
    watchdog: bool = False,
    beside: Places = (),
    after: bool = False,
) -> DeviceSettings:
    """PFC, trust, WRED, scheduler, queue lengths, RP and NP of every port of the incast that has
    them, and what is asked for `beside`; and the maps that tell a packet's class. `watchdog`: also
    what watches the bottleneck. Devices are asked side by side. Raises CommandRejected when a port
    tells no map, but `after` a phase: there somebody has taken it away, and it is `unmapped`."""
    ends = [roles.bottleneck]
    for role in roles.hosts:
        ends += [role.nic, role.switch]
    ends = list(dict.fromkeys((*ends, *roles.transit)))
    mapped = [roles.bottleneck, *(end for role in roles.hosts for end in (role.nic, role.switch))]
    mapped += [at for at in entries(roles) if at not in mapped]
    notifier = roles.receiver.nic
    of_cnps = notifier.device if roles.tags is None else ""  # by tag they are in another class
    devices = list(dict.fromkeys(end.device for end in ends))
    watching = (*beside, *(_watching(lab, roles.bottleneck) if watchdog else ()))

    def of(device: str) -> Asking[DeviceSettings]:
        own = [end for end in ends if end.device == device]
        classes = lab.able(DscpClasses).get(device)
        maps = [at for at in mapped if at.device == device] if classes is not None else []
        wanted = [(end, kind) for end in own for kind in _SHOWN]
        wanted += [each for each in watching if each[0].device == device]
        asked = side_by_side([_shown(lab, end, kind) for end, kind in wanted])
        seen, more = yield from both(
            asked,
            both(
                by_name({at: _map_asked(lab, at, roles.tags, after) for at in maps}),
                cnps_asked(lab, notifier) if device == of_cnps else known(None),
            ),
        )
        told, cnps = more
        return DeviceSettings(
            settings=tuple(each for each in seen if each is not None),
            queues={at: queues for at, queues in told.items() if not isinstance(queues, str)},
            unmapped={at: why for at, why in told.items() if isinstance(why, str)},
            cnps=cnps,
        )

    with ThreadPoolExecutor(max_workers=len(devices)) as pool:
        found = list(pool.map(lambda device: lab.ask(device, of(device), "settings"), devices))
    settings = [seen for each in found for seen in each.settings]
    ends += [at for at, _ in watching]
    return DeviceSettings(
        settings=tuple(sorted(settings, key=lambda seen: ends.index(seen.at))),
        queues={at: queues for each in found for at, queues in each.queues.items()},
        unmapped={at: why for each in found for at, why in each.unmapped.items()},
        cnps=next((each.cnps for each in found if each.cnps is not None), None),
    )


def _map_asked(
    lab: Lab, at: Endpoint, tags: tuple[int, ...] | None, after: bool
) -> Asking[tuple[int, ...] | str]:
    """The map, or `after` a phase why there is none."""
    try:
        return (yield from queues_asked(lab, at, tags))
    except CommandRejected as refused:
        if not after:
            raise
        return refused.problem


def _watching(lab: Lab, at: Endpoint) -> Places:
    """What ends long pauses there; some of it may be the whole switch's."""
    kinds: tuple[Kind[Any], ...] = (WATCHDOG_TIMES, PFC_WATCHDOG, PAUSE_TIMEOUT)
    able = (kind for kind in kinds if lab.has(at.device, kind))
    return tuple((lab.place(at, kind), kind) for kind in able)


def _shown(lab: Lab, at: Endpoint, kind: Kind[Any]) -> Asking[SettingSeen | None]:
    """Raises CommandRejected: of what this run could read as it asked for it, with that."""
    if not lab.has(at.device, kind):
        return None
    try:
        value = yield from lab.shown(at, kind)
    except CommandRejected as refused:
        if (at, kind.name) not in lab.in_force:
            raise
        problem = f"{refused.problem}: changed externally since this run asked for {kind} there"
        remedy = f"{refused.remedy}; and find out who or what sets this device beside labtests"
        raise CommandRejected(at.device, refused.command, problem, remedy) from refused
    return SettingSeen(at=at, setting=kind.name, value=value)
