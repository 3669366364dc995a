"""What the box's gNMI server has: COUNTERS_DB by virtual paths (virtual_db.go of sonic-gnmi), and
OpenConfig's interfaces.

Counters are those of the last poll, as in the database; a watermark stands in COUNTERS as the last
poll read it from the chip, in USER_WATERMARKS as the most since somebody cleared it, and in
PERIODIC_WATERMARKS as the most of a period of 120 s. Object ids are made up; values are text, as
redis has them. The virtual path to PriorityGroups is from memory.
"""

from collections.abc import Iterator

from labtests.simlab.sonic.box import SonicBox
from labtests.simlab.sonic.chassis import SonicChassis
from labtests.simlab.streaming import openconfig
from labtests.simlab.streaming.served import Leaf, Peaks, ServedValue

DB = "COUNTERS_DB"
_PG = "SAI_INGRESS_PRIORITY_GROUP_STAT"
_WATERMARKS = {
    "pg_headroom": f"{_PG}_XOFF_ROOM_WATERMARK_BYTES",
    "pg_shared": f"{_PG}_SHARED_WATERMARK_BYTES",
}
_QUEUE_WATERMARK = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"
_QUEUE_OID, _PG_OID = 0x15 << 48, 0x1A << 48


def served(face: SonicBox) -> ServedValue:
    """Of this box."""
    box = face.chassis

    def leaves(port: str, peaks: Peaks) -> Iterator[tuple[str, Leaf]]:
        for path, value in (*_port(box, port), *_queues(face, port), *_groups(face, port)):
            yield f"{DB}:/{path}", str(value)
        yield from openconfig.interface(box, port, port)

    return ServedValue(
        ports=box.ports,
        leaves={"/": leaves},
        now=lambda: box.now,
        models=(("sonic-db", "SONiC", "0.1.0"), openconfig.INTERFACES),
        whole=True,
        target=DB,
        apart=frozenset({"Queues", "PriorityGroups"}),
        refuses=True,
    )


def _port(box: SonicChassis, port: str) -> Iterator[tuple[str, Leaf]]:
    traffic, drops = box.shown.port_counters(port), box.shown.drop_counters(port)
    for name, value in (
        ("IF_IN_OCTETS", traffic.rx_bytes),
        ("IF_IN_UCAST_PKTS", traffic.rx_packets),
        ("IF_IN_DISCARDS", drops.input_drops),
        ("IF_OUT_OCTETS", traffic.tx_bytes),
        ("IF_OUT_UCAST_PKTS", traffic.tx_packets),
        ("IF_OUT_DISCARDS", drops.output_buffer_drops + drops.wred_drops),
    ):
        yield f"COUNTERS/{port}/SAI_PORT_STAT_{name}", value
    for priority, frames in enumerate(box.shown.pfc_counters(port)):
        yield f"COUNTERS/{port}/SAI_PORT_STAT_PFC_{priority}_RX_PKTS", frames.rx_frames
        yield f"COUNTERS/{port}/SAI_PORT_STAT_PFC_{priority}_TX_PKTS", frames.tx_frames


def _queues(face: SonicBox, port: str) -> Iterator[tuple[str, Leaf]]:
    box, marks = face.chassis, face.watermarks
    for number, queue in enumerate(box.shown.queue_counters(port)):
        name, oid = f"{port}:{number}", _oid(box, _QUEUE_OID, port, number)
        yield f"COUNTERS_QUEUE_NAME_MAP/{name}", oid
        at, key = f"COUNTERS/{port}/Queues/{name}", ("q_shared_uni", port, number)
        for field, value in (
            ("PACKETS", queue.forwarded_packets),
            ("BYTES", queue.forwarded_bytes),
            ("DROPPED_PACKETS", queue.dropped_packets),
            ("DROPPED_BYTES", queue.dropped_bytes),
            ("WRED_ECN_MARKED_PACKETS", queue.marked_packets),
            ("WRED_DROPPED_PACKETS", queue.wred_dropped_packets),
        ):
            yield f"{at}/SAI_QUEUE_STAT_{field}", value
        if key in marks.polled:
            yield f"{at}/{_QUEUE_WATERMARK}", marks.polled[key]
        if key in marks.shown:
            yield f"USER_WATERMARKS/{oid}/{_QUEUE_WATERMARK}", marks.shown[key]


def _groups(face: SonicBox, port: str) -> Iterator[tuple[str, Leaf]]:
    marks = face.watermarks
    for number in range(8):
        oid = _oid(face.chassis, _PG_OID, port, number)
        yield f"COUNTERS_PG_NAME_MAP/{port}:{number}", oid
        for kind, field in _WATERMARKS.items():
            for table, held in (
                (f"COUNTERS/{oid}", marks.polled),
                (f"USER_WATERMARKS/{oid}", marks.shown),
                (f"PERIODIC_WATERMARKS/{port}/PriorityGroups/{port}:{number}", marks.periodic),
            ):
                if (kind, port, number) in held:
                    yield f"{table}/{field}", held[kind, port, number]


def _oid(box: SonicChassis, kind: int, port: str, number: int) -> str:
    return f"oid:0x{kind + 16 * (1 + box.ports.index(port)) + number:x}"
