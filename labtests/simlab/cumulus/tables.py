"""What `nv show` prints without `-o json`: values, as they are and as they are applied, and lists.

Titles and columns (tables.json) are those of NVUE's command reference.
"""

from collections.abc import Iterator
from typing import Any

from labtests.simlab.cumulus.model import Tree
from labtests.simlab.data import beside
from labtests.simlab.screens import ruled

_LISTS = beside(__file__, "tables")
_IN_BYTES = ("discards", "bytes")
_MARGIN = "    "


def printed(feature: str, path: tuple[str, ...], shown: Tree, told: Tree) -> str:
    """A place of a feature: all of it, one of its lists, or a member of that."""
    if path and (listed := _LISTS.get(f"{feature} {path[-1]}")):
        return _lines(_list(listed, shown))
    keys = {key: key.removeprefix(f"{feature} ") for key in _LISTS if not path}
    lists = {name: _LISTS[key] for key, name in keys.items() if name != key and name in shown}
    values = [row for name in sorted(shown.keys() - lists) for row in _value(name, shown, told)]
    blocks = [valued(sorted(values, key=lambda row: row[0].startswith("[")))] if values else []
    for name, listed in lists.items():
        title = listed[0]
        blocks.append(_lines([title, "=" * (len(title) + 3), *_list(listed, shown[name], _MARGIN)]))
    return "\n".join(blocks)


def valued(rows: list[tuple[str, str, str]]) -> str:
    """Names, what is and what is applied."""
    return _lines(ruled(("", "operational", "applied"), rows))


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _value(name: str, shown: Tree, told: Tree) -> Iterator[tuple[str, str, str]]:
    """A value, or the members of a collection."""
    if not isinstance(shown[name], dict):
        yield name, _unit(name, shown[name]), _unit(name, told.get(name, ""))
    for each in shown[name] if isinstance(shown[name], dict) else ():
        yield f"[{name}]", each, each if each in told.get(name, {}) else ""


def _list(listed: Any, members: Tree, margin: str = "") -> list[str]:
    _, first, columns = listed
    if first == "Counter":  # the one table whose columns are the members
        names = sorted({name for each in members.values() for name in each})
        rows = [(name, *(members[side].get(name, "n/a") for side in columns.values()))
                for name in names]  # fmt: skip
    else:
        rows = [(number, *(_unit(name, each.get(name, "")) for name in columns.values()))
                for number, each in members.items()]  # fmt: skip
    return ruled((first, *columns), rows, margin) if rows else []


def _unit(name: str, value: Any) -> str:
    """Discards, which are frames, stand as bytes there (somebody who measured it says so)."""
    if name.endswith("threshold"):
        return f"{value} B" if value != "" else ""
    if name == "polling-interval" and value != "":
        return f"0:00:{value / 1000:09.6f}"
    if not name.endswith(_IN_BYTES) or name == "wred-discards" or value == "":
        return str(value)
    return sized(value)


def sized(value: int) -> str:
    """Bytes, rounded."""
    size, units = float(value), ["Bytes", "KB", "MB", "GB", "TB", "PB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{value} Bytes" if units[0] == "Bytes" else f"{size:.2f} {units[0]}"
