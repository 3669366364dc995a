"""Two snapshots side by side."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

from labtests.core.errors import LabError
from labtests.journal.values import readable, unpack
from labtests.recovery.snapshot.files import Snapshot

Json = Mapping[str, Any]
ABSENT = "not there"
UNREAD = "not readable: "


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotDifference:
    """One fact that is not the same. `port` is "" for facts of a whole device."""

    device: str
    port: str
    setting: str
    before: str
    after: str

    @property
    def unread(self) -> bool:
        """Whether it only differs because it can be read no more."""
        return self.after.startswith(UNREAD)

    def plain(self) -> dict[str, str]:
        """As JSON has it."""
        return asdict(self)


def compare(before: Snapshot, after: Snapshot) -> tuple[SnapshotDifference, ...]:
    """Every fact that differs, by device, port and setting. A fact that could be read only once is
    a difference too."""
    gone = {
        name
        for snapshot in (before, after)
        for name, state in snapshot.devices.items()
        if "unreadable" in state
    }
    old, new = dict(_facts(before, gone)), dict(_facts(after, gone))
    return tuple(
        SnapshotDifference(
            device=key[0],
            port=key[1],
            setting=key[2],
            before=_words(old.get(key)),
            after=_words(new.get(key)),
        )
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    )


def in_words(snapshot: Snapshot) -> dict[tuple[str, ...], str]:
    """Every fact by device, port and setting, as a person reads it."""
    gone = {name for name, state in snapshot.devices.items() if "unreadable" in state}
    return {key: _words(fact) for key, fact in _facts(snapshot, gone)}


def _facts(
    snapshot: Snapshot, gone: AbstractSet[str]
) -> Iterator[tuple[tuple[str, str, str], Json]]:
    """A device that is gone in one of two snapshots is one fact in both."""
    for device, state in snapshot.devices.items():
        if device in gone:
            yield (device, "", "state"), state if "unreadable" in state else {"value": "read"}
            continue
        yield from _spread(device, "", "version", state.get("versions", {}))
        for port, facts in state.get("ports", {}).items():
            for name, fact in facts.get("settings", {}).items():
                yield (device, port, name), fact
            for kind in ("link", "roce"):
                yield from _spread(device, port, kind, facts.get(kind, {}))


def _spread(
    device: str, port: str, kind: str, told: Json
) -> Iterator[tuple[tuple[str, str, str], Json]]:
    """One fact for each field of a value; one for all when it is unreadable."""
    if "value" not in told:
        if told:
            yield (device, port, kind), told
        return
    for name, value in told["value"].items():
        yield (device, port, f"{kind} {name}"), {"value": value}


def _words(fact: Json | None) -> str:
    if fact is None:
        return ABSENT
    if "unreadable" in fact:
        return f"{UNREAD}{fact['unreadable']}"
    try:
        return readable(unpack(fact["value"]))
    except (LabError, KeyError):
        return str(fact.get("value"))
