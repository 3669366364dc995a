"""Changes of a lab: wanted, made, pretended, put back; and who is asked before each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from labtests.capabilities.settings import Commands, Kind, Setting, T
from labtests.core.errors import LabError
from labtests.inventory import Endpoint
from labtests.journal import Entry, Intent


@dataclass(frozen=True)
class Wanted(Generic[T]):
    """What a setting is to become."""

    at: Endpoint
    kind: Kind[T]
    value: T


@dataclass(frozen=True, slots=True)
class Step:
    """One change as it is planned, journalled, sent and undone: there is no second list of its
    commands. `around` is what was around its setting before."""

    intent: Intent
    commands: Commands
    setting: Setting[Any] = field(repr=False)
    around: Any = field(repr=False)

    @property
    def at(self) -> Endpoint:
        """Where."""
        return self.intent.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting that was, or would be, changed."""

    time_s: float
    device: str
    port: str
    setting: str
    earlier: object
    wanted: object
    commands: tuple[str, ...]
    undo: bool = False


@dataclass(slots=True)
class Planned:
    """What a `--plan` run has pretended to set: later steps start from it, nothing is sent."""

    values: dict[tuple[str, str, str], object] = field(default_factory=dict)
    beside: dict[str, list[str]] = field(default_factory=dict)
    """By host, what suites would run and copy there by `Lab.connection`."""


def first_changes(entries: Sequence[Entry]) -> dict[tuple[Endpoint, str], Entry]:
    """Of each setting its earliest change: that one knows what is to come back."""
    return {(e.intent.at, e.intent.setting): e for e in reversed(entries)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """What became of one change that was to be undone. `found_so`: it was as before already."""

    entry: Entry
    found_so: bool = False
    error: LabError | None = None


class Leased(Protocol):
    """What a lab asks its lease (lease/held.py) before it sends a change."""

    def expect_held(self, *, undoing: bool = False) -> None:
        """The device says that the lab is ours. Raises LeaseLost, and what the device raises."""
        ...

    def expect_fresh(self) -> None:
        """It has said so a moment ago, by our own clock. Raises LeaseLost."""
        ...

    def give_back(self, *, left: int = 0) -> None:
        """The lab is free for others; so many changes could not be put back. Never raises for a
        lease that is lost, or a device that does not answer. Giving back twice is allowed."""
        ...
