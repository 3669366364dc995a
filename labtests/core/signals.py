"""Signals that end a run: the lab is put back and the report written, whoever sends them."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_OTHERS = (signal.SIGTERM, signal.SIGHUP)  # a cancelled job, a dropped ssh

TOGETHER_S = 1.0
"""Signals of one cancelling come within it."""
TWICE_S = 0.1
"""Nobody presses a key twice so fast."""


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP are a Ctrl-C. After the first of the three, only another Ctrl-C ends
    the putting back as well: a job that is cancelled gets INT and soon TERM."""
    with _handled_by(_interrupt):
        yield


@dataclass(slots=True)
class Noted:
    """`name` of the first signal that has come, "" before; False until then. `times`: how often one
    has come; those that come together count once."""

    name: str = ""
    times: int = 0

    def __bool__(self) -> bool:
        return bool(self.name)


@contextmanager
def noted() -> Iterator[Noted]:
    """SIGINT, SIGTERM and SIGHUP are noted: what is under way is finished first. After one of them,
    another Ctrl-C interrupts at once. In another thread than the first nothing is done."""
    seen = Noted()
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def note(number: int, _: object) -> None:
        _quieten(number)
        seen.name, seen.times = signal.Signals(number).name, 1

    with _handled_by(note):
        yield seen


@contextmanager
def counted() -> Iterator[Noted]:
    """The same, and none of them interrupts: later ones are counted."""
    seen, last_s = Noted(), -TOGETHER_S

    def note(number: int, _: object) -> None:
        nonlocal last_s
        seen.name = seen.name or signal.Signals(number).name
        seen.times += time.monotonic() - last_s > TOGETHER_S
        last_s = time.monotonic()

    with _handled_by(note):
        yield seen


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    earlier = {number: signal.getsignal(number) for number in (signal.SIGINT, *_OTHERS)}
    for number in earlier:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, before in earlier.items():
            signal.signal(number, before)


def _quieten(number: int) -> None:
    """From now on only another Ctrl-C than this signal's own is heard."""
    for later in _OTHERS:
        signal.signal(later, _ignore)  # not SIG_IGN: Python complains when one is on its way
    signal.signal(signal.SIGINT, _a_second_ctrl_c(number))


def _interrupt(number: int, _: object) -> None:
    _quieten(number)
    name = signal.Signals(number).name
    raise KeyboardInterrupt(*([] if number == signal.SIGINT else [name]))


def _a_second_ctrl_c(first: int) -> Callable[[int, FrameType | None], None]:
    """What a SIGINT does after that first signal. Signals that come together are handled in the
    order of their numbers, so a SIGINT right after a SIGHUP or SIGTERM may be older: it is part of
    the same cancelling, and nobody's second Ctrl-C. So is a SIGINT at once after another: `timeout
    -s INT` sends one to the process and one to its group."""
    begun_s = time.monotonic()
    same_s = TWICE_S if first == signal.SIGINT else TOGETHER_S

    def interrupt(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - begun_s > same_s:
            signal.default_int_handler(number, frame)

    return interrupt


def _ignore(number: int, _: object) -> None:
    """The run is ending already."""
