"""`display packet-drop interface` and `summary`: why packets were dropped; how many were marked.

Reasons differ by model and release, so every `Packets dropped due to REASON: N` is read and keeps
its words. Three lines have a neutral meaning (counters.py): what the buffer had no room for (two
numbers on one line on data centre models), ECN marks, and WRED drops.
"""

import re
from dataclasses import dataclass

from labtests.capabilities.counters import (
    BUFFER_DROPPED_IN_PACKETS,
    BUFFER_DROPPED_OUT_PACKETS,
    ECN_MARKED_PACKETS,
    WRED_DROPPED_PACKETS,
)
from labtests.drivers.comware.names import printed_port
from labtests.drivers.comware.values import COUNTER, counted
from labtests.drivers.parsing import matches, refuse
from labtests.transport.protocol import Reply

ALL_INTERFACES = ""
"""The port name of `display packet-drop summary`."""
NEUTRAL = (
    BUFFER_DROPPED_IN_PACKETS,
    BUFFER_DROPPED_OUT_PACKETS,
    ECN_MARKED_PACKETS,
    WRED_DROPPED_PACKETS,
)

_PORT = re.compile(r"^\s*(?P<name>[A-Za-z0-9][^:]*?\d(?::\d+)?):\s*$")
_SUMMARY = re.compile(r"^\s*All interfaces:\s*$")
_BUFFER = re.compile(
    rf"^\s*(?P<reason>Packets dropped due to insufficient data buffer)\."
    rf"\s*Input dropped:\s*(?P<input>{COUNTER})\s+Output dropped:\s*(?P<output>{COUNTER})\s*$"
)
_REASON = re.compile(rf"^\s*Packets dropped due to (?P<reason>[^:]+?):\s*(?P<count>{COUNTER})\s*$")
_MARKED = re.compile(rf"^\s*Packets of ECN marked:\s*(?P<count>{COUNTER})\s*$")
_WRED = re.compile(rf"^\s*Packets of WRED dropped:\s*(?P<count>{COUNTER})\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCount:
    """One line: the counter's name here, the switch's own words, the number (None: it has none)."""

    counter: str
    words: str
    packets: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortDrops:
    """The counts of one port, or of ALL_INTERFACES, in the order printed."""

    interface: str
    counts: tuple[DropCount, ...]


def parse_packet_drop(reply: Reply) -> tuple[PortDrops, ...]:
    """Every port, in order. A port without any line was cut off and is refused."""
    found: list[tuple[str, list[DropCount]]] = []
    for match in matches(reply, _SUMMARY, _BUFFER, _REASON, _MARKED, _WRED, _PORT):
        if match.re is _SUMMARY:
            found.append((ALL_INTERFACES, []))
        elif match.re is _PORT:
            found.append((printed_port(reply, match["name"]), []))
        elif not found:
            refuse(reply, f"{match.group()!r} belongs to no port")
        else:
            found[-1][1].extend(_counts(reply, match))
    if not found:
        refuse(reply, "there is no port in it")
    for interface, counts in found:
        names = [c.counter for c in counts]
        if not counts or len(set(names)) != len(names):
            refuse(reply, f"{interface or 'the summary'} has no lines, or one of them twice")
    return tuple(PortDrops(interface=name, counts=tuple(counts)) for name, counts in found)


def _counts(reply: Reply, match: re.Match[str]) -> list[DropCount]:
    if match.re is _BUFFER:
        return [
            _count(reply, BUFFER_DROPPED_IN_PACKETS, "Input dropped", match["input"]),
            _count(reply, BUFFER_DROPPED_OUT_PACKETS, "Output dropped", match["output"]),
        ]
    if match.re is _MARKED:
        return [_count(reply, ECN_MARKED_PACKETS, "Packets of ECN marked", match["count"])]
    if match.re is _WRED:
        return [_count(reply, WRED_DROPPED_PACKETS, "Packets of WRED dropped", match["count"])]
    words = f"Packets dropped due to {match['reason']}"
    return [_count(reply, _own_name(match["reason"]), words, match["count"])]


def _count(reply: Reply, counter: str, words: str, text: str) -> DropCount:
    return DropCount(counter=counter, words=words, packets=counted(reply, text, words))


def _own_name(reason: str) -> str:
    return "dropped_" + re.sub(r"[^a-z0-9]+", "_", reason.lower()).strip("_")
