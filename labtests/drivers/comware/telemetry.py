"""What a Comware switch counts: queues, PFC frames, drops and marks."""

from collections.abc import Iterable
from dataclasses import dataclass

from labtests.capabilities.counters import (
    PFC_RX_FRAMES,
    PFC_TX_FRAMES,
    QUEUE_DROPPED_BYTES,
    QUEUE_DROPPED_PACKETS,
    QUEUE_FORWARDED_BYTES,
    QUEUE_FORWARDED_PACKETS,
    QUEUE_LENGTH_PACKETS,
)
from labtests.capabilities.device import DropTelemetry, PfcTelemetry, QueueTelemetry
from labtests.capabilities.records import Reading, Scope
from labtests.drivers.comware.drops import NEUTRAL, parse_packet_drop
from labtests.drivers.comware.names import wrong_port
from labtests.drivers.comware.pfc import PfcFrames, PfcPort, parse_priority_flow_control
from labtests.drivers.comware.queues import QueueCount, parse_queue_statistics
from labtests.drivers.comware.session import ComwarePart, show
from labtests.transport.asking import Asking, side_by_side
from labtests.transport.protocol import Reply

_PRIORITIES = range(8)
_QUEUES = range(8)
_QUEUES_OF = ("display", "qos", "queue-statistics", "interface")

# counter, unit, the switch's words
_QUEUE_COUNTERS = (
    (QUEUE_FORWARDED_PACKETS, "packets", "Forwarded packets"),
    (QUEUE_FORWARDED_BYTES, "bytes", "Forwarded bytes (with 20 B preamble and gap a packet)"),
    (QUEUE_DROPPED_PACKETS, "packets", "Dropped packets"),
    (QUEUE_DROPPED_BYTES, "bytes", "Dropped bytes (without preamble and gap)"),
    (QUEUE_LENGTH_PACKETS, "packets", "Current queue length"),
)
_PFC_COUNTERS = ((PFC_RX_FRAMES, "Recv"), (PFC_TX_FRAMES, "Sent"))
# the same whether there is a row or not: a difference needs one source before and after
_PFC_WORDS = "display priority-flow-control: {} (0 where PFC is on and no row)"


class ComwareTelemetry(QueueTelemetry, PfcTelemetry, DropTelemetry):
    """The counters of one switch, as printed: nothing is added, converted or assumed."""

    def __init__(self, switch: ComwarePart) -> None:
        self.switch = switch

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Five counters for each of the eight queues; None for a queue that was not shown."""
        full = self.switch.port(port)
        reply = yield from show(*_QUEUES_OF, full, "outbound")
        ports = parse_queue_statistics(reply)
        if [p.interface for p in ports] != [full]:
            wrong_port(reply, full, ", ".join(p.interface for p in ports))
        shown = {q.queue: q for q in ports[0].queues}
        return tuple(
            reading
            for queue in _QUEUES
            for reading in _readings(reply, port, "queue", queue, _queue(queue, shown.get(queue)))
        )

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """PFC frames received and sent, for every priority of every port.

        A priority without a row is 0 in exactly one case: PFC is operational on the port and the
        priority is in its displayed no-drop list. The switch prints rows only for priorities with
        frames (document 000: list 0-7, one row), so there no row *is* "none counted", and a run in
        which the first frame makes the row appear can be measured. The readings' `source` says so.
        Everything else without a row is None.
        """
        found = yield from side_by_side([self._pfc_of(port) for port in ports])
        return tuple(reading for each in found for reading in each)

    def _pfc_of(self, port: str) -> Asking[tuple[Reading, ...]]:
        full = self.switch.port(port)
        reply = yield from show("display", "priority-flow-control", "interface", full)
        shown = parse_priority_flow_control(reply)
        if {p.interface for p in shown} - {full}:
            wrong_port(reply, full, ", ".join(p.interface for p in shown))
        found = shown[0] if shown else None
        return tuple(
            reading
            for priority in _PRIORITIES
            for reading in _readings(reply, port, "priority", priority, _pfc(priority, found))
        )

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """The four neutral counters (None where this model has no such line), then its own."""
        full = self.switch.port(port)
        reply = yield from show("display", "packet-drop", "interface", full)
        ports = parse_packet_drop(reply)
        if [p.interface for p in ports] != [full]:
            wrong_port(reply, full, ", ".join(p.interface for p in ports))
        counts = {count.counter: count for count in ports[0].counts}
        absent = "`display packet-drop` has no such line on this switch"
        shown = [
            _Shown(counter=name, unit="packets", words="", value=None, missing=absent)
            for name in NEUTRAL
            if name not in counts
        ]
        shown += [
            _Shown(counter=name, unit="packets", words=count.words, value=count.packets)
            for name, count in counts.items()
        ]
        return _readings(reply, port, "port", None, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """One counter as the switch showed it (`words`), or why it has no number."""

    counter: str
    unit: str
    words: str
    value: int | None
    missing: str = "the switch printed no number"


def _readings(
    reply: Reply, port: str, scope: Scope, index: int | None, shown: Iterable[_Shown]
) -> tuple[Reading, ...]:
    return tuple(
        Reading(
            device=reply.device,
            port=port,
            scope=scope,
            index=index,
            counter=s.counter,
            unit=s.unit,
            value=s.value,
            time_s=reply.time_s,
            source=s.words or reply.command,
            missing=s.missing if s.value is None else "",
        )
        for s in shown
    )


def _queue(queue: int, count: QueueCount | None) -> list[_Shown]:
    if count is None:
        why = f"the switch did not show queue {queue}"
        return [
            _Shown(counter=counter, unit=unit, words=words, value=None, missing=why)
            for counter, unit, words in _QUEUE_COUNTERS
        ]
    return [
        _Shown(counter=counter, unit=unit, words=words, value=value)
        for (counter, unit, words), value in zip(_QUEUE_COUNTERS, _values(count), strict=True)
    ]


def _values(count: QueueCount) -> tuple[int | None, ...]:
    return (
        count.forwarded_packets,
        count.forwarded_bytes,
        count.dropped_packets,
        count.dropped_bytes,
        count.length_packets,
    )


def _pfc(priority: int, found: PfcPort | None) -> list[_Shown]:
    row = found.of(priority) if found else None
    if row is None and _none_counted(found, priority):
        row = PfcFrames(priority=priority, received_frames=0, sent_frames=0)
    values = (row.received_frames, row.sent_frames) if row else (None, None)
    why = {} if row else {"missing": _why_no_row(found, priority)}
    return [
        _Shown(counter=counter, unit="frames", words=_PFC_WORDS.format(words), value=value, **why)
        for (counter, words), value in zip(_PFC_COUNTERS, values, strict=True)
    ]


def _none_counted(found: PfcPort | None, priority: int) -> bool:
    return found is not None and found.operational and priority in found.priorities


def _why_no_row(found: PfcPort | None, priority: int) -> str:
    if found is None:
        return "`display priority-flow-control` shows nothing for this port"
    if not found.operational:
        return f"no row for priority {priority}; PFC is not in operation (mode {found.mode})"
    return f"no row for priority {priority}, which is not in the port's displayed no-drop list"
