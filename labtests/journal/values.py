"""Values of settings as JSON, and back to the very same Python values.

JSON's own scalars stay as they are. Everything else is an object with one of these keys:

    {"tuple": [...]}    {"list": [...]}    {"set": [...]}  (a frozenset)
    {"map": [[key, value], ...]}
    {"record": "labtests.records:PfcSetting", "fields": {...}}   a dataclass of this project
"""

import importlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from itertools import groupby
from typing import Any

from labtests.core.errors import LabError
from labtests.core.output import clean, excerpt

Json = Any
_HOMES = {
    "labtests.records": "labtests.capabilities.records",
    "labtests.inventory.testbed": "labtests.inventory.testbed",
    "labtests.journal.runner": "labtests.journal.runner",
}
"""As files name it -> the module whose types are stored. A file that names another one has nothing
imported for it; that a module has moved changes no file."""


class NotStorable(LabError):
    """A value cannot be written down so that it is read back unchanged."""


def pack(value: object) -> Json:
    """The value as JSON. Raises NotStorable when `unpack` would not give it back."""
    packed = _packed(value)
    if unpack(json.loads(json.dumps(packed))) != value:
        raise NotStorable(f"{value!r} does not survive a round trip through JSON")
    return packed


def pack_setting(value: object) -> Json:
    """The same, of what a device shows or is to be told. Raises NotStorable also where a password
    that was used is in it: files hold none, and what is hidden cannot be put back."""
    packed = pack(value)
    if any(clean(text) != text for text in _texts(packed)):
        raise NotStorable(
            "a name in it contains a password that is used here, so it is not written down\n"
            "  remedy: rename it on the device, or change that password"
        )
    return packed


def _texts(packed: Json) -> Iterator[str]:
    if isinstance(packed, str):
        yield packed
    elif isinstance(packed, Mapping | list):
        for each in packed.values() if isinstance(packed, Mapping) else packed:
            yield from _texts(each)


def unpack(packed: Json) -> Any:
    """The value that `pack` was given. Raises NotStorable for what it cannot have written."""
    try:
        return _unpacked(packed)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        shown = excerpt(repr(packed), 120) if not isinstance(error, RecursionError) else "this"
        raise NotStorable(f"{shown} is not a stored value: {error}") from None


def _packed(value: object) -> Json:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        each = {f.name: _packed(getattr(value, f.name)) for f in fields(value)}
        return {"record": _name(type(value)), "fields": each}
    if isinstance(value, Mapping):
        return {"map": [[_packed(key), _packed(each)] for key, each in value.items()]}
    for kind, word in ((tuple, "tuple"), (list, "list")):
        if type(value) is kind:
            return {word: [_packed(each) for each in value]}
    if isinstance(value, frozenset):
        return {"set": sorted((_packed(each) for each in value), key=json.dumps)}
    raise NotStorable(f"a {type(value).__name__} cannot be stored: {value!r}")


def _name(kind: type) -> str:
    for named, module in _HOMES.items():
        if kind.__module__ == module:
            return f"{named}:{kind.__qualname__}"
    raise NotStorable(f"{kind.__module__}:{kind.__qualname__} is not a storable type")


_GROUPS: Mapping[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "list": list, "set": frozenset}


def _unpacked(packed: Json) -> Any:
    if not isinstance(packed, dict):
        return packed
    for word, make in _GROUPS.items():
        if word in packed:
            return make([_unpacked(each) for each in packed[word]])
    if "map" in packed:
        return {_unpacked(key): _unpacked(each) for key, each in packed["map"]}
    given = {name: _unpacked(each) for name, each in packed["fields"].items()}
    return _type(packed["record"])(**given)


def _type(name: str) -> Any:
    """Only data types of this project are made from what a file says."""
    module, _, qualified = name.partition(":")
    if module not in _HOMES:
        raise ValueError(f"{name} is not a storable type")
    found: Any = importlib.import_module(_HOMES[module])
    for part in qualified.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and is_dataclass(found)):
        raise ValueError(f"{name} is not a data type")
    return found


def readable(value: object) -> str:
    """A setting as a person reads it, one field or queue a line."""
    if isinstance(value, frozenset | set):
        numbers_first = sorted(value, key=lambda v: (v if type(v) is int else math.inf, str(v)))
        return ", ".join(map(str, numbers_first)) or "none"
    if isinstance(value, tuple):
        return "\n".join(readable(v) for v in value) or "none"
    if is_dataclass(value) and not isinstance(value, type):
        return _fields_of(asdict(value))
    return str(value)


def in_one_line(value: object) -> str:
    """The same, as part of a sentence."""
    lines = [line.strip() for line in readable(value).splitlines()]
    return "; ".join(lines).replace(":; ", ": ")


def in_pairs(value: object) -> str:
    """A table of two columns in one line, neighbours of one value together: `0-6 4096, 7 0`."""
    if not isinstance(value, list | tuple) or not value:
        return ""
    if not all(isinstance(row, list | tuple) and len(row) == 2 for row in value):
        return ""
    told = []
    for held, rows in groupby(value, key=lambda row: row[1]):
        names = [row[0] for row in rows]
        if len(names) > 1 and _consecutive(names):
            names = [f"{names[0]}-{names[-1]}"]
        told += [f"{name} {held}" for name in names]
    return ", ".join(told)


def _consecutive(names: Sequence[object]) -> bool:
    first = names[0]
    return isinstance(first, int) and list(names) == [*range(first, first + len(names))]


def _fields_of(fields: Json) -> str:
    parts = []
    for name, value in fields.items():
        if value is None:
            continue
        if pairs := in_pairs(value):
            parts.append(f"{name}: {pairs}")
        elif isinstance(value, list | tuple):
            rows = [_fields_of(v) if isinstance(v, dict) else readable(v) for v in value]
            parts.append(f"{name}:\n  " + "\n  ".join(rows) if rows else f"{name}: none")
        else:
            parts.append(f"{name}: {readable(value)}")
    return ", ".join(parts)
