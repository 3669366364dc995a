"""Two networks in step, one of which saves no events."""

from collections import Counter
from typing import Any

import numpy as np

from labtests.network import Network
from labtests.network.tables import NEVER, NONE, TABLE_TYPES

APART = {"slot", "bucket", "word", "level", "packet"}
"""Not compared: the calendar, and the pool, whose rows are taken in another order."""
OWN = {  # numbers of rows in the pool, events that are saved, and how wide buckets are and why
    "port": {
        *("wire_head", "wire_tail", "loud_head", "loud_tail", "silence", "silent_run"),
        *("stop_at", "stopped", "going"),
        *("plans", "planned_at"),
    },
    "queue": {"head", "tail"},
    "control": {"waiting_head", "waiting_tail", "buffer_head", "buffer_tail"},
    "flow": {"wired_psn"},
    "clock": {"free_packet", "free_packets", "opened", "bucket_shift", "woken", "openings"},
}


def counters(network: Network) -> dict[str, Any]:
    """All that the network knows, but for where its packets are in memory."""
    t = network.tables
    known = {
        f"{name}.{field}": getattr(t, name)[field].tolist()
        for name in set(TABLE_TYPES) - APART
        for field in TABLE_TYPES[name].names
        if field not in OWN.get(name, ())
    }
    in_flight = len(t.packet) - int(t.clock[0].free_packets)
    return known | {"in flight": in_flight, "idle": network.idle}


def out_of_place(network: Network) -> list[int]:
    """Slots of the calendar that do not lie in one bucket, once, as their times have it."""
    slot, heads = network.tables.slot, network.tables.bucket.head
    found = []
    for head in heads:
        before, k = NONE, int(head)
        while k != NONE:
            found.append(k)
            assert int(slot[k].before) == before
            before, k = k, int(slot[k].after)
    return sorted({*found} ^ {*map(int, np.flatnonzero(slot.wakes != NEVER))}) + [
        k for k, times in Counter(found).items() if times > 1
    ]


def differences(one: Network, other: Network) -> dict[str, tuple[Any, Any]]:
    here, there = counters(one), counters(other)
    return {name: (here[name], there[name]) for name in here if here[name] != there[name]}


def expect_in_step(one: Network, other: Network) -> None:
    """Both know the same, and each event of both lies where its time has it."""
    assert differences(one, other) == {}
    assert [out_of_place(network) for network in (one, other)] == [[], []]


def eventful(network: Network) -> Network:
    """Each frame that starts, and each that arrives, has an event of its own."""
    network.tables.port.silence[:] = 0
    network.tables.port.plans[:] = 0
    return network
