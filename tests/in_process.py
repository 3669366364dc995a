"""A driven simulated lab in a thread of the test's own process."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.simlab.control import Message, RunningLab, SimulationFailed
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.serving import ServingFolder, answer, open_lab
from labtests.transport.transcript import Transcript


class InProcessLab(RunningLab):
    """A driven simulated lab in a daemon thread of this process."""

    def __init__(self, testbed: Testbed, *, seed: int, directory: Path | None = None) -> None:
        self.mistakes: list[Exception] = []  # of the lab itself; the next request raises the first
        self.lab = SimulatedLab(testbed, seed=seed)
        self._place = ServingFolder(directory)
        self._ready: Future[Message] = Future()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._fail)
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="simulated lab", daemon=True)
        self._thread.start()
        super().__init__(self._ready.result())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: Message) -> Message:
        """The lab's answer, given in its own thread. Safe to call from several threads."""
        reply: Future[Message] = Future()
        self._loop.call_soon_threadsafe(self._answer, request, reply)
        message = reply.result()
        if "error" in message:
            raise SimulationFailed(f"the simulated lab refused {request}: {message['error']}")
        return message

    def close(self) -> None:
        """Servers and connections are closed, the thread has ended. Closing twice is allowed."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        self._place.remove()

    def _fail(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if isinstance(context.get("exception"), Exception):
            self.mistakes.append(context["exception"])
        loop.default_exception_handler(context)

    def _answer(self, request: Message, reply: "Future[Message]") -> None:
        try:
            if self.mistakes:
                raise self.mistakes[0]
            reply.set_result(answer(self.lab, request))
        except BaseException as error:
            reply.set_exception(error)
            raise

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        try:
            async with open_lab(self.lab, self._place) as ready:
                self._ready.set_result(ready)
                await self._stop.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise


@contextmanager
def opened(simulated: InProcessLab, testbed: Testbed, journal: Path) -> Iterator[Lab]:
    """The lab, its sessions open, with a journal."""
    with (
        Transcript(journal) as pages,
        Lab.open(
            simulated.reroute(testbed), clock=simulated.clock, backend="simulated", transcript=pages
        ) as lab,
    ):
        yield lab
