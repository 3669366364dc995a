"""What each egress queue let through (`display qos queue-statistics interface ... outbound`), why
packets were dropped, and how many were marked (`display packet-drop interface` and `summary`).

Forwarded bytes include 20 bytes a packet (preamble and inter-frame gap), dropped bytes do not:
derived from document 000, exact in all its queues. The values are kept as printed; so what came in
equals forwarded plus dropped in packets, not in bytes.

Reasons of drops differ by model and release, so every `Packets dropped due to REASON: N` is read
and keeps its words. Three lines have a neutral meaning (counters.py): what the buffer had no room
for (two numbers on one line on data centre models), ECN marks, and WRED drops.
"""

import re
from itertools import chain

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.drivers.comware.session import ComwarePart
from labtests.drivers.comware.values import COMWARE, NO_NUMBER, maybe, record
from labtests.drivers.displays import ANY, Count, PortDisplay, Unfit
from labtests.drivers.readings import Answered
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
        at, missing = Answered(reply, port, "queue"), "the switch did not show queue {}"
        return at.of_blocks(_WORDS, shown, missing, lambda name: NO_NUMBER)


# -- drops and marks of a port ---------------------------------------------------------------------


_DUE_TO = "Packets dropped due to "
_NAMES = {
    "Input dropped": c.BUFFER_DROPPED_IN_PACKETS,
    "Output dropped": c.BUFFER_DROPPED_OUT_PACKETS,
    "Packets of ECN marked": c.ECN_MARKED_PACKETS,
    "Packets of WRED dropped": c.WRED_DROPPED_PACKETS,
}


def _count(words: str, packets: int | None) -> Count:
    reason = words.removeprefix(_DUE_TO).lower()
    own_name = c.DROPPED_FOR + re.sub(r"[^a-z0-9]+", "_", reason).strip("_")
    return Count(counter=_NAMES.get(words, own_name), words=words, value=packets)


def _port(
    counts: tuple[list[Count], ...], interface: str = "All interfaces"
) -> tuple[str, tuple[Count, ...]]:
    found = tuple(chain.from_iterable(counts))
    if not found or len({each.counter for each in found}) != len(found):
        raise Unfit("has no lines, or one of them twice")
    return interface, found


DROPS = PortDisplay(
    command="display packet-drop interface <port>",
    shows=record(
        "(All interfaces|<interface:port>):",
        record(
            rf"{_DUE_TO}insufficient data buffer\. "
            "Input dropped: <before:count> Output dropped: <behind:count>",
            make=lambda before, behind: [
                _count("Input dropped", before),
                _count("Output dropped", behind),
            ],
            into="counts",
            times=ANY,
        ),
        record(
            rf"<words:{_DUE_TO}[^:]+?|Packets of (?:ECN marked|WRED dropped)>\:\s*<packets:count>",
            make=lambda words, packets: [_count(words, packets)],
            into="counts",
            times=ANY,
        ),
        make=_port,
        order="unique",
    ),
)


class Drops(ComwarePart, DropTelemetry):
    """Why a port dropped packets, and how many it marked, as printed."""

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """The four neutral counters (None where this model has no such line), then its own."""
        reply, shown = yield from self.shown(DROPS, port)
        at = Answered(reply, port)
        absent = "`display packet-drop` has no such line on this switch"
        lacking = [name for name in _NAMES.values() if name not in {s.counter for s in shown}]
        return (
            *(at.reading((name, "packets"), None, reply.command, absent) for name in lacking),
            *(at.reading((s.counter, "packets"), s.value, s.words, NO_NUMBER) for s in shown),
        )
