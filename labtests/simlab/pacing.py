"""What a box does again and again, as often as it is told: polls of its chip."""

from collections.abc import Callable
from functools import partial

from labtests.simlab.timeline import Timeline


class Pacemaker:
    """Acts by name, each in a period of its own."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._periods_ns: dict[str, int | None] = {}

    def pace(self, name: str, period_ns: int | None, act: Callable[[], None]) -> None:
        """It is done every so often from now on, never with None; nothing changes where the period
        is that of before."""
        if period_ns != self._periods_ns.get(name):
            self._periods_ns[name] = period_ns
            self._wait(name, period_ns, act)

    def _wait(self, name: str, period_ns: int | None, act: Callable[[], None]) -> None:
        if period_ns is not None:
            self._timeline.after(period_ns, partial(self._act, name, period_ns, act))

    def _act(self, name: str, period_ns: int, act: Callable[[], None]) -> None:
        if self._periods_ns[name] == period_ns:  # not told otherwise since
            act()
            self._wait(name, period_ns, act)
