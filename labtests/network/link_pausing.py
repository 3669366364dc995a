"""802.3x on a switch port: when all that comes in by it is to stop, and to go on.

All eight groups of such a port are lossless. The link stops when one of them is at its threshold,
or when all of them together hold the port's own threshold (`xoff`); it goes on when no group holds
it up any more and all of them together are down at `xon`.
"""

from labtests.network.compiled import compiled, inlined
from labtests.network.memory import may_resume
from labtests.network.rows import control_at, lane_at, port_at
from labtests.network.tables import LINK_SEND, State


@compiled
def ingress_use(t: State, p: int) -> int:
    """Cells that all groups of port p hold, headroom included."""
    cells = 0
    for lane in range(8 * p, 8 * p + 8):
        cells += lane_at(t, lane).ingress_cells + lane_at(t, lane).headroom_used
    return int(cells)


@compiled
def is_link_full(t: State, p: int) -> bool:
    """Whether port p is at its own threshold."""
    control = control_at(t, p)
    if not port_at(t, p).link_pause & LINK_SEND or control.xoff_size < 0:
        return False
    return bool(ingress_use(t, p) >= control.xoff_size)


@compiled
def groups_may_resume(t: State, p: int) -> bool:
    """Whether no group of port p, which sends 802.3x, holds the link up; then all of them go on."""
    control = control_at(t, p)
    if control.xoff_size >= 0 and ingress_use(t, p) > control.xon_size:
        return False
    for lane in range(8 * p, 8 * p + 8):
        if not may_resume(t, port_at(t, p).switch, lane):
            return False
    for lane in range(8 * p, 8 * p + 8):
        lane_at(t, lane).xoff = 0
    return True


@inlined
def link_may_resume(t: State, p: int) -> bool:
    """Whether nothing on port p holds the link up; then all its groups go on."""
    return bool(not port_at(t, p).link_pause & LINK_SEND or groups_may_resume(t, p))
