"""`show queuing interface`: how the queues of a port are served, and what they and the port count.

Blocks and words differ by model and release: all that are in recordings are read, one that is new
is refused. Numbers of a queue are the sum of its columns (unicast, multicast, out-of-band).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.drivers.displays import ANY, SOME, Line, PortDisplay, Unfit
from labtests.drivers.nxos.ports import ClassBuffer
from labtests.drivers.nxos.session import NXOS, NxosPart
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking

_PASSED = re.compile(r"[-+=\s]*")
_COUNTS = {
    "Tx Pkts": c.QUEUE_FORWARDED_PACKETS,
    "Tx Byts": c.QUEUE_FORWARDED_BYTES,
    **dict.fromkeys(
        ("WRED/AFD & Tail Drop Pkts", "WRED & Tail Drop Pkts", "Dropped Pkts"),
        c.QUEUE_DROPPED_PACKETS,
    ),
    **dict.fromkeys(("WRED/AFD & Tail Drop Byts", "WRED & Tail Drop Byts"), c.QUEUE_DROPPED_BYTES),
    "ECN Pkts": c.QUEUE_MARKED_PACKETS,
    "WD & Tail Drop Pkts": c.WATCHDOG_DROPPED_PACKETS,
    "Q Depth Byts": "",
}
"""What the switch calls it -> name here; "": not read."""
_SHOWN = (
    *(c.QUEUE_FORWARDED_PACKETS, c.QUEUE_FORWARDED_BYTES, c.QUEUE_DROPPED_PACKETS),
    *(c.QUEUE_DROPPED_BYTES, c.QUEUE_MARKED_PACKETS),
)
_OF_PORT = {
    "Ingress Overflow Drop Pkts": c.BUFFER_DROPPED_IN_PACKETS,
    "Ingress MMU Drop Pkts": c.BUFFER_DROPPED_IN_PACKETS,
    "WRED Drop Pkts": c.WRED_DROPPED_PACKETS,
    "Hi Priority Drop Pkts": f"{c.DROPPED_FOR}hi_priority",
    "Low Priority Drop Pkts": f"{c.DROPPED_FOR}low_priority",
}
_WORDS = {name: words for words, name in reversed([*_COUNTS.items(), *_OF_PORT.items()])}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """How a queue is served: `bandwidth` in percent, or `priority` level."""

    queue: int
    bandwidth: int | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queuing:
    """All of it; what is not shown is not in it."""

    table: tuple[TableRow, ...]
    queues: dict[int, dict[str, int]]
    port: dict[str, int]
    buffers: dict[int, ClassBuffer] = field(default_factory=dict)


def _count(words: str, **numbers: int) -> tuple[str, int]:
    if words not in _COUNTS:
        raise Unfit(f"counts {words!r}, which is unrecognised")
    return _COUNTS[words], sum(numbers.values())


def _queue(
    counts: tuple[tuple[str, int], ...], queue: int | None = None, **short: int
) -> tuple[int | None, dict[str, int]]:
    found = {name: number for name, number in counts if name}
    if len(found) != sum(bool(name) for name, _ in counts):
        raise Unfit("counts the same twice")
    return queue, found | short


def _buffer(queue: int, **told: int) -> tuple[int, ClassBuffer | None]:
    """Of a class that pauses; `-` for all of another one."""
    if told and len(told) != len(fields(ClassBuffer)):
        raise Unfit("has only some of three numbers")
    return queue, ClassBuffer(**told) if told else None


def _whole(
    port: str, ingress: str, queues: tuple[Any, ...], counts: tuple[Any, ...], **more: Any
) -> tuple[str, Queuing]:
    if ingress != port:
        raise Unfit(f"goes on with {ingress}")
    names = [name for name, _ in counts]
    if len(set(names)) != len(names):
        raise Unfit("counts the same twice")
    known = {queue: counted for queue, counted in queues if queue is not None}
    buffers = {queue: each for queue, each in more.get("buffers", ()) if each is not None}
    rows = more.get("rows", ())
    return port, Queuing(table=rows, queues=known, port=dict(counts), buffers=buffers)


def _number(name: str) -> str:
    return rf"\|\s*<{name}:number>"


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
        rf"\| Tx Pkts {_number('forwarded_packets')}"
        rf"\| Dropped Pkts {_number('dropped_packets')}\|"
    ),
    NXOS.record(
        rf"\| <words:[A-Z].*\S> {_number('unicast')}({_number('oobfc')})?{_number('multicast')}\|",
        make=_count,
        into="counts",
        times=ANY,
    ),
    make=_queue,
    into="queues",
    order="any",
)
_PORT = NXOS.record(
    r"Egress Queuing for <port:port> \[(System|Interface)\]",
    NXOS.maybe("QoS-Group# Bandwidth% PrioLevel Shape QLimit"),
    NXOS.maybe("Min Max Units"),
    NXOS.record(
        r"<queue:0-7> (<bandwidth:number>|-) (<priority:number>|-) "
        r"\S+ \S+ \S+ \S+",
        make=TableRow,
        into="rows",
        times=(0, 8),
        order="unique",
    ),
    _GROUP,
    NXOS.maybe("Port Egress Statistics", stage=1),
    _port_counts(1),
    NXOS.line("Ingress Queuing for <ingress:port>", stage=2),
    NXOS.maybe("QoS-Group# Pause", stage=2),
    NXOS.maybe("Buff Size Pause Th Resume Th", stage=2),
    NXOS.record(
        "<queue:0-7> (<size:number>|-) (<pause:number>|-) (<resume:number>|-)",
        make=_buffer,
        into="buffers",
        times=(0, 8),
        order="unique",
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
    NXOS.line("PFC Statistics", stage=5),
    NXOS.line("TxPPP: <:number>, RxPPP: <:number>", stage=5),
    NXOS.line("(PFC_COS QOS_Group|COS QOS Group PG) TxPause TxCount RxPause RxCount", stage=5),
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
        sources = {name: f"show queuing interface: {_WORDS[name]}" for name in _SHOWN}

        def counted(queue: int, name: str) -> tuple[int | None, str]:
            if queue not in shown.queues:
                return None, "no block of this group"
            return shown.queues[queue].get(name), f"no line {_WORDS[name]!r}"

        return Answered(reply, port, "queue").of_eight(sources, counted)

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """The port's own; marks, which are counted by queue, as their sum. What is dropped on the
        way out is counted by the queues alone."""
        reply, shown = yield from self.shown(QUEUING, port)
        at = Answered(reply, port)
        return tuple(
            at.reading(
                (name, "packets"),
                value,
                f"show queuing interface: {words}",
                "`show queuing interface` has no such line on this switch",
            )
            for name, value, words in _drops(shown)
        )


def _drops(shown: Queuing) -> Iterator[tuple[str, int | None, str]]:
    for name in dict.fromkeys((c.BUFFER_DROPPED_IN_PACKETS, *sorted(shown.port))):
        yield name, shown.port.get(name), _WORDS[name]
    for name, words in (
        (c.ECN_MARKED_PACKETS, "ECN Pkts"),
        (c.WATCHDOG_DROPPED_PACKETS, "WD & Tail Drop Pkts"),
    ):
        counted = [each.get(_COUNTS[words]) for each in shown.queues.values()]
        known = [number for number in counted if number is not None]
        whole = len(known) == len(counted) == len(range(8))
        yield name, sum(known) if whole else None, f"{words}, of all queues together"
