"""Watermarks of the box, in bytes, as it polls them from its chip.

By watermarkstat of sonic-utilities, watermarkorch.cpp and watermark_pg.lua of sonic-swss.
"""

from collections.abc import Iterator
from typing import NamedTuple

from labtests.network import Switch
from labtests.simlab.pacing import PeakKey, PolledPeaks
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


class SonicPeaks(PolledPeaks):
    """Polls come as often as CONFIG_DB says, types of a group together."""

    def __init__(self, network: Switch, db: ConfigDb, timeline: Timeline) -> None:
        self._network, self._db = network, db
        super().__init__(timeline, PERIOD_NS)

    def pace(self) -> None:
        """As CONFIG_DB says now."""
        for group in GROUPS:
            status = self._db.entry("FLEX_COUNTER_TABLE", group).get("FLEX_COUNTER_STATUS")
            polled_ns = self._db.poll_ms(group, USUAL_MS) * NS_PER_S // 1000
            self.poll_every(group, polled_ns if status == "enable" else None)

    def group_of(self, key: PeakKey) -> str:
        """By its type."""
        return TYPES[key[0]].group

    def peaks(self) -> Iterator[tuple[PeakKey, int]]:
        """In bytes, since all was forgotten."""
        memory = self._network.memory_use()
        yield ("buffer_pool", POOL, 0), CELL_BYTES * memory.peak_shared_cells
        for port in self._network.ports:
            for n, queue in enumerate(self._network.queue_counters(port)):
                yield ("q_shared_uni", port, n), CELL_BYTES * queue.peak_cells
            for n, group in enumerate(self._network.group_counters(port)):
                yield ("pg_headroom", port, n), CELL_BYTES * group.peak_headroom_cells
                yield ("pg_shared", port, n), CELL_BYTES * group.peak_shared_cells

    def forget(self) -> None:
        """All of the chip's own."""
        self._network.forget_peaks()
