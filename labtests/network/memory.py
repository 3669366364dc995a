"""The shared packet memory of a switch, in cells.

Sources: S10 and S22 of docs/sources.md; dynamic threshold: Choudhury and Hahne, ToN 1998.

A frame takes ceil(frame / cell) cells until it starts to leave. They are booked twice. On the way
in, at the port and priority it came by (its priority group): first on the group's guaranteed cells,
then on the shared pool, and, for a lossless group above its threshold, on headroom: the group's own
first, then the switch's headroom pool, of which a group may hold so much at most.

    threshold T = alpha * (shared size - shared use)      or static (`xoff_cells`), by group
    xoff   when the group's shared use >= T, or headroom is in use
    xon    when headroom is empty and shared use <= max(T - xon offset, xon cells)

Lossless = PFC works on that port for that priority. A lossless group is never refused but for want
of headroom (a headroom drop), a lossy one only when the shared pool is full (an input drop).

On the way out, at the egress queue. A queue refuses lossy frames (an output drop) beyond

    a static number of cells      or      guaranteed + alpha_e * (egress shared - egress use)

where the egress use is what lossy frames hold in all queues above their guaranteed parts; N equally
full queues get T = alpha_e B / (1 + alpha_e N) each above their guaranteed part. A lossless egress
share is never reached (S22), so none is kept. A queue may have limits of its own beside that, in
cells or packets (a Linux box has nothing else: bfifo, pfifo).
"""

from labtests.network.compiled import compiled, entered, inlined
from labtests.network.rows import lane_at, packet_at, port_at, queue_at, switch_at
from labtests.network.tables import NONE, State

ADMITTED, NO_HEADROOM, NO_BUFFER = 0, 1, 2


@inlined
def threshold_cells(t: State, s: int, lane: int) -> float:
    """Shared cells that this group of switch s may hold now before it is paused."""
    group = lane_at(t, lane)
    if group.xoff_cells >= 0:
        return float(group.xoff_cells)
    switch = switch_at(t, s)
    return float(max(0.0, group.alpha * (switch.shared_cells - switch.shared_used)))


@inlined
def cells_of(t: State, s: int, frame_bytes: int) -> int:
    """Cells of switch s that a frame takes. (A division only when frames differ.)"""
    switch = switch_at(t, s)
    if frame_bytes != switch.frame_bytes:
        switch.frame_bytes = frame_bytes
        switch.frame_cells = (frame_bytes + switch.cell_bytes - 1) // switch.cell_bytes
    return int(switch.frame_cells)


@inlined
def shared_use(t: State, lane: int) -> int:
    """Cells of the shared pool that this group holds."""
    group = lane_at(t, lane)
    return int(max(0, group.ingress_cells - group.guaranteed_cells))


@inlined
def is_lossless(t: State, lane: int) -> bool:
    """PFC works for this port and priority."""
    return bool((port_at(t, lane >> 3).pfc_on >> (lane & 7)) & 1 == 1)


@inlined
def take_headroom(t: State, s: int, lane: int, cells: int) -> bool:
    """Book `cells` on the group's own headroom and what it lacks on the pool; False: no room."""
    switch = switch_at(t, s)
    group = lane_at(t, lane)
    own = group.headroom_used
    if switch.pool_used:
        own -= group.pool_used
    lacking = min(cells, max(0, own + cells - group.headroom_cells))
    if lacking > 0:
        if group.pool_used + lacking > group.pool_limit:
            return False
        if switch.pool_used + lacking > switch.pool_cells:
            return False
        group.pool_used += lacking
        switch.pool_used += lacking
        switch.peak_pool_cells = max(switch.peak_pool_cells, switch.pool_used)
    group.headroom_used += cells
    group.peak_headroom = max(group.peak_headroom, group.headroom_used)
    return True


@inlined
def admit(t: State, s: int, lane: int, cells: int) -> int:
    """Charge `cells` to the group, or say which memory is missing."""
    switch = switch_at(t, s)
    group = lane_at(t, lane)
    if switch.used_cells + cells > switch.total_cells:
        return NO_BUFFER  # more is promised than there is, or settings shrank under full queues
    above = group.ingress_cells + cells - group.guaranteed_cells
    shared = max(0, min(above, cells))
    full = shared > 0 and switch.shared_used + shared > switch.shared_cells
    if is_lossless(t, lane) and (full or above > threshold_cells(t, s, lane)):
        if not take_headroom(t, s, lane, cells):
            return NO_HEADROOM
    elif full:
        return NO_BUFFER
    else:
        group.ingress_cells += cells
        if group.ingress_cells > group.peak_cells:
            group.peak_cells = group.ingress_cells
        switch.shared_used += shared
        if switch.shared_used > switch.peak_shared_cells:
            switch.peak_shared_cells = switch.shared_used
    switch.used_cells += cells
    if switch.used_cells > switch.peak_used_cells:
        switch.peak_used_cells = switch.used_cells
    return ADMITTED


@compiled
def give_back(t: State, s: int, lane: int, cells: int) -> None:
    """Of so many cells of headroom, the pool gets what the group has of it."""
    from_pool = min(lane_at(t, lane).pool_used, cells)
    lane_at(t, lane).pool_used -= from_pool
    switch_at(t, s).pool_used -= from_pool


@inlined
def release(t: State, s: int, lane: int, cells: int) -> None:
    """Give the cells of a leaving frame back: headroom (the pool's first), shared, guaranteed."""
    switch = switch_at(t, s)
    group = lane_at(t, lane)
    from_headroom = min(group.headroom_used, cells)
    if from_headroom > 0:
        if switch.pool_used:
            give_back(t, s, lane, from_headroom)
        group.headroom_used -= from_headroom
    rest = cells - from_headroom
    switch.shared_used -= min(rest, shared_use(t, lane))
    group.ingress_cells -= rest
    switch.used_cells -= cells


@inlined
def must_pause(t: State, s: int, lane: int) -> bool:
    """Whether the group is at its threshold."""
    use = shared_use(t, lane)
    return lane_at(t, lane).headroom_used > 0 or (use > 0 and use >= threshold_cells(t, s, lane))


@inlined
def may_resume(t: State, s: int, lane: int) -> bool:
    """Whether the group has fallen far enough below its threshold."""
    group = lane_at(t, lane)
    if group.headroom_used > 0:
        return False
    use = shared_use(t, lane)
    if use <= group.xon_cells:
        return True
    return bool(use + group.xon_offset_cells <= threshold_cells(t, s, lane))


# -- egress ----------------------------------------------------------------------------------------


@inlined
def is_dynamic(t: State, s: int) -> bool:
    """Whether the egress limits of switch s are dynamic."""
    return bool(switch_at(t, s).egress_limit_cells < 0)


@inlined
def is_over_own_limit(t: State, q: int, cells: int) -> bool:
    """Whether queue q may not take so many cells more by a limit of its own."""
    queue = queue_at(t, q)
    if queue.own_limit_cells and queue.cells + cells > queue.own_limit_cells:
        return True
    return bool(queue.own_limit_packets and queue.packets >= queue.own_limit_packets)


@compiled
def is_over_limit(t: State, q: int, lane: int, cells: int) -> bool:
    """Whether queue q may not take so many cells more of this group."""
    s = port_at(t, q >> 3).switch
    switch = switch_at(t, s)
    queue = queue_at(t, q)
    if is_lossless(t, lane):
        return False
    if not is_dynamic(t, s):
        return bool(queue.cells + cells > switch.egress_limit_cells)
    above = queue.lossy_cells + cells - switch.egress_guaranteed_cells
    left = switch.egress_shared_cells - switch.egress_used
    return bool(above > 0 and (above > switch.egress_alpha * left or min(above, cells) > left))


@compiled
def book_lossy(t: State, q: int, cells: int) -> None:
    """So many cells of lossy frames more (less, if negative) are in queue q."""
    switch = switch_at(t, port_at(t, q >> 3).switch)
    queue = queue_at(t, q)
    before = max(0, queue.lossy_cells - switch.egress_guaranteed_cells)
    queue.lossy_cells += cells
    switch.egress_used += max(0, queue.lossy_cells - switch.egress_guaranteed_cells) - before


@entered
def recount_lossy(t: State, q: int) -> None:
    """Book what lossy frames hold in queue q anew: it has changed which groups are lossless."""
    lossy = 0
    k = queue_at(t, q).head
    while k != NONE:
        packet = packet_at(t, k)
        if not is_lossless(t, packet.lane):
            lossy += packet.cells
        k = packet.next
    book_lossy(t, q, lossy - queue_at(t, q).lossy_cells)
