"""Which field of a packet decides its priority (`qos trust`), and how one priority field is turned
into another, for the whole switch (`qos map-table`).

A map may exist once, or once per direction; only the map without direction is what a port's trust
uses on the models known here, and what `import ... export ...` writes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from labtests.capabilities.records import TrustSetting
from labtests.capabilities.settings import QUEUE_MAP, TRUST, Commands
from labtests.drivers.comware.session import QUIT, ComwareSetting, PortSetting, line, show
from labtests.drivers.comware.values import COMWARE, many, maybe, record
from labtests.drivers.displays import SOME, PortDisplay, Unfit, read
from labtests.drivers.maps import DscpMapSetting
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

# -- which field of a packet decides its priority --------------------------------------------------


def _setting(interface: str, source: Any = "", override: str = "") -> tuple[str, TrustSetting]:
    if not source:
        raise Unfit("has no line `Port priority trust type`")
    # what a port without trust prints was not seen: both words of H3C's manuals are read
    word: Any = "none" if source.startswith("untrust") else source
    return interface, TrustSetting(source=word, override=override == "enable")


TRUSTED = PortDisplay(
    command="display qos trust interface <port>",
    shows=record(
        "Interface: <interface:port>",
        many("Port priority (trust )?information"),
        many(r"Port (\w+ )?priority: ([0-9]+|-+)"),
        maybe(
            "Port priority trust type: "
            "<source:dscp|dot1p|none|auto|exp|ip-precedence|untrust(?:ed)?>"
            "(, Override: <override:enable|disable>d?)?"
        ),
        make=_setting,
        order="unique",
    ),
)


class ComwareTrust(PortSetting[TrustSetting]):
    """`qos trust`."""

    kind = TRUST

    def read(self, port: str) -> Asking[TrustSetting]:
        """What the port trusts now, defaults included."""
        _, setting = yield from self.shown(TRUSTED, port)
        return setting

    def lines(self, port: str, earlier: TrustSetting, wanted: TrustSetting) -> Iterator[CliLine]:
        """`undo qos trust` is the model's default: no trust, on the models known here."""
        if wanted.source == "none":
            yield line("undo", "qos", "trust")
        else:
            yield line("qos", "trust", wanted.source, *["override"] * wanted.override)


# -- the maps of the switch ------------------------------------------------------------------------


_ENTRIES = {"dscp": 64}
_ENTRIES_OTHERWISE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MapTable:
    """One map: `values[i]` is what i becomes."""

    name: str
    direction: str = ""
    color: str = ""
    values: tuple[int, ...]


def _map(name: str, values: tuple[int, ...], **which: str) -> MapTable:
    entries = _ENTRIES.get(name.split("-")[0], _ENTRIES_OTHERWISE)
    if len(values) != entries:
        raise Unfit(f"should have {entries} rows, not {len(values)}")
    return MapTable(name=name, values=values, **which)


_MAP = record(
    r"MAP-TABLE NAME: <name:[\w-]+> TYPE: <:[\w-]+>"
    r"( COLOR: <color:\w+>)?( DIRECTION: <direction:\w+>)?",
    COMWARE.line("IMPORT : EXPORT"),
    COMWARE.line("<code:number> : <to:number>", into="values", times=SOME, order="from 0"),
    make=_map,
)


def parse_map_table(reply: Reply) -> tuple[MapTable, ...]:
    """Every map printed, each complete: 64 entries from DSCP, 8 from any other field."""
    return read(reply, _MAP)


class Map(ComwareSetting[tuple[int, ...]]):
    """A map of priorities: one for the whole switch, so `port` is not used."""

    wide = True
    table: ClassVar[str]

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """What each entry becomes."""
        reply = yield from show("display", "qos", "map-table", self.table)
        maps = [m for m in parse_map_table(reply) if not m.direction and not m.color]
        if [m.name for m in maps] != [self.table]:
            refuse(reply, f"there is no map {self.table} without direction")
        if max(maps[0].values) > 7:
            refuse(reply, "a value of it maps to a priority above 7")
        return maps[0].values

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """In the map's view: one line for each entry that changes."""
        changed = [
            line("import", entry, "export", after)
            for entry, (before, after) in enumerate(zip(earlier, wanted, strict=True))
            if before != after
        ]
        return (line("qos", "map-table", self.table), *changed, QUIT) if changed else ()


class ComwareDscpMap(Map, DscpMapSetting):
    """The 802.1p priority of each DSCP."""

    table = "dscp-dot1p"


class QueueMap(Map):
    """The local precedence, which is the queue, of each 802.1p priority."""

    kind = QUEUE_MAP
    table = "dot1p-lp"
