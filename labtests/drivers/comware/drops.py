"""`display packet-drop interface` and `summary`: why packets were dropped; how many were marked.

Reasons differ by model and release, so every `Packets dropped due to REASON: N` is read and keeps
its words. Three lines have a neutral meaning (counters.py): what the buffer had no room for (two
numbers on one line on data centre models), ECN marks, and WRED drops.
"""

import re
from dataclasses import dataclass
from itertools import chain

from labtests.capabilities.counters import (
    BUFFER_DROPPED_IN_PACKETS,
    BUFFER_DROPPED_OUT_PACKETS,
    ECN_MARKED_PACKETS,
    WRED_DROPPED_PACKETS,
)
from labtests.drivers.comware.values import record
from labtests.drivers.displays import ANY, Unfit, read
from labtests.transport.protocol import Reply

ALL_INTERFACES = ""
"""The port name of `display packet-drop summary`."""
NEUTRAL = (
    BUFFER_DROPPED_IN_PACKETS,
    BUFFER_DROPPED_OUT_PACKETS,
    ECN_MARKED_PACKETS,
    WRED_DROPPED_PACKETS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCount:
    """One line: the counter's name here, the switch's own words, the number (None: it has none)."""

    counter: str
    words: str
    packets: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComwareDrops:
    """The counts of one port, or of ALL_INTERFACES, in the order printed."""

    interface: str
    counts: tuple[DropCount, ...]


_DUE_TO = "Packets dropped due to "
_NAMES = {
    "Packets of ECN marked": ECN_MARKED_PACKETS,
    "Packets of WRED dropped": WRED_DROPPED_PACKETS,
    "Input dropped": BUFFER_DROPPED_IN_PACKETS,
    "Output dropped": BUFFER_DROPPED_OUT_PACKETS,
}


def _count(words: str, packets: int | None) -> DropCount:
    reason = words.removeprefix(_DUE_TO).lower()
    own_name = "dropped_" + re.sub(r"[^a-z0-9]+", "_", reason).strip("_")
    return DropCount(counter=_NAMES.get(words, own_name), words=words, packets=packets)


def _port(counts: tuple[list[DropCount], ...], interface: str = ALL_INTERFACES) -> ComwareDrops:
    found = tuple(chain.from_iterable(counts))
    if not found or len({each.counter for each in found}) != len(found):
        raise Unfit("has no lines, or one of them twice")
    return ComwareDrops(interface=interface, counts=found)


_PORT = record(
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
)


def parse_packet_drop(reply: Reply) -> tuple[ComwareDrops, ...]:
    """Every port, in order. A port without any line was cut off and is refused."""
    return read(reply, _PORT)
