"""What ports, queues, priority groups, PFC and the PFC watchdog count, each by its display.

`show queue counters --json` has a queue's unicast (UC) and multicast (MC) halves, or both together
(ALL). Queue n is UCn or ALLn; what the others dropped is a counter of the port. What RED drops is
among what a queue dropped, so it is none of the port's own; nor is what a port discards on the way
out, which is that and more.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities import device as d
from labtests.capabilities.readings import Reading
from labtests.core.errors import LabError
from labtests.drivers.displays import Table, Unfit, ValueKind, read_tables
from labtests.drivers.displays.json_answers import json_shown
from labtests.drivers.parsing import incomplete, refuse
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Counted, ErrorsAmongCounters
from labtests.drivers.sonic import session as s
from labtests.transport.asking import Asking, attempt, both
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

QUEUES = range(8)

# -- ports -----------------------------------------------------------------------------------------

_OF_A_PORT = {
    "RX_OK": c.RX_PACKETS,
    "RX_ERR": c.RX_ERRORS,
    "RX_OVR": c.RX_OVERSIZE_PACKETS,
    "TX_OK": c.TX_PACKETS,
    "TX_ERR": c.TX_ERRORS,
    "TX_OVR": "tx_oversize_packets",
    "RX_DRP": c.NET_RX_DROPPED,
    "TX_DRP": "tx_discards",
}
_RATES = {"BPS": "rest", "PPS?1": "rest", "UTIL": "rest"}
_SIDE = {"OK": "count"} | _RATES | dict.fromkeys(("ERR", "DRP", "OVR"), "count")
_BOTH = {f"{side}_{word}": kind for side in ("RX", "TX") for word, kind in _SIDE.items()}
parse_counters = s.releases(
    {"IFACE": "port:port", "STATE": "state:U|D|X|N/A"}
    | {head: f"{head.partition('?')[0]}:{kind}" for head, kind in _BOTH.items()}
    | {f"{each}?2": f"{each}:count" for each in ("TRIM", "TRIM_TX", "TRIM_DRP")},
    make=lambda port, **cells: (port, {"": {word: cells[word] for word in _OF_A_PORT}}),
)
_SIDES = {"Rx": c.PFC_RX_FRAMES, "Tx": c.PFC_TX_FRAMES}
_PFC = [s.of_numbers(f"Port {side}", (f"PFC{n}" for n in QUEUES)) for side in _SIDES]


def parse_pfc_counters(reply: Reply) -> dict[str, s.Counts]:
    """By port; of each side by priority."""
    found = dict(zip(_SIDES, map(dict, read_tables(reply, *_PFC)), strict=True))
    if list(found["Rx"]) != list(found["Tx"]):
        incomplete(reply, "its two tables are not of the same ports")
    return {port: {side: found[side][port] for side in _SIDES} for port in found["Rx"]}


# -- queues and groups -----------------------------------------------------------------------------

_OF_A_QUEUE = {
    "totalpacket": c.QUEUE_FORWARDED_PACKETS,
    "totalbytes": c.QUEUE_FORWARDED_BYTES,
    "droppacket": c.QUEUE_DROPPED_PACKETS,
    "dropbytes": c.QUEUE_DROPPED_BYTES,
}
_BESIDE = frozenset({"trimpacket", "trimsentpacket", "trimdroppacket", "creditWDPkts"})
_NAME = re.compile(r"(?:UC|MC|ALL)[0-9]{1,2}")
_WRED, _MARKS = "WredDrp/pkts", "EcnMarked/pkts"


def parse_queue_counters(reply: Reply) -> dict[str, s.Counts]:
    """By port."""
    try:
        return {port: dict(_queues(queues)) for port, queues in json_shown(reply).items()}
    except (AttributeError, KeyError, Unfit) as problem:
        refuse(reply, f"it is not what labtests knows of queues: {problem}")


def _queues(queues: dict[str, Any]) -> Iterator[tuple[str, s.Numbers]]:
    for name, fields in queues.items():
        if name in ("time", "cached_time"):
            continue
        if _NAME.fullmatch(name) is None or fields.keys() - _OF_A_QUEUE.keys() - _BESIDE:
            raise Unfit(f"{name} with {', '.join(map(str, fields))}")
        yield name, {word: s.count(str(fields[word])) for word in _OF_A_QUEUE}


parse_wred_counters = s.by_port(
    Table(
        about=s.NOTATION.columns({"Port": "port:port"}),
        details=s.NOTATION.columns(
            {"TxQ": f"queue:{_NAME.pattern}"}
            | {_WRED: "dropped:count", "WredDrp/bytes": "dropped_bytes:count"}
            | {_MARKS: "marked:count", "EcnMarked/bytes": "marked_bytes:count"}
        ),
        make=lambda port, rows: (port, dict(rows)),
        make_detail=lambda **of: (of["queue"], {_WRED: of["dropped"], _MARKS: of["marked"]}),
        into="rows",
        passed=s.PASSED,
    )
)
_GROUPS = re.compile(rf"{s.PASSED.pattern}|Ingress PG dropped packets:")
parse_group_drops = s.by_port(s.of_numbers("Port", (f"PG{n}" for n in QUEUES), "dropped", _GROUPS))

# -- the watchdog ----------------------------------------------------------------------------------

_BY_THE_WATCHDOG = {
    "STORM DETECTED": c.WATCHDOG_SHUTDOWNS,
    "RESTORED": c.WATCHDOG_RESTORED,
    "TX DROP": c.WATCHDOG_DROPPED_OUT_PACKETS,
    "RX DROP": c.WATCHDOG_DROPPED_IN_PACKETS,
    "TX LAST DROP": c.WATCHDOG_LAST_DROPPED_PACKETS,
    "RX LAST DROP": c.WATCHDOG_LAST_DROPPED_IN_PACKETS,
}
_WAYS = {"TX": "tx", "RX": "rx", "TX LAST": "tx_last", "RX LAST": "rx_last"}
_PAIR = ValueKind("[0-9]{1,20}/[0-9]{1,20}", lambda text: tuple(map(int, text.split("/"))))
_WATCHED = ValueKind(r"[A-Za-z][A-Za-z0-9_./|-]*:(?:0|[1-9][0-9]?)")


def _watched(
    queue: str, status: str, storms: tuple[int, int], **ok_dropped: tuple[int, int]
) -> tuple[str, str, s.Numbers]:
    """A queue of status N/A is not watched: its zeros are not counted."""
    port, _, number = queue.rpartition(":")
    dropped = (ok_dropped[way][1] for way in _WAYS.values())
    counts: s.Numbers = dict(zip(_BY_THE_WATCHDOG, (*storms, *dropped), strict=True))
    return port, number, dict.fromkeys(counts) if status == "N/A" else counts


STATS = Table(
    about=s.NOTATION.also(pair=_PAIR, queue=_WATCHED).columns(
        {"QUEUE": "queue:queue", "STATUS": "status:operational|stormed|N/A"}
        | {"STORM DETECTED/RESTORED": "storms:pair"}
        | {f"{words} OK/DROP": f"{way}:pair" for words, way in _WAYS.items()}
    ),
    make=_watched,
)


def parse_stats(reply: Reply) -> dict[str, s.Counts]:
    """`pfcwd show stats`: by port; of each queue what it counted."""
    found: dict[str, s.Counts] = {}
    for port, queue, counts in read_tables(reply, STATS)[0]:
        found.setdefault(port, {})[queue] = counts
    return found


# -- all of it -------------------------------------------------------------------------------------


class SonicCounters(PlatformPart, ErrorsAmongCounters, d.PfcTelemetry, d.WatchdogTelemetry):
    """What a port counts, and PFC at its priorities."""

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Of the port itself."""
        own = yield from s.counted(port, parse_counters, "interfaces", "counters")
        return tuple(own.of("", word, name) for word, name in _OF_A_PORT.items())

    def pfc_counters(self, ports: tuple[str, ...]) -> Asking[tuple[Reading, ...]]:
        """PFC frames received and sent: one display of all ports."""
        reply = yield from s.show("pfc", "counters")
        return tuple(
            each.of(side, f"PFC{n}", name, "priority", n)
            for each in [s.counted_by(reply, port, parse_pfc_counters) for port in ports]
            for side, name in _SIDES.items()
            for n in QUEUES
        )

    def watchdog_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """See WatchdogTelemetry."""
        queues = (f"{port}:{queue}" for queue in QUEUES)
        (reply,) = yield from s.asked(program("pfcwd", "show", "stats", "-e", *queues))
        return s.counted_by(reply, port, parse_stats).of_eight("{}", _BY_THE_WATCHDOG, "priority")


class SonicQueues(PlatformPart, d.QueueTelemetry, d.DropTelemetry):
    """What the queues of a port count, and its priority groups."""

    def queue_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Five counters of each of the eight queues."""
        own, marks = yield from self._queues(port)
        kind = "ALL" if "ALL0" in own.counts and "UC0" not in own.counts else "UC"
        return tuple(
            each.of(f"{kind}{queue}", word, counter, "queue", queue)
            for queue in QUEUES
            for each, words in ((own, _OF_A_QUEUE), (marks, {_MARKS: c.QUEUE_MARKED_PACKETS}))
            for word, counter in words.items()
        )

    def drop_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Sums: of priority groups on the way in, of queues on the way out."""
        drops = attempt(s.counted(port, parse_group_drops, "priority-group", "drop", "counters"))
        (own, marks), groups = yield from both(self._queues(port), drops)
        ours = {f"{kind}{queue}" for kind in ("UC", "ALL") for queue in QUEUES}
        return (
            _beside(groups, own).sum("dropped", c.BUFFER_DROPPED_IN_PACKETS, lambda _: True),
            marks.sum(_MARKS, c.ECN_MARKED_PACKETS, lambda name: name in ours),
            marks.sum(_WRED, "queue_wred_dropped_packets", lambda name: name in ours),
            own.sum("droppacket", "other_queues_dropped_packets", lambda name: name not in ours),
        )

    def _queues(self, port: str) -> Asking[tuple[Counted, Counted]]:
        """What they count, and what they mark, which old releases do not show."""
        counts = s.counted(port, parse_queue_counters, "queue", "counters", port, "--json")
        marks = attempt(s.counted(port, parse_wred_counters, "queue", "wredcounters", port))
        own, marked = yield from both(counts, marks)
        return own, _beside(marked, own)


def _beside(found: Counted | LabError, own: Counted) -> Counted:
    """What was asked beside, or nothing, and why."""
    return found if isinstance(found, Counted) else replace(own, counts={}, missing=str(found))
