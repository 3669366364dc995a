"""`display qos map-table`: how one priority field is turned into another.

A map may exist once, or once per direction; only the map without direction is what a port's trust
uses on the models known here, and what `import ... export ...` writes.
"""

from dataclasses import dataclass

from labtests.drivers.comware.values import line, record
from labtests.drivers.displays import SOME, Unfit, read
from labtests.transport.protocol import Reply

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
    line("IMPORT : EXPORT"),
    line("<code:number> : <to:number>", into="values", times=SOME, order="from 0"),
    make=_map,
)


def parse_map_table(reply: Reply) -> tuple[MapTable, ...]:
    """Every map printed, each complete: 64 entries from DSCP, 8 from any other field."""
    return read(reply, _MAP)
