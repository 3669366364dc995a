"""What devices count, and what they warn of."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from labtests.capabilities.records import Priority

Scope = Literal["port", "priority", "queue", "host"]


COUNTER_END = 2**64
"""Counters of devices have 64 bits at most; one that has more is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One counter, once. Name and unit as in counters.py; `source` is the device's own word.

    `value is None` means the device gave no number; `missing` then says why. That is never 0.
    `asked_s` of a sample is when it was asked for: the value is of some moment from then to
    `time_s`, which on a slow host is seconds.
    """

    device: str
    port: str  # "" for a whole host
    scope: Scope
    index: int | None  # priority or queue number; None for port and host
    counter: str
    unit: str  # "packets", "bytes", "frames", "us", "events", "datagrams", ...
    value: int | None
    time_s: float  # the lab's clock, when the device answered
    source: str
    missing: str = ""
    asked_s: float | None = None

    def __post_init__(self) -> None:
        if self.value is not None and not 0 <= self.value < COUNTER_END:
            object.__setattr__(self, "value", None)
            object.__setattr__(self, "missing", "shows a number that no counter of 64 bits holds")

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """What identifies the counter on its lab (index -1 where there is none)."""
        index = -1 if self.index is None else self.index
        return (self.device, self.port, self.scope, index, self.counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """A device's own clock (seconds since 1970 UTC), read at `lab_s` of the lab's clock."""

    device_s: float
    lab_s: float
    resolution_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcWarning:
    """A device has warned that a port receives, or sends, more pause frames of a priority than
    PfcAlarm allows. `when`: its own time, in its own words."""

    port: str
    priority: Priority
    way: Literal["received", "sent"]
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogMessage:
    """A device has logged that its PFC watchdog shut a queue, or served it again. `device_s`: by
    its own clock, as finely as the log has it, mostly in whole seconds; the rest is cut off. The
    packets are those that were dropped meanwhile, on their way out through the queue and in through
    the port, of a queue that is served again."""

    port: str
    queue: int
    what: Literal["shut", "restored"]
    device_s: float
    dropped_packets: int | None = None
    dropped_in_packets: int | None = None
    text: str = ""


Message = PfcWarning | WatchdogMessage
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLog(Generic[M]):
    """What a device's log has of one thing. `noted`: messages of all kinds so far, of which it
    still has the last `kept`. `unread`: what it says of the thing and nobody here knows. `clock`:
    the clock of its time stamps, when it was read. `missing`: why there is no log."""

    device: str
    noted: int = 0
    kept: int = 0
    messages: tuple[M, ...] = ()
    unread: tuple[str, ...] = ()
    clock: ClockReading | None = None
    missing: str = ""
