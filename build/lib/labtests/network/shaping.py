"""A rate limit on an egress queue (Comware `qos gts queue`): a token bucket that counts wire bytes.

The bucket holds `burst` bytes and fills at the rate. A frame starts when there are tokens for all
of it; one larger than the bucket when the bucket is full, and the bucket then owes the rest, so
that no queue is stuck. Over time the rate is exact: the bucket is kept as the moment at which it
is full again, in ps and a remainder that is never rounded away. Formula: at the start of a frame of
n bytes, full := max(full, now) + 8e12 n / rate; it conforms from full - (burst - n) 8e12 / rate on.

The limit holds for strict queues too: one that waits for tokens leaves the port to the others.
"""

from labtests.network.compiled import compiled
from labtests.network.rows import clock_at, packet_at, port_at, queue_at
from labtests.network.tables import PS_PER_S, State

BITS_PS = 8 * PS_PER_S


@compiled
def conforms_at(t: State, q: int) -> int:
    """When the first frame of queue q, which has a limit, may start at the earliest."""
    queue = queue_at(t, q)
    wire_bytes = packet_at(t, queue.head).frame_bytes + port_at(t, q >> 3).overhead_bytes
    spare_ps = queue.bucket_ps - wire_bytes * BITS_PS // queue.limit_bits
    return int(queue.bucket_full_at - max(0, spare_ps))


@compiled
def conforming(t: State, p: int, mask: int) -> int:
    """The queues of `mask` whose limit, if they have one, lets their first frame start now."""
    now = clock_at(t, 0).now
    part = mask
    for i in range(8):
        if (mask & port_at(t, p).limited) >> i & 1 and conforms_at(t, 8 * p + i) > now:
            part &= ~(1 << i)
    return part


@compiled
def pay(t: State, q: int) -> None:
    """The first frame of queue q, which has a limit, starts now: its tokens are gone."""
    queue = queue_at(t, q)
    now = clock_at(t, 0).now
    if queue.bucket_full_at < now:
        queue.bucket_full_at = now
        queue.bucket_rest = 0
    wire_bytes = packet_at(t, queue.head).frame_bytes + port_at(t, q >> 3).overhead_bytes
    owed = wire_bytes * BITS_PS + queue.bucket_rest
    queue.bucket_full_at += owed // queue.limit_bits
    queue.bucket_rest = owed % queue.limit_bits
