"""Messages on their way to collectors, and what goes wrong with them on purpose.

A message is made at its instant of the lab's clock and leaves as soon as the event loop gets to it:
in a driven lab, when the request that let time pass has been answered.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from labtests.simlab.faults import UnknownFault
from labtests.simlab.streaming.served import Leaf
from labtests.simlab.timeline import NS_PER_S, Timeline

MOST_WAITING = 100_000
"""Messages for one collector that reads slowly. One more, and its stream ends."""
HOWS = ("gone", "certificate", "half", "flood", "frozen", "twice", "late", "heal")


class Outlet:
    """Those for one collector, in order. `ended` says why there will be no more."""

    def __init__(self, troubles: "Troubles") -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._troubles = troubles
        self.ended = ""
        self.last = b""
        troubles.outlets.add(self)

    def send(self, message: bytes) -> None:
        """It is made now."""
        self._troubles.pass_on(self, message)

    def put(self, message: bytes) -> None:
        """It leaves."""
        if self.ended:
            return
        if self._queue.qsize() >= MOST_WAITING:
            self.end("the collector reads too slowly")
            return
        self.last = message
        self._troubles.sent()
        self._queue.put_nowait(message)

    def end(self, why: str) -> None:
        """Nothing more leaves after what is waiting."""
        if not self.ended:
            self.ended = why
            self._queue.put_nowait(None)

    def close(self) -> None:
        """The collector is gone."""
        self.end("closed")
        self._troubles.outlets.discard(self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._queue.get()) is not None:
            yield message


class Troubles:
    """The fault `stream` of one device, by its `how`."""

    def __init__(self, timeline: Timeline, sent: Callable[[], None]) -> None:
        self._timeline, self.sent = timeline, sent
        self.outlets: set[Outlet] = set()
        self.on_gone: list[Callable[[bool], None]] = []
        self.on_stranger: list[Callable[[bool], None]] = []
        self._values: dict[str, Leaf] | None = None
        self._half = self._twice = False
        self._late_ns = 0
        self._met: set[str] = set()

    def suffer(self, fault: Mapping[str, Any]) -> Callable[[], str]:
        """From now on. Raises UnknownFault."""
        how, seconds = str(fault["how"]), float(fault.get("seconds", 0))
        if how not in HOWS:
            raise UnknownFault(f'"how" is {how!r}, which is none of {", ".join(HOWS)}')
        self._met.discard(how)
        getattr(self, f"_{how}_on")(seconds)
        return lambda: "" if how in self._met | {"heal"} else "no message of a stream met it"

    def heal(self) -> None:
        """All is as it should be."""
        self._values, self._half, self._twice, self._late_ns = None, False, False, 0
        for act in (*self.on_gone, *self.on_stranger):
            act(False)

    def shown(self, path: str, leaf: Leaf) -> Leaf:
        """A value as it is told."""
        if self._values is None:
            return leaf
        self._met.add("frozen")
        return self._values.setdefault(path, leaf)

    def pass_on(self, outlet: Outlet, message: bytes) -> None:
        """A message goes its way, or what becomes of it."""
        if self._half:
            self._half = False
            self._met.add("half")
            outlet.put(message[: len(message) // 2])
            outlet.end("half a message")
            return
        for _ in range(1 + self._twice):
            if self._late_ns:
                self._timeline.after(self._late_ns, lambda: outlet.put(message))
            else:
                outlet.put(message)
        self._met |= {how for how, on in (("twice", self._twice), ("late", self._late_ns)) if on}

    def end_all(self, why: str) -> None:
        """Every stream ends."""
        for outlet in tuple(self.outlets):
            self._met.add("gone")
            outlet.end(why)

    def _gone_on(self, seconds: float) -> None:
        for act in self.on_gone:
            act(True)
        self.end_all("the server is gone")
        if seconds:
            self._timeline.after(round(seconds * NS_PER_S), self._back)

    def _back(self) -> None:
        for act in self.on_gone:
            act(False)

    def _certificate_on(self, seconds: float) -> None:
        self._met.add("certificate")
        for act in self.on_stranger:
            act(True)
        self.end_all("another certificate")

    def _half_on(self, seconds: float) -> None:
        self._half = True

    def _twice_on(self, seconds: float) -> None:
        self._twice = True

    def _late_on(self, seconds: float) -> None:
        self._late_ns = round((seconds or 5) * NS_PER_S)

    def _frozen_on(self, seconds: float) -> None:
        self._values = {}

    def _flood_on(self, seconds: float) -> None:
        """The last message again and again, 10 000 times or as often as `seconds` says."""
        for outlet in tuple(self.outlets):
            for _ in range(round(seconds) or 10_000):
                if outlet.last:
                    self._met.add("flood")
                    outlet.put(outlet.last)

    def _heal_on(self, seconds: float) -> None:
        self.heal()


async def quietly(task: "asyncio.Task[Any]") -> None:
    """It has ended, however."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
