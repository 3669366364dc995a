"""Random early detection on an egress queue: marks, or drops (white paper S16).

The curve looks at the averaged queue length in cells (208 B), updated by every arriving packet:

    average += 2**-E * (length - average)        E = weighting constant, Comware default 9
    after m idle packet times    average *= (1 - 2**-E)**m       (Floyd, Jacobson 1993)

    average <  low           the packet passes
    low <= average < high    it is picked with probability  Pmax * (average - low) / (high - low)
    average >= high          it is picked

A picked packet is marked CE if it is ECN-capable (and stays CE if it was), else dropped; a queue
without `ecn` drops every picked packet. Only the egress limit stops a queue of marked packets.

A polled queue (`poll_ps`; S25) is looked at every T instead, at the multiples of T, whether packets
arrive or not, and the average moves only then, by the length that the poll finds.

With `mark_leaving` the curve is looked at when a packet leaves, with the queue's length behind it
(no average): marks are then as young as they can be, and packets that are not ECN-capable pass (the
ns-3 DCQCN models of Zhu et al. and of HPCC do so).

Why cells: Comware's manuals give numbers without a unit (default 100, 1000, 10 %). Document 000
shows "25139 packets" in a queue in which one QP can have at most 8192, so that switch counts
lengths in cells of its buffer; the limits are taken to be in the same unit (inference).
"""

from labtests.network.arithmetic import DRAWS, power, random_below
from labtests.network.compiled import compiled, inlined
from labtests.network.rows import clock_at, port_at, queue_at
from labtests.network.tables import (
    CE,
    NO_RED,
    NOT_ECT,
    RED_ARRIVING,
    RED_LEAVING,
    RED_POLLED,
    State,
)

PASS, MARK, DISCARD = 0, 1, 2
TYPICAL_FRAME_BYTES = 1538


@inlined
def update_average(t: State, q: int) -> None:
    """The queue's average as an arriving packet finds it."""
    queue = queue_at(t, q)
    weight = queue.newest_weight
    if queue.packets == 0:
        frame_ps = TYPICAL_FRAME_BYTES * port_at(t, q >> 3).ps_per_byte
        idle_ps = clock_at(t, 0).now - queue.empty_since
        if idle_ps >= frame_ps:  # else the division, which is dear, says 0
            queue.average_cells *= power(1.0 - weight, idle_ps // frame_ps)
    queue.average_cells += weight * (queue.cells - queue.average_cells)


@compiled
def take_polls(t: State, q: int, cells: int) -> None:
    """The polls that are due have found the queue at `cells`, its length since the last change."""
    queue = queue_at(t, q)
    polls = clock_at(t, 0).now // queue.poll_ps
    due = polls - queue.polls
    if due > 0:
        queue.polls = polls
        kept = power(1.0 - queue.newest_weight, due)
        queue.average_cells = cells + kept * (queue.average_cells - cells)


@inlined
def is_picked(t: State, q: int, length: float) -> bool:
    """Whether the curve picks a packet at this length (cells) of the queue."""
    queue = queue_at(t, q)
    if length < queue.low_cells:
        return False
    if length >= queue.high_cells:
        return True
    span = queue.high_cells - queue.low_cells
    chance = queue.probability * (length - queue.low_cells) / span
    return bool(random_below(t, DRAWS) < chance * DRAWS)


@inlined
def red_verdict(t: State, q: int, ecn: int) -> int:
    """What becomes of a packet with this ECN field that arrives at queue q."""
    queue = queue_at(t, q)
    if queue.wred in (NO_RED, RED_LEAVING):
        return PASS
    if queue.wred == RED_ARRIVING:
        update_average(t, q)
    else:
        take_polls(t, q, queue.cells)
    if not is_picked(t, q, queue.average_cells):
        return PASS
    if not queue.ecn or ecn == NOT_ECT:
        return DISCARD
    return PASS if ecn == CE else MARK


@inlined
def looks_at_leaving(t: State, q: int) -> bool:
    """Whether RED of queue q has anything to do with packets that leave."""
    wred = queue_at(t, q).wred
    return bool(wred not in (NO_RED, RED_ARRIVING))


@compiled
def is_marked_leaving(t: State, q: int, ecn: int, cells: int) -> bool:
    """Whether a packet of so many cells that leaves queue q, already without it, is marked now."""
    queue = queue_at(t, q)
    if queue.wred == RED_POLLED:
        take_polls(t, q, queue.cells + cells)
    if queue.wred != RED_LEAVING or ecn in (NOT_ECT, CE) or not queue.ecn:
        return False
    return is_picked(t, q, float(queue.cells))
