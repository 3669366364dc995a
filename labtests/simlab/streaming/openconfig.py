"""The leaves of OpenConfig that all boxes have: counters and state of an interface
(openconfig-interfaces 3.0)."""

from collections.abc import Callable, Iterator
from typing import Any

from labtests.network import QueueCounters
from labtests.simlab.streaming.served import Leaf, Peaks, ServedValue
from labtests.simlab.switch_cli import Chassis

INTERFACES = ("openconfig-interfaces", "OpenConfig working group", "3.0.0")
QOS = ("openconfig-qos", "OpenConfig working group", "0.11.2")


Model = tuple[str, str, str]
Leaves = Callable[[str, Peaks], Iterator[tuple[str, Leaf]]]
"""Those of a port."""


def served(box: Chassis, leaves: Leaves, models: tuple[Model, ...], **more: Any) -> ServedValue:
    """What a box streams of its ports, all below one root."""
    known = {"ports": box.network.ports, "now": lambda: box.now, **more}
    return ServedValue(leaves={"/": leaves}, models=models, **known)


def interface(box: Chassis, port: str, name: str) -> Iterator[tuple[str, Leaf]]:
    """Those of a port, under the name that it has there."""
    state = f"openconfig:/interfaces/interface[name={name}]/state"
    yield f"{state}/oper-status", "UP" if box.has_link(port) else "DOWN"
    yield from ((f"{state}/counters/{leaf}", value) for leaf, value in counters(box, port))


def sent(queue: QueueCounters) -> tuple[tuple[str, int], ...]:
    """What an egress queue has sent (openconfig-qos)."""
    return (
        ("transmit-pkts", queue.forwarded_packets),
        ("transmit-octets", queue.forwarded_bytes),
    )


def counters(box: Chassis, port: str) -> tuple[tuple[str, int], ...]:
    """What a port counts. Packets are told as unicast ones."""
    traffic, drops = box.shown.port_counters(port), box.shown.drop_counters(port)
    return (
        ("in-octets", traffic.rx_bytes),
        ("in-pkts", traffic.rx_packets),
        ("in-discards", drops.input_drops),
        ("out-octets", traffic.tx_bytes),
        ("out-pkts", traffic.tx_packets),
        ("out-discards", drops.output_buffer_drops + drops.wred_drops),
    )
