"""`display qos queue-statistics interface ... outbound`: what each egress queue let through.

Forwarded bytes include 20 bytes a packet (preamble and inter-frame gap), dropped bytes do not:
derived from document 000, exact in all its queues. The values are kept as printed; so what came in
equals forwarded plus dropped in packets, not in bytes.
"""

from labtests.capabilities import counters as c
from labtests.capabilities.device import QueueTelemetry
from labtests.capabilities.records import Reading
from labtests.drivers.comware.session import ComwarePart
from labtests.drivers.comware.values import COMWARE, NO_NUMBER, maybe, record
from labtests.drivers.displays import PortDisplay
from labtests.drivers.readings import Answered, unit_of
from labtests.transport.asking import Asking

_WORDS = {
    c.QUEUE_FORWARDED_PACKETS: "Forwarded packets",
    c.QUEUE_FORWARDED_BYTES: "Forwarded bytes (with 20 B preamble and gap a packet)",
    c.QUEUE_DROPPED_PACKETS: "Dropped packets",
    c.QUEUE_DROPPED_BYTES: "Dropped bytes (without preamble and gap)",
    c.QUEUE_LENGTH_PACKETS: "Current queue length",
}
_RATES = "(, <:count> pps, <:count> bps)?"  # data centre models
_QUEUE = record(  # its values have the names of counters.py
    "Queue <queue:0-7>",
    COMWARE.line(
        f"Forwarded: <forwarded_packets:count> packets, <forwarded_bytes:count> bytes{_RATES}"
    ),
    COMWARE.line(f"Dropped: <dropped_packets:count> packets, <dropped_bytes:count> bytes{_RATES}"),
    *(
        maybe(f"{colour} {what}: <:count> packets, <:count> bytes")
        for colour in ("Green", "Yellow", "Red")
        for what in ("forwarded", "dropped")
    ),
    maybe("Total queue length: <:count> packets"),
    COMWARE.line(
        "Current queue length: <queue_length_packets:count> packets(, <:number>% use ratio)?"
    ),
    make=lambda queue, **counts: (queue, counts),
    into="queues",
    order="ascending",
)
QUEUES: PortDisplay[dict[int, dict[str, int | None]]] = PortDisplay(
    command="display qos queue-statistics interface <port> outbound",
    shows=record(
        "Interface: <interface:port>",
        COMWARE.line("Direction: outbound"),
        COMWARE.line(f"Forwarded: <:count> packets, <:count> bytes{_RATES}"),
        COMWARE.line(f"Dropped: <:count> packets, <:count> bytes{_RATES}"),
        _QUEUE,
        make=lambda interface, queues: (interface, dict(queues)),
        order="unique",
    ),
)


class Queues(ComwarePart, QueueTelemetry):
    """The counters of the egress queues, as printed: nothing is added, converted or assumed."""

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Five counters for each of the eight queues; None for a queue that was not shown."""
        reply, shown = yield from self.shown(QUEUES, port)
        return tuple(
            Answered(reply, port, "queue", queue).reading(
                (counter, unit_of(counter)),
                shown.get(queue, {}).get(counter),
                words,
                NO_NUMBER if queue in shown else f"the switch did not show queue {queue}",
            )
            for queue in range(8)
            for counter, words in _WORDS.items()
        )
