"""A transport whose exchanges run to their end, also when a Ctrl-C stops whoever asked.

Python raises KeyboardInterrupt in the main thread, between any two steps of it. An SSH packet that
is left half-sent ends the connection, a CLI's answer that nobody read is taken for the next one:
the device could not be put back. So what the main thread asks is done by a thread of its own, which
no signal interrupts, and what it asks next waits for the answer that it did not wait for.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from labtests.transport.commands import Command
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Signal, Transport

Answer = TypeVar("Answer")


class UnbrokenTransport:
    """See transport.Transport: the same session."""

    def __init__(self, transport: Transport) -> None:
        self.device = transport.device
        self._transport = transport
        self._hand = Hand(transport.device)

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        return self._hand.do(partial(self._transport.run, command, timeout_s=timeout_s))

    def start(self, command: Command, *, limit_s: float) -> Process:
        """See Transport. A process that nobody waited for is ended when it has started."""
        act = partial(self._transport.start, command, limit_s=limit_s)
        return UnbrokenProcess(self._hand.do(act, unwanted=_end), self._hand)

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """See Transport."""
        return self._hand.do(partial(self._transport.configure, commands))

    def close(self) -> None:
        """See Transport. An exchange that still runs fails."""
        self._transport.close()
        self._hand.close()


class UnbrokenProcess:
    """See transport.Process: the same process."""

    def __init__(self, process: Process, hand: "Hand") -> None:
        self.device, self.command = process.device, process.command
        self._process, self._hand = process, hand

    def output(self) -> str:
        """See Process."""
        return self._hand.do(self._process.output)

    def errors(self) -> str:
        """See Process."""
        return self._hand.do(self._process.errors)

    def status(self) -> int | None:
        """See Process."""
        return self._hand.do(self._process.status)

    def signal(self, name: Signal) -> None:
        """See Process."""
        self._hand.do(partial(self._process.signal, name))

    def close(self) -> None:
        """See Process."""
        self._hand.do(self._process.close)


class Hand:
    """The thread that does what the main thread asks. Other threads do it themselves."""

    def __init__(self, device: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"asks {device}")
        self._closed = False

    def do(
        self, act: Callable[[], Answer], *, unwanted: Callable[[Answer], None] = lambda _: None
    ) -> Answer:
        """Its answer, or what it raises. An answer that was not waited for is `unwanted`."""
        if self._closed or threading.current_thread() is not threading.main_thread():
            return act()
        doing = self._pool.submit(act)
        try:
            return doing.result()
        except BaseException:
            doing.add_done_callback(partial(_discard, unwanted))  # at once if it is done
            raise

    def close(self) -> None:
        """The thread ends after what it does."""
        self._closed = True
        self._pool.shutdown(wait=False)


def _discard(unwanted: Callable[[Answer], None], done: "Future[Answer]") -> None:
    if not done.cancelled() and done.exception() is None:
        unwanted(done.result())


def _end(process: Process) -> None:
    process.close()
