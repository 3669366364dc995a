"""PFC: the mode of a port, the lossless priorities of the whole switch, and the frames.

A port whose mode is `on` by force may show `Auto` and `Enabled` (user guide), so it is on when it
works or is told to. Whether PFC works at all is the switch's own (`dcb priority-flow-control
enable`), and nothing that labtests changes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labtests.capabilities.counters import PFC_RX_FRAMES, PFC_TX_FRAMES
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.records import PfcSetting, Reading
from labtests.capabilities.settings import PFC, Commands
from labtests.drivers.displays import ANY, ONCE, read
from labtests.drivers.displays.trees import Node, parse_any
from labtests.drivers.onyx.session import ONYX, OnyxPart, OnyxSetting, fields_of, line, needed, show
from labtests.drivers.pauses import left_alone
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, ask_each
from labtests.transport.protocol import Reply

PRIORITIES = range(8)
_STATE, _ENABLED, _DISABLED = "PFC", "Priority Enabled List", "Priority Disabled List"
_INTERFACE = re.compile(r"(?:Eth|Po|Mpo)[0-9/]+")
_FORCED = ("mode", "on", "force")
_REMEDY = "once, by hand: `dcb priority-flow-control enable force`"


@dataclass(frozen=True, slots=True)
class Pauses:
    """PFC of a switch: whether it is enabled, for which priorities, and which interfaces are on."""

    enabled: bool
    priorities: frozenset[int]
    on: Mapping[str, bool]


def parse_pfc(reply: Reply) -> dict[str, Any]:
    """`enabled`, `priorities`, and `on` by interface."""
    whole = parse_any(reply)
    fields = fields_of(whole)
    enabled, disabled = (_numbers(needed(whole, fields, name)) for name in (_ENABLED, _DISABLED))
    if enabled & disabled or enabled | disabled != set(PRIORITIES):
        whole.refuse(f"has priorities that are not enabled or disabled: {enabled}, {disabled}")
    state = _is(needed(whole, fields, _STATE), "enabled", "disabled")
    ports = {
        name: node for name, node in fields.items() if name not in (_STATE, _ENABLED, _DISABLED)
    }
    for name in ports:
        if not _INTERFACE.fullmatch(name):
            whole.refuse(f"has the field {name[:80]!r}, which is unrecognised")
    return {
        "enabled": state,
        "priorities": enabled,
        "on": {name: _is_on(node) for name, node in ports.items()},
    }


def _numbers(node: Node) -> frozenset[int]:
    """`3 4`; of none, no release is known to me: then all have to be in the other list."""
    text = node.text()
    found = text.split() if re.fullmatch("[0-7 ]*", text) else []
    return frozenset(map(int, found))


def _is(node: Node, yes: str, no: str) -> bool:
    word = node.text().lower()
    if word not in (yes, no):
        node.refuse(f"should be {yes} or {no}, not {word[:80]!r}")
    return word == yes


def _is_on(node: Node) -> bool:
    fields = fields_of(node)
    works = _is(needed(node, fields, "PFC oper"), "enabled", "disabled")
    admin = needed(node, fields, "PFC admin").text().lower()
    if admin not in ("auto", "on", "off"):
        node.refuse(f"has the mode {admin[:80]!r}, which is unrecognised")
    return works or admin == "on"


def _pauses() -> Asking[tuple[Reply, Pauses]]:
    reply = yield from show("dcb", "priority-flow-control")
    return reply, Pauses(**parse_pfc(reply))


@dataclass(frozen=True, slots=True)
class OnyxPauses:
    """PFC of the switch, and whether another port needs its priorities, too."""

    of: Pauses
    shared: bool

    def left_alone(self, setting: PfcSetting, now: frozenset[int]) -> PfcSetting:
        """See pauses.left_alone."""
        return left_alone(setting, now, shared=self.shared)


class OnyxPfc(OnyxSetting[PfcSetting]):
    """Mode and priorities."""

    kind = PFC

    def read(self, port: str) -> Asking[PfcSetting]:
        """Auto that came to nothing is off."""
        reply, of = yield from _pauses()
        if self.port(port) not in of.on:
            self.expect_about(reply, port, "others")
        on = of.enabled and of.on[self.port(port)]
        return PfcSetting(mode="on" if on else "off", priorities=of.priorities)

    def around(self, port: str, values: tuple[PfcSetting, ...]) -> Asking[OnyxPauses]:
        """Whether another port needs the priorities, too."""
        _, of = yield from _pauses()
        others = of.on.keys() - {self.port(port)}
        return OnyxPauses(of, of.enabled and any(of.on[each] for each in others))

    def commands(
        self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: OnyxPauses
    ) -> Commands:
        """The priorities first, so that PFC never works with those of somebody else."""
        self._expect_possible(port, wanted, around.of)
        now = around.of.priorities
        before, after = (around.left_alone(each, now).priorities for each in (earlier, wanted))
        at = ("dcb", "priority-flow-control", "priority")
        lines = [line("no", *at, each, "enable") for each in sorted(before - after)]
        lines += [line(*at, each, "enable") for each in sorted(after - before)]
        if earlier.mode != wanted.mode:
            words = _FORCED if wanted.mode == "on" else ("mode", "force")
            off = () if wanted.mode == "on" else ("no",)
            lines.append(self.of_port(port, *off, "dcb", "priority-flow-control", *words))
        return tuple(lines)

    def _expect_possible(self, port: str, wanted: PfcSetting, of: Pauses) -> None:
        where = f"interface {port} dcb priority-flow-control"
        if wanted.mode == "auto":
            problem = "labtests negotiates no PFC there (DCBX)"
            self.reject(where, problem, 'use the mode "on" or "off"')
        if wanted.mode == "on" and not of.enabled:
            self.reject(where, "PFC is disabled in the whole switch", _REMEDY)

    def wrong(self, wanted: PfcSetting, found: PfcSetting, before: Any, after: Any) -> str:
        """Priorities that were left alone are not wrong."""
        return super().wrong(after.left_alone(wanted, found.priorities), found, before, after)


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
