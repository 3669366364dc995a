"""`display qos queue-statistics interface ... outbound`: what each egress queue let through.

Forwarded bytes include 20 bytes a packet (preamble and inter-frame gap), dropped bytes do not:
derived from document 000, exact in all its queues. The values are kept as printed; so what came in
equals forwarded plus dropped in packets, not in bytes.

    Interface: Twenty-FiveGigE1/0/13
     Direction: outbound
     Forwarded: 13967548 packets, 15448051477 bytes
     Dropped: 1328925 packets, 1443212550 bytes
     Queue 0
      Forwarded: 44 packets, 5472 bytes, 0 pps, 0 bps       (rates: data centre models)
      Dropped: 0 packets, 0 bytes
      Green forwarded: ...                                  (colours: other models)
      Total queue length: 0 packets                         (other models)
      Current queue length: 0 packets[, 0% use ratio]
"""

import re
from dataclasses import dataclass, field

from labtests.drivers.comware.names import printed_port
from labtests.drivers.comware.values import COUNTER, counted
from labtests.drivers.parsing import matches, refuse
from labtests.transport.protocol import Reply

_INTERFACE = re.compile(r"^\s*Interface:\s*(?P<name>\S(?:.*\S)?)\s*$")
_DIRECTION = re.compile(r"^\s*Direction:\s*(?P<direction>\w+)\s*$")
_QUEUE = re.compile(r"^\s*Queue (?P<queue>[0-7])\s*$")
_COUNT = re.compile(
    rf"^\s*(?P<what>(?:(?:Green|Yellow|Red) )?(?:[Ff]orwarded|[Dd]ropped)):"
    rf"\s*(?P<packets>{COUNTER}) packets,\s*(?P<bytes>{COUNTER}) bytes"
    rf"(?:,\s*{COUNTER} pps,\s*{COUNTER} bps)?\s*$"
)
_LENGTH = re.compile(
    rf"^\s*(?P<what>(?:Current|Total) queue length):\s*(?P<packets>{COUNTER}) packets"
    r"(?:,\s*\d+% use ratio)?\s*$"
)
_CUT = "check that paging is off (`screen-length disable`) and that the session did not break"
_TOTALS = ("Forwarded", "Dropped")
_EVERY_QUEUE = (*_TOTALS, "Current queue length")

Counts = tuple[int | None, int | None]


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


@dataclass(slots=True)
class _Block:
    """The lines under one head (a port's totals, or a queue) while they are read."""

    name: str
    queue: int | None = None
    direction: str = ""
    counts: dict[str, Counts] = field(default_factory=dict)


def parse_queue_statistics(reply: Reply) -> tuple[PortQueues, ...]:
    """Every port, in order. A block that lacks one of its lines was cut off and is refused."""
    blocks: list[_Block] = []
    for match in matches(reply, _INTERFACE, _DIRECTION, _QUEUE, _COUNT, _LENGTH):
        if match.re is _INTERFACE:
            blocks.append(_Block(name=printed_port(reply, match["name"])))
        elif not blocks:
            refuse(reply, f"{match.group()!r} belongs to no port")
        elif match.re is _DIRECTION:
            blocks[-1].direction = match["direction"]
        elif match.re is _QUEUE:
            blocks.append(_Block(name=blocks[-1].name, queue=int(match["queue"])))
        else:
            _add(reply, blocks[-1], match)
    if not blocks:
        refuse(reply, "there is no port in it")
    for block in blocks:
        _expect_complete(reply, block)
    return _ports(reply, blocks)


def _add(reply: Reply, block: _Block, match: re.Match[str]) -> None:
    what = match["what"]
    if what in block.counts:
        refuse(reply, f"{_title(block)} has two lines {what!r}")
    octets = match["bytes"] if match.re is _COUNT else "N/A"
    block.counts[what] = (
        counted(reply, match["packets"], what),
        counted(reply, octets, what),
    )


def _expect_complete(reply: Reply, block: _Block) -> None:
    required = _TOTALS if block.queue is None else _EVERY_QUEUE
    missing = [what for what in required if what not in block.counts]
    if block.queue is None and block.direction != "outbound":
        refuse(reply, f"{_title(block)}: direction {block.direction!r}, not outbound", _CUT)
    if missing:
        refuse(reply, f"{_title(block)} lacks the line {missing[0]!r}", _CUT)


def _ports(reply: Reply, blocks: list[_Block]) -> tuple[PortQueues, ...]:
    found: dict[str, list[QueueCount]] = {}
    for block in blocks:
        if block.queue is None:
            if block.name in found:
                refuse(reply, f"{block.name} is there twice")
            found[block.name] = []
        elif any(shown.queue >= block.queue for shown in found[block.name]):
            refuse(reply, f"{_title(block)} is out of order or there twice", _CUT)
        else:
            found[block.name].append(_count(block.queue, block.counts))
    for name, queues in found.items():
        if not queues:
            refuse(reply, f"{name} has no queues", _CUT)
    return tuple(PortQueues(interface=name, queues=tuple(qs)) for name, qs in found.items())


def _count(queue: int, counts: dict[str, Counts]) -> QueueCount:
    return QueueCount(
        queue=queue,
        forwarded_packets=counts["Forwarded"][0],
        forwarded_bytes=counts["Forwarded"][1],
        dropped_packets=counts["Dropped"][0],
        dropped_bytes=counts["Dropped"][1],
        length_packets=counts["Current queue length"][0],
    )


def _title(block: _Block) -> str:
    return block.name if block.queue is None else f"{block.name} queue {block.queue}"
