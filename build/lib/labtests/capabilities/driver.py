"""A driver: the settings, counters and facts that one device has, as a table."""

from dataclasses import dataclass, field
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
    _able: dict[type, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def setting(self, kind: Kind[T]) -> Setting[T] | None:
        """How it has this kind; None when it does not have it."""
        return next((each for each in self.settings if each.kind.name == kind.name), None)

    def able(self, ability: type[Able]) -> Able | None:
        """What of it has this ability; None when nothing has. Looked for once: a protocol is
        compared name by name, and every reading asks this of every device."""
        if ability not in self._able:
            every = (*self.parts, *self.settings)
            self._able[ability] = next((p for p in every if isinstance(p, ability)), None)
        found: Able | None = self._able[ability]
        return found

    def offers(self, name: str) -> bool:
        """Whether it has a setting, or a method of an ability, of this name."""
        return any(each.kind.name == name for each in self.settings) or any(
            callable(getattr(part, name, None)) for part in (*self.parts, *self.settings)
        )
