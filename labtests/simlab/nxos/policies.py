"""Class-maps, policy-maps and where they are applied; and what a port does by them.

Three types of policy-maps: `qos` puts DSCPs into qos-groups, where a port applies it; `network-qos`
says which classes are lossless, for the whole switch; `queuing` serves and marks queues, where a
port or else the switch (`system qos`) applies it. A class has the number of its queue in its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labtests.network import GroupMemory, Schedule, WredCurve
from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import words

CELL_BYTES = 208
"""Of the network's memory. Thresholds in recordings of a Nexus 9000 are multiples of it, too."""
DEFAULT_OUT, DEFAULT_NETWORK = "default-8q-out-policy", "default-8q-nw-qos-policy"
"""In force where nothing is applied. The first is recorded, the name of the second from memory."""
SYSTEM = kit.top("system", "qos")
SYSTEM_SLOTS = ("network-qos", "queuing input", "queuing output")
UNITS = "{ bytes | kbytes | mbytes }"
_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}  # whether 1000 or 1024 is not known
_EIGHT = (*range(1, 8), "-default")
_QUEUING = " | ".join(f"{each}{n}" for each in ("c-out-8q-q", "c-in-q") for n in _EIGHT)
_NETWORK = " | ".join(f"c-8q-nq{n}" for n in _EIGHT)
CLASSES = {
    "queuing": f"type queuing {{ {_QUEUING} }}",
    "network-qos": f"type network-qos {{ {_NETWORK} }}",
    "qos": "<name>",
}
"""How a class of a policy-map of each type is typed."""


def queue_of(name: str) -> int:
    """The queue, or qos-group, of a class that the switch itself has."""
    return 0 if name.endswith("default") else int(name[-1])


# -- what stands in them ---------------------------------------------------------------------------


def _own_cos(switch: kit.EmulatedSwitch, section: kit.CliSection, call: kit.CliCall) -> None:
    if call.values.get("priority", queue_of(section.name)) != queue_of(section.name):
        raise kit.CommandRefused(words.OTHER_COS)


def _in_cells(call: kit.CliCall) -> list[dict[str, Any]]:
    units = [_BYTES[word] for word in call.keywords if word in _BYTES]
    bounds = [call.values[n] * unit for n, unit in zip(("low", "high"), units, strict=False)]
    cells = tuple(each // CELL_BYTES for each in bounds)
    return [{**call.values, "cells": cells, "ecn": "ecn" in call.keywords}]


IN_CLASS: Mapping[str, tuple[kit.CliSetting, ...]] = {
    "qos": (kit.setting("set qos-group <queue>"),),
    "network-qos": (
        kit.setting("mtu <mtu>"),
        kit.setting("pause pfc-cos <priority>", before=_own_cos, optional=True),
    ),
    "queuing": (
        kit.setting("bandwidth remaining percent <percent>", key="bandwidth"),
        kit.setting("bandwidth percent <percent>", key="bandwidth", undo=()),
        kit.setting("priority [ level <level> ]", key="priority", line="priority level <level>",
                expand=lambda call: [{"level": 1, **call.values}]),
        kit.setting(
            f"random-detect minimum-threshold <low> {UNITS} maximum-threshold <high> {UNITS} "
            "drop-probability <percent> weight <weight> [ ecn ]",
            key="random-detect",
            expand=_in_cells,
        ),
        kit.setting("pause buffer-size <size> pause-threshold <pause> resume-threshold <resume>"),
    ),
}  # fmt: skip


def _service_policy(kind: str, where: str, more: str = "", default: str = "") -> kit.CliSetting:
    key = f"service-policy type {kind} {where}".strip()
    return kit.setting(
        f"{key} <policy>{more}",
        undo=(f"{key} <policy>{more}",),
        default=f"{key} {default}" if default else "",
        before=kit.refers(kind, "policy", but=default),
    )


_QUEUING_IN = _service_policy("queuing", "input")
_QUEUING_OUT = _service_policy("queuing", "output", default=DEFAULT_OUT)
IN_SYSTEM = (_QUEUING_IN, _QUEUING_OUT, _service_policy("network-qos", "", default=DEFAULT_NETWORK))
IN_PORT = (_service_policy("qos", "input", " [ no-stats ]"), _QUEUING_IN, _QUEUING_OUT)


# -- what a port does by them ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueService:
    """How a queue is served: by priority level (1 is first), or by percent of what is left."""

    level: int | None = None
    percent: int = 0


DELIVERED = (QueueService(percent=100), *(QueueService(),) * 6, QueueService(level=1))
"""Queues 0 to 7 of default-8q-out-policy, as recorded."""
_LAST_LEVEL, _BYTES_A_PERCENT = 7, 154
"""Behind all priorities; and what one percent sends in its turn: a tenth of a full frame."""


def applied(
    switch: kit.EmulatedSwitch, section: kit.CliSection, slot: str
) -> kit.CliSection | None:
    """The policy-map that the port, or `system qos`, applies itself."""
    name = section.value(f"service-policy type {slot}", "policy", "")
    return switch.configuration.find(kit.top(slot.split()[0], name)) if name else None


def in_force(switch: kit.EmulatedSwitch, port: kit.CliSection, slot: str) -> kit.CliSection | None:
    """The port's own, else the switch's."""
    own = applied(switch, port, slot)
    return own or applied(switch, switch.configuration.find(SYSTEM), slot)


_NOTHING = kit.CliSection(())


def _classes(policy: kit.CliSection | None) -> list[kit.CliSection]:
    """Of queues 0 to 7."""
    inner = () if policy is None else policy.sections.values()
    found = {queue_of(each.name): each for each in inner}
    return [found.get(queue, _NOTHING) for queue in range(8)]


def served(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[QueueService, ...]:
    """Queues 0 to 7."""
    policy = in_force(switch, port, "queuing output")
    return DELIVERED if policy is None else tuple(map(_served, _classes(policy)))


def _served(section: kit.CliSection) -> QueueService:
    level = section.value("priority", "level", None)
    return QueueService(level, 0 if level else section.value("bandwidth", "percent", 0))


def schedule(switch: kit.EmulatedSwitch, port: kit.CliSection) -> Schedule:
    """The same for the network: levels in turn, the last one by bytes."""
    each = served(switch, port)
    return Schedule(
        levels=tuple(_LAST_LEVEL if s.level is None else s.level - 1 for s in each),
        queues=tuple(("1", max(s.percent, 1) * _BYTES_A_PERCENT) for s in each),
    )


def curves(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[WredCurve | None, ...]:
    """RED of queues 0 to 7."""
    return tuple(map(_curve, _classes(in_force(switch, port, "queuing output"))))


def _curve(section: kit.CliSection) -> WredCurve | None:
    if "random-detect" not in section.lines:
        return None
    told = section.lines["random-detect"].values
    low, high = told["cells"]
    return WredCurve(
        low_limit=low,
        high_limit=high,
        probability_percent=told["percent"],
        weighting_exponent=told["weight"],
        ecn=told["ecn"],
    )


@dataclass(frozen=True, slots=True)
class PauseBuffer:
    """Of a no-drop class on the way in, in bytes."""

    size: int
    pause: int
    resume: int

    @property
    def headroom_cells(self) -> int:
        """What it may still take after it has paused."""
        return (self.size - self.pause) // CELL_BYTES

    def memory(self) -> GroupMemory:
        """The same for the network: static, once it is configured. Until then the network's own
        threshold holds."""
        return GroupMemory(
            xoff_cells=self.pause // CELL_BYTES,
            xon_offset_cells=(self.pause - self.resume) // CELL_BYTES,
            guaranteed_cells=0,
        )


def pause_buffers(switch: kit.EmulatedSwitch, port: kit.CliSection) -> dict[int, PauseBuffer]:
    """What is configured, by class."""
    each = enumerate(_classes(in_force(switch, port, "queuing input")))
    lines = {queue: found.lines.get("pause buffer-size") for queue, found in each}
    return {queue: PauseBuffer(**line.values) for queue, line in lines.items() if line}


def usual_buffer(switch: kit.EmulatedSwitch, port: str, queue: int) -> PauseBuffer:
    """Of a no-drop class for which nothing is configured: what the network holds now. Recorded is
    another number, of a port of 100G: 348608, 77376 and 75712 bytes."""
    pause, resume = switch.network.pause_cells(port)[queue]
    cells = (pause + switch.headroom_cells(port), pause, resume)
    return PauseBuffer(*(CELL_BYTES * each for each in cells))


def no_drop(switch: kit.EmulatedSwitch) -> frozenset[int]:
    """The lossless classes of the switch."""
    policy = applied(switch, switch.configuration.find(SYSTEM), "network-qos")
    return frozenset(q for q, c in enumerate(_classes(policy)) if "pause pfc-cos" in c.lines)


def dscp_map(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[int, ...]:
    """The qos-group of each DSCP that arrives: of the first class that matches it. (Frames here are
    untagged: what `match cos` matches is CoS 0 at most, and where all has to match, nothing.)"""
    groups: dict[int, int] = {}
    policy = applied(switch, port, "qos input")
    for each in () if policy is None else policy.sections.values():
        matched = switch.configuration.of("class-map").get(each.name)
        if matched and matched.choice != "match-any" and "match cos" in matched.lines:
            continue
        dscps = range(64) if matched is None else matched.value("match dscp", "dscps", ())
        for dscp in dscps:
            groups.setdefault(dscp, each.value("set qos-group", "queue", 0))
    return tuple(groups.get(dscp, 0) for dscp in range(64))


# -- the sections ----------------------------------------------------------------------------------


def _has_class_map(switch: kit.EmulatedSwitch, name: str) -> None:
    if name != "class-default":
        switch.configuration.find(kit.top("class-map", name))


# the words of queuing and network-qos are in guides, those of qos and of class-maps in captures
_PROMPTS = {
    "qos": ("pmap-qos", "pmap-c-qos"),
    "network-qos": ("pmap-nqos", "pmap-nqos-c"),
    "queuing": ("pmap-que", "pmap-c-que"),
}


def _policy_kinds(kind: str) -> dict[str, kit.SectionKind]:
    """A type of policy-maps, and their classes."""
    used = kit.kept_by(words.POLICY_USED, line=f"service-policy type {kind}", argument="policy")
    policy, inner = (f"{{host}}(config-{words})# " for words in _PROMPTS[kind])
    return {
        kind: kit.SectionKind(
            header=f"policy-map type {kind} {{name}}",
            typed=f"policy-map type {kind} <policy>",
            prompt=policy,
            missing=words.NO_POLICY,
            kept=used,
        ),
        f"{kind}-class": kit.SectionKind(
            header="class {name}" if kind == "qos" else f"class type {kind} {{name}}",
            typed=f"class {CLASSES[kind]}",
            prompt=inner,
            settings=IN_CLASS[kind],
            inside=kind,
            missing=words.NO_SUCH_CLASS,
            entering=_has_class_map if kind == "qos" else lambda *_: None,
        ),
    }


KINDS = {
    # none typed is match-all: the vendor's reference of its model
    "class-map": kit.SectionKind(
        header="class-map type qos {choice} {name}",
        choices=("match-all", "match-any"),
        typed="class-map type qos [ match-any | match-all ] <name>",
        prompt="{host}(config-cmap-qos)# ",
        settings=(kit.setting("match dscp <dscps>"), kit.setting("match cos <cos>")),
        missing=words.NO_CLASS_MAP,
        kept=kit.kept_by(words.CLASS_MAP_USED, section="qos-class"),
    ),
    **{name: each for kind in IN_CLASS for name, each in _policy_kinds(kind).items()},
    "system": kit.SectionKind(
        header="system {name}",
        typed="system qos",
        removable=False,
        prompt="{host}(config-sys-qos)# ",
        settings=IN_SYSTEM,
    ),
}
