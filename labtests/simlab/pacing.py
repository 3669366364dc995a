"""What a box does again and again, as often as it is told: polls of its chip."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
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


PeakKey = tuple[str, str, int]
"""What kind of a peak it is, of which port (or pool), and its number there."""


class PolledPeaks(ABC):
    """A poll reads what the chip held most since the last one, and clears it there. `shown` is the
    most of all polls since somebody cleared that, nothing before the first one; `polled` what the
    last poll read; `periodic` the most of all polls of a period, which ends at 0. In the unit of
    `peaks`."""

    def __init__(self, timeline: Timeline, period_ns: int) -> None:
        self._polls = Pacemaker(timeline)
        self._since_polled: dict[PeakKey, int] = {}
        self.shown: dict[PeakKey, int] = {}
        self.polled: dict[PeakKey, int] = {}
        self.periodic: dict[PeakKey, int] = dict.fromkeys(dict(self.peaks()), 0)
        self.pace()
        self._polls.pace("period", period_ns, self._begin_period)

    @abstractmethod
    def peaks(self) -> Iterator[tuple[PeakKey, int]]:
        """Of the chip, since they were forgotten."""

    @abstractmethod
    def forget(self) -> None:
        """The chip holds no peak any more."""

    @abstractmethod
    def group_of(self, key: PeakKey) -> str:
        """With which others it is polled."""

    @abstractmethod
    def pace(self) -> None:
        """Each group is polled as often as the box is told now: poll_every()."""

    def poll_every(self, group: str, period_ns: int | None) -> None:
        """So often from now on; None: never."""
        self._polls.pace(group, period_ns, partial(self._poll, group))

    def clear(self, kind: str) -> None:
        """Those of this kind are shown as 0 from now on, polled or not."""
        self.shown |= {key: 0 for key, _ in self.peaks() if key[0] == kind}

    def _begin_period(self) -> None:
        self.periodic |= dict.fromkeys(self.periodic, 0)

    def _poll(self, group: str) -> None:
        for key, peak in self.peaks():
            self._since_polled[key] = max(self._since_polled.get(key, 0), peak)
        self.forget()
        for key in [key for key in self._since_polled if self.group_of(key) == group]:
            self.polled[key] = self._since_polled.pop(key)
            for held in (self.shown, self.periodic):
                held[key] = max(held.get(key, 0), self.polled[key])
