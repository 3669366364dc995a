"""A driver for the small switch of nexus_switch.py: three settings of a port, six counters.

Built from labtests.drivers.displays and these tables; docs/new-platform.md walks through it.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Literal

from labtests.capabilities import counters as c
from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.facts import PortTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC, Kind, T
from labtests.drivers import displays
from labtests.drivers.parsing import refuse, whole_lines
from labtests.drivers.parts import drivers
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, side_by_side
from labtests.transport.commands import CliLine

SESSION = "cisco_nxos"
KIND: Literal["host", "switch"] = "switch"

DESCRIPTION = Kind[str]("description", "a port that can be given a description, of one word here")

CLI = displays.Cli(
    word=re.compile(r"[A-Za-z0-9._/:-]{1,80}"),
    names=displays.Names(
        cli="the small Nexus",
        abbreviations={"Ethernet": "Eth"},
        listing="show interface brief",
        example="Ethernet1/1",
        file=__file__,
    ),
    refusals=displays.Refusals(
        prompt=re.compile(r"^[\w.-]+(?:\(config[\w-]*\))?# ?"),
        refusal=re.compile(r"^% "),
        notice=re.compile(r"^Enter configuration commands"),
        views=frozenset({"configure terminal", "end"}),
        remedies={"Permission denied": "log in with an account that has the role network-admin"},
    ),
    undo="no",
    leave="exit",
)


class NexusPart(displays.CliPart):
    cli = CLI

    def told(self, port: str) -> Asking[tuple[str, ...]]:
        """The lines under `interface PORT`."""
        reply = yield from CLI.show("show", "running-config", "interface", port)
        head, *under = [text for text in whole_lines(reply) if text.strip()] or [""]
        if head != f"interface {port}" or not all(text.startswith("  ") for text in under):
            refuse(reply, f"this is not the configuration of {port}")
        return tuple(text.strip() for text in under)


class Shutdown(NexusPart, displays.PortShutting):
    """A line that the kit knows."""


class PortLine(NexusPart, displays.ViewSetting[T]):
    """A line under `interface`: `begins` is how it starts; without it there is the default."""

    begins: ClassVar[str]
    default: ClassVar[Any]

    def read(self, port: str) -> Asking[T]:
        found = [text for text in (yield from self.told(port)) if text.startswith(self.begins)]
        value: T = self.value(found[0].removeprefix(self.begins).strip()) if found else self.default
        return value

    def lines(self, port: str, earlier: T, wanted: T) -> Iterator[CliLine]:
        words = () if wanted == self.default else self.words(wanted)
        yield CLI.switched(wanted != self.default, *self.begins.split(), *words)

    def value(self, text: str) -> Any:
        return text

    def words(self, wanted: Any) -> tuple[str, ...]:
        return (wanted,)


class Pfc(PortLine[PfcSetting]):
    kind, begins = PFC, "priority-flow-control mode"
    default = PfcSetting(mode="auto", priorities=frozenset({3}))

    def value(self, text: str) -> PfcSetting:
        mode: Any = text
        return PfcSetting(mode=mode, priorities=frozenset({3}))

    def words(self, wanted: PfcSetting) -> tuple[str, ...]:
        return (wanted.mode,)


class Description(PortLine[str]):
    kind, begins, default = DESCRIPTION, "description", ""


NXOS = displays.Notation()
PAUSES = displays.Table(
    about=NXOS.columns(
        {"Port": "port", "Mode": "mode:Auto|On|Off", r"Oper\(VL bmap\)": "oper:Off|On.*"}
    ),
    details=NXOS.columns({"RxPPP": "received:number", "TxPPP": "sent:number"}),
    make=dict,
    into="frames",
    passed=re.compile("=+"),
)
_COUNTED = {
    "InOctets": (c.RX_BYTES, "bytes"),
    "InUcastPkts": (c.RX_PACKETS, "packets"),
    "OutOctets": (c.TX_BYTES, "bytes"),
    "OutUcastPkts": (c.TX_PACKETS, "packets"),
}


def _named(port: str, one: int, other: int, names: tuple[str, str]) -> dict[str, int]:
    return {names[0]: one, names[1]: other}


_TRAFFIC = tuple(
    displays.Table(
        about=NXOS.columns({"Port": "port", one: "one:number", other: "other:number"}),
        make=partial(_named, names=(one, other)),
        passed=re.compile("-+"),
    )
    for one, other in (
        *(("InOctets", "InUcastPkts"), ("InMcastPkts", "InBcastPkts")),
        *(("OutOctets", "OutUcastPkts"), ("OutMcastPkts", "OutBcastPkts")),
    )
)


class Counters(NexusPart, PfcTelemetry, PortTelemetry):
    """Pauses by port (the small switch has one no-drop class), and the port's own traffic."""

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        each = yield from side_by_side([self._pauses(port) for port in ports])
        return tuple(reading for readings in each for reading in readings)

    def _pauses(self, port: str) -> Asking[tuple[Reading, ...]]:
        reply = yield from CLI.show("show", "interface", port, "priority-flow-control")
        (row,) = displays.read_table(reply, PAUSES)
        (frames,) = row["frames"]
        counts = ((c.PFC_RX_FRAMES, frames["received"]), (c.PFC_TX_FRAMES, frames["sent"]))
        at = Answered(reply, port, "priority", 3)
        return tuple(at.reading((name, "frames"), count, reply.command) for name, count in counts)

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        reply = yield from CLI.show("show", "interface", port, "counters")
        rows = (row for table in displays.read_tables(reply, *_TRAFFIC) for row in table)
        found = {name: count for row in rows for name, count in row.items()}
        at = Answered(reply, port)
        return tuple(at.reading(told, found[n], reply.command) for n, told in _COUNTED.items())


driver_of = drivers((Pfc, Shutdown, Description), (Counters,))
