"""`display qos queue-statistics interface ... outbound`: what each egress queue let through.

Forwarded bytes include 20 bytes a packet (preamble and inter-frame gap), dropped bytes do not:
derived from document 000, exact in all its queues. The values are kept as printed; so what came in
equals forwarded plus dropped in packets, not in bytes.
"""

from dataclasses import dataclass

from labtests.drivers.comware.values import line, maybe, record
from labtests.drivers.displays import read
from labtests.transport.protocol import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCount:
    """One egress queue. None where the switch printed a word instead of a number."""

    queue: int
    forwarded_packets: int | None
    forwarded_bytes: int | None  # with 20 B preamble and gap a packet
    dropped_packets: int | None
    dropped_bytes: int | None  # without
    length_packets: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortQueues:
    """The queues of one port that were shown, ascending; a switch may show fewer than eight."""

    interface: str
    queues: tuple[QueueCount, ...]


_RATES = "(, <:count> pps, <:count> bps)?"  # data centre models
_QUEUE = record(
    "Queue <queue:0-7>",
    line(f"Forwarded: <forwarded_packets:count> packets, <forwarded_bytes:count> bytes{_RATES}"),
    line(f"Dropped: <dropped_packets:count> packets, <dropped_bytes:count> bytes{_RATES}"),
    *(
        maybe(f"{colour} {what}: <:count> packets, <:count> bytes")
        for colour in ("Green", "Yellow", "Red")
        for what in ("forwarded", "dropped")
    ),
    maybe("Total queue length: <:count> packets"),
    line("Current queue length: <length_packets:count> packets(, <:number>% use ratio)?"),
    make=QueueCount,
    into="queues",
    order="ascending",
)
_PORT = record(
    "Interface: <interface:port>",
    line("Direction: outbound"),
    line(f"Forwarded: <:count> packets, <:count> bytes{_RATES}"),
    line(f"Dropped: <:count> packets, <:count> bytes{_RATES}"),
    _QUEUE,
    make=PortQueues,
    order="unique",
)


def parse_queue_statistics(reply: Reply) -> tuple[PortQueues, ...]:
    """Every port, in order. A block that lacks one of its lines was cut off and is refused."""
    return read(reply, _PORT)
