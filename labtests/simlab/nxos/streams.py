"""What the Nexus's gNMI server has: its own model's queuing statistics (DME, origin `device`) and
OpenConfig's interfaces and queues. Names of the leaves: Cisco's telemetry source tables for NX-OS.

Depths are bytes. Statistics of class q0 are those of `c-out-8q-q-default`.
"""

from collections.abc import Iterator

from labtests.simlab.nxos.policies import CELL_BYTES
from labtests.simlab.streaming import openconfig
from labtests.simlab.streaming.served import Leaf, Peaks, ServedValue
from labtests.simlab.switch_cli import CliSwitch

_DME = ("Cisco-NX-OS-device", "Cisco Systems, Inc.", "2023-02-15")
_QUEUING = "device:/System/ipqos-items/queuing-items/policy-items/out-items/intf-items"


def served(switch: CliSwitch) -> ServedValue:
    """Of this switch."""

    def leaves(port: str, peaks: Peaks) -> Iterator[tuple[str, Leaf]]:
        name = port.replace("Ethernet", "eth")
        yield from openconfig.interface(switch, port, name)
        yield from _queues(switch, port, name)

    models = (_DME, openconfig.INTERFACES, openconfig.QOS)
    return openconfig.served(switch, leaves, models, whole=True)


def _queues(switch: CliSwitch, port: str, name: str) -> Iterator[tuple[str, Leaf]]:
    queues, pauses = switch.shown.queue_counters(port), switch.shown.pfc_counters(port)
    for number, (queue, pause) in enumerate(zip(queues, pauses, strict=True)):
        group = switch.network.group_counters(port)[number]
        kind = f"c-out-8q-q{number or '-default'}"
        entry = f"{_QUEUING}/If-list[name={name}]/queCmap-items/QueuingStats-list[cmapName={kind}]"
        for field, value in (
            ("txPackets", queue.forwarded_packets),
            ("txBytes", queue.forwarded_bytes),
            ("dropPackets", queue.dropped_packets),
            ("dropBytes", queue.dropped_bytes),
            ("currQueueDepth", queue.length_cells * CELL_BYTES),
            ("maxQueueDepth", queue.peak_cells * CELL_BYTES),
            ("randEcnMarkedPackets", queue.marked_packets),
            ("pfcRxPpp", pause.rx_frames),
            ("pfcTxPpp", pause.tx_frames),
            ("ingQDepthBytes", (group.shared_used_cells + group.headroom_used_cells) * CELL_BYTES),
            ("ingQDropPackets", group.headroom_drops + group.buffer_drops),
        ):
            yield f"{entry}/{field}", value
        state = f"openconfig:/qos/interfaces/interface[interface-id={name}]/output/queues"
        for leaf, value in (*openconfig.sent(queue), ("dropped-pkts", queue.dropped_packets)):
            yield f"{state}/queue[name={kind}]/state/{leaf}", value
