"""The dial-out client of an emulated switch: it dials where its configuration says, and streams.

What is made before the connection is there waits for it; what cannot be delivered is gone, as on a
switch. It dials again at the next sample. Only this machine is dialled (chosen).
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import grpc

from labtests.protocols import dialout
from labtests.simlab.streaming.dialled import Dialled
from labtests.simlab.streaming.outlets import Outlet, Troubles, quietly
from labtests.simlab.streaming.served import PeakReader, PeakRegister, Peaks
from labtests.simlab.timeline import NS_PER_S, Timeline


class Dials(Protocol):
    """A switch that dials."""

    peaks: PeakRegister
    on_dialled: list[Callable[[], None]]
    """Told when `dialled` may say something else."""

    def dialled(self) -> frozenset[Dialled]:
        """As it is configured now."""
        ...

    def described(self) -> tuple[str, str, str]:
        """Producer, name and model."""
        ...

    def sensed(self, path: str, peaks: Peaks) -> list[Mapping[str, Any]]:
        """What the sensor says now: one document, or one for each event."""
        ...


class Dialer:
    """All lines of one switch."""

    def __init__(
        self,
        timeline: Timeline,
        switch: Dials,
        troubles: Troubles,
        trusted: tuple[bytes, bytes, bytes] | None,
    ) -> None:
        self.timeline, self.switch, self.troubles = timeline, switch, troubles
        self.trusted = trusted  # the CA, and the switch's own key and certificate
        self.away = False
        self._lines: dict[Dialled, DialledLine] = {}
        switch.on_dialled.append(self.follow)
        troubles.on_gone.append(self._go)
        self.follow()

    def follow(self) -> None:
        """The lines are those that are configured."""
        wanted = self.switch.dialled()
        for gone in [each for each in self._lines if each not in wanted]:
            self._lines.pop(gone).leave()
        for new in wanted - set(self._lines):
            self._lines[new] = DialledLine(self, new)

    async def close(self) -> None:
        """All hang up."""
        for line in self._lines.values():
            line.leave()
            await line.hung_up()

    def _go(self, away: bool) -> None:
        self.away = away


class DialledLine:
    """To one destination."""

    def __init__(self, dialer: Dialer, dialled: Dialled) -> None:
        self._dialer, self._dialled = dialer, dialled
        self._outlet: Outlet | None = None
        self._task: asyncio.Task[None] | None = None
        self._left = False
        for path, seconds in dialled.sensors:
            reader = dialer.switch.peaks.reader()
            self._wait(path, max(1, seconds) * NS_PER_S, reader)

    def leave(self) -> None:
        """It is configured no more."""
        self._left = True
        if self._outlet is not None:
            self._outlet.close()

    async def hung_up(self) -> None:
        """Its connection is closed."""
        if self._task is not None:
            await quietly(self._task)

    def _wait(self, path: str, period_ns: int, reader: PeakReader) -> None:
        self._dialer.timeline.after(period_ns, lambda: self._due(path, period_ns, reader))

    def _due(self, path: str, period_ns: int, reader: PeakReader) -> None:
        if self._left:
            self._dialer.switch.peaks.leave(reader)
            return
        for document in self._dialer.switch.sensed(path, reader.take()):
            text = json.dumps({"Notification": self._frozen(path, document)})
            sent = dialout.message(self._dialer.switch.described(), path, text)
            self._send(sent.SerializeToString())
        self._wait(path, period_ns, reader)

    def _frozen(self, path: str, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Its counters may be those of before; its time never is."""
        shown = self._dialer.troubles.shown(path, json.dumps(document))
        held: dict[str, Any] = json.loads(str(shown))
        return {**held, "Timestamp": document["Timestamp"]}

    def _send(self, message: bytes) -> None:
        if self._dialer.away:
            return
        if self._outlet is None or self._outlet.ended:
            self._outlet = Outlet(self._dialer.troubles)
            self._task = asyncio.ensure_future(self._talk(self._outlet))
        self._outlet.send(message)

    async def _talk(self, outlet: Outlet) -> None:
        try:
            if self._dialled.host.startswith("127."):
                async with self._channel() as channel:
                    await dialout.dial(channel)(aiter(outlet))
        except grpc.aio.AioRpcError:
            pass  # nobody is there, or it hung up: what was waiting is gone
        finally:
            outlet.close()

    def _channel(self) -> Any:
        address = f"{self._dialled.host}:{self._dialled.port}"
        if self._dialer.trusted is None:
            return grpc.aio.insecure_channel(address)
        credentials = grpc.ssl_channel_credentials(*self._dialer.trusted)
        return grpc.aio.secure_channel(address, credentials)
