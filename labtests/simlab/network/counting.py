"""Frames in and out of a port, each from where it is counted once: NIC lanes, switch queues."""

from labtests.simlab.network.settings import PortCounters
from labtests.simlab.network.tables import NONE, Tables


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
