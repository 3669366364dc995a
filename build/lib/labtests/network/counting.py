"""Frames in and out of a port, each from where it is counted once: NIC lanes, switch queues; and
what a switch's memory holds."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from labtests.network.memory_settings import MemoryUse
from labtests.network.settings import PortCounters
from labtests.network.tables import NONE, Tables

Counted = TypeVar("Counted")


def counted(kind: type[Counted], source: Any, **more: Any) -> Counted:
    """A record of counters: `more`, and in every other field the number that a row of a table, or
    another record, has by that name."""
    names = (field.name for field in fields(kind) if field.name not in more)  # type: ignore[arg-type]
    return kind(**more, **{name: int(getattr(source, name)) for name in names})


def port_counters(t: Tables, p: int) -> PortCounters:
    """Frames (not pauses) that port p has received whole and has begun to send."""
    port, lanes, queues = t.port[p], t.lane[8 * p : 8 * p + 8], t.queue[8 * p : 8 * p + 8]
    if port.host != NONE:
        return PortCounters(
            rx_packets=int(lanes.rx_packets.sum()),
            rx_bytes=int(lanes.rx_bytes.sum()),
            tx_packets=int(lanes.tx_packets.sum()),
            tx_bytes=int(lanes.tx_bytes.sum()),
        )
    return PortCounters(
        rx_packets=int(port.rx_packets),
        rx_bytes=int(port.rx_bytes),
        tx_packets=int(queues.forwarded_packets.sum()),
        tx_bytes=int(queues.forwarded_bytes.sum()),
    )


def memory_use(t: Tables, s: int, ports: Mapping[str, int]) -> MemoryUse:
    """Of switch s, whose ports have these numbers."""
    switch = t.switch[s]
    lanes = {(port, i): t.lane[8 * p + i] for port, p in ports.items() for i in range(8)}
    return counted(
        MemoryUse,
        switch,
        shared_used_cells=int(switch.shared_used),
        headroom_pool_cells=int(switch.pool_cells),
        headroom_pool_used_cells=int(switch.pool_used),
        peak_headroom_pool_cells=int(switch.peak_pool_cells),
        egress_shared_used_cells=int(switch.egress_used),
        headroom_used_cells={key: int(lane.headroom_used) for key, lane in lanes.items()},
        peak_headroom_cells={key: int(lane.peak_headroom) for key, lane in lanes.items()},
    )
