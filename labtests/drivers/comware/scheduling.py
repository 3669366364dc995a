"""`display qos queue sp|wrr|wfq interface`: how the egress queues of a port are served.

Each command answers for ports that use its discipline. Software queues of routers (urgent,
protocol, FIFO, PQ, CQ, flow-based WFQ) and guaranteed minimum bandwidth (GMB) have no group and
weight; they are refused.
"""

from typing import Any

from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.drivers.comware.values import COMWARE, line, many, maybe, record
from labtests.drivers.displays import Unfit, read
from labtests.drivers.parsing import whole_lines
from labtests.transport.protocol import Reply

_DISCIPLINES: dict[str, Any] = {
    "strict priority": "sp",
    "weighted round robin": "wrr",
    "hardware weighted fair": "wfq",
}


def _port(
    interface: str, kind: str, queues: tuple[QueueSchedule, ...] = (), unit: Any = ""
) -> tuple[str, SchedulingSetting]:
    unit, discipline = unit.lower().replace(" ", "-"), _DISCIPLINES[kind.lower()]
    if (discipline == "sp") == bool(queues):
        raise Unfit(f"should have no queues or all of them, not {len(queues)}")
    return interface, SchedulingSetting(discipline=discipline, unit=unit, queues=queues)


def _queue(queue: int, group: Any = "sp", weight: int | None = None) -> QueueSchedule:
    return QueueSchedule(queue=queue, group=group, weight=weight)


_INTERFACE = COMWARE.shape("Interface: <interface:port>")
_PORT = record(
    _INTERFACE.text,
    line(f"Output queue: <kind:(?i:{'|'.join(_DISCIPLINES)})> (?i:queuing)"),
    many("Output queue: <kind:text>", refused="{above} has {kind}, which has no weights"),
    many(
        r"Output queue - <kind:\w+>.*",
        refused="{kind} is a router's software queue",
        remedy="use a switch port",
    ),
    maybe(
        "(?i:Queue ID Queue name Group <unit:weight|byte[ -]count>( Min[ -]bandwidth)?)",
        record(
            "<queue:0-7> [a-z]+[0-9]? (<group:1|2> <weight:number>|sp <:none>)( <:>)?",
            make=_queue,
            into="queues",
            times=(8, 8),
            order="from 0",
        ),
    ),
    make=_port,
    order="unique",
)


def shows_no_scheduler(reply: Reply) -> bool:
    """Whether this answer names at most the port: the port does not use this discipline."""
    texts = [line.strip() for line in whole_lines(reply) if line.strip()]
    return all(_INTERFACE.pattern.fullmatch(text) for text in texts) and len(texts) <= 1


def parse_queue_schedule(reply: Reply) -> dict[str, SchedulingSetting]:
    """Port (full name) -> its scheduler, with all eight queues (none for strict priority)."""
    return dict(read(reply, _PORT))
