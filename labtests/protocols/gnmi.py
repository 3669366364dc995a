"""gNMI 0.8.0: messages (those that pygnmi brings), paths and values.

OpenConfig, "gRPC Network Management Interface (gNMI) specification" and "gNMI path conventions".
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from labtests.protocols.needed import needed

pb2 = needed("pygnmi.spec.v080.gnmi_pb2")

SAMPLE, ON_CHANGE, TARGET_DEFINED = pb2.SAMPLE, pb2.ON_CHANGE, pb2.TARGET_DEFINED
STREAM, ONCE, POLL = (pb2.SubscriptionList.Mode.Value(name) for name in ("STREAM", "ONCE", "POLL"))
ENCODINGS = {"json": pb2.JSON, "json_ietf": pb2.JSON_IETF, "proto": pb2.PROTO}

_ELEMENT = re.compile(r"(?:[^/\[]|\[(?:[^\]\\]|\\.)*\]?)+")
_KEY = re.compile(r"\[([^=\[\]]+)=((?:[^\]\\]|\\.)*)\]")
_SPECIAL = re.compile(r"[\]\\]")
_MOST_DIGITS = 18  # of a Decimal64 behind its point (gNMI, 2.2.3; RFC 7950, 9.3.4)
_ORIGIN = re.compile(r"(?:([A-Za-z][\w-]*):)?(/.*)", re.DOTALL)


def path(text: str) -> Any:
    r"""A Path of `/interfaces/interface[name=Ethernet0]/state`, or with an origin before it as
    `openconfig:/interfaces`. In a key's value `]` and `\` are written `\]` and `\\`. A prefix of a
    module stays with its element (`/openconfig-interfaces:interfaces`). Raises ValueError."""
    found = _ORIGIN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no gNMI path: it begins with /, or with an origin and :/")
    origin, rest = found.groups()
    elements = []
    for each in _ELEMENT.finditer(rest):
        name, _, _ = each[0].partition("[")
        keys = {key: re.sub(r"\\(.)", r"\1", value) for key, value in _KEY.findall(each[0])}
        if _KEY.sub("", each[0]) != name or not name:
            raise ValueError(f"{text!r} is no gNMI path: {each[0]!r} is no element [key=value]")
        elements.append(pb2.PathElem(name=name, key=keys))
    return pb2.Path(origin=origin or "", elem=elements)


def text(*paths: Any) -> str:
    """One path of a prefix and what comes after it, keys in alphabetical order, with its origin
    where it has one."""
    origin = next((each.origin for each in paths if each.origin), "")
    written = "".join("/" + _written(elem) for each in paths for elem in each.elem) or "/"
    return f"{origin}:{written}" if origin else written


def _written(element: Any) -> str:
    keys = [(key, _SPECIAL.sub(r"\\\g<0>", held)) for key, held in sorted(element.key.items())]
    return str(element.name) + "".join(f"[{key}={held}]" for key, held in keys)


def value(of: Any) -> Any:
    """What a TypedValue holds, as JSON would have it: numbers, text, lists, trees. JSON_IETF writes
    64-bit integers as text (RFC 7951); they stay so here, since nothing but the path knows.
    Raises ValueError, RecursionError for a tree deeper than Python's stack."""
    kind = of.WhichOneof("value")
    if kind in ("json_val", "json_ietf_val"):
        return json.loads(getattr(of, kind))
    if kind == "leaflist_val":
        return [value(each) for each in of.leaflist_val.element]
    if kind == "decimal_val":
        if of.decimal_val.precision > _MOST_DIGITS:
            raise ValueError(f"a decimal of {of.decimal_val.precision} digits behind its point")
        return of.decimal_val.digits / 10**of.decimal_val.precision
    return getattr(of, kind) if kind else None


def typed(leaf: int | float | str | bool | Mapping[str, Any], encoding: int) -> Any:
    """A TypedValue, in this encoding. Raises ValueError for a tree in PROTO, which has leaves
    only."""
    if encoding in (pb2.JSON, pb2.JSON_IETF):
        written = json.dumps(_ietf(leaf) if encoding == pb2.JSON_IETF else leaf).encode()
        field = "json_ietf_val" if encoding == pb2.JSON_IETF else "json_val"
        return pb2.TypedValue(**{field: written})
    if isinstance(leaf, bool):
        return pb2.TypedValue(bool_val=leaf)
    if isinstance(leaf, int):
        return pb2.TypedValue(**{"uint_val" if leaf >= 0 else "int_val": leaf})
    if isinstance(leaf, float):
        return pb2.TypedValue(double_val=leaf)
    if isinstance(leaf, str):
        return pb2.TypedValue(string_val=leaf)
    raise ValueError("PROTO has a value for each leaf, and none for a tree")


def _ietf(leaf: Any) -> Any:
    """RFC 7951, 6.1: integers of 64 bits are text."""
    if isinstance(leaf, Mapping):
        return {key: _ietf(each) for key, each in leaf.items()}
    return str(leaf) if isinstance(leaf, int) and not isinstance(leaf, bool) else leaf
