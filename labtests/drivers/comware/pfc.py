"""PFC of a port: how it is configured, what `display priority-flow-control interface` shows of it,
and how it is set.

Two sets of column names are known:

    Interface     Conf Ne  Dot1pList   P Recv       Sent       [Inpps      Outpps]
    Interface     AdminMode  OperMode  Dot1pList   Prio  Recv  Send  [Inpps  Outpps]

Dot1pList may be blank. The switch prints a row only for priorities with frames: in document 000 PFC
works on 0-7 and there is one row, for 3. A port without any counted frame has one row without
priority and counters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from labtests.capabilities.counters import PFC_RX_FRAMES, PFC_TX_FRAMES
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.drivers.comware.session import ComwarePart, ConfigSection, PortSetting, line
from labtests.drivers.comware.values import COMWARE, NO_NUMBER, NOT_A_NUMBER, priorities, wrong_port
from labtests.drivers.displays import PortDisplay, Table, ValueKind, written
from labtests.drivers.parsing import refuse
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, side_by_side
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcPort:
    """One port. `priorities` are its no-drop priorities as displayed (may be blank), `frames` those
    received and sent of each priority that has a row; None: the switch printed no number."""

    mode: Literal["off", "on", "auto"]
    operational: bool
    priorities: frozenset[int]
    frames: dict[int, tuple[int | None, int | None]]


def _port(
    interface: str, frames: tuple[Any, ...], priorities: frozenset[int] = frozenset(), **modes: Any
) -> tuple[str, PfcPort]:
    return interface, PfcPort(priorities=priorities, frames=dict(frames), **modes)


def _mode(text: str) -> str:
    return {"disabled": "off", "enabled": "on"}.get(text.lower(), text.lower())


def _no_drop(text: str) -> frozenset[int]:
    return frozenset() if NOT_A_NUMBER.fullmatch(text) else priorities(text)


_columns = COMWARE.also(
    mode=ValueKind("(?i:on|off|auto|enabled|disabled)", _mode),
    is_on=ValueKind("(?i:on|off|enabled|disabled)", lambda text: _mode(text) == "on"),
    list=ValueKind(r"\S+", _no_drop),
).columns
PORTS = PortDisplay(
    command="display priority-flow-control interface <port>",
    shows=Table(
        about=_columns(
            {
                "Interface": "interface:port",
                "Conf|AdminMode": "mode:mode",
                "Ne|OperMode": "operational:is_on",
                "Dot1pList": "priorities:list?",
            }
        ),
        details=_columns(
            {"P|Prio": "priority:0-7", "Recv": "received:count", "Sent|Send": "sent:count"}
        ),
        extra=_columns({"Inpps": ":count", "Outpps": ":count"}),
        make=_port,
        make_detail=lambda priority, received, sent: (priority, (received, sent)),
        into="frames",
        passed=re.compile(r"Conf\s+-- Configured mode\b.*|(?:Ne|P)\s+-- \w+(?: mode)?"),
        nothing=NOT_A_NUMBER,
    ),
)

_CONFIGURED_MODE = COMWARE.shape("priority-flow-control <mode:enable|auto>")
_CONFIGURED_LIST = COMWARE.shape("priority-flow-control no-drop dot1p <listed:priorities>")
_MODES = {
    "on": line("priority-flow-control", "enable"),
    "auto": line("priority-flow-control", "auto"),
    "off": line("undo", "priority-flow-control"),
}
_NO_DROP = ("priority-flow-control", "no-drop", "dot1p")


class ComwarePfc(PortSetting[PfcSetting]):
    """The mode of a port, and its no-drop list."""

    kind = PFC

    def read(self, port: str) -> Asking[PfcSetting]:
        """As configured on the port, which is exact even while no PFC frame was counted. Refused
        when `display priority-flow-control` contradicts it: then the system view says otherwise."""
        configured = configured_pfc(*(yield from self.configured(port)))
        shown, row = yield from _shown(self, port)
        if row is not None and row.mode != configured.mode:
            refuse(
                shown,
                f"PFC of {self.port(port)} is {row.mode}, its configuration says {configured.mode}",
                "take `priority-flow-control` out of the system view: it is set per port here",
            )
        return configured

    def lines(self, port: str, earlier: PfcSetting, wanted: PfcSetting) -> Iterator[CliLine]:
        """The no-drop list first, so that PFC never works with the list of somebody else."""
        if not wanted.priorities >= earlier.priorities:
            # whether a shorter list replaces a longer one is not written anywhere
            yield line("undo", *_NO_DROP)
        if wanted.priorities not in (earlier.priorities, frozenset()):
            yield line(*_NO_DROP, written(wanted.priorities))  # 16 characters at most (H3C)
        if wanted.mode != earlier.mode:
            yield _MODES[wanted.mode]


def configured_pfc(reply: Reply, section: ConfigSection) -> PfcSetting:
    """PFC as configured: no `priority-flow-control enable|auto` line means off.

    The no-drop list stays when PFC is off, so it is part of the setting either way. PFC thresholds,
    deadlock detection and early warnings are other settings and stay as they are.
    """
    undone = [line for line in section.lines if line.startswith("undo priority-flow-control")]
    if undone:
        refuse(reply, f"{section.interface} takes back what the system view says: {undone[0]!r}")
    mode: Any = (section.said(reply, _CONFIGURED_MODE) or {"mode": "off"})["mode"]
    no_drop = section.said(reply, _CONFIGURED_LIST) or {"listed": frozenset()}
    return PfcSetting(mode="on" if mode == "enable" else mode, priorities=no_drop["listed"])


def _shown(part: ComwarePart, port: str) -> Asking[tuple[Reply, PfcPort | None]]:
    """What is displayed of a port, which may be nothing."""
    full, reply = part.port(port), (yield from part.asked(PORTS, port))
    found = PORTS.read(reply)
    if found.keys() - {full}:
        wrong_port(reply, full, ", ".join(found))
    return reply, found.get(full)


# the same whether there is a row or not: a difference needs one source before and after
_SOURCE = "display priority-flow-control: {} (0 where PFC is on and no row)"
_SOURCES = {PFC_RX_FRAMES: _SOURCE.format("Recv"), PFC_TX_FRAMES: _SOURCE.format("Sent")}


class PfcFrames(ComwarePart, PfcTelemetry):
    """PFC frames received and sent, as printed."""

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """PFC frames received and sent, for every priority of every port.

        A priority without a row is 0 in exactly one case: PFC is operational on the port and the
        priority is in its displayed no-drop list. The switch prints rows only for priorities with
        frames (document 000: list 0-7, one row), so there no row *is* "none counted", and a run in
        which the first frame makes the row appear can be measured. The readings' `source` says so.
        Everything else without a row is None.
        """
        found = yield from side_by_side([self._of_port(port) for port in ports])
        return tuple(reading for each in found for reading in each)

    def _of_port(self, port: str) -> Asking[tuple[Reading, ...]]:
        reply, found = yield from _shown(self, port)

        def counted(priority: int, counter: str) -> tuple[int | None, str]:
            (received, sent), missing = _frames(found, priority)
            return received if counter == PFC_RX_FRAMES else sent, missing

        return Answered(reply, port, "priority").of_eight(_SOURCES, counted)


def _frames(found: PfcPort | None, priority: int) -> tuple[tuple[int | None, int | None], str]:
    """Received and sent, and why there is no number."""
    if found is None:
        return (None, None), "`display priority-flow-control` shows nothing for this port"
    if priority in found.frames:
        return found.frames[priority], NO_NUMBER
    without = f"no row for priority {priority}"
    if not found.operational:
        return (None, None), f"{without}; PFC is not in operation (mode {found.mode})"
    if priority not in found.priorities:
        return (None, None), f"{without}, which is not in the port's displayed no-drop list"
    return (0, 0), ""
