"""What the switch's sensors say: tables of H3C's NETCONF module BufferMonitor as JSON.

Names of tables and fields: public collectors of an S9867's dial-out. What is of a queue is a text
with a list of eight; what is of a memory is by XPE (`Slice0`; this chip has one). Values are those
of the moment, peaks those since the sensor's last sample. Chosen: shares are of the shared memory
(of headroom: of the group's own), `HeadroomIntervalPeak`, the fields of events, and how gNMI has
all that: rows by `IfIndex`, those of events by all that names them, a table as one tree.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from labtests.network import PortDrops
from labtests.simlab.streaming.dialled import Dialled
from labtests.simlab.streaming.served import Leaf, PeakRegister, Peaks, ServedValue
from labtests.simlab.switch_cli import EmulatedSwitch

CELL_BYTES = 208
INGRESS, EGRESS, HEADROOM = 1, 2, 3
"""`AlarmType` (H3C, gRPC white paper 5.3.1)."""
SENSORS = {
    f"buffermonitor/{table.lower()}": (table, table.removesuffix("s"))
    for table in (
        *("PFCStatistics", "PFCSpeeds", "IngressDrops", "EgressDrops", "EcnAndWredStatistics"),
        *("CommBufferUsages", "CommHeadroomUsages"),
    )
}
EVENTS = {
    f"buffermonitor/{row.lower()}event": (f"{row}Event", row)
    for row in ("PortQueDrop", "PortQueOverrun")
}
COUNTED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "PFCStatistics": ("pfc", {"PfcSend": "sent", "PfcRecv": "received"}),
    "PFCSpeeds": ("pfc", {"PfcOutPps": "sent_per_s", "PfcInPps": "received_per_s"}),
    "IngressDrops": ("drops", {"NoBufferPkts": "input_drops", "OtherDroppedPkts": "crc_errors"}),
    "EgressDrops": ("queues", {"UnicastDroppedPkts": "dropped_packets"}),
    "EcnAndWredStatistics": ("drops", {"EcnMarked": "ecn_marked", "WredDropped": "wred_drops"}),
}
"""The tables whose fields are counters: of what, and which."""
USUAL_PERCENT = 70
_ROOM = "BufferMonitor"
_KEYS = ("IfIndex", "IfName", "QueIdx", "AlarmType")
Rows = Iterator[dict[str, Any]]
Leaves = Iterator[tuple[str, Leaf]]
Happened = Iterator[tuple[int, int, dict[str, Any]]]
"""Kind, queue, and what else is told."""


class Sensors:
    """Of one switch: what its dialer is told (streaming.dialing.Dials), and its gNMI server."""

    def __init__(self, switch: EmulatedSwitch, dialled: Callable[[], frozenset[Dialled]]) -> None:
        self._switch, self._dialled = switch, dialled
        self.peaks = PeakRegister(switch.network)
        self.on_dialled: list[Callable[[], None]] = []
        self._over: dict[tuple[int, str, int], tuple[int, datetime]] = {}
        switch.faults.on_up.append(self.follow)
        switch.faults.on_reset.append(self._over.clear)

    def follow(self) -> None:
        """The configuration has changed."""
        for act in self.on_dialled:
            act()

    def dialled(self) -> frozenset[Dialled]:
        """See Dials."""
        return frozenset() if self._switch.faults.booting else self._dialled()

    def described(self) -> tuple[str, str, str]:
        """See Dials."""
        return "H3C", self._switch.hostname, "H3C S6550 (simulated)"

    def sensed(self, path: str, peaks: Peaks) -> list[Mapping[str, Any]]:
        """See Dials."""
        if path in SENSORS:
            rows = [self._row(path, *which, peaks) for which in self.ports()]
            return [self._document(SENSORS[path], rows)]
        return [
            self._document(EVENTS[path], [row])
            for which in self.ports()
            for row in self._events(path, *which, peaks)
        ]

    def leaves(self, path: str, port: str, peaks: Peaks) -> Leaves:
        """Those of a port below this path (streaming.served.ServedValue)."""
        index = next(number for number, name in self.ports() if name == port)
        if path in SENSORS:
            yield from _below(SENSORS[path], _KEYS[:1], self._row(path, index, port, peaks))
            return
        for row in self._events(path, index, port, peaks):
            yield from _below(EVENTS[path], _KEYS, row)

    def _row(self, path: str, index: int, port: str, peaks: Peaks) -> dict[str, Any]:
        named, (table, _) = {"IfIndex": index, "IfName": port}, SENSORS[path]
        if table in COUNTED:
            source, fields = COUNTED[table]
            found = getattr(self._switch.statistics, source)(port)
            return named | {field: _told(found, which) for field, which in fields.items()}
        usages = self._buffers if table == "CommBufferUsages" else self._headrooms
        return named | usages(port, peaks)

    def _events(self, path: str, index: int, port: str, peaks: Peaks) -> Rows:
        find = self._drops if "drop" in path else self._overruns
        for kind, number, told in find(port, peaks):
            yield {"IfIndex": index, "IfName": port, "QueIdx": number, "AlarmType": kind, **told}

    def _document(self, names: tuple[str, str], rows: list[dict[str, Any]]) -> dict[str, Any]:
        table, row = names
        told = {_ROOM: {table: {row: rows}}}
        return {**told, "Timestamp": str(_milliseconds(self._switch.now))}

    def ports(self) -> Iterator[tuple[int, str]]:
        """Those with a cable, by index."""
        for index, port in enumerate(self._switch.ports, 1):
            if port in self._switch.network.ports:
                yield index, port

    # -- tables -----------------------------------------------------------------------------------

    def _buffers(self, port: str, peaks: Peaks) -> dict[str, Any]:
        network, whole = self._switch.network, self._switch.network.memory_use().shared_cells
        queues, groups = network.queue_counters(port), network.group_counters(port)
        self._note(port, peaks)
        return {
            "IngressUsed": _slices(100 * each.shared_used_cells // whole for each in groups),
            "UnicastUsed": _slices(100 * each.length_cells // whole for each in queues),
            "IngressQueLenInBytes": _slices(CELL_BYTES * g.shared_used_cells for g in groups),
            "UnicastQueLenInBytes": _slices(CELL_BYTES * q.length_cells for q in queues),
            "UnicastBPS": _list(q.bits_per_s for q in self._switch.statistics.queues(port)),
            "InIntervalPeak": _list(CELL_BYTES * peaks.shared.get((port, n), 0) for n in range(8)),
            "OutIntervalPeak": _list(CELL_BYTES * peaks.queue.get((port, n), 0) for n in range(8)),
            "IngressOverrunCounters": _list(self._counted(INGRESS, port)),
            "EgressOverrunCounters": _list(self._counted(EGRESS, port)),
        }

    def _headrooms(self, port: str, peaks: Peaks) -> dict[str, Any]:
        groups, own = self._switch.network.group_counters(port), self._switch.headroom_cells(port)
        self._note(port, peaks)
        most = [CELL_BYTES * peaks.headroom.get((port, n), 0) for n in range(8)]
        return {
            "HeadroomUsed": _slices(
                100 * each.headroom_used_cells // max(1, own) for each in groups
            ),
            "HeadroomQueLenInBytes": _slices(CELL_BYTES * g.headroom_used_cells for g in groups),
            "HeadroomIntervalPeak": _list(most),
            "HeadroomOverrunCounters": _list(self._counted(HEADROOM, port)),
        }

    # -- limits -----------------------------------------------------------------------------------

    def _exceeded(self, port: str, peaks: Peaks) -> Iterator[tuple[int, int, int, int]]:
        """What was over its limit since: kind, queue, percent that was used, and the limit."""
        network, root = self._switch.network, self._switch.configuration.root
        whole, groups = network.memory_use().shared_cells, network.group_counters(port)
        for n in range(8):
            own = self._switch.headroom_cells(port) if groups[n].lossless else 0
            for kind, cells, size, words in (
                (INGRESS, peaks.shared.get((port, n), 0), whole, "queue"),
                (EGRESS, peaks.queue.get((port, n), 0), whole, "queue"),
                (HEADROOM, peaks.headroom.get((port, n), 0), own, "headroom queue"),
            ):
                limit = root.value(f"buffer usage threshold {words} {n}", "percent", USUAL_PERCENT)
                if size and 100 * cells > limit * size:
                    yield kind, n, 100 * cells // size, limit

    def _note(self, port: str, peaks: Peaks) -> None:
        """Once at an instant, however many ask."""
        now = self._switch.now
        for kind, number, _, _ in self._exceeded(port, peaks):
            count, noted = self._over.get((kind, port, number), (0, None))
            if noted != now:
                self._over[kind, port, number] = count + 1, now

    def _counted(self, kind: int, port: str) -> list[int]:
        return [self._over.get((kind, port, n), (0,))[0] for n in range(8)]

    # -- events -----------------------------------------------------------------------------------

    def _overruns(self, port: str, peaks: Peaks) -> Happened:
        for kind, number, used, limit in self._exceeded(port, peaks):
            yield kind, number, {"Used": used, "Threshold": limit}

    def _drops(self, port: str, peaks: Peaks) -> Happened:
        """Those since the last look, if somebody has asked for the alarm."""
        if "buffer packet-drop alarm enable" not in self._switch.configuration.root.lines:
            return
        for number in range(8):
            for kind, dropped in zip((EGRESS, INGRESS, HEADROOM), peaks.dropped, strict=True):
                if drops := dropped.get((port, number), 0):
                    yield kind, number, {"Drops": drops}


def _below(names: tuple[str, str], keys: tuple[str, ...], row: dict[str, Any]) -> Leaves:
    """The leaves of a row of this table."""
    which = "".join(f"[{key}={row.pop(key)}]" for key in keys)
    for name, value in row.items():
        parts = value if isinstance(value, Mapping) else {"": value}
        for part, leaf in parts.items():
            yield f"/{'/'.join((_ROOM, *names))}{which}/{name}{part and f'/{part}'}", leaf


def _told(found: Any, which: str) -> int | str:
    """Of a port, or of each of its queues or priorities."""
    if isinstance(found, PortDrops):
        return getattr(found, which)  # type: ignore[no-any-return]
    return _list(getattr(each, which) for each in found)


def _list(values: Any) -> str:
    return json.dumps(list(values), separators=(",", ":"))


def _slices(values: Any) -> dict[str, str]:
    return {"Slice0": _list(values)}


def _milliseconds(now: datetime) -> int:
    return round(now.timestamp() * 1000)


def served(switch: Any) -> ServedValue:
    """What its gNMI server has, while `grpc enable` is in the configuration."""
    dials: Sensors = switch.dials
    return ServedValue(
        ports=tuple(port for _, port in dials.ports()),
        leaves={
            f"/{_ROOM}/{table}": partial(dials.leaves, path)
            for path, (table, _) in (SENSORS | EVENTS).items()
        },
        now=lambda: switch.now,
        models=((_ROOM, "H3C", "1.0"),),
        whole=True,
        apart=(events := frozenset(table for table, _ in EVENTS.values())),
        events=events,
        peaks=dials.peaks,
        token=True,
        on=lambda: "grpc enable" in switch.configuration.root.lines,
        turned=dials.on_dialled,
    )
