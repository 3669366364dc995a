"""H3C's gRPC dial-out: our server, which a switch dials, and the JSON that it sends.

H3C, gRPC white paper (2.2.2, and 2.1 for `Timestamp`, milliseconds since 1970). A row is about one
interface (`IfName`); a field is a number, or eight of them, by queue or priority: as a list, as
JSON text of a list, or such a list for each slice of the packet memory (XPE), `{"Slice0": ...}`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any

from labtests.capabilities.counters import GAUGES
from labtests.capabilities.streams import StreamMeaning
from labtests.core.output import quoted_excerpt
from labtests.protocols.needed import needed
from labtests.streams.source import MS_PER_S, Hearers, StreamSource, bound, options
from labtests.streams.told import (
    MOST_PATH,
    MOST_PATHS,
    ToldValues,
    Unreadable,
    moment,
    whole_number,
)

STREAMS_AT_ONCE = 8
"""Of one switch: one for each subscription, and more while it dials again."""
MOST_QUEUES = 64
"""Of one port: more numbers than that are no row of queues."""


class DialOutServer:
    """Hears one switch, until it is closed. `port` is where."""

    def __init__(self, source: StreamSource, told: Hearers) -> None:
        grpc = needed("grpc")
        self._source, self._told = source, told
        pool = ThreadPoolExecutor(max_workers=STREAMS_AT_ONCE, thread_name_prefix="dial-out")
        self._server = grpc.server(
            pool, options=options(source), maximum_concurrent_rpcs=STREAMS_AT_ONCE
        )
        self._server.add_generic_rpc_handlers(_handlers(grpc, self._hear))
        self.port = bound(self._server, source)
        self._server.start()

    def close(self) -> None:
        """Nothing more is received."""
        self._server.stop(0.5).wait(2.0)

    def _hear(self, messages: Iterable[bytes], context: Any) -> bytes:
        from labtests.protocols import dialout

        try:
            for content in messages:
                self._told.received(self._source.device, content)
        except needed("grpc").RpcError:
            pass  # cut off: said below, as every end of a stream
        if not context.is_active():
            self._told.refused(self._source.device, "the switch's stream was cut off")
        return bytes(dialout.DialoutResponse(response="").SerializeToString())


def _handlers(grpc: Any, receive: Callable[[Iterable[bytes], Any], bytes]) -> tuple[Any, ...]:
    """Under both spellings of the service; messages stay bytes."""
    from labtests.protocols import dialout

    handler = grpc.stream_unary_rpc_method_handler(receive)
    return tuple(
        grpc.method_handlers_generic_handler(
            f"{dialout.PACKAGE}.{service}", {dialout.METHOD: handler}
        )
        for service in dialout.SERVICES
    )


class DialOutReader:
    """Reads what one switch sends."""

    def __init__(self, source: StreamSource) -> None:
        from labtests.protocols import dialout

        self._message, self._source = dialout.DialoutMsg, source
        self._meaning_of = lru_cache(MOST_PATHS)(source.table.meaning_of)
        self._error = needed("google.protobuf.message").DecodeError
        self._name: str | None = None

    def read(self, content: bytes) -> list[ToldValues]:
        """What a message tells, a row at a time. Raises Unreadable."""
        try:
            message = self._message.FromString(content)
            said = json.loads(message.jsonData)
        except self._error as error:
            raise Unreadable(f"no DialoutMsg: {error}") from error
        except (ValueError, RecursionError) as error:
            named = f"{message.sensorPath}: " if message.sensorPath else ""
            raise Unreadable(
                f"{named}no JSON ({error}): {quoted_excerpt(message.jsonData)}"
            ) from error
        try:
            told = self._tables(said, message.sensorPath)
        except RecursionError as error:
            raise Unreadable(f"{message.sensorPath}: {error}") from error
        self._expect_one(message.deviceMsg.deviceName)
        return told

    def _expect_one(self, name: str) -> None:
        """Ports of two switches have the same names: what a second one sends here is not its."""
        self._name = name if self._name is None else self._name
        if name != self._name:
            text = f"{quoted_excerpt(name)} sends to the port of {quoted_excerpt(self._name)}"
            raise Unreadable(f"{text}: give each switch a port of its own")

    def _tables(self, said: Any, path: str) -> list[ToldValues]:
        whole = _any_case(said, "Notification")
        if not isinstance(whole, Mapping):
            raise Unreadable(f"{path}: it has no Notification")
        time_ms = whole_number(whole.get("Timestamp"))
        if time_ms is None:
            raise Unreadable(f"{path}: it has no Timestamp")
        rows = [(where, row) for where, row in _rows(whole) if isinstance(row, Mapping)]
        time_s = moment(time_ms / MS_PER_S)
        return [self._row(where, row, time_s) for where, row in rows]

    def _row(self, where: str, row: Mapping[str, Any], time_s: float) -> ToldValues:
        port = self._source.table.port_of(str(row.get("IfName")))
        told = ToldValues(
            path=f"{where}[{row.get('IfName')}]", device_s=time_s, values=[], unread=[]
        )
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

    def _field(self, told: ToldValues, meaning: StreamMeaning, path: str, value: Any) -> None:
        if meaning.scope == "port":
            told.take(meaning, path, value)
            return
        numbers = _by_index(value, most=meaning.counter in GAUGES)
        if len(numbers) > MOST_QUEUES:
            told.refuse(path, f"has {len(numbers)} numbers, which are no row of queues")
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


def _any_case(said: Any, name: str) -> Any:
    """H3C's texts write `notification`, its switches `Notification`."""
    told = said if isinstance(said, Mapping) else {}
    return next((value for key, value in told.items() if key.lower() == name.lower()), None)


def _by_index(value: Any, *, most: bool) -> list[Any]:
    """A number for each queue or priority; of several slices their sum, or their most."""
    if isinstance(value, Mapping):
        slices = [_by_index(each, most=most) for each in value.values()]
        together = zip(*slices, strict=False)
        return [_joined(list(each), most=most) for each in together]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return [value]
    return value if isinstance(value, list) else [value]


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


def listening(source: StreamSource, port: int) -> StreamSource:
    """The same source at the port that was found free."""
    return replace(source, place=replace(source.place, port=port))
