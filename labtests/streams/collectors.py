"""All streams of a lab: opened, read by one thread, kept for the phase that runs, and closed.

Whoever receives only puts bytes into the inbox; one thread reads them. So a flood, half a message,
a switch that is gone or a slow listener costs samples, which is told, and never holds up the run.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from queue import Empty, Full, Queue
from typing import Any, Protocol, TypeVar

from labtests.capabilities.streams import (
    StreamAlarm,
    StreamRecord,
    StreamSample,
    StreamTrouble,
    TroubleKind,
)
from labtests.core.errors import LabError
from labtests.streams.dialout import DialOutReader, DialOutServer, listening
from labtests.streams.gnmi import GnmiClient, GnmiReader, GnmiRowReader
from labtests.streams.inbox import Inbox, Message
from labtests.streams.order import Order
from labtests.streams.source import Hearers, StreamSource
from labtests.streams.told import ToldValues, Unreadable, said

MOST_SAMPLES, MOST_ALARMS = 200_000, 2_000
"""That are kept at once, of the phase that runs."""
MOST_SAID = 1000
"""Characters of a trouble."""
READ_EVERY_S = 0.5
CLOCK_OFF_S = 1.5
"""A device's clock may be off by so much, and its sampling, before that is told."""
READ_OUT_WITHIN_S = 30.0
"""Wall time for what has come when streams are closed: a full inbox takes some twenty seconds."""
CAUGHT_UP_WITHIN_S, OPENED_WITHIN_S = 2.0, 5.0
"""Wall time in which what was sent until a moment, and the first sample, has come."""


_Timed = TypeVar("_Timed", StreamSample, StreamAlarm)


class Reader(Protocol):
    """What makes values of a device's messages."""

    def read(self, content: bytes) -> list[ToldValues]:
        """What it tells. Raises Unreadable."""
        ...


class Listener:
    """Gets every record from now on, batch by batch, as an iterator that ends when the collectors
    are closed. One that is slow loses batches: `lost` records so far."""

    def __init__(self, batches: int) -> None:
        self._held: Queue[tuple[StreamRecord, ...]] = Queue(batches)
        self._closed = threading.Event()
        self.lost = 0

    def hand(self, batch: tuple[StreamRecord, ...]) -> None:
        """Never waits."""
        try:
            self._held.put_nowait(batch)
        except Full:
            self.lost += len(batch)

    def close(self) -> None:
        """What is held can still be taken."""
        self._closed.set()

    def take(self, timeout_s: float) -> tuple[StreamRecord, ...]:
        """The next batch; an empty one when none comes in time."""
        try:
            return self._held.get(timeout=timeout_s)
        except Empty:
            return ()

    def __iter__(self) -> Iterator[tuple[StreamRecord, ...]]:
        while True:
            ended = self._closed.is_set()
            if batch := self.take(READ_EVERY_S):
                yield batch
            elif ended:
                return


class Collectors(AbstractContextManager["Collectors"]):
    """The streams of these sources. `epoch_s` is the lab's clock at 0, since 1970: what a device's
    time has more than the lab's."""

    def __init__(
        self, sources: Sequence[StreamSource], *, epoch_s: float = 0.0, inbox: Inbox | None = None
    ) -> None:
        self.sources = {source.device: source for source in sources}
        self._inbox = inbox or Inbox()
        self._lock = threading.Lock()  # of all below
        self._epoch_s = epoch_s
        self._ports: frozenset[tuple[str, str]] | None = None
        self._samples: deque[StreamSample] = deque()
        self._alarms: deque[StreamAlarm] = deque()
        self._troubles: dict[tuple[str, TroubleKind], StreamTrouble] = {}  # of each kind the sum
        self._pending: list[StreamRecord] = []
        self._listeners: list[Listener] = []
        self._orders = {source.device: self._order(source) for source in sources}
        self._marked: dict[str, int] = {}
        self._why_not: dict[str, str] = {}  # nothing comes: what was told last
        self.unsure_s: Mapping[str, float] = {}
        """By device: so much later than it was may a sample seem to be, since how long the one was
        on its way by which its clock was set right, nobody knows."""
        self._closed = threading.Event()
        self._ends: list[Any] = []
        self._readers: dict[str, Reader] = {s.device: _reader(s) for s in sources}
        self._thread = threading.Thread(target=self._read, daemon=True, name="streams")
        self._thread.start()
        for source in sources:
            self._open(source)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, *, read_out_within_s: float = READ_OUT_WITHIN_S) -> None:
        """Every stream is closed, and what has come is read. Closing twice is allowed."""
        for end in self._ends:
            end.close()
        self._ends.clear()
        self._closed.set()
        self._thread.join(read_out_within_s)
        for listener in self._listeners:
            listener.close()

    def listen(self, batches: int = 1000) -> Listener:
        """Every record from now on."""
        listener = Listener(batches)
        with self._lock:
            self._listeners = [*self._listeners, listener]
        return listener

    @property
    def received(self) -> dict[str, int]:
        """How many samples have come, by device."""
        with self._lock:
            return {device: order.samples for device, order in self._orders.items()}

    def settle(self) -> None:
        """Waits until each switch that is subscribed at has told something, or has not: the clock
        of a simulated lab may run faster than a connection is made."""
        waiting = {device for device, each in self.sources.items() if each.place.kind == "gnmi"}
        deadline = time.monotonic() + OPENED_WITHIN_S
        while waiting and time.monotonic() < deadline:
            with self._lock:
                waiting -= {device for device, order in self._orders.items() if order.samples}
                waiting -= {device for device, _ in self._troubles}
            time.sleep(0.02 if waiting else 0.0)

    def begin(self, ports: Collection[tuple[str, str]]) -> None:
        """Only samples of these ports (device, port) are kept from now on, and nothing older."""
        with self._lock:
            self._ports = frozenset(ports)
            self._samples.clear()
            self._alarms.clear()
            self._troubles.clear()

    def mark(self, now_s: float) -> None:
        """It is `now_s` on the lab's clock: whose stream has stopped, and whose clock is off, is
        seen. Waits a moment for what is on its way."""
        deadline = time.monotonic() + CAUGHT_UP_WITHIN_S
        behind = set(self._orders)
        while behind and time.monotonic() < deadline:
            behind = {device for device in behind if not self._has_come(device, now_s)}
            time.sleep(0.02 if behind else 0.0)
        with self._lock:
            for device, order in self._orders.items():
                self._judge(device, order, now_s)
        self._hand()

    def seen(
        self,
    ) -> tuple[tuple[StreamSample, ...], tuple[StreamAlarm, ...], tuple[StreamTrouble, ...]]:
        """What has come since `begin`: samples of its ports, alarms and troubles of all."""
        with self._lock:
            return tuple(self._samples), tuple(self._alarms), tuple(self._troubles.values())

    # -- receiving: any thread -----------------------------------------------------------------

    def _open(self, source: StreamSource) -> None:
        """A stream that cannot be opened is told; the others go on."""
        told = Hearers(self._received, self._refused)
        try:
            if source.place.kind == "gnmi":
                self._ends.append(GnmiClient(source, told))
                return
            server = DialOutServer(source, told)
            self._ends.append(server)
            self.sources[source.device] = listening(source, server.port)
        except LabError as error:
            told.refused(source.device, str(error))

    def _received(self, device: str, content: bytes) -> None:
        self._inbox.put(Message(device, time.time(), content))

    def _refused(self, device: str, why: str) -> None:
        with self._lock:
            last_s = self._orders[device].last_s
            at_s = (time.time() if last_s is None else last_s) - self._orders[device].ahead_s
            self._why_not[device] = why
            self._tell(_trouble(device, "refused", why, at_s))
        self._hand()

    # -- reading: one thread -------------------------------------------------------------------

    def _read(self) -> None:
        while not (self._closed.is_set() and self._inbox.empty):
            taken, dropped = self._inbox.take(READ_EVERY_S)
            for message in taken:
                self._take(message)
            with self._lock:
                for device, count in dropped.items():
                    at_s = (self._orders[device].last_s or 0.0) - self._orders[device].ahead_s
                    text = "messages came faster than they could be read"
                    found = _trouble(device, "dropped", text, at_s)
                    self._tell(replace(found, count=count))
            self._hand()

    def _take(self, message: Message) -> None:
        device = message.device
        source = self.sources[device].place.kind
        try:
            told = self._readers[device].read(message.content)
        except Exception as error:  # noqa: BLE001  # no device's bytes end the thread of all others
            named = "" if isinstance(error, Unreadable) else f"{type(error).__name__}: "
            with self._lock:
                at_s = self._orders[device].last_s or message.arrived_s
                self._told(device, "unreadable", f"{named}{error}", at_s, at_s)
            return
        with self._lock:
            order = self._orders[device]
            self._why_not.pop(device, None)
            if told and not order.samples:
                self._why_not[device] = "what has come tells of none of its ports in the testbed"
            for each in told:
                for record in order.take(each, message.arrived_s, f"{source} {each.path}"):
                    self._keep(record)

    def _keep(self, record: StreamSample | StreamAlarm) -> None:
        if self._listeners:
            self._pending.append(record)
        if isinstance(record, StreamAlarm):
            if len(self._alarms) == MOST_ALARMS:
                self._forget(self._alarms.popleft(), f"{MOST_ALARMS} alarms")
            self._alarms.append(record)
        elif self._ports is None or (record.device, record.port) in self._ports:
            if len(self._samples) == MOST_SAMPLES:
                self._forget(self._samples.popleft(), f"{MOST_SAMPLES} samples")
            self._samples.append(record)

    def _forget(self, lost: StreamSample | StreamAlarm, most: str) -> None:
        text = f"more than {most} in one phase: the oldest are not kept"
        self._tell(_trouble(lost.device, "dropped", text, lost.time_s))

    def _hand(self) -> None:
        """To who listens, beside the lock."""
        with self._lock:
            batch, self._pending = tuple(self._pending), []
            listeners = self._listeners
        if batch:
            for listener in listeners:
                listener.hand(batch)

    # -- with the lock held ---------------------------------------------------------------------

    def _order(self, source: StreamSource) -> Order:
        tell = partial(self._told, source.device)
        every_s = source.place.sample_every_s
        return Order(source.device, every_s, tell, ahead_s=self._epoch_s)

    def _told(
        self, device: str, kind: TroubleKind, text: str, since_s: float, until_s: float
    ) -> None:
        ahead_s = self._orders[device].ahead_s
        found = _trouble(device, kind, text, since_s - ahead_s)
        self._tell(replace(found, until_s=until_s - ahead_s))

    def _tell(self, found: StreamTrouble) -> None:
        """One of a kind that this device had before is counted with it: nobody can make so many
        that another is forgotten."""
        key = (found.device, found.kind)
        if (last := self._troubles.get(key)) is not None:
            found = replace(
                last,
                since_s=min(found.since_s, last.since_s),
                until_s=max(found.until_s, last.until_s),
                count=found.count + last.count,
            )
        self._troubles[key] = found
        if self._listeners:
            self._pending.append(found)

    def _late_s(self, device: str) -> float:
        """So far may the last sample be behind."""
        return 2 * self._orders[device].every_s + CLOCK_OFF_S

    def _has_come(self, device: str, now_s: float) -> bool:
        """Whether it is as far as a stream can be by then. The last one may be almost a whole
        interval old."""
        with self._lock:
            order = self._orders[device]
            last_s = order.last_s
            if last_s is None or not self._inbox.empty:
                return False
            return last_s - order.ahead_s > now_s - order.every_s

    def _judge(self, device: str, order: Order, now_s: float) -> None:
        first, moved = device not in self._marked, order.samples - self._marked.get(device, 0)
        self._marked[device] = order.samples
        last_s = None if order.last_s is None else order.last_s - order.ahead_s
        if last_s is not None and -self._late_s(device) <= last_s - now_s <= CLOCK_OFF_S:
            return
        if not self._inbox.empty:
            text = "messages that have come are not yet read: they come faster than that"
            self._tell(_trouble(device, "behind", text, now_s))
            return
        if last_s is None:
            text = f"nothing has come of its stream{self._because(device)}"
            self._tell(_trouble(device, "stopped", text, now_s))
            return
        if moved and (first or last_s > now_s):
            text = f"its clock is off by about {last_s - now_s:+.0f} s, which is taken off"
            self._tell(_trouble(device, "clock", text, now_s))
            self._retime(order, last_s - now_s, -math.inf if first else now_s + CLOCK_OFF_S)
            return
        text = f"nothing has come of its stream for {now_s - last_s:.1f} s{self._because(device)}"
        kind: TroubleKind = "stopped"
        if moved:
            kind, text = "behind", f"what comes of its stream is {now_s - last_s:.1f} s old"
        self._tell(replace(_trouble(device, kind, text, last_s), until_s=now_s))

    def _because(self, device: str) -> str:
        """It may have been told before the phase that runs."""
        why = self._why_not.get(device)
        return f" ({why})" if why else ""

    def _retime(self, order: Order, off_s: float, beyond_s: float) -> None:
        """From now on, and of what has come and is told to be later than that."""
        order.ahead_s += off_s
        self.unsure_s = {**self.unsure_s, order.device: order.every_s}
        _move(self._samples, order.device, off_s, beyond_s)
        _move(self._alarms, order.device, off_s, beyond_s)


def _move(kept: deque[_Timed], device: str, off_s: float, beyond_s: float) -> None:
    for _ in range(len(kept)):
        each = kept.popleft()
        if each.device == device and each.time_s > beyond_s:
            each = each._replace(time_s=each.time_s - off_s)
        kept.append(each)


def _trouble(device: str, kind: TroubleKind, text: str, at_s: float) -> StreamTrouble:
    text = said(text, MOST_SAID)
    return StreamTrouble(device=device, kind=kind, text=text, since_s=at_s, until_s=at_s)


def _reader(source: StreamSource) -> Reader:
    if source.place.kind == "dial-out":
        return DialOutReader(source)
    return GnmiRowReader(source) if source.table.row else GnmiReader(source)
