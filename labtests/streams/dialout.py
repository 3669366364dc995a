"""H3C's gRPC dial-out: our server, which a switch dials, and the JSON that it sends.

H3C, gRPC white paper (2.2.2, and 2.1 for `Timestamp`, milliseconds since 1970).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from labtests.core.output import quoted_excerpt
from labtests.protocols.needed import needed
from labtests.streams.rows import RowReader
from labtests.streams.source import MS_PER_S, Hearers, StreamSource, bound, options
from labtests.streams.told import ToldValues, Unreadable, moment, whole_number

STREAMS_AT_ONCE = 8
"""Of one switch: one for each subscription, and more while it dials again."""


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

        self._message = dialout.DialoutMsg
        self._rows = RowReader(source.table)
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
        return self._rows.told(whole, moment(time_ms / MS_PER_S))


def _any_case(said: Any, name: str) -> Any:
    """H3C's texts write `notification`, its switches `Notification`."""
    told = said if isinstance(said, Mapping) else {}
    return next((value for key, value in told.items() if key.lower() == name.lower()), None)


def listening(source: StreamSource, port: int) -> StreamSource:
    """The same source at the port that was found free."""
    return replace(source, place=replace(source.place, port=port))
