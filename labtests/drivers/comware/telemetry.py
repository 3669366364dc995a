"""What a Comware switch counts: queues, PFC frames, drops and marks."""

from labtests.capabilities import DropTelemetry, PfcTelemetry, QueueTelemetry
from labtests.counters import (
    PFC_RX_FRAMES,
    PFC_TX_FRAMES,
    QUEUE_DROPPED_BYTES,
    QUEUE_DROPPED_PACKETS,
    QUEUE_FORWARDED_BYTES,
    QUEUE_FORWARDED_PACKETS,
    QUEUE_LENGTH_PACKETS,
)
from labtests.drivers.comware.drops import NEUTRAL, parse_packet_drop
from labtests.drivers.comware.names import wrong_port
from labtests.drivers.comware.pfc import PfcPort, parse_priority_flow_control
from labtests.drivers.comware.queues import QueueCount, parse_queue_statistics
from labtests.drivers.comware.session import Cli
from labtests.records import Reading
from labtests.transport import Reply, Transport

_PRIORITIES = range(8)
_QUEUES = range(8)
_NO_NUMBER = "the switch printed no number"

# counter, unit, the switch's words
_QUEUE_COUNTERS = (
    (QUEUE_FORWARDED_PACKETS, "packets", "Forwarded packets"),
    (QUEUE_FORWARDED_BYTES, "bytes", "Forwarded bytes (with 20 B preamble and gap a packet)"),
    (QUEUE_DROPPED_PACKETS, "packets", "Dropped packets"),
    (QUEUE_DROPPED_BYTES, "bytes", "Dropped bytes (without preamble and gap)"),
    (QUEUE_LENGTH_PACKETS, "packets", "Current queue length"),
)


class Telemetry(QueueTelemetry, PfcTelemetry, DropTelemetry):
    """The counters of one switch, as printed: nothing is added, converted or assumed."""

    def __init__(self, transport: Transport) -> None:
        self.cli = Cli(transport)

    def queue_counters(self, port: str) -> tuple[Reading, ...]:
        """Five counters for each of the eight queues; None for a queue that was not shown."""
        full = self.cli.port(port)
        reply = self.cli.show(f"display qos queue-statistics interface {full} outbound")
        ports = parse_queue_statistics(reply)
        if [p.interface for p in ports] != [full]:
            wrong_port(reply, full, ", ".join(p.interface for p in ports))
        shown = {q.queue: q for q in ports[0].queues}
        return tuple(
            reading
            for queue in _QUEUES
            for reading in _queue_readings(reply, port, queue, shown.get(queue))
        )

    def pfc_counters(self, ports: tuple[str, ...]) -> tuple[Reading, ...]:
        """PFC frames received and sent, for every priority of every port.

        A priority without a row is 0 in exactly one case: PFC is operational on the port and the
        priority is in its displayed no-drop list. The switch prints rows only for priorities with
        frames (document 000: list 0-7, one row), so there no row *is* "none counted", and a run in
        which the first frame makes the row appear can be measured. The readings' `source` says so.
        Everything else without a row is None.
        """
        return tuple(reading for port in ports for reading in self._pfc_of(port))

    def _pfc_of(self, port: str) -> tuple[Reading, ...]:
        full = self.cli.port(port)
        reply = self.cli.show(f"display priority-flow-control interface {full}")
        shown = parse_priority_flow_control(reply)
        if {p.interface for p in shown} - {full}:
            wrong_port(reply, full, ", ".join(p.interface for p in shown))
        found = shown[0] if shown else None
        return tuple(
            reading
            for priority in _PRIORITIES
            for reading in _pfc_readings(reply, port, priority, found)
        )

    def drop_counters(self, port: str) -> tuple[Reading, ...]:
        """The four neutral counters (None where this model has no such line), then its own."""
        full = self.cli.port(port)
        reply = self.cli.show(f"display packet-drop interface {full}")
        ports = parse_packet_drop(reply)
        if [p.interface for p in ports] != [full]:
            wrong_port(reply, full, ", ".join(p.interface for p in ports))
        counts = {count.counter: count for count in ports[0].counts}
        absent = "`display packet-drop` has no such line on this switch"
        readings = [
            _reading(reply, port, name, None, absent) for name in NEUTRAL if name not in counts
        ]
        readings += [
            _reading(reply, port, name, count.packets, _NO_NUMBER, source=count.words)
            for name, count in counts.items()
        ]
        return tuple(readings)


def _reading(
    reply: Reply, port: str, counter: str, value: int | None, missing: str, *, source: str = ""
) -> Reading:
    return Reading(
        device=reply.device,
        port=port,
        scope="port",
        index=None,
        counter=counter,
        unit="packets",
        value=value,
        time_s=reply.time_s,
        source=source or "display packet-drop",
        missing=missing if value is None else "",
    )


def _queue_readings(
    reply: Reply, port: str, queue: int, count: QueueCount | None
) -> tuple[Reading, ...]:
    missing = _NO_NUMBER if count else f"the switch did not show queue {queue}"
    values = (None,) * len(_QUEUE_COUNTERS) if count is None else _values(count)
    return tuple(
        Reading(
            device=reply.device,
            port=port,
            scope="queue",
            index=queue,
            counter=counter,
            unit=unit,
            value=value,
            time_s=reply.time_s,
            source=words,
            missing=missing if value is None else "",
        )
        for (counter, unit, words), value in zip(_QUEUE_COUNTERS, values, strict=True)
    )


def _values(count: QueueCount) -> tuple[int | None, ...]:
    return (
        count.forwarded_packets,
        count.forwarded_bytes,
        count.dropped_packets,
        count.dropped_bytes,
        count.length_packets,
    )


def _pfc_readings(
    reply: Reply, port: str, priority: int, found: PfcPort | None
) -> tuple[Reading, ...]:
    row = found.of(priority) if found else None
    value = 0 if row is None and _none_counted(found, priority) else None
    received, sent = (row.received_frames, row.sent_frames) if row else (value, value)
    missing = _NO_NUMBER if row else _why_no_row(found, priority)
    return tuple(
        Reading(
            device=reply.device,
            port=port,
            scope="priority",
            index=priority,
            counter=counter,
            unit="frames",
            value=value,
            time_s=reply.time_s,
            source=f"display priority-flow-control: {words} (no row: none counted)",
            missing=missing if value is None else "",
        )
        for counter, words, value in (
            (PFC_RX_FRAMES, "Recv", received),
            (PFC_TX_FRAMES, "Sent", sent),
        )
    )


def _none_counted(found: PfcPort | None, priority: int) -> bool:
    return found is not None and found.operational and priority in found.priorities


def _why_no_row(found: PfcPort | None, priority: int) -> str:
    if found is None:
        return "`display priority-flow-control` shows nothing for this port"
    if not found.operational:
        return f"no row for priority {priority}; PFC is not in operation (mode {found.mode})"
    return f"no row for priority {priority}, which is not in the port's displayed no-drop list"
