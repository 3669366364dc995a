"""Queue lengths over time: sampled while packets move, as fast as they do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labtests.network.compiled import entered
from labtests.network.engine import advance
from labtests.network.network import Network
from labtests.network.rows import queue_at
from labtests.network.tables import PS_PER_NS, State

NEXT, PERIOD, TAKEN = 0, 1, 2


@entered
def advance_sampling(t: State, until: int, watch: Any, rows: Any, cells: Any) -> bool:
    """As engine.advance, and every watched queue's length in cells is noted when it is due.

    `watch`: time of the next sample in ps, the period, samples taken so far.
    """
    while watch[NEXT] <= until:
        if not advance(t, watch[NEXT]):
            return False
        for column in range(len(rows)):
            cells[watch[TAKEN], column] = queue_at(t, rows[column]).cells
        watch[TAKEN] += 1
        watch[NEXT] += watch[PERIOD]
    return advance(t, until)


class QueueWatch:
    """Lengths of some egress queues of switches, from now on, every `period_ns`."""

    def __init__(
        self, network: Network, queues: Sequence[tuple[str, str, int]], *, period_ns: int
    ) -> None:
        """`queues`: (switch, port, queue number) each."""
        self._network = network
        self._rows = np.array([network.queue_row(*queue) for queue in queues], np.int64)
        self._cell_bytes = np.array([network.memory[q[0]].cell_bytes for q in queues], np.int64)
        now_ps = network.now_ns * PS_PER_NS
        self._watch = np.array([now_ps, period_ns * PS_PER_NS, 0], np.int64)
        self._parts: list[Any] = []

    def advance_to(self, time_ns: int) -> None:
        """The network is at `time_ns`, and what was due until then is noted."""
        due = (time_ns * PS_PER_NS - int(self._watch[NEXT])) // int(self._watch[PERIOD]) + 1
        cells = np.zeros((max(0, due), len(self._rows)), np.int64)
        self._watch[TAKEN] = 0
        while not advance_sampling(
            self._network.state, time_ns * PS_PER_NS, self._watch, self._rows, cells
        ):
            self._network.make_room()
        if due > 0:
            self._parts.append(cells)

    def lengths_bytes(self) -> Any:
        """One row per sample, one column per queue: bytes of the cells that the queue holds."""
        if not self._parts:
            return np.zeros((0, len(self._rows)), np.int64)
        return np.concatenate(self._parts) * self._cell_bytes
