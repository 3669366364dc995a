"""A driven simulated lab in a thread of the test's own process.

All labs of a process live on one event loop, which never ends: the poller of gRPC is the process's,
and hands what comes late to the loop that asked for it, though it were closed and gone. That is a
segmentation fault: `context.loop` in its completion_queue.pyx.pxi is a bare pointer.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

from labtests.inventory import Testbed
from labtests.journal import Begun, this_runner
from labtests.lab.lab import Lab
from labtests.simlab.control import Message, RunningLab, SimulationFailed
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.serving import ServingFolder, answer, open_lab
from labtests.transport.transcript import Transcript

_OPEN: set["InProcessLab"] = set()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop of all labs, running in a thread of its own."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_fail)
    threading.Thread(target=loop.run_forever, name="simulated labs", daemon=True).start()
    return loop


def _fail(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    for lab in tuple(_OPEN):
        if isinstance(context.get("exception"), Exception):
            lab.mistakes.append(context["exception"])
    loop.default_exception_handler(context)


class InProcessLab(RunningLab):
    """A driven simulated lab on the loop of this process's labs."""

    def __init__(self, testbed: Testbed, *, seed: int, directory: Path | None = None) -> None:
        self.mistakes: list[Exception] = []  # of the lab itself; the next request raises the first
        self.lab = SimulatedLab(testbed, seed=seed)
        self._place = ServingFolder(directory)
        self._ready: Future[Message] = Future()
        self._stop = asyncio.Event()
        _OPEN.add(self)
        self._life = asyncio.run_coroutine_threadsafe(self._live(), _loop())
        super().__init__(self._ready.result())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def soon(self, act: Callable[[], object]) -> None:
        """Done in the lab's thread. Safe to call from several threads."""
        _loop().call_soon_threadsafe(act)

    def ask(self, request: Message) -> Message:
        """The lab's answer, given in its own thread. Safe to call from several threads."""
        reply: Future[Message] = Future()
        _loop().call_soon_threadsafe(self._answer, request, reply)
        message = reply.result()
        if "error" in message:
            raise SimulationFailed(f"the simulated lab refused {request}: {message['error']}")
        return message

    def close(self) -> None:
        """Servers and connections are closed, no task of it is left. Closing twice is allowed."""
        _loop().call_soon_threadsafe(self._stop.set)
        with suppress(Exception):  # what ended it was raised, or is among its mistakes
            self._life.result()
        self._place.remove()

    def _answer(self, request: Message, reply: "Future[Message]") -> None:
        try:
            if self.mistakes:
                raise self.mistakes[0]
            reply.set_result(answer(self.lab, request))
        except BaseException as error:
            reply.set_exception(error)
            raise

    async def _live(self) -> None:
        try:
            async with open_lab(self.lab, self._place) as ready:
                self._ready.set_result(ready)
                await self._stop.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise
        finally:
            _OPEN.discard(self)
            if not _OPEN:
                await _end_all_tasks()


async def _end_all_tasks() -> None:
    """As at the end of a loop: what the last lab has left is cancelled, and over."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


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


def begun_of(lab: Lab) -> Begun:
    """How the journal of a run on it begins."""
    return Begun(
        run="here",
        runner=this_runner(),
        testbed=lab.testbed.name,
        file=str(lab.testbed.file),
        backend=lab.backend,
        dry_run=True,
        devices=lab.testbed.devices,
    )
