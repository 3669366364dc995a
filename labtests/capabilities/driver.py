"""A driver: the settings, counters and facts that one device has, as a table."""

from dataclasses import dataclass
from typing import Any, TypeVar

from labtests.capabilities.settings import Kind, Setting

T = TypeVar("T")
Able = TypeVar("Able")


@dataclass(frozen=True, slots=True)
class Driver:
    """What one device can be asked and told. It holds no session: its settings and parts say what
    to send, and the lab sends."""

    device: str
    settings: tuple[Setting[Any], ...]
    parts: tuple[object, ...]
    """Counters and facts: objects with the abilities of device.py and facts.py."""

    def setting(self, kind: Kind[T]) -> Setting[T] | None:
        """How it has this kind; None when it does not have it."""
        return next((each for each in self.settings if each.kind.name == kind.name), None)

    def able(self, ability: type[Able]) -> Able | None:
        """What of it has this ability; None when nothing has."""
        return next((p for p in (*self.parts, *self.settings) if isinstance(p, ability)), None)

    def offers(self, name: str) -> bool:
        """Whether it has a setting, or a method of an ability, of this name."""
        return any(each.kind.name == name for each in self.settings) or any(
            callable(getattr(part, name, None)) for part in (*self.parts, *self.settings)
        )
