"""The shared packet memory of a switch, in cells (white paper S10, S22; formulas §3).

A frame takes ceil(frame / cell) cells until it starts to leave. They are charged to the ingress
port and priority it came by (its priority group): first to the group's guaranteed cells, then to
the shared pool, and, for a lossless group above its threshold, to the group's headroom.

    threshold T = alpha * (shared size - shared use)      or static (`xoff_cells`)
    xoff   when the group's shared use >= T, or headroom is in use
    xon    when headroom is empty and shared use + xon offset <= T (or shared use is 0)

Lossless = PFC works on that port for that priority. A lossless group is never refused but for want
of headroom (an input drop). Lossy frames are limited on the other side: a static number of cells
per egress queue, and the shared pool (output drops). A lossless egress share is never reached
(S22).
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.rows import lane_at, port_at, switch_at
from labtests.simlab.network.tables import State

ADMITTED, NO_HEADROOM, NO_BUFFER = 0, 1, 2


@compiled
def threshold_cells(t: State, s: int) -> float:
    """Shared cells that one group of switch s may hold now before it is paused."""
    switch = switch_at(t, s)
    if switch.xoff_cells >= 0:
        return float(switch.xoff_cells)
    return float(max(0.0, switch.alpha * (switch.shared_cells - switch.shared_used)))


@compiled
def shared_use(t: State, s: int, lane: int) -> int:
    """Cells of the shared pool that this group holds."""
    return int(max(0, lane_at(t, lane).ingress_cells - switch_at(t, s).guaranteed_cells))


@compiled
def is_lossless(t: State, lane: int) -> bool:
    """PFC works for this port and priority."""
    return bool((port_at(t, lane >> 3).pfc_on >> (lane & 7)) & 1 == 1)


@compiled
def admit(t: State, s: int, lane: int, cells: int) -> int:
    """Charge `cells` to the group, or say which memory is missing."""
    switch = switch_at(t, s)
    group = lane_at(t, lane)
    above = group.ingress_cells + cells - switch.guaranteed_cells
    if is_lossless(t, lane):
        if above > threshold_cells(t, s):
            if group.headroom_used + cells > group.headroom_cells:
                return NO_HEADROOM
            group.headroom_used += cells
            group.peak_headroom = max(group.peak_headroom, group.headroom_used)
            switch.used_cells += cells
            return ADMITTED
    elif above > 0 and switch.shared_used + min(above, cells) > switch.shared_cells:
        return NO_BUFFER
    if switch.used_cells + cells > switch.total_cells:
        return NO_BUFFER  # only while a port's settings shrink under full queues
    group.ingress_cells += cells
    switch.shared_used += max(0, min(above, cells))
    switch.used_cells += cells
    return ADMITTED


@compiled
def release(t: State, s: int, lane: int, cells: int) -> None:
    """Give the cells of a leaving frame back: headroom first, then shared, then guaranteed."""
    switch = switch_at(t, s)
    group = lane_at(t, lane)
    from_headroom = min(group.headroom_used, cells)
    rest = cells - from_headroom
    group.headroom_used -= from_headroom
    switch.shared_used -= min(rest, shared_use(t, s, lane))
    group.ingress_cells -= rest
    switch.used_cells -= cells


@compiled
def must_pause(t: State, s: int, lane: int) -> bool:
    """Whether the group is at its threshold."""
    use = shared_use(t, s, lane)
    return lane_at(t, lane).headroom_used > 0 or (use > 0 and use >= threshold_cells(t, s))


@compiled
def may_resume(t: State, s: int, lane: int) -> bool:
    """Whether the group has fallen far enough below its threshold."""
    if lane_at(t, lane).headroom_used > 0:
        return False
    use = shared_use(t, s, lane)
    return use == 0 or use + switch_at(t, s).xon_offset_cells <= threshold_cells(t, s)
