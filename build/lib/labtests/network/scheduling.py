"""Which egress queue of a switch port is served next (Comware `qos sp`, `qos wrr`).

Queues of the strict group come first, the highest number first. Then WRR groups 1 and 2, which
share what is left 1:1 in bytes (H3C S6300 configuration guide); inside a group, deficit round
robin: each turn gives a queue weight * quantum of credit, a frame costs its bytes on the wire
(byte-count) or one (weight), and a queue that is empty has none. With all queues backlogged the
shares are w_i / sum(w).
A queue beyond its rate limit is passed over (shaping.py).

A levelled port is served as Linux's htb serves classes that borrow all they send: the lowest level
first, and in a level by deficit round robin whose turns give `weight` bytes (tc-htb(8): prio and
quantum). Groups are not looked at.
"""

from labtests.network.arithmetic import highest_bit, lowest_bit
from labtests.network.compiled import compiled, inlined
from labtests.network.rows import clock_at, packet_at, port_at, queue_at
from labtests.network.shaping import conforming
from labtests.network.tables import NONE, State

QUANTUM_BYTES = 1538
"""Credit of weight 1 per turn in byte-count mode: one full frame, so no turn is empty."""


@inlined
def eligible_queues(t: State, p: int) -> int:
    """Bit mask of the queues of port p that have a frame, are not paused and within their limit."""
    port = port_at(t, p)
    mask = port.backlog
    held = mask & port.held
    while held:
        i = lowest_bit(held)
        held ^= 1 << i
        if queue_at(t, 8 * p + i).paused_until > clock_at(t, 0).now:
            mask ^= 1 << i
    if mask & port.limited:
        return int(conforming(t, p, mask))
    return int(mask)


@compiled
def cost(t: State, q: int) -> int:
    """What serving the first frame of queue q takes from its credit."""
    if port_at(t, q >> 3).count_bytes:
        overhead = port_at(t, q >> 3).overhead_bytes
        return int(packet_at(t, queue_at(t, q).head).frame_bytes + overhead)
    return 1


@compiled
def round_robin(t: State, p: int, mask: int, turn: int) -> int:
    """The queue number of the non-empty `mask` whose turn it is, from `turn` on; it has paid."""
    quantum = QUANTUM_BYTES if port_at(t, p).count_bytes else 1
    if port_at(t, p).levelled:
        quantum = 1
    i = turn
    while True:
        queue = queue_at(t, 8 * p + i)
        if (mask >> i) & 1:
            price = cost(t, 8 * p + i)
            if queue.credit >= price:
                queue.credit -= price
                return i
        i = (i + 1) & 7
        if (mask >> i) & 1:
            queue_at(t, 8 * p + i).credit += queue_at(t, 8 * p + i).weight * quantum


@compiled
def choose_group(t: State, p: int, first: int, second: int) -> bool:
    """Whether WRR group 1 is served now; both share 1:1 while both have frames."""
    port = port_at(t, p)
    if second == 0 or first == 0:
        port.group_balance = 0
        return second == 0
    return bool(port.group_balance <= 0)


@compiled
def choose_in_groups(t: State, p: int, mask: int) -> int:
    """The queue number of `mask`, none of it strict, that port p serves next."""
    port = port_at(t, p)
    first = mask & port.first
    if choose_group(t, p, first, mask & ~first):
        i = port.turn_1 = round_robin(t, p, first, port.turn_1)
        port.group_balance += packet_at(t, queue_at(t, 8 * p + i).head).frame_bytes
    else:
        i = port.turn_2 = round_robin(t, p, mask & ~first, port.turn_2)
        port.group_balance -= packet_at(t, queue_at(t, 8 * p + i).head).frame_bytes
    return int(i)


@compiled
def choose_by_level(t: State, p: int, mask: int) -> int:
    """The queue number of `mask` that port p, a levelled one, serves next."""
    lowest = 8
    equals = 0
    for i in range(8):
        if (mask >> i) & 1:
            level = queue_at(t, 8 * p + i).level
            if level < lowest:
                lowest = level
                equals = 0
            if level == lowest:
                equals |= 1 << i
    of_level = queue_at(t, 8 * p + lowest)
    i = of_level.level_turn = round_robin(t, p, equals, of_level.level_turn)
    return int(i)


@inlined
def choose_queue(t: State, p: int) -> int:
    """The queue (row) that port p serves next, or NONE."""
    port = port_at(t, p)
    mask = eligible_queues(t, p)
    if mask == 0:
        return NONE
    if port.levelled:
        return 8 * p + choose_by_level(t, p, mask)
    if mask & port.strict:
        return int(8 * p + highest_bit(mask & port.strict))
    if mask == port.backlog and mask & (mask - 1) == 0:  # alone: whoever's turn it is
        port.group_balance = 0
        return int(8 * p + lowest_bit(mask))
    return 8 * p + choose_in_groups(t, p, mask)
