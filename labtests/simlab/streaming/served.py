"""What one switch streams, as its platform says it, and the peaks that it keeps between samples."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from labtests.network import Switch

Leaf = int | str


class Peaks(NamedTuple):
    """The most that was held since a reader's last sample, in cells, by port and number; and how
    many packets each of the three dropped since."""

    queue: Mapping[tuple[str, int], int]
    shared: Mapping[tuple[str, int], int]
    headroom: Mapping[tuple[str, int], int]
    dropped: tuple[Mapping[tuple[str, int], int], ...] = ({}, {}, {})


NO_PEAKS = Peaks({}, {}, {})


class PeakReader:
    """One who reads peaks and clears them, beside others who do the same."""

    def __init__(self, register: "PeakRegister") -> None:
        self._register = register
        self.held: dict[tuple[int, str, int], int] = {}
        self.dropped: Counter[tuple[int, str, int]] = Counter()

    def take(self) -> Peaks:
        """Since the last time."""
        self._register.fold()
        held, self.held = self.held, {}
        dropped, self.dropped = self.dropped, Counter()
        queue, shared, headroom = _by_kind(held)
        return Peaks(queue, shared, headroom, _by_kind(dropped))


def _by_kind(counted: Mapping[tuple[int, str, int], int]) -> tuple[dict[tuple[str, int], int], ...]:
    return tuple(
        {(p, n): count for (k, p, n), count in counted.items() if k == kind} for kind in (0, 1, 2)
    )


class PeakRegister:
    """The chip's peaks, which are cleared when they are read: each reader gets its own."""

    def __init__(self, network: Switch) -> None:
        self._network = network
        self._readers: list[PeakReader] = []
        self._drops: dict[tuple[int, str, int], int] = {}

    def reader(self) -> PeakReader:
        """One more; what was before does not count for it."""
        self.fold()
        self._readers.append(PeakReader(self))
        return self._readers[-1]

    def leave(self, reader: PeakReader) -> None:
        """It reads no more."""
        self._readers.remove(reader)

    def fold(self) -> None:
        """What the chip has is noted for every reader, and cleared in the chip."""
        for port in self._network.ports:
            queues, groups = self._network.queue_counters(port), self._network.group_counters(port)
            for number, (queue, group) in enumerate(zip(queues, groups, strict=True)):
                most = (queue.peak_cells, group.peak_shared_cells, group.peak_headroom_cells)
                lost = queue.tail_dropped_packets + queue.wred_dropped_packets
                drops = (lost, group.buffer_drops, group.headroom_drops)
                for kind, (cells, dropped) in enumerate(zip(most, drops, strict=True)):
                    key = (kind, port, number)
                    before, self._drops[key] = self._drops.get(key, dropped), dropped
                    for reader in self._readers:
                        reader.held[key] = max(reader.held.get(key, 0), cells)
                        reader.dropped[key] += max(0, dropped - before)
        self._network.forget_peaks()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedValue:
    """What the gNMI server of a switch has.

    `leaves` are, by the path that they are below, functions (port, peaks) of all leaves of a port
    now, by their paths; `whole`: with JSON a
    subscription's leaves come as one tree; `target`: the prefix target under which paths without
    an origin are of the space of that name; `apart`: elements that only who names them is told,
    not who asks for what is above; `refuses`: a sample interval below a second is an
    error, else it is taken for a second; `peaks`: where the platform tells those between samples;
    `events`: elements below which only stands what has just happened, which is told as it does;
    `token`: whoever asks has logged in by H3C's GrpcService; `on`: whether it serves now, and who
    is in `turned` hears when that may have changed.
    """

    ports: tuple[str, ...]
    leaves: Mapping[str, Callable[[str, Peaks], Iterable[tuple[str, Leaf]]]]
    now: Callable[[], datetime]
    models: tuple[tuple[str, str, str], ...]  # name, organization, version
    whole: bool = False
    target: str = ""
    apart: frozenset[str] = frozenset()
    refuses: bool = False
    peaks: PeakRegister | None = None
    events: frozenset[str] = frozenset()
    token: bool = False
    on: Callable[[], bool] = lambda: True
    turned: list[Callable[[], None]] = field(default_factory=list)
