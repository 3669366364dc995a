"""What an event loop costs before it has any model: a binary heap in numba, four events a packet.

Eight senders with random gaps into one queue and out to one receiver, and nothing else: no memory,
no PFC, no ECN, no transport. The measure beside which the packet network's figures stand, so that
they mean the same on every machine.
"""

import numba
import numpy as np

SENDERS = 8
FRAME_PS = 80_000  # 1000 B at 100G
DELAY_PS = 1_000
EVENT_BITS = 8  # a key is time << 8 | event


@numba.njit
def push(heap, size, key):
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if heap[parent] <= key:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = key
    return size + 1


@numba.njit
def pop(heap, size):
    top, size = heap[0], size - 1
    key = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = key
    return top, size


@numba.njit
def delivered_packets(until_ps):
    """Packets that have gone sender -> queue -> receiver by `until_ps`, four events each."""
    free, arrived = 2 * SENDERS, 2 * SENDERS + 1
    heap, size = np.zeros(64, np.int64), 0
    for sender in range(SENDERS):
        size = push(heap, size, sender * 997 << EVENT_BITS | sender)
    random, queued, busy, delivered = np.uint64(1), 0, False, 0
    while True:
        key, size = pop(heap, size)
        now, event = key >> EVENT_BITS, key & ((1 << EVENT_BITS) - 1)
        if now > until_ps:
            return delivered
        starts = False
        if event < SENDERS:
            random = random * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            gap = FRAME_PS * SENDERS * (512 + np.int64(random >> np.uint64(54))) // 1024
            size = push(heap, size, now + gap << EVENT_BITS | event)
            size = push(heap, size, now + FRAME_PS + DELAY_PS << EVENT_BITS | SENDERS + event)
        elif event < free:
            starts, queued, busy = not busy, queued + busy, True
        elif event == free:
            starts = busy = queued > 0
            queued -= busy
        else:
            delivered += 1
        if starts:
            size = push(heap, size, now + FRAME_PS << EVENT_BITS | free)
            size = push(heap, size, now + FRAME_PS + DELAY_PS << EVENT_BITS | arrived)
