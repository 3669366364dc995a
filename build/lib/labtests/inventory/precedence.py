"""Which value holds for a device: its own, else its groups' in listed order, else the defaults'.

Works on a file's tree, valid or not, and says where the value stands.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A value and the place that decided it."""

    value: Any
    path: Keys


def at(tree: object, *path: str) -> Any:
    """What stands at a path; None when there is nothing."""
    value: Any = tree
    for part in path:
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def mapping(tree: object, *path: str) -> dict[str, Any]:
    """The mapping at a path; empty when there is none."""
    value = at(tree, *path)
    return value if isinstance(value, dict) else {}


def sequence(tree: object, *path: str) -> list[Any]:
    """The list at a path; empty when there is none."""
    value = at(tree, *path)
    return value if isinstance(value, list) else []


def setting(tree: object, device: str, key: str) -> Found | None:
    """The value that holds for this device and where it was written. A value written as empty
    counts: it takes back what a group or the defaults say."""
    for source in _sources(tree, device, key):
        if key in mapping(tree, *source):
            return Found(value=at(tree, *source, key), path=(*source, key))
    return None


def _sources(tree: object, device: str, key: str) -> Iterator[Keys]:
    own: Keys = ("devices", device)
    yield own if key == "platform" else (*own, "management")
    for group in sequence(tree, *own, "groups"):
        if isinstance(group, str):
            yield ("groups", group)
    yield ("defaults",)
