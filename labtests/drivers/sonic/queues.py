"""What queues and priority groups count: forwarded, dropped, marked.

`show queue counters --json` has a queue's unicast (UC) and multicast (MC) halves, or both together
(ALL). Queue n is UCn or ALLn; what the others dropped is a counter of the port. What RED drops is
among what a queue dropped, so it is none of the port's own.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.device import DropTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.core.errors import LabError
from labtests.drivers.displays import Table, Unfit, read_table
from labtests.drivers.displays.json_answers import json_shown
from labtests.drivers.parsing import refuse
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Counted
from labtests.drivers.sonic.session import NOTATION, PASSED, Counts, count, counted
from labtests.transport.asking import Asking, attempt, both
from labtests.transport.protocol import Reply

QUEUES = range(8)
_COUNTED = {
    "totalpacket": (c.QUEUE_FORWARDED_PACKETS, "packets"),
    "totalbytes": (c.QUEUE_FORWARDED_BYTES, "bytes"),
    "droppacket": (c.QUEUE_DROPPED_PACKETS, "packets"),
    "dropbytes": (c.QUEUE_DROPPED_BYTES, "bytes"),
}
_BESIDE = frozenset({"trimpacket", "trimsentpacket", "trimdroppacket", "creditWDPkts"})
_NAME = re.compile(r"(?:UC|MC|ALL)[0-9]{1,2}")
_WRED, _MARKS = "WredDrp/pkts", "EcnMarked/pkts"
_MARKED = {_MARKS: (c.QUEUE_MARKED_PACKETS, "packets")}


def parse_queue_counters(reply: Reply) -> dict[str, Counts]:
    """By port."""
    shown = json_shown(reply)
    try:
        return {port: dict(_queues(queues)) for port, queues in shown.items()}
    except (AttributeError, KeyError, Unfit) as problem:
        refuse(reply, f"it is not what labtests knows of queues: {problem}")


def _queues(queues: dict[str, Any]) -> Iterator[tuple[str, dict[str, int | None]]]:
    for name, fields in queues.items():
        if name in ("time", "cached_time"):
            continue
        if _NAME.fullmatch(name) is None or fields.keys() - _COUNTED.keys() - _BESIDE:
            raise Unfit(f"{name} with {', '.join(map(str, fields))}")
        yield name, {word: count(str(fields[word])) for word in _COUNTED}


WRED = Table(
    about=NOTATION.columns({"Port": "port:port"}),
    details=NOTATION.columns(
        {"TxQ": f"queue:{_NAME.pattern}"}
        | {_WRED: "dropped:count", "WredDrp/bytes": "dropped_bytes:count"}
        | {_MARKS: "marked:count", "EcnMarked/bytes": "marked_bytes:count"}
    ),
    make=lambda port, rows: (port, dict(rows)),
    make_detail=lambda **told: (told["queue"], {_WRED: told["dropped"], _MARKS: told["marked"]}),
    into="rows",
    passed=PASSED,
)
GROUPS = Table(
    about=NOTATION.columns({"Port": "port:port"} | {f"PG{n}": f"PG{n}:count" for n in QUEUES}),
    make=lambda port, **cells: (port, {name: {"dropped": each} for name, each in cells.items()}),
    passed=re.compile(rf"{PASSED.pattern}|Ingress PG dropped packets:"),
)


def parse_wred_counters(reply: Reply) -> dict[str, Counts]:
    """By port."""
    return dict(read_table(reply, WRED))


def parse_group_drops(reply: Reply) -> dict[str, Counts]:
    """By port; of its priority groups."""
    return dict(read_table(reply, GROUPS))


class SonicQueues(PlatformPart, QueueTelemetry, DropTelemetry):
    """What the queues of a port count, and its priority groups."""

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Five counters of each of the eight queues."""
        own, marks = yield from self._queues(port)
        kind = "ALL" if "ALL0" in own.counts and "UC0" not in own.counts else "UC"
        return tuple(
            each.of(f"{kind}{queue}", word, counter, ("queue", queue))
            for queue in QUEUES
            for each, words in ((own, _COUNTED), (marks, _MARKED))
            for word, counter in words.items()
        )

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Sums: of priority groups on the way in, of queues on the way out."""
        asked = attempt(counted(port, parse_group_drops, "priority-group", "drop", "counters"))
        (own, marks), groups = yield from both(self._queues(port), asked)
        ours = {f"{kind}{queue}" for kind in ("UC", "ALL") for queue in QUEUES}
        return (
            _beside(groups, own).sum("dropped", c.BUFFER_DROPPED_IN_PACKETS, lambda _: True),
            marks.sum(_MARKS, c.ECN_MARKED_PACKETS, lambda name: name in ours),
            marks.sum(_WRED, "queue_wred_dropped_packets", lambda name: name in ours),
            own.sum("droppacket", "other_queues_dropped_packets", lambda name: name not in ours),
        )

    def _queues(self, port: str) -> Asking[tuple[Counted, Counted]]:
        """What they count, and what they mark, which old releases do not show."""
        asked = counted(port, parse_queue_counters, "queue", "counters", port, "--json")
        marks = attempt(counted(port, parse_wred_counters, "queue", "wredcounters", port))
        own, marked = yield from both(asked, marks)
        return own, _beside(marked, own)


def _beside(found: Counted | LabError, own: Counted) -> Counted:
    """What was asked beside, or nothing, and why."""
    return found if isinstance(found, Counted) else replace(own, counts={}, missing=str(found))
