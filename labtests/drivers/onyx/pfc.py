"""PFC: the mode of a port, the lossless priorities of the whole switch, and the frames.

A port whose mode is `on` by force may show `Auto` and `Enabled` (user guide), so it is on when it
works or is told to. Whether PFC works at all is the switch's own (`dcb priority-flow-control
enable`), and nothing that labtests changes: where it does not, a port need not show its mode.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labtests.capabilities.counters import PFC_RX_FRAMES, PFC_TX_FRAMES
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC, Commands
from labtests.core.output import excerpt
from labtests.drivers.displays import ANY, ONCE, read
from labtests.drivers.displays.trees import Node, parse_any
from labtests.drivers.onyx.session import ONYX, OnyxPart, OnyxSetting, Told, line, show
from labtests.drivers.pauses import SharedPriorities, left_alone
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, ask_each
from labtests.transport.protocol import Reply

PRIORITIES = range(8)
_STATES = ("enabled", "disabled")
_STATE, _ENABLED, _DISABLED = "PFC", "Priority Enabled List", "Priority Disabled List"
_INTERFACE = re.compile(r"(?:Eth|Po|Mpo)[0-9/]+")
_REMEDY = "once, by hand: `dcb priority-flow-control enable force`"


@dataclass(frozen=True, slots=True)
class Pauses:
    """PFC of a switch: for which priorities, and which interfaces are on; None where the switch
    does none, whatever they are told. `off`: those that are told not to, and not as delivered."""

    priorities: frozenset[int]
    on: Mapping[str, bool | None]
    off: frozenset[str]


def parse_pfc(reply: Reply) -> Pauses:
    """Of the whole switch."""
    told = Told.by(parse_any(reply))
    enabled, disabled = (_numbers(told[name]) for name in (_ENABLED, _DISABLED))
    if enabled & disabled or enabled | disabled != set(PRIORITIES):
        told.node.refuse("has priorities that are not enabled or disabled")
    ports = told.fields.keys() - {_STATE, _ENABLED, _DISABLED}
    if new := [name for name in ports if not _INTERFACE.fullmatch(name)]:
        told.node.refuse(f"has the field {excerpt(min(new), 80)!r}, which is unrecognised")
    works, shown = told[_STATE].one_of(*_STATES) == "enabled", sorted(ports)
    each = {name: Told.by(told[name]) for name in shown}
    off = frozenset(name for name in shown if _admin(each[name]) == "off")
    return Pauses(enabled, {name: _is_on(each[name], works) for name in shown}, off)


_NUMBERS = "(?:[0-7](?: [0-7])*)? ?"
_NONE = "none|n/a|-+"


def _numbers(node: Node) -> frozenset[int]:
    """`3 4`. How none are shown is not known: all have to be in the other list then."""
    if not isinstance(node.shown, str):
        node.refuse(f"should be priorities, not {excerpt(repr(node.shown), 80)}")
    told = node.like(f"{_NUMBERS}|{_NONE}", "priorities")[0]
    return frozenset(map(int, re.findall("[0-7]", told)))


def _is_on(told: Told, enabled: bool) -> bool | None:
    works = told["PFC oper"].one_of(*_STATES) == "enabled"
    admin = _admin(told)
    on = works or admin == "on"
    return on if enabled or admin == "off" else None


def _admin(told: Told) -> str:
    return told["PFC admin"].one_of("auto", "on", "off")


def _pauses() -> Asking[tuple[Reply, Pauses]]:
    reply = yield from show("dcb", "priority-flow-control")
    return reply, parse_pfc(reply)


@dataclass(frozen=True, slots=True)
class OnyxPauses:
    """PFC of the switch, whether another port needs its priorities, too, and whether the port is
    told to be off, and not `Auto` as delivered."""

    priorities: frozenset[int]
    shared: bool
    off: bool


class OnyxPfc(OnyxSetting[PfcSetting], SharedPriorities):
    """Mode and priorities."""

    kind = PFC

    def read(self, port: str) -> Asking[PfcSetting]:
        """Auto that came to nothing is off."""
        reply, of = yield from _pauses()
        if self.port(port) not in of.on:
            self.cli.names.wrong(reply, self.port(port), f"{len(of.on)} others")
        on = of.on[self.port(port)]
        if on is None:
            where = f"interface {port} dcb priority-flow-control"
            problem = "PFC is disabled in the whole switch, whatever the mode of the port is"
            raise self.reject(where, problem, _REMEDY)
        return PfcSetting(mode="on" if on else "off", priorities=of.priorities)

    def around(self, port: str, values: tuple[PfcSetting, ...]) -> Asking[OnyxPauses]:
        """Whether another port needs the priorities, too."""
        _, of = yield from _pauses()
        own = self.port(port)
        shared = any(of.on[each] is not False for each in of.on.keys() - {own})
        return OnyxPauses(of.priorities, shared, own in of.off)

    def commands(
        self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: OnyxPauses
    ) -> Commands:
        """The priorities first, so that PFC never works with those of somebody else."""
        if wanted.mode == "auto":
            where, problem = f"interface {port}", "labtests negotiates no PFC there (DCBX)"
            raise self.reject(where, problem, 'use the mode "on" or "off"')
        if around.off and wanted.mode == "on":
            where = f"interface {port} dcb priority-flow-control mode"
            problem = "the port is told `off`, and no line is known that puts that back"
            remedy = "by hand: `no dcb priority-flow-control mode force`, which makes it Auto"
            raise self.reject(where, problem, remedy)
        before, after = (
            left_alone(each, around.priorities, shared=around.shared).priorities
            for each in (earlier, wanted)
        )
        at = ("dcb", "priority-flow-control", "priority")
        lines = [line("no", *at, each, "enable") for each in sorted(before - after)]
        lines += [line(*at, each, "enable") for each in sorted(after - before)]
        if earlier.mode != wanted.mode:
            mode = ("dcb", "priority-flow-control", "mode")
            words = (*mode, "on", "force") if wanted.mode == "on" else ("no", *mode, "force")
            lines.append(self.of_port(port, *words))
        return tuple(lines)


# -- frames ----------------------------------------------------------------------------------------

Frames = dict[str, int]
"""Of each side that shows them."""


def _both(priority: int, sides: tuple[dict[str, Any], ...] = ()) -> tuple[int, Frames]:
    return priority, {each["side"]: each["frames"] for each in sides if "frames" in each}


PAUSES = ONYX.record(
    "<port:port>:?",
    ONYX.record(
        "PFC <priority:0-7>:?",
        ONYX.record(
            "<side:Rx|Tx>:?",
            ONYX.maybe("<frames:number> pause packets"),
            ONYX.maybe("<:number> pause duration.*"),
            make=dict,
            into="sides",
            times=ANY,
            order="unique",
        ),
        make=_both,
        into="told",
        times=ONCE,
    ),
    make=lambda port, told: (port, told[0]),
    order="unique",
)
_WORDS = ((PFC_RX_FRAMES, "Rx"), (PFC_TX_FRAMES, "Tx"))


def parse_pause_frames(reply: Reply) -> dict[str, tuple[int, Frames]]:
    """The priority that is counted, and the frames of each side, by port."""
    return dict(read(reply, PAUSES))


class OnyxPfcFrames(OnyxPart, PfcTelemetry):
    """PFC frames received and sent."""

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """One display of all ports for each priority."""
        words = ("show", "interfaces", "ethernet", "counters", "pfc", "prio")
        replies = yield from ask_each(*(line(*words, priority) for priority in PRIORITIES))
        for reply in replies:
            self.cli.refusals.expect_answer(reply)
        counted = [(reply, parse_pause_frames(reply)) for reply in replies]
        return tuple(
            each
            for port in ports
            for priority, (reply, found) in enumerate(counted)
            for each in self._of_port(reply, port, priority, found.get(self.port(port)))
        )

    def _of_port(
        self, reply: Reply, port: str, priority: int, found: tuple[int, Frames] | None
    ) -> Iterator[Reading]:
        if found is not None and found[0] != priority:
            self.cli.names.wrong(reply, f"priority {priority}", f"priority {found[0]}")
        at = Answered(reply, port, "priority", priority)
        for counter, side in _WORDS:
            value = None if found is None else found[1].get(side)
            source = f"{reply.command}: {side} pause packets"
            yield at.reading((counter, "frames"), value, source, "the switch shows no such line")
