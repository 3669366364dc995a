"""The wall clock: the lab's time on hardware. The only place where labtests really sleeps."""

import time


class WallClock:
    """Seconds since the epoch that never run backwards.

    The epoch is taken once; then a monotonic clock counts, so a clock that NTP sets back in the
    middle of a run cannot turn a duration negative.
    """

    def __init__(self) -> None:
        self._origin_s = time.time() - time.monotonic()

    def now_s(self) -> float:
        """Seconds since the epoch."""
        return self._origin_s + time.monotonic()

    def sleep(self, seconds: float) -> None:
        """So many seconds have passed; nothing happens for zero or less."""
        time.sleep(max(seconds, 0.0))
