"""Samples while flows run: never instead of a start, and never in the way of the end.

The wall clock goes on while a host takes its seconds to answer: there a sample is taken beside the
flows, in a thread of its own. The clock of a simulated lab moves only for whoever asks it to, and
two who do would make no two runs alike: there a sample is taken in its turn, and not at all when
it might not be done before the next start or the end.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from labtests.core.clock import WallClock
from labtests.transport.protocol import Clock

SLACK_S = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What is called while flows run, `during(now_s)`, and how often. `takes_s` of lab time is what
    the first one is expected to take; after that, what the last one took."""

    during: Callable[[float], None]
    every_s: float
    takes_s: float = 0.0


class Sampler:
    """Takes samples when they are due; one that took longer than its period skips some. This one
    has nothing to sample."""

    def sample(self, now_s: float, *, next_s: float) -> None:
        """Take one if it is due. `next_s` is when the next flow starts, or all end. Raises what a
        sample has raised."""

    def end(self) -> None:
        """The last one is done, if one is under way. Raises what it has raised."""

    def close(self) -> None:
        """None is under way any more, whatever it has raised. Closing twice is allowed."""


class InTurn(Sampler):
    """By whoever follows the flows, on a clock that stands still meanwhile, or is moved by it."""

    def __init__(self, sampling: Sampling, clock: Clock) -> None:
        self._sampling, self._clock = sampling, clock
        self._takes_s = sampling.takes_s
        self._due_s: float | None = None

    def sample(self, now_s: float, *, next_s: float) -> None:
        """See Sampler."""
        early = self._due_s is not None and now_s < self._due_s - SLACK_S
        if early or now_s + self._takes_s > next_s + SLACK_S:
            return
        self._sampling.during(now_s)
        self._due_s = now_s + self._sampling.every_s
        self._takes_s = self._clock.now_s() - now_s


class Beside(Sampler):
    """In a thread of its own, one at a time."""

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="samples")
        self._under_way: Future[None] | None = None
        self._due_s: float | None = None

    def sample(self, now_s: float, *, next_s: float) -> None:
        """See Sampler. Whatever is next goes on in time."""
        if self._under_way is not None:
            if not self._under_way.done():
                return
            self.end()
        if self._due_s is None or now_s >= self._due_s - SLACK_S:
            self._due_s = now_s + self._sampling.every_s
            self._under_way = self._pool.submit(self._sampling.during, now_s)

    def end(self) -> None:
        """See Sampler."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def close(self) -> None:
        """See Sampler."""
        self._pool.shutdown(cancel_futures=True)


def sampler(sampling: Sampling | None, clock: Clock) -> Sampler:
    """The one that fits the clock."""
    if sampling is None:
        return Sampler()
    return Beside(sampling) if isinstance(clock, WallClock) else InTurn(sampling, clock)
