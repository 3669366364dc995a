"""What can be set of a switch's packet memory, and what it counts. How it works: memory.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

PRIORITIES = range(8)

Value = TypeVar("Value", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMemory:
    """What one priority has of its own on every port of a switch; None: as the switch has it.

    Comware sets all of these per dot1p (S10: `priority-flow-control dot1p P headroom`, `ingress-
    buffer dynamic` or `static`, `ingress-threshold-offset`, `reserved-buffer`). Cells; `alpha` is a
    share of the unused pool. SONiC has `xon_cells`, too: pauses end there at the latest (0).
    """

    alpha: float | None = None
    xoff_cells: int | None = None
    xon_offset_cells: int | None = None
    xon_cells: int | None = None
    guaranteed_cells: int | None = None
    headroom_cells: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchMemory:
    """The packet memory of a switch and its thresholds. How they work: memory.py.

    - `total_bytes`: 16 MB, the size of a 25G top-of-rack chip (Broadcom Trident 2+/3 class;
      inference).
    - `cell_bytes`: 208 (white paper S10).
    - `alpha`: share of the unused pool that one ingress group may take: 1/8, 1/4 or 1/2 (S22).
    - `guaranteed_cells` per port and priority: one full frame.
    - `headroom_cells` per lossless port and priority, its own; None: headroom_for() of the port's
      link, or 0 with a headroom pool.
    - `headroom_pool_cells`: headroom that all lossless groups share when their own is used up (S10
      "poolID headroom"; SONiC "shared headroom pool"). 0: no pool.
    - `headroom_pool_limit_cells`: what one group may hold of the pool; None: headroom_for() of the
      port's link.
    - `xoff_cells`: a static threshold instead of the dynamic one; None: dynamic.
    - `xon_offset_cells`: resume that far below the threshold (S10 `ingress-threshold-offset`). 2200
      (458 kB) gives the pause rates of document 000, about 1000 frames/s towards A and 300 towards
      B; with 48 there would be 68 000 (fitted, no vendor default was found).
    - `egress_limit_cells` per lossy queue: document 000 (S3) showed a dropping queue at 25139,
      which cannot be packets (one QP has at most 8192 outstanding) and is taken for cells: 25 000,
      5.2 MB (inference).
    - `egress_alpha`: a dynamic limit instead: share of the unused egress pool that one queue's
      lossy frames may take above their guaranteed part (S22, Queue-Share); None: static.
    - `egress_shared_cells`: the egress pool of lossy frames; None: as large as the shared pool.
    - `egress_guaranteed_cells` per queue with a dynamic limit (S22, Queue-Guaranteed): one frame.
    - `frame_bytes`: the largest frame, and `response_s`: how long those that are paused take to
      obey. Headroom by headroom_for() is then enough_headroom(); None: as that rule has it.
    - `priorities`: what single priorities have of their own.

    Guaranteed cells, headroom and the headroom pool are taken from the total; the rest is shared.
    """

    total_bytes: int = 16_000_000
    cell_bytes: int = 208
    alpha: float = 1 / 8
    guaranteed_cells: int = 8
    headroom_cells: int | None = None
    headroom_pool_cells: int = 0
    headroom_pool_limit_cells: int | None = None
    xoff_cells: int | None = None
    xon_offset_cells: int = 2200
    egress_limit_cells: int = 25_000
    egress_alpha: float | None = None
    egress_shared_cells: int | None = None
    egress_guaranteed_cells: int = 8
    frame_bytes: int | None = None
    response_s: float = 0.0
    priorities: Mapping[int, GroupMemory] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not set(self.priorities) <= set(PRIORITIES):
            raise ValueError(f"not priorities 0..7: {sorted(self.priorities)}")
        if self.cell_bytes < 1 or self.total_bytes < 1 or self.headroom_pool_cells < 0:
            raise ValueError(
                f"a memory of {self.total_bytes} bytes in cells of {self.cell_bytes}, "
                f"{self.headroom_pool_cells} of them a pool of headroom"
            )
        for alpha in (self.alpha, self.egress_alpha, *(g.alpha for g in self.priorities.values())):
            if alpha is not None and alpha <= 0:
                raise ValueError(f"alpha {alpha} is not above 0")

    def group(self, priority: int) -> GroupMemory:
        """What holds for groups of this priority; a None left in it is the switch's default."""
        own = self.priorities.get(priority, GroupMemory())
        dynamic = own.alpha is not None and own.xoff_cells is None  # its own alpha asks for that
        pooled = 0 if self.headroom_pool_cells else None
        return GroupMemory(
            alpha=_first(own.alpha, self.alpha),
            xoff_cells=None if dynamic else _first(own.xoff_cells, self.xoff_cells),
            xon_offset_cells=_first(own.xon_offset_cells, self.xon_offset_cells),
            xon_cells=_first(own.xon_cells, 0),
            guaranteed_cells=_first(own.guaranteed_cells, self.guaranteed_cells),
            headroom_cells=_first(own.headroom_cells, self.headroom_cells, pooled),
        )


def _first(*values: Value | None) -> Value | None:
    return next((value for value in values if value is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounters:
    """One priority group: a port and a priority, on the way in. Cells, and dropped packets.

    A packet that memory refuses on the way in is counted here and nowhere else but in its egress
    queue's `dropped_packets`: `headroom_drops` (headroom overrun) of a lossless group,
    `buffer_drops` (no shared buffer) of a lossy one, and of any when the whole memory is full.
    """

    lossless: bool
    paused: bool  # it has told its peer to stop
    shared_used_cells: int
    peak_shared_cells: int
    headroom_used_cells: int
    peak_headroom_cells: int
    pool_used_cells: int
    headroom_drops: int
    buffer_drops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Cells of a switch's memory: what is there, what is taken, and the most that ever was (of
    peaks: since they were forgotten last)."""

    total_cells: int
    shared_cells: int
    used_cells: int
    shared_used_cells: int
    peak_used_cells: int
    peak_shared_cells: int
    headroom_pool_cells: int
    headroom_pool_used_cells: int
    peak_headroom_pool_cells: int
    egress_shared_cells: int  # 0 with static egress limits
    egress_shared_used_cells: int
    headroom_used_cells: dict[tuple[str, int], int]  # (port, priority)
    peak_headroom_cells: dict[tuple[str, int], int]
