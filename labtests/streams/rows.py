"""Tables of H3C's modules, as dial-out and gNMI bring them: rows of an interface each.

A row is about the port that its field `StreamTable.row` names; a field is a number, or eight of
them, by queue or priority: as a list, as JSON text of a list, or such a list for each slice of the
packet memory (XPE), `{"Slice0": ...}`.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from labtests.capabilities.counters import GAUGES
from labtests.capabilities.streams import StreamMeaning, StreamTable
from labtests.core.output import quoted_excerpt
from labtests.streams.told import MOST_PATH, MOST_PATHS, ToldValues, whole_number

MOST_QUEUES = 64
"""Of one port: more numbers than that are no row of queues."""


class RowReader:
    """Of one switch. What a path means is looked up once."""

    def __init__(self, table: StreamTable) -> None:
        self._table = table
        self._known = {
            leaf.path if leaf.alarm else leaf.path.rpartition("/")[0] for leaf in table.leaves
        }
        self._meaning_of = lru_cache(MOST_PATHS)(table.meaning_of)

    def told(self, whole: Mapping[str, Any], time_s: float) -> list[ToldValues]:
        """Row by row, of a document {room: {table: {row: [...]}}}."""
        return [self._row(where, row, time_s) for where, row in _rows(whole)]

    def _row(self, where: str, row: Any, time_s: float) -> ToldValues:
        named = row.get(self._table.row) if isinstance(row, Mapping) else None
        told = ToldValues(path=f"{where}[{named}]", device_s=time_s, values=[], unread=[])
        if named is None and where in self._known:
            told.refuse(where, self._nobodys(row))
        port = None if named is None else self._table.port_of(str(named))
        if port is None:
            return told
        if (alarm := self._meaning(where)) is not None:
            index = whole_number(row.get("QueIndex", row.get("QueIdx")))
            told.take(alarm._replace(port=port, index=index), where, _in_words(row))
            return told
        for name, value in row.items():
            meaning = self._meaning(f"{where}/{name}")
            if meaning is not None:
                self._field(told, meaning._replace(port=port), f"{where}/{name}", value)
        return told

    def _nobodys(self, row: Any) -> str:
        if isinstance(row, Mapping):
            return f"has no {self._table.row}: whose row it is, is not told"
        return f"is {quoted_excerpt(row)}, which is no row"

    def _field(self, told: ToldValues, meaning: StreamMeaning, path: str, value: Any) -> None:
        if meaning.scope == "port":
            told.take(meaning, path, value)
            return
        numbers = _by_index(value, most=meaning.counter in GAUGES)
        if not 0 < len(numbers) <= MOST_QUEUES:
            told.refuse(
                path, f"has {len(numbers) or 'one or no'} numbers, which is no row of queues"
            )
            return
        for index, each in enumerate(numbers):
            told.take(meaning._replace(index=index), path, each)

    def _meaning(self, path: str) -> StreamMeaning | None:
        return self._meaning_of(path) if len(path) <= MOST_PATH else None


def _rows(whole: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Each row, with the names of room, table and row."""
    for room, tables in whole.items():
        for table, kinds in tables.items() if isinstance(tables, Mapping) else ():
            for kind, rows in kinds.items() if isinstance(kinds, Mapping) else ():
                for row in rows if isinstance(rows, list) else [rows]:
                    yield f"{room}/{table}/{kind}", row


def _by_index(value: Any, *, most: bool) -> list[Any]:
    """A number for each queue or priority; of several slices their sum, or their most. None of a
    single number, whose it is, is not told; nor of slices of different lengths."""
    if isinstance(value, Mapping):
        slices = [_by_index(each, most=most) for each in value.values()]
        if len({len(each) for each in slices}) > 1:
            return []  # what one of them does not tell is not 0
        return [_joined(list(each), most=most) for each in zip(*slices, strict=True)]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return value if isinstance(value, list) else []


def _joined(values: list[Any], *, most: bool) -> Any:
    known = [whole_number(each) for each in values]
    if None in known:
        return next(v for v, n in zip(values, known, strict=True) if n is None)
    numbers = [each for each in known if each is not None]
    return max(numbers) if most else sum(numbers)


_ALARMS = {1: "ingress", 2: "egress", 3: "headroom"}


def _in_words(row: Mapping[str, Any]) -> str:
    """Which of the three: on the way in, on the way out, headroom."""
    kind = whole_number(row.get("AlarmType"))
    return "of a kind that is not told" if kind is None else _ALARMS.get(kind, f"of kind {kind}")
