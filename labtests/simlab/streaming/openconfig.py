"""The leaves of OpenConfig that all boxes have: counters and state of an interface
(openconfig-interfaces 3.0)."""

from collections.abc import Iterator

from labtests.simlab.streaming.served import Leaf
from labtests.simlab.switch_cli import Chassis

INTERFACES = ("openconfig-interfaces", "OpenConfig working group", "3.0.0")
QOS = ("openconfig-qos", "OpenConfig working group", "0.11.2")


def interface(box: Chassis, port: str, name: str) -> Iterator[tuple[str, Leaf]]:
    """Those of a port, under the name that it has there."""
    state = f"openconfig:/interfaces/interface[name={name}]/state"
    yield f"{state}/oper-status", "UP" if box.has_link(port) else "DOWN"
    yield from ((f"{state}/counters/{leaf}", value) for leaf, value in counters(box, port))


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
