"""`show queuing interface`: how the queues of a port are served, and what they and the port count.

Blocks and words differ by model and release: all that are in recordings are read, one that is new
is refused. Numbers of a queue are the sum of its columns (unicast, multicast, out-of-band).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import QueueSchedule
from labtests.drivers.displays import ANY, SOME, Line, PortDisplay, Unfit
from labtests.drivers.nxos.ports import ClassBuffer
from labtests.drivers.nxos.session import NXOS, NxosPart
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking

_PASSED = re.compile(
    r"[-+=\s]*|QoS-Group#\s+(Bandwidth%\s+PrioLevel\s+Shape\s+QLimit|Pause)\s*"
    r"|\s*Min\s+Max\s+Units\s*|\s*Buff Size\s+Pause Th\s+Resume Th\s*"
)
"""Rulers, and what stands over columns."""
NO_BLOCK = "no block of this group"
LAST = 8
"""Level of queues without priority; `priority level 1` is level 0."""
_OF_QUEUE = {
    "Tx Pkts": c.QUEUE_FORWARDED_PACKETS,
    "Tx Byts": c.QUEUE_FORWARDED_BYTES,
    "WRED/AFD & Tail Drop Pkts": c.QUEUE_DROPPED_PACKETS,
    "WRED/AFD & Tail Drop Byts": c.QUEUE_DROPPED_BYTES,
    "ECN Pkts": c.QUEUE_MARKED_PACKETS,
}
_COUNTS = {
    **_OF_QUEUE,
    **dict.fromkeys(("WRED & Tail Drop Pkts", "Dropped Pkts"), c.QUEUE_DROPPED_PACKETS),
    "WRED & Tail Drop Byts": c.QUEUE_DROPPED_BYTES,
    "WD & Tail Drop Pkts": c.WATCHDOG_DROPPED_PACKETS,
    "Q Depth Byts": "",
}
"""What the switch calls it -> name here; "": not read."""
_OF_PORT = {
    "Ingress Overflow Drop Pkts": c.BUFFER_DROPPED_IN_PACKETS,
    "Ingress MMU Drop Pkts": c.BUFFER_DROPPED_IN_PACKETS,
    "WRED Drop Pkts": c.WRED_DROPPED_PACKETS,
    "Hi Priority Drop Pkts": f"{c.DROPPED_FOR}hi_priority",
    "Low Priority Drop Pkts": f"{c.DROPPED_FOR}low_priority",
}
_WORDS = {name: words for words, name in reversed([*_COUNTS.items(), *_OF_PORT.items()])}
_SOURCES = {name: f"show queuing interface: {words}" for words, name in _OF_QUEUE.items()}
_SUMS = {
    c.ECN_MARKED_PACKETS: c.QUEUE_MARKED_PACKETS,
    c.WATCHDOG_DROPPED_PACKETS: c.WATCHDOG_DROPPED_PACKETS,
}
"""Counter of a port -> counter of a queue."""


def strict(queue: int, level: int) -> QueueSchedule:
    """A queue with `priority level`, from 1 on."""
    return QueueSchedule(queue=queue, group="sp", weight=None, level=level - 1)


def sharing(queue: int, percent: int) -> QueueSchedule:
    """A queue that gets this much of what is left."""
    return QueueSchedule(queue=queue, group="1", weight=percent, level=LAST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queuing:
    """All of it; what is not shown is not in it."""

    table: tuple[QueueSchedule, ...]
    queues: dict[int, dict[str, int]]
    port: dict[str, int]
    buffers: dict[int, ClassBuffer]

    def drops(self) -> Iterator[tuple[str, int | None, str]]:
        """Of the port: counter, number and the switch's words. What all queues have is a sum."""
        for name in dict.fromkeys((c.BUFFER_DROPPED_IN_PACKETS, *sorted(self.port))):
            yield name, self.port.get(name), _WORDS[name]
        for name, of_queue in _SUMS.items():
            known = [each[of_queue] for each in self.queues.values() if of_queue in each]
            whole = sum(known) if len(known) == len(range(8)) else None
            yield name, whole, f"{_WORDS[of_queue]}, of all queues together"


def _once(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """By name; what has none is not read."""
    told = [(name, number) for name, number in counts if name]
    if len(dict(told)) != len(told):
        raise Unfit("counts the same twice")
    return dict(told)


def _served(queue: int, bandwidth: int = 0, priority: int | None = None) -> QueueSchedule:
    return sharing(queue, bandwidth) if priority is None else strict(queue, priority)


def _whole(
    port: str, ingress: str, counts: tuple[tuple[str, int], ...], **records: Any
) -> tuple[str, Queuing]:
    if ingress != port:
        raise Unfit(f"goes on with {ingress}")
    queues = {queue: counted for queue, counted in records["queues"] if queue is not None}
    buffers = {queue: each for queue, each in records.get("buffers", ()) if each is not None}
    rows = records.get("rows", ())
    return port, Queuing(table=rows, queues=queues, port=_once(counts), buffers=buffers)


def _port_counts(stage: int) -> Line[Any]:
    return NXOS.record(
        f"<words:{'|'.join(_OF_PORT)}> <number:number>",
        make=lambda words, number: (_OF_PORT[words], number),
        into="counts",
        times=ANY,
        stage=stage,
    )


_GROUP = NXOS.record(
    r"\| ((CONTROL |SPAN )QOS GROUP|QOS GROUP <queue:0-7>) \|",
    NXOS.maybe(r"\| \| Unicast \|( OOBFC Unicast \|)?\s*Multicast \|"),
    NXOS.maybe(  # of models with one column
        r"\| Tx Pkts \|\s*<forwarded_packets:number>\| Dropped Pkts \|\s*<dropped_packets:number>\|"
    ),
    NXOS.record(
        rf"\| <words:{'|'.join(_COUNTS)}> "
        r"\|\s*<unicast:number>(\|\s*<oobfc:number>)?\|\s*<multicast:number>\|",
        make=lambda words, **numbers: (_COUNTS[words], sum(numbers.values())),
        into="counts",
        times=ANY,
    ),
    make=lambda counts, queue=None, **short: (queue, _once(counts) | short),
    into="queues",
)
_PORT = NXOS.record(
    r"Egress Queuing for <port:port> \[(System|Interface)\]",
    NXOS.up_to(
        8,
        r"<queue:0-7> (<bandwidth:number>|-) (<priority:number>|-) \S+ \S+ \S+ \S+",
        make=_served,
        into="rows",
    ),
    _GROUP,
    NXOS.maybe("Port Egress Statistics", stage=1),
    _port_counts(1),
    NXOS.line("Ingress Queuing for <ingress:port>", stage=2),
    NXOS.up_to(
        8,
        "<queue:0-7> (- - -|<size:number> <pause:number> <resume:number>)",
        make=lambda queue, **told: (queue, ClassBuffer(**told) if told else None),
        into="buffers",
        stage=2,
    ),
    NXOS.line("(Per )?Port Ingress Statistics", stage=3),
    NXOS.maybe("Ingress MMU Drop Bytes <:number>", stage=3),
    NXOS.maybe(
        "Per Slice Ingress Statistics",  # what all ports of a slice have lost
        NXOS.many("Ingress Overflow Drop Pkts <:number>"),
        stage=4,
    ),
    _port_counts(3),
    *NXOS.lines(
        *("PFC Statistics", "TxPPP: <:number>, RxPPP: <:number>"),
        "(PFC_COS QOS_Group|COS QOS Group PG) TxPause TxCount RxPause RxCount",
        stage=5,
    ),
    NXOS.line(
        "<:0-7>( [0-7-]){1,2} (Ina|A)ctive <:number> (Ina|A)ctive <:number>", times=SOME, stage=5
    ),
    make=_whole,
    order="unique",
)
QUEUING = PortDisplay(
    command="show queuing interface <port>",
    shows=_PORT,
    beside=NXOS.many("slot <:number>"),
    skip=_PASSED,
)


class NxosQueues(NxosPart, QueueTelemetry, DropTelemetry):
    """What the queues of a port count, and the port itself."""

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Five counters of each of the eight queues."""
        reply, shown = yield from self.shown(QUEUING, port)
        at, why = Answered(reply, port, "queue"), "no line {!r}"
        return at.of_blocks(_SOURCES, shown.queues, NO_BLOCK, lambda n: why.format(_WORDS[n]))

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """The port's own; marks, which are counted by queue, as their sum. What is dropped on the
        way out is counted by the queues alone."""
        reply, shown = yield from self.shown(QUEUING, port)
        at, missing = Answered(reply, port), f"`{QUEUING.name}` has no such line on this switch"
        return tuple(
            at.reading((name, "packets"), value, f"{QUEUING.name}: {words}", missing)
            for name, value, words in shown.drops()
        )
