"""Class-maps, policy-maps and where they are applied; and what a port does by them.

Three types of policy-maps: `qos` puts DSCPs into qos-groups, where a port applies it; `network-qos`
says which classes are lossless, for the whole switch; `queuing` serves and marks queues, where a
port or else the switch (`system qos`) applies it. A class has the number of its queue in its name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from labtests.network import Schedule, WredCurve
from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import words

CELL_BYTES = 208
"""Of the network's memory. Thresholds in recordings of a Nexus 9000 are multiples of it, too."""
DEFAULT_OUT, DEFAULT_NETWORK = "default-8q-out-policy", "default-8q-nw-qos-policy"
"""In force where nothing is applied. The first is recorded, the name of the second from memory."""
SYSTEM = kit.top("system", "qos")
UNITS = "{ bytes | kbytes | mbytes }"
_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}  # whether 1000 or 1024 is not known
_OUT = (*(f"c-out-8q-q{n}" for n in range(1, 8)), "c-out-8q-q-default")
_IN = (*(f"c-in-q{n}" for n in range(1, 8)), "c-in-q-default")
_NETWORK = (*(f"c-8q-nq{n}" for n in range(1, 8)), "c-8q-nq-default")
CLASSES = {
    "queuing": "type queuing {{ {} }}".format(" | ".join((*_OUT, *_IN))),
    "network-qos": "type network-qos {{ {} }}".format(" | ".join(_NETWORK)),
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


MATCHES = (kit.setting("match dscp <dscps>"), kit.setting("match cos <cos>"))
IN_CLASS: Mapping[str, tuple[kit.CliSetting, ...]] = {
    "qos": (kit.setting("set qos-group <queue>"),),
    "network-qos": (
        kit.setting("mtu <mtu>"),
        kit.setting("pause pfc-cos <priority>", before=_own_cos),
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
        ),
        kit.setting(
            "pause buffer-size <size> pause-threshold <pause> resume-threshold <resume>",
            key="pause buffer-size",
        ),
    ),
}  # fmt: skip


def _service_policy(kind: str, where: str, more: str = "", default: str = "") -> kit.CliSetting:
    key = f"service-policy type {kind} {where}".strip()
    return kit.setting(
        f"{key} <policy>{more}",
        key=key,
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


def _classes(policy: kit.CliSection | None) -> dict[int, kit.CliSection]:
    inner = () if policy is None else policy.sections.values()
    return {queue_of(each.name): each for each in inner}


def served(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[QueueService, ...]:
    """Queues 0 to 7."""
    policy = in_force(switch, port, "queuing output")
    if policy is None:
        return DELIVERED
    classes = _classes(policy)
    return tuple(_served(classes.get(queue)) for queue in range(8))


def _served(section: kit.CliSection | None) -> QueueService:
    if section is None:
        return QueueService()
    if "priority" in section.lines:
        return QueueService(level=section.value("priority", "level", 1))
    return QueueService(percent=section.value("bandwidth", "percent", 0))


def schedule(switch: kit.EmulatedSwitch, port: kit.CliSection) -> Schedule:
    """The same for the network: levels in turn, the last one by bytes."""
    each = served(switch, port)
    return Schedule(
        levels=tuple(_LAST_LEVEL if s.level is None else s.level - 1 for s in each),
        queues=tuple(("1", max(s.percent, 1) * _BYTES_A_PERCENT) for s in each),
    )


_RED = re.compile(
    r"random-detect minimum-threshold (?P<low>\d+) (?P<low_unit>\w+) "
    r"maximum-threshold (?P<high>\d+) (?P<high_unit>\w+) .*"
)


def curves(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[WredCurve | None, ...]:
    """RED of queues 0 to 7."""
    classes = _classes(in_force(switch, port, "queuing output"))
    return tuple(_curve(classes.get(queue)) for queue in range(8))


def _curve(section: kit.CliSection | None) -> WredCurve | None:
    found = _RED.fullmatch("" if section is None else section.text("random-detect"))
    if section is None or found is None:
        return None
    values = section.lines["random-detect"].values
    return WredCurve(
        low_limit=int(found["low"]) * _BYTES[found["low_unit"]] // CELL_BYTES,
        high_limit=int(found["high"]) * _BYTES[found["high_unit"]] // CELL_BYTES,
        probability_percent=values["percent"],
        weighting_exponent=values["weight"],
        ecn=section.text("random-detect").endswith(" ecn"),
    )


@dataclass(frozen=True, slots=True)
class PauseBuffer:
    """Of a no-drop class on the way in, in bytes."""

    size: int
    pause: int
    resume: int


def pause_buffers(switch: kit.EmulatedSwitch, port: kit.CliSection) -> dict[int, PauseBuffer]:
    """What is configured, by class."""
    classes = _classes(in_force(switch, port, "queuing input")).items()
    lines = {q: c.lines["pause buffer-size"] for q, c in classes if "pause buffer-size" in c.lines}
    return {queue: PauseBuffer(**line.values) for queue, line in lines.items()}


def usual_buffer(switch: kit.EmulatedSwitch, port: str, queue: int) -> PauseBuffer:
    """Of a no-drop class for which nothing is configured: what the network holds now. Recorded is
    another number, of a port of 100G: 348608, 77376 and 75712 bytes."""
    pause, resume = switch.network.pause_cells(port)[queue]
    cells = (pause + switch.headroom_cells(port), pause, resume)
    return PauseBuffer(*(CELL_BYTES * each for each in cells))


def no_drop(switch: kit.EmulatedSwitch) -> frozenset[int]:
    """The lossless classes of the switch."""
    policy = applied(switch, switch.configuration.find(SYSTEM), "network-qos")
    return frozenset(q for q, c in _classes(policy).items() if "pause pfc-cos" in c.lines)


def dscp_map(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[int, ...]:
    """The qos-group of each DSCP that arrives: of the first class that matches it. (Frames here are
    untagged: what `match cos` matches is CoS 0 at most.)"""
    groups: dict[int, int] = {}
    policy = applied(switch, port, "qos input")
    for each in () if policy is None else policy.sections.values():
        matched = switch.configuration.of("class-map").get(each.name)
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
    policy, inner = (f"{{host}}(config-{words})# " for words in _PROMPTS[kind])
    return {
        kind: kit.SectionKind(
            header=f"policy-map type {kind} {{name}}",
            typed=f"policy-map type {kind} <policy>",
            prompt=policy,
            missing=words.NO_POLICY,
            kept=kit.kept_by(
                words.POLICY_USED, line=f"service-policy type {kind}", argument="policy"
            ),
            changed=kit.apply_ports,
        ),
        f"{kind}-class": kit.SectionKind(
            header="class {name}" if kind == "qos" else f"class type {kind} {{name}}",
            typed=f"class {CLASSES[kind]}",
            prompt=inner,
            settings=IN_CLASS[kind],
            inside=kind,
            missing=words.NO_SUCH_CLASS,
            entering=_has_class_map if kind == "qos" else lambda *_: None,
            changed=kit.apply_ports,
        ),
    }


KINDS = {
    # one with one line matches the same in both ways
    "class-map": kit.SectionKind(
        header="class-map type qos match-any {name}",
        typed="class-map type qos [ match-any | match-all ] <name>",
        prompt="{host}(config-cmap-qos)# ",
        settings=MATCHES,
        missing=words.NO_CLASS_MAP,
        kept=kit.kept_by(words.CLASS_MAP_USED, section="qos-class"),
        changed=kit.apply_ports,
    ),
    **{name: each for kind in IN_CLASS for name, each in _policy_kinds(kind).items()},
    "system": kit.SectionKind(
        header="system {name}",
        typed="system qos",
        removable=False,
        prompt="{host}(config-sys-qos)# ",
        settings=IN_SYSTEM,
        changed=kit.apply_ports,
    ),
}
