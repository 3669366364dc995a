"""`display qos queue sp|wrr|wfq interface`: how the egress queues of a port are served.

Each command answers for ports that use its discipline. Software queues of routers (urgent,
protocol, FIFO, PQ, CQ, flow-based WFQ) and guaranteed minimum bandwidth (GMB) have no group and
weight; they are refused.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.drivers.comware.names import printed_port
from labtests.drivers.comware.values import NOT_A_NUMBER, exactly
from labtests.drivers.parsing import matches, refuse, whole_lines
from labtests.transport.protocol import Reply

_INTERFACE = re.compile(r"^\s*Interface:\s*(?P<name>\S(?:.*\S)?)\s*$")
_KIND = re.compile(r"^\s*Output queue:\s*(?P<kind>\S(?:.*\S)?)\s*$")
_SOFTWARE = re.compile(r"^\s*Output queue - (?P<kind>[\w ]+?):?\s")
_HEADER = re.compile(
    r"^\s*Queue ID\s+Queue\s+name\s+Group\s+(?P<unit>Weight|Byte[ -]count)"
    r"(?:\s+Min[ -]bandwidth)?\s*$",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"^\s*(?P<queue>[0-7])\s+[a-z]+\d?\s+(?P<group>1|2|sp)\s+(?P<weight>\S+)(?:\s+(?P<min>\S+))?\s*$"
)
_QUEUES = 8
_DISCIPLINES: dict[str, Literal["sp", "wrr", "wfq"]] = {
    "strict priority queuing": "sp",
    "weighted round robin queuing": "wrr",
    "hardware weighted fair queuing": "wfq",
}
_UNITS: dict[str, Literal["weight", "byte-count"]] = {
    "weight": "weight",
    "byte count": "byte-count",
    "byte-count": "byte-count",
}


@dataclass(slots=True)
class _Block:
    interface: str
    kind: str = ""
    unit: Literal["weight", "byte-count", ""] = ""
    queues: list[QueueSchedule] = field(default_factory=list)


def shows_no_scheduler(reply: Reply) -> bool:
    """Whether this answer names at most the port: the port does not use this discipline."""
    texts = [line for line in whole_lines(reply) if line.strip()]
    return all(_INTERFACE.match(text) for text in texts) and len(texts) <= 1


def parse_queue_schedule(reply: Reply) -> dict[str, SchedulingSetting]:
    """Port (full name) -> its scheduler, with all eight queues (none for strict priority)."""
    blocks: list[_Block] = []
    for match in matches(reply, _INTERFACE, _KIND, _SOFTWARE, _HEADER, _ROW):
        if match.re is _SOFTWARE:
            refuse(reply, f"{match['kind']} is a router's software queue", "use a switch port")
        if match.re is _INTERFACE:
            blocks.append(_Block(interface=printed_port(reply, match["name"])))
        elif not blocks:
            refuse(reply, f"{match.group()!r} belongs to no port")
        else:
            _add(reply, blocks[-1], match)
    if not blocks:
        refuse(reply, "there is no port in it")
    return {block.interface: _setting(reply, block) for block in blocks}


def _add(reply: Reply, block: _Block, match: re.Match[str]) -> None:
    if match.re is _KIND:
        block.kind = match["kind"].lower()
        if block.kind not in _DISCIPLINES:
            refuse(reply, f"{block.interface} has {match['kind']}, which has no weights")
    elif match.re is _HEADER:
        block.unit = _UNITS[match["unit"].lower()]
    elif not block.unit:
        refuse(reply, f"{match.group()!r} stands under no header")
    else:
        block.queues.append(_queue(reply, match))


def _queue(reply: Reply, match: re.Match[str]) -> QueueSchedule:
    queue, group = int(match["queue"]), match["group"]
    if group == "sp":
        if not NOT_A_NUMBER.fullmatch(match["weight"]):
            refuse(reply, f"queue {queue} is strict priority and has weight {match['weight']!r}")
        return QueueSchedule(queue=queue, group="sp", weight=None)
    weight = exactly(reply, match["weight"], f"weight of queue {queue}")
    return QueueSchedule(queue=queue, group="1" if group == "1" else "2", weight=weight)


def _setting(reply: Reply, block: _Block) -> SchedulingSetting:
    discipline = _DISCIPLINES.get(block.kind)
    if discipline is None:
        refuse(reply, f"{block.interface} has no line `Output queue`")
    expected = [] if discipline == "sp" else list(range(_QUEUES))
    if [q.queue for q in block.queues] != expected:
        refuse(reply, f"{block.interface} should have queues {expected}, not {len(block.queues)}")
    return SchedulingSetting(discipline=discipline, unit=block.unit, queues=tuple(block.queues))
