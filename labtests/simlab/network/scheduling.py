"""Which egress queue of a switch port is served next (Comware `qos sp`, `qos wrr`).

Queues of the strict group come first, the highest number first. Then WRR groups 1 and 2, which
share what is left 1:1 in bytes (H3C S6300 configuration guide); inside a group, deficit round
robin: each turn gives a queue weight * quantum of credit, a frame costs its bytes on the wire
(byte-count) or one (weight). With all queues backlogged the shares are w_i / sum(w) (formulas §7).
A queue beyond its rate limit is passed over (shaping.py).
"""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.rows import clock_at, packet_at, port_at, queue_at
from labtests.simlab.network.shaping import conforming
from labtests.simlab.network.tables import GROUP_1, NONE, STRICT, State

QUANTUM_BYTES = 1538
"""Credit of weight 1 per turn in byte-count mode: one full frame, so no turn is empty."""


@compiled
def eligible_queues(t: State, p: int) -> int:
    """Bit mask of the queues of port p that have a frame, are not paused and within their limit."""
    backlog = port_at(t, p).backlog
    now = clock_at(t, 0).now
    mask = 0
    for i in range(8):
        if (backlog >> i) & 1 and queue_at(t, 8 * p + i).paused_until <= now:
            mask |= 1 << i
    if mask & port_at(t, p).limited:
        return int(conforming(t, p, mask))
    return mask


@compiled
def members(t: State, p: int, mask: int, group: int) -> int:
    """The part of `mask` that belongs to `group`."""
    part = 0
    for i in range(8):
        if (mask >> i) & 1 and queue_at(t, 8 * p + i).group == group:
            part |= 1 << i
    return part


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
    i = turn
    while True:
        queue = queue_at(t, 8 * p + i)
        if (mask >> i) & 1:
            price = cost(t, 8 * p + i)
            if queue.credit >= price:
                queue.credit -= price
                return i
        elif queue.packets == 0:
            queue.credit = 0  # credit is not saved up
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
def choose_queue(t: State, p: int) -> int:
    """The queue (row) that port p serves next, or NONE."""
    mask = eligible_queues(t, p)
    if mask == 0:
        return NONE
    strict = members(t, p, mask, STRICT)
    if strict:
        i = 7
        while not (strict >> i) & 1:
            i -= 1
        return 8 * p + i
    port = port_at(t, p)
    first = members(t, p, mask, GROUP_1)
    if choose_group(t, p, first, mask & ~first):
        port.turn_1 = round_robin(t, p, first, port.turn_1)
        q = 8 * p + port.turn_1
        port.group_balance += packet_at(t, queue_at(t, q).head).frame_bytes
    else:
        port.turn_2 = round_robin(t, p, mask & ~first, port.turn_2)
        q = 8 * p + port.turn_2
        port.group_balance -= packet_at(t, queue_at(t, q).head).frame_bytes
    return int(q)
