"""`display priority-flow-control interface`: what PFC does on a port, and its frame counters.

Two sets of column names are known:

    Interface     Conf Ne  Dot1pList   P Recv       Sent       [Inpps      Outpps]
    Interface     AdminMode  OperMode  Dot1pList   Prio  Recv  Send  [Inpps  Outpps]

Dot1pList may be blank. The switch prints a row only for priorities with frames: in document 000 PFC
works on 0-7 and there is one row, for 3. A port without any counted frame has one row without
priority and counters.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from labtests.drivers.comware.columns import Columns, unwrapped
from labtests.drivers.comware.configuration import priorities
from labtests.drivers.comware.names import printed_port
from labtests.drivers.comware.values import NOT_A_NUMBER, counted
from labtests.drivers.parsing import BLANK_OR_RULER, refuse, whole_lines
from labtests.transport.protocol import Reply

Mode = Literal["off", "on", "auto"]

_LEGEND = re.compile(r"^\s*Conf\s+-- Configured mode\b.*|^\s*(?:Ne|P)\s+-- \w+(?: mode)?\s*$")
_HEADER = re.compile(r"^\s*Interface\s+(?:Conf\s+Ne|AdminMode\s+OperMode)\s+Dot1pList\s")
_NAMES = {
    "Conf": "AdminMode",
    "Ne": "OperMode",
    "P": "Prio",
    "Sent": "Send",
}
_ALL_NAMES = ("Interface", "AdminMode", "OperMode", "Dot1pList", "Prio", "Recv", "Send")
_RATES = ("Inpps", "Outpps")
_MODES: dict[str, Mode] = {
    "off": "off",
    "disabled": "off",
    "on": "on",
    "enabled": "on",
    "auto": "auto",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcFrames:
    """PFC frames of one priority. None: the switch printed no number."""

    priority: int
    received_frames: int | None
    sent_frames: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcPort:
    """One port. `priorities` are its no-drop priorities as displayed (may be blank)."""

    interface: str
    mode: Mode
    operational: bool
    priorities: frozenset[int]
    frames: tuple[PfcFrames, ...] = ()

    def of(self, priority: int) -> PfcFrames | None:
        """The counters of one priority, where there is a row for it."""
        return next((f for f in self.frames if f.priority == priority), None)


def parse_priority_flow_control(reply: Reply) -> tuple[PfcPort, ...]:
    """Every port of the table, in order."""
    columns: Columns | None = None
    ports: dict[str, PfcPort] = {}
    for number, line in enumerate(unwrapped(whole_lines(reply)), start=1):
        if BLANK_OR_RULER.match(line) or _LEGEND.match(line):
            continue
        if _HEADER.match(line):
            columns = _columns(reply, line)
        elif columns is None:
            refuse(reply, f"line {number} is unrecognised: {line!r}")
        else:
            _add_row(reply, ports, columns.cells(line), line)
    if columns is None:
        refuse(reply, "there is no table of PFC ports")
    return tuple(ports.values())


def _columns(reply: Reply, line: str) -> Columns:
    words = line.split()
    rates = _RATES if tuple(words[-2:]) == _RATES else ()
    columns = Columns.of(line, optional=3 + len(rates))
    names = tuple(_NAMES.get(word, word) for word in words)
    if names != (*_ALL_NAMES, *rates):
        refuse(reply, f"these columns are unrecognised: {line!r}")
    return replace(columns, names=names)


def _add_row(
    reply: Reply, ports: dict[str, PfcPort], cells: dict[str, str] | None, line: str
) -> None:
    if cells is None:
        refuse(reply, f"this row does not fit its columns: {line!r}")
    port = _port(reply, cells) if "Interface" in cells else _port_above(reply, ports, cells, line)
    earlier = ports.pop(port.interface, None)  # put back at the end: the next row may belong to it
    if earlier is not None:
        if "Prio" not in cells or not _continues(port, earlier):
            refuse(reply, f"two rows of {port.interface} contradict each other: {line!r}")
        port = earlier
    if "Prio" in cells and not _is_blank(reply, cells):
        port = replace(port, frames=(*port.frames, _frames(reply, port, cells)))
    ports[port.interface] = port


def _continues(port: PfcPort, earlier: PfcPort) -> bool:
    """Whether a second row of a port says the same as the first; its no-drop list may be blank."""
    said = replace(port, priorities=port.priorities or earlier.priorities)
    return said == replace(earlier, frames=port.frames)


def _is_blank(reply: Reply, cells: dict[str, str]) -> bool:
    """Dashes where a priority and its counters would be: none counted."""
    dashes = [bool(NOT_A_NUMBER.fullmatch(cells[name])) for name in ("Prio", "Recv", "Send")]
    if dashes[0] and not all(dashes):
        refuse(reply, f"counters of {cells.get('Interface')} that belong to no priority")
    return dashes[0]


def _port_above(
    reply: Reply, ports: dict[str, PfcPort], cells: dict[str, str], line: str
) -> PfcPort:
    """Of a row that has only a priority and its counters: the port of the row before."""
    if not ports or "Prio" not in cells or set(cells) & set(_ALL_NAMES[:4]):
        refuse(reply, f"this row belongs to no port: {line!r}")
    return next(reversed(ports.values()))


def _port(reply: Reply, cells: dict[str, str]) -> PfcPort:
    if "AdminMode" not in cells or "OperMode" not in cells:
        refuse(reply, f"the row of {cells['Interface']} has no PFC mode")
    mode = _MODES.get(cells["AdminMode"].lower())
    operation = _MODES.get(cells["OperMode"].lower())
    if mode is None or operation not in ("on", "off"):
        refuse(reply, f"PFC mode {cells['AdminMode']!r}, {cells['OperMode']!r} is unrecognised")
    return PfcPort(
        interface=printed_port(reply, cells["Interface"]),
        mode=mode,
        operational=operation == "on",
        priorities=_no_drop(reply, cells.get("Dot1pList", "")),
    )


def _no_drop(reply: Reply, text: str) -> frozenset[int]:
    blank = not text or NOT_A_NUMBER.fullmatch(text)
    return frozenset() if blank else priorities(reply, text)


def _frames(reply: Reply, port: PfcPort, cells: dict[str, str]) -> PfcFrames:
    if not re.fullmatch(r"[0-7]", cells["Prio"]):
        refuse(reply, f"{port.interface}: priority {cells['Prio']!r} is none of 0..7")
    priority = int(cells["Prio"])
    if port.of(priority) is not None:
        refuse(reply, f"{port.interface} has two rows for priority {priority}")
    for rate in _RATES:
        counted(reply, cells.get(rate, "0"), rate)
    return PfcFrames(
        priority=priority,
        received_frames=counted(reply, cells["Recv"], "Recv"),
        sent_frames=counted(reply, cells["Send"], "Send"),
    )
