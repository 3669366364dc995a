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
_WATERMARKS = {
    "q_shared_uni": "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
    "pg_headroom": "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
    "pg_shared": "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
}
_QUEUE_OID, _PG_OID = 0x15 << 48, 0x1A << 48


def served(face: SonicBox) -> ServedValue:
    """Of this box."""
    box = face.chassis

    def leaves(port: str, _: Peaks) -> Iterator[tuple[str, Leaf]]:
        for path, value in (*_port(box, port), *_queues(box, port), *_groups(box, port)):
            yield f"{DB}:/{path}", str(value)
        yield from openconfig.interface(box, port, port)

    return openconfig.served(
        box,
        leaves,
        (("sonic-db", "SONiC", "0.1.0"), openconfig.INTERFACES),
        ports=box.ports,
        whole=True,
        target=DB,
        apart=frozenset({"Queues", "PriorityGroups"}),
        refuses=True,
    )


def _port(box: SonicChassis, port: str) -> Iterator[tuple[str, Leaf]]:
    at = f"COUNTERS/{port}/SAI_PORT_STAT"
    for leaf, value in openconfig.counters(box, port):
        yield f"{at}_IF_{leaf.replace('pkts', 'ucast_pkts').replace('-', '_').upper()}", value
    for priority, frames in enumerate(box.shown.pfc_counters(port)):
        yield f"{at}_PFC_{priority}_RX_PKTS", frames.rx_frames
        yield f"{at}_PFC_{priority}_TX_PKTS", frames.tx_frames


def _queues(box: SonicChassis, port: str) -> Iterator[tuple[str, Leaf]]:
    for number, queue in enumerate(box.shown.queue_counters(port)):
        name, oid = f"{port}:{number}", _oid(box, _QUEUE_OID, port, number)
        yield f"COUNTERS_QUEUE_NAME_MAP/{name}", oid
        at = f"COUNTERS/{port}/Queues/{name}"
        for field, value in (
            ("PACKETS", queue.forwarded_packets),
            ("BYTES", queue.forwarded_bytes),
            ("DROPPED_PACKETS", queue.dropped_packets),
            ("DROPPED_BYTES", queue.dropped_bytes),
            ("WRED_ECN_MARKED_PACKETS", queue.marked_packets),
            ("WRED_DROPPED_PACKETS", queue.wred_dropped_packets),
        ):
            yield f"{at}/SAI_QUEUE_STAT_{field}", value
        yield from _held(box, ("q_shared_uni", port, number), at, f"USER_WATERMARKS/{oid}")


def _groups(box: SonicChassis, port: str) -> Iterator[tuple[str, Leaf]]:
    for number in range(8):
        oid = _oid(box, _PG_OID, port, number)
        yield f"COUNTERS_PG_NAME_MAP/{port}:{number}", oid
        periodic = f"PERIODIC_WATERMARKS/{port}/PriorityGroups/{port}:{number}"
        for kind in ("pg_headroom", "pg_shared"):
            places = (f"COUNTERS/{oid}", f"USER_WATERMARKS/{oid}", periodic)
            yield from _held(box, (kind, port, number), *places)


def _held(box: SonicChassis, key: tuple[str, str, int], *places: str) -> Iterator[tuple[str, Leaf]]:
    """A watermark: of the last poll, since it was cleared, and of a period."""
    marks = box.watermarks
    for held, place in zip((marks.polled, marks.shown, marks.periodic), places, strict=False):
        if key in held:
            yield f"{place}/{_WATERMARKS[key[0]]}", held[key]


def _oid(box: SonicChassis, kind: int, port: str, number: int) -> str:
    return f"oid:0x{kind + 16 * (1 + box.ports.index(port)) + number:x}"
