"""Values in a tree of dicts and lists, by dotted keys: `switch.ecn.0.low_bytes`."""

from collections.abc import Mapping
from typing import Any

from labtests.inventory.mistakes import Path


def steps(key: str) -> Path:
    """A dotted key as a path; digits are places in a list."""
    return tuple(int(part) if part.isdecimal() else part for part in key.split("."))


def with_value(tree: Any, path: Path, value: Any) -> Any:
    """A copy in which the path leads to this value; mappings on the way are made. Raises
    LookupError for a place that a list does not have, or a way through what is neither."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(tree, list) and isinstance(first, int):
        if first >= len(tree):
            raise LookupError(f"{first}: the list has {len(tree)} (0 to {len(tree) - 1})")
        return [*tree[:first], with_value(tree[first], rest, value), *tree[first + 1 :]]
    if tree is not None and not isinstance(tree, dict):
        raise LookupError(f"{first} is not there")
    below = tree or {}
    return {**below, str(first): with_value(below.get(str(first)), rest, value)}


def with_values(tree: Any, values: Mapping[str, Any]) -> Any:
    """The same for several dotted keys."""
    for key, value in values.items():
        tree = with_value(tree, steps(key), value)
    return tree
