"""What a switch streams: which paths are asked for, what their values mean, and the records that
come of them. Names and units are those of counters.py; the words of a platform stand in its driver.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from labtests.capabilities.readings import Scope
from labtests.transport.asking import Asking, known

GAP = 2.5
"""So many intervals without a sample of a path are a gap: switches are late by a part of one."""


class StreamMeaning(NamedTuple):
    """What a value is of. `port` is "" where the message's row says it; `index` likewise. An
    `alarm` is no counter: what the device pushes when something happens."""

    port: str
    scope: Scope
    index: int | None  # type: ignore[assignment]  # nobody asks for tuple.index
    counter: str
    unit: str
    alarm: str = ""


class StreamSample(NamedTuple):
    """One value that a device has sent. `device_s` is its own time, `arrived_s` the runner's (both
    since 1970); `time_s` is the lab's clock, by the device's time less how far that is off."""

    device: str
    port: str
    scope: Scope
    index: int | None  # type: ignore[assignment]  # nobody asks for tuple.index
    counter: str
    unit: str
    value: int
    time_s: float
    device_s: float
    arrived_s: float
    source: str

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """As Reading.key: what identifies the counter on its lab."""
        index = -1 if self.index is None else self.index
        return (self.device, self.port, self.scope, index, self.counter)


class StreamAlarm(NamedTuple):
    """What a device has pushed: drops, a use over its limit, a link that went. Times as those of a
    sample."""

    device: str
    port: str
    index: int | None  # type: ignore[assignment]  # nobody asks for tuple.index
    kind: str
    text: str
    time_s: float
    device_s: float
    arrived_s: float


TroubleKind = Literal[
    "stopped",
    "refused",
    "gap",
    "reset",
    "clock",
    "late",
    "duplicate",
    "unreadable",
    "dropped",
    "behind",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTrouble:
    """What a stream did not do as it should, on the lab's clock. `count`: so many times, in a row.
    Nothing is filled in for it."""

    device: str
    kind: TroubleKind
    text: str
    since_s: float
    until_s: float
    count: int = 1


StreamRecord = StreamSample | StreamAlarm | StreamTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLeaf:
    """A kind of value: `path` is a regular expression for its whole path, with the groups `port`
    and `index` where the path has them; else `index` is it."""

    path: str
    counter: str
    scope: Scope
    unit: str
    alarm: str = ""
    index: int | None = None


@dataclass(frozen=True, kw_only=True)
class StreamTable:
    """All that a platform streams: by gNMI `sampled`, and by dial-out `sensors`. In `sampled` and
    `changes` `{port}` stands for each port; paths of `changes`, and `events` of dial-out, are told
    when something happens; `optional` ones and `changes` are left out where the switch refuses
    them. `target` is gNMI's, `keys` the field that tells entries of a list apart, and `told` what
    the stream calls each port of the testbed file. `row`: it tells tables whose rows name the port
    in this field (H3C); `token`: who subscribes logs in first (H3C's dial-in)."""

    sampled: tuple[str, ...]
    leaves: tuple[StreamLeaf, ...]
    sensors: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    row: str = ""
    token: bool = False
    changes: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    target: str = ""
    keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    told: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def ways(self) -> tuple[str, ...]:
        """The kinds of `telemetry:` that can be asked for."""
        return ("gnmi", "dial-out") if self.sensors else ("gnmi",)

    def paths(self, templates: tuple[str, ...]) -> tuple[str, ...]:
        """Each of them, for each port."""
        each = (t.replace("{port}", name) for t in templates for name in self.told.values())
        return tuple(dict.fromkeys(each))

    def meaning_of(self, path: str) -> StreamMeaning | None:
        """What the value at this path is; None for what nobody here needs."""
        for leaf in self.leaves:
            found = re.fullmatch(leaf.path, path)
            if found is not None:
                return self._meaning(leaf, found.groupdict())
        return None

    def port_of(self, told: str) -> str | None:
        """The port of the testbed file that the stream calls so; None for any other one."""
        return next((port for port, name in self.told.items() if name == told), None)

    def _meaning(self, leaf: StreamLeaf, said: dict[str, str | None]) -> StreamMeaning | None:
        told, index = said.get("port"), said.get("index")
        port = "" if told is None else self.port_of(told)
        number = leaf.index if index is None else int(index)
        if port is None:
            return None
        return StreamMeaning(port, leaf.scope, number, leaf.counter, leaf.unit, leaf.alarm)


class ExactState(Protocol):
    """What only a simulated lab can be asked: what a priority of a switch port held, every few
    microseconds. No evidence: no real switch tells it."""

    def trace(self, device: str, port: str, priority: int, *, after_s: float) -> None:
        """Note it for a moment, in so many seconds of the lab's clock."""
        ...

    def traced(self, device: str, port: str, priority: int) -> list[dict[str, Any]]:
        """What was noted: rows that say where they are from."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A switch that streams what it counts."""

    @abstractmethod
    def stream_table(self) -> StreamTable:
        """What it streams, and what that means."""

    def peak_age_s(self) -> Asking[float]:
        """How long ago, at most, what is told as the most of an interval may have been when that
        is sampled. Raises CommandRejected where nothing renews it."""
        return known(0.0)
