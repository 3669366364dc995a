"""Watermarks of the box, in bytes: a poll reads what the chip held most since the last one, and
clears it there; `watermarkstat` shows the most of all polls since somebody cleared that.

By watermarkstat of sonic-utilities, watermarkorch.cpp and watermark_pg.lua of sonic-swss.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import chosen, expect_root, tabulated, usage
from labtests.simlab.sonic.chassis import SonicChassis
from labtests.simlab.sonic.configuring import OTHERS
from labtests.simlab.sonic.database import CELL_BYTES, POOL, WATERMARKS
from labtests.simlab.timeline import NS_PER_S

QUEUES = range(8)
USUAL_MS = "60000"
PERIOD_NS = 120 * NS_PER_S  # `show watermark telemetry interval`
_TYPES = {
    "q_shared_uni": ("QUEUE_WATERMARK", "Egress shared pool occupancy per unicast queue:", "UC"),
    "pg_headroom": ("PG_WATERMARK", "Ingress headroom per PG:", "PG"),
    "pg_shared": ("PG_WATERMARK", "Ingress shared pool occupancy per PG:", "PG"),
    "buffer_pool": ("BUFFER_POOL_WATERMARK", "Shared pool maximum occupancy:", ""),
}
"""What is polled together, and how a table begins."""
_NAMED = {
    "queue watermark unicast": "q_shared_uni",
    "priority-group watermark headroom": "pg_headroom",
    "priority-group watermark shared": "pg_shared",
}
_Key = tuple[str, str, int]
"""A type of `watermarkstat`, a port (or a pool), and a number."""


class PolledWatermarks:
    """What `watermarkstat` shows; nothing before the first poll."""

    def __init__(self, box: SonicChassis) -> None:
        self._box, self._timeline = box, box.lab.timeline
        self._since_polled: dict[_Key, int] = {}
        self.shown: dict[_Key, int] = {}
        self.polled: dict[_Key, int] = {}
        """What the last poll read."""
        self.periodic: dict[_Key, int] = dict.fromkeys((key for key, _ in self._cells()), 0)
        """The most of all polls of a period of telemetry, which sets them to 0 at its end."""
        self._periods_ns: dict[str, int | None] = dict.fromkeys(WATERMARKS)
        self._pace()
        self._begin_period()
        box.on_change.append(self._pace)
        box.faults.on_reset.append(self.shown.clear)

    def clear(self, kind: str) -> None:
        """Shown as 0 from now on, polled or not."""
        self.shown |= {key: 0 for key in self._peaks() if key[0] == kind}

    def _pace(self) -> None:
        for group in WATERMARKS:
            entry = self._box.db.entry("FLEX_COUNTER_TABLE", group)
            on = entry.get("FLEX_COUNTER_STATUS") == "enable"
            period_ns = int(entry.get("POLL_INTERVAL", USUAL_MS)) * NS_PER_S // 1000 if on else None
            if period_ns != self._periods_ns[group]:
                self._periods_ns[group] = period_ns
                self._wait(group, period_ns)

    def _begin_period(self) -> None:
        self.periodic |= dict.fromkeys(self.periodic, 0)
        self._timeline.after(PERIOD_NS, self._begin_period)

    def _wait(self, group: str, period_ns: int | None) -> None:
        if period_ns is not None:
            self._timeline.after(period_ns, partial(self._poll, group, period_ns))

    def _poll(self, group: str, period_ns: int) -> None:
        if self._periods_ns[group] != period_ns:
            return  # told otherwise since
        for key, peak in self._peaks().items():
            self._since_polled[key] = max(self._since_polled.get(key, 0), peak)
        self._box.network.forget_peaks()
        for key in [key for key in self._since_polled if _TYPES[key[0]][0] == group]:
            self.polled[key] = self._since_polled.pop(key)
            for held in (self.shown, self.periodic):
                held[key] = max(held.get(key, 0), self.polled[key])
        self._wait(group, period_ns)

    def _peaks(self) -> dict[_Key, int]:
        """In bytes, since all was forgotten."""
        return {key: cells * CELL_BYTES for key, cells in self._cells()}

    def _cells(self) -> Iterator[tuple[_Key, int]]:
        network = self._box.network
        yield ("buffer_pool", POOL, 0), network.memory_use().peak_shared_cells
        for port in network.ports:
            for n, queue in enumerate(network.queue_counters(port)):
                yield ("q_shared_uni", port, n), queue.peak_cells
            for n, group in enumerate(network.group_counters(port)):
                yield ("pg_headroom", port, n), group.peak_headroom_cells
                yield ("pg_shared", port, n), group.peak_shared_cells

    def table(self, kind: str) -> str:
        """As it is printed. A port without a cable holds nothing."""
        _, title, prefix = _TYPES[kind]
        if not prefix:
            rows: list[Any] = [(POOL, self.shown.get((kind, POOL, 0), "N/A"))]
            return f"{title}\n{tabulated(('Pool', 'Bytes'), rows)}"
        rows = [(port, *(self._cell(kind, port, n) for n in QUEUES)) for port in self._box.ports]
        return f"{title}\n{tabulated(('Port', *(f'{prefix}{n}' for n in QUEUES)), rows)}"

    def _cell(self, kind: str, port: str, number: int) -> str:
        if self._box.faults.missing(port, "watermarks"):
            return "N/A"
        return str(self.shown.get((kind, port, number), "N/A"))


def shows(watermarks: PolledWatermarks) -> Mapping[str, Callable[[], str]]:
    """What `show` has of them."""
    kinds = {**_NAMED, "buffer_pool watermark": "buffer_pool"}
    return {named: partial(watermarks.table, kind) for named, kind in kinds.items()}


def sonic_clear(watermarks: PolledWatermarks, call: Call) -> str:
    """The program: it has no word for pools."""
    kind, rest = chosen(call, _NAMED, OTHERS[call.name])
    expect_root(call)
    if rest:
        raise usage(f"sonic-clear {' '.join(call.arguments)}", "Got unexpected extra argument")
    watermarks.clear(kind)
    return "\n"


def watermarkstat(watermarks: PolledWatermarks, call: Call) -> str:
    """The program: `-t TYPE`, and `-c` to clear."""
    words = [word for word in call.arguments if word != "-c"]
    if len(words) != 2 or words[0] != "-t" or words[1] not in _TYPES:
        raise usage("watermarkstat", "Invalid value for '-t': choose one of its types.")
    if "-c" not in call.arguments:
        return watermarks.table(words[1])
    expect_root(call)
    watermarks.clear(words[1])
    return ""
