"""`display qos map-table`: how one priority field is turned into another.

A map may exist once, or once per direction; only the map without direction is what a port's trust
uses on the models known here, and what `import ... export ...` writes.
"""

import re
from dataclasses import dataclass

from labtests.drivers.comware.values import exactly
from labtests.drivers.parsing import matches, refuse
from labtests.transport.protocol import Reply

_TITLE = re.compile(
    r"^\s*MAP-TABLE NAME:\s*(?P<name>[\w-]+)\s+TYPE:\s*(?P<type>[\w-]+)"
    r"(?:\s+COLOR:\s*(?P<color>\w+))?(?:\s+DIRECTION:\s*(?P<direction>\w+))?\s*$"
)
_HEADER = re.compile(r"^\s*IMPORT\s*:\s*EXPORT\s*$")
_ROW = re.compile(r"^\s*(?P<from>\d+)\s*:\s*(?P<to>\S+)\s*$")
_ENTRIES = {"dscp": 64}
_ENTRIES_OTHERWISE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MapTable:
    """One map: `values[i]` is what i becomes. `direction` and `color` may be ""."""

    name: str
    direction: str
    color: str
    values: tuple[int, ...]


def parse_map_table(reply: Reply) -> tuple[MapTable, ...]:
    """Every map printed, each complete: 64 entries from DSCP, 8 from any other field."""
    maps: list[tuple[re.Match[str], list[int]]] = []
    for match in matches(reply, _TITLE, _HEADER, _ROW):
        if match.re is _TITLE:
            maps.append((match, []))
        elif not maps:
            refuse(reply, f"{match.group()!r} belongs to no map")
        elif match.re is _ROW:
            _add(reply, maps[-1][1], match)
    if not maps:
        refuse(reply, "there is no map in it")
    return tuple(_table(reply, title, values) for title, values in maps)


def _add(reply: Reply, values: list[int], match: re.Match[str]) -> None:
    if int(match["from"]) != len(values):
        refuse(reply, f"row {len(values)} is missing before {match.group()!r}")
    values.append(exactly(reply, match["to"], f"EXPORT of {match['from']}"))


def _table(reply: Reply, title: re.Match[str], values: list[int]) -> MapTable:
    entries = _ENTRIES.get(title["name"].split("-")[0], _ENTRIES_OTHERWISE)
    if len(values) != entries:
        refuse(reply, f"map {title['name']} should have {entries} rows, not {len(values)}")
    return MapTable(
        name=title["name"],
        direction=title["direction"] or "",
        color=title["color"] or "",
        values=tuple(values),
    )
