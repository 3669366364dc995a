"""Signals that end a run: the lab is put back and the report written, whoever sends them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_OTHERS = (signal.SIGTERM, signal.SIGHUP)  # a cancelled job, a dropped ssh


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP are a Ctrl-C. After the first of the three, only another Ctrl-C ends
    the putting back as well: a job that is cancelled gets INT and soon TERM."""
    handled = (signal.SIGINT, *_OTHERS)
    earlier = {number: signal.getsignal(number) for number in handled}
    for number in handled:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _interrupt(number: int, _: object) -> None:
    for later in _OTHERS:
        signal.signal(later, _ignore)  # not SIG_IGN: Python complains when one is on its way
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name = signal.Signals(number).name
    raise KeyboardInterrupt(*([] if number == signal.SIGINT else [name]))


def _ignore(number: int, _: object) -> None:
    """The run is ending already."""
