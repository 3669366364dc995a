"""The exact state of one priority of a switch port, as only a simulation has it.

The sawtooth between xon and xoff, and a microburst, last under a millisecond: no counter and no
stream of a real switch shows their shape. Whoever draws it says where it is from (`SOURCE`).
"""

from collections.abc import Mapping
from typing import Any

from labtests.network import Network
from labtests.simlab.faults import UnknownFault
from labtests.simlab.timeline import NS_PER_S, Timeline

SOURCE = "from the simulation's exact state"
COLUMNS = ("time_s", "queue_bytes", "shared_bytes", "headroom_bytes", "paused")
MOST_ROWS = 100_000
Key = tuple[str, str, int]


class Tracing:
    """What was traced, by switch, port and priority."""

    def __init__(self, network: Network, timeline: Timeline) -> None:
        self._network, self._timeline = network, timeline
        self._rows: dict[Key, list[tuple[float, int, int, int, int]]] = {}

    def begin(self, asked: Mapping[str, Any]) -> None:
        """From now on, or in `after_s`, every `every_us` for `for_ms`: the queue of this number
        that leaves by the port, and the priority group that comes in by it. Raises UnknownFault,
        ValueError."""
        key = self._key(asked)
        period_ns = round(1000 * float(asked.get("every_us", 2)))
        count = round(1e6 * float(asked.get("for_ms", 5))) // max(1, period_ns)
        if not 0 < count <= MOST_ROWS or period_ns <= 0:
            raise ValueError(f"a trace has 1 to {MOST_ROWS} rows, not {count}")
        after_ns = round(NS_PER_S * float(asked.get("after_s", 0)))
        if after_ns < 0:
            raise ValueError("a trace begins now or later")
        self._rows[key] = []
        self._timeline.after(after_ns, lambda: self._look(key, period_ns, count))

    def told(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The rows so far, and where they are from."""
        rows = self._rows.get(self._key(asked), [])
        return {"source": SOURCE, "columns": COLUMNS, "rows": rows}

    def _key(self, asked: Mapping[str, Any]) -> Key:
        if missing := {"device", "port", "priority"} - set(asked):
            raise ValueError(f"a trace needs {', '.join(sorted(missing))}")
        device, port, number = str(asked["device"]), str(asked["port"]), int(asked["priority"])
        try:
            known = port in self._network.switch(device).ports and 0 <= number < 8
        except KeyError:
            known = False
        if not known:
            raise UnknownFault(
                f"{device}:{port} is no switch port with a cable, or {number} no queue"
            )
        return device, port, number

    def _look(self, key: Key, period_ns: int, left: int) -> None:
        device, port, number = key
        switch, cell = self._network.switch(device), self._network.memory[device].cell_bytes
        group = switch.group_counters(port)[number]
        cells = (
            switch.queue_counters(port)[number].length_cells,
            group.shared_used_cells,
            group.headroom_used_cells,
        )
        now_s = self._timeline.now_ns / NS_PER_S
        queue, shared, headroom = (cell * each for each in cells)
        self._rows[key].append((now_s, queue, shared, headroom, int(group.paused)))
        if left > 1:
            self._timeline.after(period_ns, lambda: self._look(key, period_ns, left - 1))
