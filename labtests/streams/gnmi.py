"""gNMI Subscribe: what is asked of a switch, and what its notifications hold.

OpenConfig, "gRPC Network Management Interface", 3.5: STREAM subscriptions, SAMPLE for counters and
ON_CHANGE for states; values as JSON_IETF (trees, or leaves; 64-bit integers are text) or PROTO.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, NamedTuple

from labtests.core.output import quoted_excerpt
from labtests.protocols.needed import needed
from labtests.streams.refusals import of_paths, refusal
from labtests.streams.rows import RowReader
from labtests.streams.source import LEAST_WAIT_S, MOST_WAIT_S, Hearers, StreamSource, channel
from labtests.streams.told import MOST_PATH, MOST_PATHS, ToldValues, Unreadable, moment

METHOD = "/gnmi.gNMI/Subscribe"
_UNSENDABLE = (
    "gRPC cannot send who logs in: take a password of printable ASCII, and name its variable "
    "in `telemetry: {password_env: ...}`"
)
NS_PER_S = 10**9
LOGIN_WITHIN_S, LOGOUT_WITHIN_S = 10.0, 1.0
ROW_ELEMENTS = 3
"""Of a path to a row: module, table, row."""
Metadata = tuple[tuple[str, str], ...] | None


def request(source: StreamSource, *, optional: bool = True) -> Any:
    """The one that opens the stream; without what is optional, and what is told on change, where
    the switch refuses that. Raises ValueError for a path that is none."""
    from labtests.protocols import gnmi  # needs the extra

    table, pb2 = source.table, gnmi.pb2
    sampled = [
        pb2.Subscription(
            path=gnmi.path(path),
            mode=gnmi.SAMPLE,
            sample_interval=source.place.sample_every_s * NS_PER_S,
        )
        for path in table.paths((*table.sampled, *(table.optional if optional else ())))
    ]
    changes = [
        pb2.Subscription(path=gnmi.path(path), mode=gnmi.ON_CHANGE)
        for path in table.paths(table.changes if optional else ())
    ]
    asked = pb2.SubscriptionList(
        prefix=pb2.Path(target=table.target),
        subscription=[*sampled, *changes],
        mode=gnmi.STREAM,
        encoding=gnmi.ENCODINGS[source.place.encoding],
    )
    return pb2.SubscribeRequest(subscribe=asked)


class GnmiClient:
    """Subscribes at one switch, again and again until it is closed."""

    def __init__(self, source: StreamSource, told: Hearers) -> None:
        self._source, self._told = source, told
        self._grpc, self._request = needed("grpc"), request(source)
        self._ended = threading.Event()
        self._call: Any = None
        self._token, self._worked = "", False
        self._channel = channel(source)
        name = f"gnmi {source.device}"
        self._thread = threading.Thread(target=self._keep_open, daemon=True, name=name)
        self._thread.start()

    def close(self) -> None:
        """Nothing more is received."""
        self._ended.set()
        if self._call is not None:
            self._call.cancel()
        self._thread.join(2.0)
        self._channel.close()

    def _keep_open(self) -> None:
        wait_s = LEAST_WAIT_S
        while not self._ended.is_set():
            came, over = 0, threading.Event()
            self._call, self._token = None, ""
            try:
                with self._logged_in() as metadata:
                    for content in self._subscribed(over, metadata):
                        came, self._worked = came + 1, True
                        self._told.received(self._source.device, content)
                if not self._ended.is_set():
                    self._told.refused(self._source.device, "the switch has ended the stream")
            except (ValueError, self._grpc.RpcError) as error:
                if not self._ended.is_set():
                    self._told.refused(self._source.device, self._said(error))
                if self._call is not None and not came and of_paths(error):
                    self._request = request(self._source, optional=False)
            finally:
                over.set()
            wait_s = LEAST_WAIT_S if came else min(2 * wait_s, MOST_WAIT_S)
            self._ended.wait(wait_s)

    @contextmanager
    def _logged_in(self) -> Iterator[Metadata]:
        """What every request shows: user and password, or the token that they are good for. Without
        TLS neither is sent."""
        from labtests.protocols import dialin

        login = self._source.login if self._source.place.tls is not None else None
        if login is None or not self._source.table.token:
            yield None if login is None else (("username", login[0]), ("password", login[1]))
            return
        token = dialin.logged_in(self._channel, *login, within_s=LOGIN_WITHIN_S)
        if not token:
            raise Unreadable("Login gave no token: look at the user of its `telemetry:`")
        self._token = token
        try:
            yield ((dialin.TOKEN, token),)
        finally:
            with suppress(self._grpc.RpcError, ValueError):  # who is gone has no session
                dialin.log_out(self._channel, token, within_s=LOGOUT_WITHIN_S)

    def _subscribed(self, over: threading.Event, metadata: Metadata) -> Any:
        """Nothing, for who was closed while it logged in."""
        if self._ended.is_set():
            return ()
        subscribe = self._channel.stream_stream(METHOD, _serialized)  # answers stay bytes
        self._call = subscribe(self._requests(over), metadata=metadata)
        if self._ended.is_set():  # between the two
            self._call.cancel()
        return self._call

    def _said(self, error: Any) -> str:
        if isinstance(error, Unreadable):
            return str(error)
        if isinstance(error, ValueError):  # gRPC cannot send a text, and its words may quote it
            return _UNSENDABLE
        table = self._source.table
        login = table.token and self._call is None and self._source.place.tls is not None
        return refusal(error, self._source, login=login, token=self._token, worked=self._worked)

    def _requests(self, over: threading.Event) -> Iterator[Any]:
        """One, and no end while the stream lasts: some servers take an end for that of the stream.
        gRPC has a thread of its own that waits for it."""
        yield self._request
        over.wait()


def _serialized(message: Any) -> bytes:
    return bytes(message.SerializeToString())


class GnmiReader:
    """Reads the notifications of one switch. What a path means is looked up once."""

    def __init__(self, source: StreamSource) -> None:
        from labtests.protocols import gnmi  # needs the extra

        self._gnmi, self._source = gnmi, source
        self._texts = lru_cache(MOST_PATHS)(self._text)
        self._meaning_of = lru_cache(MOST_PATHS)(source.table.meaning_of)

    def read(self, content: bytes) -> list[ToldValues]:
        """What a message tells, path by path. Raises Unreadable."""
        told, time_s = _notification(content)
        prefix = told.prefix.SerializeToString()
        return [self._told(prefix, each, time_s) for each in told.update]

    def _told(self, prefix: bytes, update: Any, time_s: float) -> ToldValues:
        """What of it cannot be read is told, and takes no other update with it."""
        own = update.path.SerializeToString()
        if len(prefix) + len(own) > 2 * MOST_PATH:
            told = ToldValues(path="", device_s=time_s, values=[], unread=[])
            told.refuse("a path", f"has {len(prefix) + len(own)} bytes")
            return told
        path = self._texts(prefix, own)
        told = ToldValues(path=path, device_s=time_s, values=[], unread=[])
        try:
            self._read(told, path, self._gnmi.value(update.val))
        except (ValueError, RecursionError) as error:
            told.refuse(path, f"cannot be read: {error}")
        return told

    def _text(self, prefix: bytes, own: bytes) -> str:
        """One text of both."""
        return self._gnmi.text(*map(self._gnmi.pb2.Path.FromString, (prefix, own)))

    def _read(self, told: ToldValues, path: str, value: Any) -> None:
        """A tree's leaves have their names behind the path, without the module's."""
        if isinstance(value, Mapping):
            for name, each in value.items():
                self._read(told, f"{path}/{_plain(name)}", each)
            return
        if isinstance(value, list) and (key := self._key(path)):
            for each in value:
                known = each.get(key) if isinstance(each, Mapping) else None
                self._read(told, f"{path}[{key}={known}]", each if known is not None else {})
            return
        meaning = self._meaning_of(path) if len(path) <= MOST_PATH else None
        if meaning is not None:
            told.take(meaning, path, value)

    def _key(self, path: str) -> str | None:
        """What tells the entries of this list apart; None for one that nobody here reads."""
        return self._source.table.keys.get(path.rpartition("/")[2])


class RowUpdate(NamedTuple):
    """An update: a table, or what is in it."""

    path: str
    elements: list[Any]
    value: Any


class GnmiRowReader:
    """Reads the notifications of a switch whose tables have rows (H3C): whatever part of a document
    {room: {table: {row: [...]}}} an update's path leads to, as a tree, or as JSON in a text."""

    def __init__(self, source: StreamSource) -> None:
        from labtests.protocols import gnmi  # needs the extra

        self._gnmi, self._rows = gnmi, RowReader(source.table)
        self._changes = frozenset(source.table.changes)

    def read(self, content: bytes) -> list[ToldValues]:
        """What a message tells, row by row: leaves of one row are one. Raises Unreadable."""
        told, time_s = _notification(content)
        rows: dict[tuple[str, int], list[RowUpdate]] = {}
        seen: Counter[str] = Counter()
        for number, update in enumerate(told.update):
            elements = [*told.prefix.elem, *update.path.elem]
            path = self._gnmi.text(told.prefix, update.path)
            whole = len(elements) <= ROW_ELEMENTS
            row = f"{number}" if whole else self._text(elements[:ROW_ELEMENTS])
            rows.setdefault((row, seen[path]), []).append(RowUpdate(path, elements, update.val))
            seen[path] += not whole
        return [values for parts in rows.values() for values in self._told(parts, time_s)]

    def _told(self, parts: list[RowUpdate], time_s: float) -> list[ToldValues]:
        """What of it cannot be read is told, and takes no other row with it."""
        unread = ToldValues(path="", device_s=time_s, values=[], unread=[])
        whole: dict[str, Any] = {}
        for part in parts:
            try:
                _join(whole, _document(part.elements, self._read(part)))
            except (ValueError, RecursionError) as error:
                unread.refuse(part.path, f"cannot be read: {error}")
        fields = sorted({self._text(part.elements[ROW_ELEMENTS:]) for part in parts} - {"/"})
        try:
            rows = [
                row._replace(path=f"{row.path}{'+'.join(fields)}")
                for row in self._rows.told(whole, time_s)
            ]
        except RecursionError as error:
            unread.refuse(parts[0].path, f"cannot be read: {error}")
            rows = []
        return [unread, *rows] if unread.unread else rows

    def _read(self, part: RowUpdate) -> Any:
        """Raises ValueError, RecursionError."""
        value = self._gnmi.value(part.value)
        if isinstance(value, str) and value[:1] in ("{", "["):
            value = json.loads(value)
        if len(part.elements) >= ROW_ELEMENTS or isinstance(value, Mapping):
            return value
        if value is None and part.path in self._changes:
            return {}  # nothing has happened
        raise Unreadable(f"{quoted_excerpt(value)}, which is no table")

    def _text(self, elements: list[Any]) -> str:
        return str(self._gnmi.text(self._gnmi.pb2.Path(elem=elements)))


def _notification(content: bytes) -> tuple[Any, float]:
    """One without updates has no time. Raises Unreadable."""
    from labtests.protocols import gnmi  # needs the extra

    try:
        message = gnmi.pb2.SubscribeResponse.FromString(content)
    except needed("google.protobuf.message").DecodeError as error:
        raise Unreadable(f"no SubscribeResponse: {error}") from error
    told = message.update
    return told, moment(told.timestamp / NS_PER_S) if told.update else 0.0


def _document(elements: list[Any], value: Any) -> Mapping[str, Any]:
    """What stands at these elements, with keys as fields of their row."""
    for element in reversed(elements):
        if isinstance(value, Mapping):
            value = {**element.key, **value}
        value = {element.name: value}
    return value if isinstance(value, Mapping) else {}


def _join(whole: dict[str, Any], more: Mapping[str, Any]) -> None:
    """All of both, in the first."""
    for name, value in more.items():
        held = whole.get(name)
        if isinstance(held, dict) and isinstance(value, Mapping):
            _join(held, value)
        else:
            whole[name] = value


def _plain(name: str) -> str:
    """`openconfig-qos:transmit-pkts` without its module; `Ethernet0:3` has none."""
    module, _, rest = name.partition(":")
    return rest if rest and "-" in module else name
