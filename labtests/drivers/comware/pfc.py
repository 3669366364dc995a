"""`display priority-flow-control interface`: what PFC does on a port, and its frame counters.

Two sets of column names are known:

    Interface     Conf Ne  Dot1pList   P Recv       Sent       [Inpps      Outpps]
    Interface     AdminMode  OperMode  Dot1pList   Prio  Recv  Send  [Inpps  Outpps]

Dot1pList may be blank. The switch prints a row only for priorities with frames: in document 000 PFC
works on 0-7 and there is one row, for 3. A port without any counted frame has one row without
priority and counters.
"""

import re
from dataclasses import dataclass
from typing import Literal

from labtests.drivers.comware.values import COMWARE, NOT_A_NUMBER, priorities
from labtests.drivers.displays import Table, ValueKind, read_table
from labtests.transport.protocol import Reply

Mode = Literal["off", "on", "auto"]


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
    priorities: frozenset[int] = frozenset()
    frames: tuple[PfcFrames, ...] = ()

    def of(self, priority: int) -> PfcFrames | None:
        """The counters of one priority, where there is a row for it."""
        return next((f for f in self.frames if f.priority == priority), None)


def _mode(text: str) -> str:
    return {"disabled": "off", "enabled": "on"}.get(text.lower(), text.lower())


def _no_drop(text: str) -> frozenset[int]:
    return frozenset() if NOT_A_NUMBER.fullmatch(text) else priorities(text)


_columns = COMWARE.also(
    mode=ValueKind("(?i:on|off|auto|enabled|disabled)", _mode),
    is_on=ValueKind("(?i:on|off|enabled|disabled)", lambda text: _mode(text) == "on"),
    list=ValueKind(r"\S+", _no_drop),
).columns

_PORTS = Table(
    about=_columns(
        {
            "Interface": "interface:port",
            "Conf|AdminMode": "mode:mode",
            "Ne|OperMode": "operational:is_on",
            "Dot1pList": "priorities:list?",
        }
    ),
    details=_columns(
        {
            "P|Prio": "priority:0-7",
            "Recv": "received_frames:count",
            "Sent|Send": "sent_frames:count",
        }
    ),
    extra=_columns({"Inpps": ":count", "Outpps": ":count"}),
    make=PfcPort,
    make_detail=PfcFrames,
    into="frames",
    passed=re.compile(r"Conf\s+-- Configured mode\b.*|(?:Ne|P)\s+-- \w+(?: mode)?"),
    nothing=NOT_A_NUMBER,
)


def parse_priority_flow_control(reply: Reply) -> tuple[PfcPort, ...]:
    """Every port of the table, in order."""
    return read_table(reply, _PORTS)
