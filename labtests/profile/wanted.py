"""What a profile asks of every port of a lab, by what the devices can do, never by who made them.

A device that lacks an ability which the profile needs is named (Finding), never passed over.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from labtests.capabilities import settings as k
from labtests.capabilities.device import (
    AsymmetricPfc,
    DcqcnWords,
    EcnCurves,
    FrameLengths,
    QueueShares,
    RdmaDevices,
    Shares,
)
from labtests.capabilities.records import (
    OWN_POOL,
    BufferThresholds,
    DcqcnSetting,
    EtsSetting,
    MarkingCurve,
    PfcSetting,
    SchedulingSetting,
    TrafficPool,
    TrafficPools,
    TrustSetting,
    pools_conflict,
)
from labtests.core.errors import CommandRejected
from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint
from labtests.lab.lab import Lab
from labtests.profile import derived
from labtests.profile.form import STRICT, ProfileFile

Able = TypeVar("Able")
From = Callable[[Any], Any]
"""From what a setting is now to what it is to be: what the profile leaves out stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One setting of one port that is to be so. Calling `wanted` may raise CommandRejected."""

    at: Endpoint
    kind: k.Kind[Any]
    wanted: From


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFinding:
    """Something that a reader of the plan has to know. `cannot`: the device lacks the ability;
    `warning`: the profile does not fit this lab; `note`: what was chosen, or left alone."""

    kind: Literal["cannot", "warning", "note"]
    device: str
    port: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PortTarget:
    """A port, what drives it, and what is asked."""

    profile: ProfileFile
    lab: Lab
    at: Endpoint

    def part(self, ability: type[Able]) -> Able:
        """What of the port's device has this ability."""
        return self.lab.part(self.at.device, ability)


@dataclass(frozen=True, slots=True)
class _SettingRule:
    """`key` of the profile becomes this setting of ports that have it (and its `ability`, if there
    is one) of hosts, switches or both."""

    key: str
    kind: k.Kind[Any]
    of: Literal["host", "switch", "port"]
    ability: type | None
    wanted: Callable[[PortTarget], From | None]
    """None: the profile says nothing about it."""


def wishes_of(
    profile: ProfileFile, lab: Lab, device: Device
) -> tuple[list[Wish], list[ProfileFinding]]:
    """In the order in which they are to be made: PFC when everything below it is there, and behind
    it what a port has for lossless priorities only."""
    own = driver_module(device.platform).KIND
    wishes: list[Wish] = []
    findings = list(_about_links(profile, lab, device, host=own == "host"))
    if _pooled(profile) is not None and lab.has(device.name, k.TRAFFIC_POOLS):
        problem = "buffer.lossless_memory_percent: flow control is on for what is in the pool, "
        findings.append(_finding("note", device, f"{problem}also where a suite switches PFC off"))
    if own == "switch" and profile.asymmetric_pfc and not _can_obey_all(lab, device.name):
        problem = f"asymmetric_pfc: the {device.platform} driver does not support asymmetric PFC"
        findings.append(_finding("cannot", device, problem))
    scenes = list(_scenes(profile, lab, device))
    for rule in _RULES:
        if rule.of not in ("port", own):
            continue
        asked = [(scene.at, wanted) for scene in scenes if (wanted := rule.wanted(scene))]
        setting = lab.drivers[device.name].setting(rule.kind)
        able = rule.ability is None or lab.drivers[device.name].able(rule.ability) is not None
        if asked and (setting is None or not able):
            problem = f"{rule.key}: the {device.platform} driver does not support {rule.kind}"
            findings.append(_finding("cannot", device, problem))
            continue
        if setting is not None and setting.wide:
            asked = [(lab.place(at, rule.kind), w) for at, w in asked[:1]]
        wishes += [Wish(at=at, kind=rule.kind, wanted=wanted) for at, wanted in asked]
    return wishes, findings


def _finding(
    kind: Literal["cannot", "warning", "note"], device: Device, problem: str, port: str = ""
) -> ProfileFinding:
    return ProfileFinding(kind=kind, device=device.name, port=port, problem=problem)


def _scenes(profile: ProfileFile, lab: Lab, device: Device) -> Iterator[PortTarget]:
    for port in device.ports:
        if lab.testbed.link_of(port.endpoint) is not None:
            yield PortTarget(profile=profile, lab=lab, at=port.endpoint)


def _about_links(
    profile: ProfileFile, lab: Lab, device: Device, *, host: bool
) -> Iterator[ProfileFinding]:
    buffer, rate = profile.buffer, derived.rate_bits_per_s(profile)
    for port in device.ports:
        link = lab.testbed.link_of(port.endpoint)
        if link is None:
            yield _finding("note", device, "no cable in the testbed: left alone", port.interface)
        elif (rate and link.speed_bits_per_s > rate) or (buffer and link.length_m > buffer.cable_m):
            yield _finding(
                "warning",
                device,
                f"{link.speed_bits_per_s / 1e9:g} Gbit/s and {link.length_m:g} m are more than "
                "this profile is for: its headroom is too small here (S23)",
                port.interface,
            )
    if not host and buffer and buffer.egress:
        problem = "buffer.ingress, buffer.egress: checked (S22), and left as they are on the switch"
        yield _finding("note", device, problem)
    if buffer and _in_thresholds(lab, device.name):
        cells, size = derived.headroom_cells(profile, buffer), buffer.cell_bytes
        problem = f"buffer.headroom_cells: {cells} cells of {size} B are {cells * size} bytes here"
        yield _finding("note", device, problem)
    if not host and buffer and buffer.headroom_cells and _by_cable(lab, device.name):
        problem = "buffer.headroom_cells: the switch works it out, by buffer.cable_m"
        yield _finding("note", device, problem)
    if not host and buffer and profile.ecn:
        problem = f"ecn: limits in units of {buffer.cell_bytes} B (buffer.cell_bytes); check that "
        yield _finding("note", device, problem + "the model counts in cells of this size")


# -- what each key becomes -----------------------------------------------------------------------


def _always(value: object) -> From:
    return lambda _: value


def _trust(scene: PortTarget) -> From | None:
    if scene.profile.trust is None:
        return None
    return _always(TrustSetting(source=scene.profile.trust))


def _dscp_map(scene: PortTarget) -> From | None:
    if scene.profile.trust != "dscp":
        return None
    return _always(derived.dscp_map(scene.profile))


def _queue_map(scene: PortTarget) -> From | None:
    if scene.profile.trust is None:  # how packets get a priority is left as it is
        return None
    return _always(derived.queue_map(scene.profile))


def _ecn(scene: PortTarget) -> From | None:
    profile, queue_of = scene.profile, derived.queue_map(scene.profile)
    curves = {
        queue_of[priority]: MarkingCurve(
            queue=queue_of[priority], **part.model_dump(exclude={"priorities"})
        )
        for part in profile.ecn
        for priority in part.priorities
    }
    if not curves:
        return None
    wanted, cell_bytes = tuple(curves[q] for q in sorted(curves)), derived.cell_bytes(profile)
    return lambda _: scene.part(EcnCurves).ecn_for(wanted, cell_bytes)


def _scheduling(scene: PortTarget) -> From | None:
    if scene.profile.scheduling is None:
        return None
    shares = tuple(None if s == STRICT else int(s) for s in scene.profile.scheduling)

    def wanted(now: SchedulingSetting) -> object:
        _expect_queues(scene.at, shares, now)
        return scene.part(QueueShares).scheduling_for(shares)

    return wanted


def _expect_queues(at: Endpoint, shares: Shares, now: SchedulingSetting) -> None:
    """Raise CommandRejected where a queue that is to get something is none of the port's: the
    others would be served otherwise than the profile says. A port that lists none has them all."""
    there = {each.queue for each in now.queues}
    lacking = {q: share for q, share in enumerate(shares) if share != 0 and q not in there}
    if there and lacking:
        asked = ", ".join(
            f"queue {q}: {'strict' if share is None else f'{share} %'}"
            for q, share in lacking.items()
        )
        raise CommandRejected(
            at.device,
            f"scheduling of {at.interface}",
            f"it has {len(there)} queues, and not those of the profile ({asked})",
            "give the port these queues, or write a profile for those that it has "
            "(maps.queue_of_priority, scheduling)",
        )


def _ets(scene: PortTarget) -> From | None:
    """Queues of a NIC are its traffic classes; rate limits of classes stay as they are."""
    shares = scene.profile.scheduling
    if shares is None:
        return None
    return _always(
        EtsSetting(
            class_of_priority=derived.queue_map(scene.profile),
            algorithms=tuple("strict" if s == STRICT else "ets" for s in shares),
            percent=tuple(0 if s == STRICT else int(s) for s in shares),
        )
    )


def _mtu(scene: PortTarget) -> From | None:
    return None if scene.profile.mtu_bytes is None else _always(scene.profile.mtu_bytes)


def _frame_limit(scene: PortTarget) -> From | None:
    """At least so much."""
    needed = derived.frame_bytes(scene.profile)
    if not needed:
        return None
    return lambda now: now if scene.part(FrameLengths).passes(now, needed) else needed


def _headroom(scene: PortTarget) -> From | None:
    """At least so much, for the lossless priorities."""
    buffer, device = scene.profile.buffer, scene.at.device
    if buffer is None or _in_thresholds(scene.lab, device) or _by_cable(scene.lab, device):
        return None
    cells = derived.headroom_cells(scene.profile, buffer)

    def wanted(now: k.Headrooms) -> k.Headrooms:
        before = dict(now)
        more = {p: max(cells, before.get(p, 0)) for p in scene.profile.lossless}
        return tuple(sorted((before | more).items()))

    return wanted


def _in_thresholds(lab: Lab, device: str) -> bool:
    """Whether headroom is among the thresholds of a port, and no setting of its own."""
    return not lab.has(device, k.HEADROOM) and lab.has(device, k.BUFFER_THRESHOLDS)


def _by_cable(lab: Lab, device: str) -> bool:
    """Whether a switch is told the length of its cables, and works headroom out by itself."""
    apart = lab.has(device, k.HEADROOM) or lab.has(device, k.BUFFER_THRESHOLDS)
    return not apart and lab.has(device, k.CABLE_LENGTH)


def _headroom_bytes(profile: ProfileFile) -> int:
    """What the cells of a profile are where a device counts in bytes."""
    buffer = profile.buffer
    return 0 if buffer is None else derived.headroom_cells(profile, buffer) * buffer.cell_bytes


def _thresholds(scene: PortTarget) -> From | None:
    """The same where it is among a port's thresholds; these stay as they are."""
    if scene.profile.buffer is None or not _in_thresholds(scene.lab, scene.at.device):
        return None
    lossless, least = frozenset(scene.profile.lossless), _headroom_bytes(scene.profile)

    def wanted(now: tuple[BufferThresholds, ...]) -> tuple[BufferThresholds, ...]:
        if unknown := sorted(lossless - {each.priority for each in now}):
            where = f"headroom of {scene.at.interface}"
            problem = f"priority {unknown[0]} has none that could be told"
            remedy = "make it lossless first, with a buffer profile in the configuration"
            raise CommandRejected(scene.at.device, where, problem, remedy)
        return tuple(
            replace(each, headroom=max(least, each.headroom or 0))
            if each.priority in lossless
            else each
            for each in now
        )

    return wanted


def _cable(scene: PortTarget) -> From | None:
    buffer = scene.profile.buffer
    return None if buffer is None else _always(math.ceil(buffer.cable_m))


def _cable_of_switch(scene: PortTarget) -> From | None:
    """At least so much: headroom is worked out for it."""
    buffer = scene.profile.buffer
    if buffer is None or not _by_cable(scene.lab, scene.at.device):
        return None
    least = math.ceil(buffer.cable_m)
    return lambda now: max(least, now)


def _point(scene: PortTarget, side: Literal["reaction_point", "notification_point"]) -> From | None:
    """Where it is on."""
    if scene.profile.dcqcn is None:
        return None
    asked = getattr(scene.profile.dcqcn, side).priorities
    return _always(derived.marked(scene.profile) if asked is None else frozenset(asked))


def _dcqcn_rp(scene: PortTarget) -> From | None:
    if scene.profile.dcqcn is None:
        return None
    part = scene.profile.dcqcn.reaction_point
    values = part.model_dump(exclude={"priorities"}, exclude_none=True)
    return _parameters(scene, "roce_rp", values)


def _dcqcn_np(scene: PortTarget) -> From | None:
    values: dict[str, Any] = {}
    if scene.profile.dcqcn is not None:
        part = scene.profile.dcqcn.notification_point
        values |= part.model_dump(exclude={"priorities"}, exclude_none=True)
    if scene.profile.cnp is not None:
        values |= {"cnp_dscp": scene.profile.cnp.dscp, "cnp_priority": scene.profile.cnp.priority}
    return _parameters(scene, "roce_np", values)


def _parameters(
    scene: PortTarget, side: Literal["roce_rp", "roce_np"], values: dict[str, Any]
) -> From | None:
    if not values:
        return None
    asked = {name: int(value) for name, value in values.items()}

    def wanted(now: DcqcnSetting) -> DcqcnSetting:
        own = dict(scene.part(DcqcnWords).dcqcn_for(side, asked).values)
        return DcqcnSetting(side=side, values=tuple(sorted((dict(now.values) | own).items())))

    return wanted


def _can_obey_all(lab: Lab, device: str) -> bool:
    """Whether ports can obey pauses of priorities that they do not send."""
    return lab.drivers[device].able(AsymmetricPfc) is not None


def _pfc(scene: PortTarget) -> From | None:
    """A host cannot negotiate by itself (capabilities: DCBX is its firmware's or lldpad's)."""
    if not scene.profile.lossless:
        return None
    auto = scene.profile.negotiate_pfc and scene.at.device not in scene.lab.able(RdmaDevices)
    mode: Literal["auto", "on"] = "auto" if auto else "on"
    wanted = PfcSetting(mode=mode, priorities=frozenset(scene.profile.lossless))
    if scene.profile.asymmetric_pfc and _can_obey_all(scene.lab, scene.at.device):
        wanted = scene.part(AsymmetricPfc).obeying_all(wanted)
    return _always(wanted)


def _roce_mode(scene: PortTarget) -> From | None:
    return None if scene.profile.roce_mode is None else _always(scene.profile.roce_mode)


def _pooled(profile: ProfileFile) -> float | None:
    return None if profile.buffer is None else profile.buffer.lossless_memory_percent


def _pools(scene: PortTarget) -> From | None:
    """One of ours for what is lossless, beside those of others, which stay as they are."""
    percent = _pooled(scene.profile)
    if percent is None:
        return None
    own = TrafficPool(
        name=OWN_POOL,
        type="lossless",
        memory_percent=f"{percent:.2f}",
        priorities=frozenset(scene.profile.lossless),
    )

    def wanted(now: TrafficPools) -> TrafficPools:
        others = [pool for pool in now if pool.name != OWN_POOL]
        pools = tuple(sorted((*others, own), key=lambda pool: pool.name))
        if problem := pools_conflict(pools):
            raise CommandRejected(
                scene.at.device,
                f"traffic pool {OWN_POOL}",
                problem,
                "take somebody's pool away first (`labtests plan` shows which there are: "
                f"{', '.join(pool.name for pool in others)}), or leave "
                "buffer.lossless_memory_percent out",
            )
        return pools

    return wanted


_RULES = (
    _SettingRule("roce_mode", k.ROCE_MODE, "switch", None, _roce_mode),  # it sets all defaults
    _SettingRule("buffer.lossless_memory_percent", k.TRAFFIC_POOLS, "switch", None, _pools),
    _SettingRule("trust", k.TRUST, "port", None, _trust),
    _SettingRule("maps.dscp", k.DSCP_MAP, "port", None, _dscp_map),
    _SettingRule("maps.queue_of_priority", k.QUEUE_MAP, "switch", None, _queue_map),
    _SettingRule("mtu_bytes", k.FRAME_LIMIT, "switch", FrameLengths, _frame_limit),
    _SettingRule("mtu_bytes", k.MTU, "host", None, _mtu),
    _SettingRule("ecn", k.ECN, "switch", EcnCurves, _ecn),
    _SettingRule("scheduling", k.SCHEDULING, "switch", QueueShares, _scheduling),
    _SettingRule("scheduling", k.ETS, "host", None, _ets),
    _SettingRule("buffer.cable_m", k.CABLE_LENGTH, "host", None, _cable),
    _SettingRule("dcqcn.reaction_point", k.DCQCN_RP, "host", DcqcnWords, _dcqcn_rp),
    _SettingRule("dcqcn.notification_point, cnp", k.DCQCN_NP, "host", DcqcnWords, _dcqcn_np),
    _SettingRule(
        "dcqcn.reaction_point",
        k.REACTION_POINT,
        "host",
        None,
        lambda scene: _point(scene, "reaction_point"),
    ),
    _SettingRule(
        "dcqcn.notification_point",
        k.NOTIFICATION_POINT,
        "host",
        None,
        lambda scene: _point(scene, "notification_point"),
    ),
    _SettingRule("buffer.cable_m", k.CABLE_LENGTH, "switch", None, _cable_of_switch),
    _SettingRule("buffer.headroom_cells", k.HEADROOM, "switch", None, _headroom),
    _SettingRule("lossless", k.PFC, "port", None, _pfc),
    _SettingRule("buffer.headroom_cells", k.BUFFER_THRESHOLDS, "switch", None, _thresholds),
)
