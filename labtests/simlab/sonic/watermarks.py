"""Watermarks of the box, in bytes: a poll reads what the chip held most since the last one, and
clears it there; shown is the most of all polls since somebody cleared that.

By watermarkstat of sonic-utilities, watermarkorch.cpp and watermark_pg.lua of sonic-swss.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from labtests.network import Switch
from labtests.simlab.pacing import Pacemaker
from labtests.simlab.sonic.database import CELL_BYTES, POOL, ConfigDb
from labtests.simlab.timeline import NS_PER_S, Timeline

USUAL_MS = 60_000
PERIOD_NS = 120 * NS_PER_S  # `show watermark telemetry interval`


class Watermark(NamedTuple):
    """A type of `watermarkstat`: what it is polled with, what `show` calls it, and how that table
    begins; `column`: the head of a queue or group, "" of a pool."""

    group: str
    named: str
    title: str
    column: str


TYPES = {
    "q_shared_uni": Watermark("QUEUE_WATERMARK", "queue watermark unicast",
                              "Egress shared pool occupancy per unicast queue:", "UC"),
    "pg_headroom": Watermark("PG_WATERMARK", "priority-group watermark headroom",
                             "Ingress headroom per PG:", "PG"),
    "pg_shared": Watermark("PG_WATERMARK", "priority-group watermark shared",
                           "Ingress shared pool occupancy per PG:", "PG"),
    "buffer_pool": Watermark("BUFFER_POOL_WATERMARK", "buffer_pool watermark",
                             "Shared pool maximum occupancy:", ""),
}  # fmt: skip
GROUPS = tuple(dict.fromkeys(each.group for each in TYPES.values()))
_Key = tuple[str, str, int]
"""A type, a port (or a pool), and a number."""


class PolledWatermarks:
    """`shown` is what `watermarkstat` shows, nothing before the first poll; `polled` what the last
    poll read; `periodic` the most of all polls of a period of telemetry, which ends at 0."""

    def __init__(self, network: Switch, db: ConfigDb, timeline: Timeline) -> None:
        self._network, self._db, self._polls = network, db, Pacemaker(timeline)
        self._since_polled: dict[_Key, int] = {}
        self.shown: dict[_Key, int] = {}
        self.polled: dict[_Key, int] = {}
        self.periodic: dict[_Key, int] = dict.fromkeys(self._peaks(), 0)
        self.pace()
        self._polls.pace("telemetry", PERIOD_NS, self._begin_period)

    def clear(self, kind: str) -> None:
        """Shown as 0 from now on, polled or not."""
        self.shown |= {key: 0 for key in self._peaks() if key[0] == kind}

    def pace(self) -> None:
        """Polls come as often as CONFIG_DB says now."""
        for group in GROUPS:
            status = self._db.entry("FLEX_COUNTER_TABLE", group).get("FLEX_COUNTER_STATUS")
            polled_ns = self._db.poll_ms(group, USUAL_MS) * NS_PER_S // 1000
            period_ns = polled_ns if status == "enable" else None
            self._polls.pace(group, period_ns, partial(self._poll, group))

    def _begin_period(self) -> None:
        self.periodic |= dict.fromkeys(self.periodic, 0)

    def _poll(self, group: str) -> None:
        for key, peak in self._peaks().items():
            self._since_polled[key] = max(self._since_polled.get(key, 0), peak)
        self._network.forget_peaks()
        for key in [key for key in self._since_polled if TYPES[key[0]].group == group]:
            self.polled[key] = self._since_polled.pop(key)
            for held in (self.shown, self.periodic):
                held[key] = max(held.get(key, 0), self.polled[key])

    def _peaks(self) -> dict[_Key, int]:
        """In bytes, since all was forgotten."""
        return {key: cells * CELL_BYTES for key, cells in self._cells()}

    def _cells(self) -> Iterator[tuple[_Key, int]]:
        yield ("buffer_pool", POOL, 0), self._network.memory_use().peak_shared_cells
        for port in self._network.ports:
            for n, queue in enumerate(self._network.queue_counters(port)):
                yield ("q_shared_uni", port, n), queue.peak_cells
            for n, group in enumerate(self._network.group_counters(port)):
                yield ("pg_headroom", port, n), group.peak_headroom_cells
                yield ("pg_shared", port, n), group.peak_shared_cells
