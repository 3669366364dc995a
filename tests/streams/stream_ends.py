"""The other ends of streams, for tests: a gNMI server that sends what it is told, a switch that
dials, and certificates for both. Small ones of their own: they share nothing with collectors but
the protocols' messages.
"""

import datetime as dt
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from labtests.capabilities.streams import Streaming, StreamTable
from labtests.drivers import driver_module
from labtests.inventory import TelemetryPlace, TlsFiles
from labtests.protocols import dialout, gnmi
from labtests.streams import StreamSource

PORT = {"sonic": "Ethernet0", "comware": "Twenty-FiveGigE1/0/13", "nxos": "Ethernet1/1"}
DEADLINE_S = 20.0


def table_of(platform: str, port: str) -> StreamTable:
    streaming = driver_module(platform).driver_of("S", (port,)).able(Streaming)
    assert streaming is not None
    return streaming.stream_table()


def source_of(platform: str, port_number: int, **place: Any) -> StreamSource:
    place = {"kind": "dial-out" if platform == "comware" else "gnmi", **place}
    told = TelemetryPlace(port=port_number, address="127.0.0.1", **place)
    table = table_of(platform, PORT[platform])
    return StreamSource(
        device="S", host="127.0.0.1", place=told, table=table, login=("admin", "word")
    )


def wait_for(happened: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + DEADLINE_S
    while not (found := happened()):
        assert time.monotonic() < deadline, f"not within {DEADLINE_S} s: {what}"
        time.sleep(0.02)
    return found


# -- gNMI ------------------------------------------------------------------------------------------


def tree(path: str, value: Any, time_s: float, *, target: str = "COUNTERS_DB") -> Any:
    """A notification with one JSON_IETF tree."""
    update = gnmi.pb2.Update(
        path=gnmi.path(path),
        val=gnmi.pb2.TypedValue(json_ietf_val=json.dumps(value).encode()),
    )
    prefix = gnmi.pb2.Path(target=target)
    told = gnmi.pb2.Notification(timestamp=round(time_s * 1e9), prefix=prefix, update=[update])
    return gnmi.pb2.SubscribeResponse(update=told)


def queues(time_s: float, **fields: Any) -> Any:
    """What SONiC sends of queue 3."""
    value = {"Ethernet0:3": {f"SAI_QUEUE_STAT_{name}": each for name, each in fields.items()}}
    return tree("/COUNTERS/Ethernet0/Queues", value, time_s)


class GnmiServer:
    """Sends each subscriber everything that is put, as bytes too, from when it subscribes."""

    def __init__(self, port: int = 0, credentials: Any = None) -> None:
        self.subscribed: list[Any] = []
        self.metadata: list[dict[str, str]] = []
        self._streams: list[list[bytes]] = []
        self._pool = ThreadPoolExecutor(max_workers=8)
        self._server = grpc.server(self._pool, options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers(self.services())
        address = f"127.0.0.1:{port}"
        if credentials is None:
            self.port = self._server.add_insecure_port(address)
        else:
            self.port = self._server.add_secure_port(address, credentials)
        self._ended = threading.Event()
        self._server.start()

    def services(self) -> tuple[Any, ...]:
        handler = grpc.stream_stream_rpc_method_handler(
            self._subscribe, request_deserializer=gnmi.pb2.SubscribeRequest.FromString
        )
        return (grpc.method_handlers_generic_handler("gnmi.gNMI", {"Subscribe": handler}),)

    def put(self, *messages: Any) -> None:
        for message in messages:
            content = message if isinstance(message, bytes) else message.SerializeToString()
            for stream in self._streams:
                stream.append(content)

    def close(self) -> None:
        self._ended.set()
        self._server.stop(None).wait(5)
        self._pool.shutdown()

    def __enter__(self) -> "GnmiServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
        self.metadata.append(dict(context.invocation_metadata()))
        self.subscribed.append(next(requests))
        stream: list[bytes] = []
        self._streams.append(stream)
        sent = 0
        while context.is_active() and not self._ended.is_set():
            while sent < len(stream):
                yield stream[sent]
                sent += 1
            time.sleep(0.005)


# -- dial-out --------------------------------------------------------------------------------------


def drops(time_s: float, dropped: Any, *, room: str = "Notification") -> Any:
    """What Comware sends of the packets that eight queues of a port have dropped."""
    row = {"IfIndex": 13, "IfName": PORT["comware"], "UnicastDroppedPkts": dropped}
    return dialled("BufferMonitor/EgressDrops", "EgressDrop", row, time_s, room=room)


def dialled(
    path: str, row_name: str, row: dict[str, Any], time_s: float, *, room: str = "Notification"
) -> Any:
    head, table = path.split("/")
    said = {room: {head: {table: {row_name: [row]}}, "Timestamp": str(round(time_s * 1000))}}
    return dialout.message(("H3C", "S6550", "S6550XE"), path.lower(), json.dumps(said))


def dial(port: int, messages: Iterator[Any], channel: Any = None) -> Any:
    """The call of a switch; wait for its result, or cancel it."""
    channel = channel or grpc.insecure_channel(f"127.0.0.1:{port}")
    call = channel.stream_unary(dialout.method("gRPCDialout"))
    return call.future(m if isinstance(m, bytes) else m.SerializeToString() for m in messages)


# -- certificates ----------------------------------------------------------------------------------


def _signed(name: str, key: Any, by: Any, by_key: Any, *, ca: bool) -> Any:
    now = dt.datetime.now(dt.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    names = [x509.DNSName("switch.test"), x509.DNSName("localhost")]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if by is None else by.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(by_key or key, hashes.SHA256())
    )


class Authority:
    """A CA in a folder, and what it signs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._own = _signed("ca", self._key, None, None, ca=True)
        self.ca = self._pem("ca.pem", self._own)

    def files(self, name: str, server_name: str | None = "switch.test") -> TlsFiles:
        key = ec.generate_private_key(ec.SECP256R1())
        signed = _signed(name, key, self._own, self._key, ca=False)
        path = self._folder / f"{name}.key"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        certificate = self._pem(f"{name}.pem", signed)
        return TlsFiles(ca=self.ca, certificate=certificate, key=str(path), server_name=server_name)

    def _pem(self, name: str, certificate: Any) -> str:
        path = self._folder / name
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return str(path)


def server_credentials(files: TlsFiles) -> Any:
    ca, certificate, key = (
        Path(each).read_bytes() for each in (files.ca, files.certificate, files.key)
    )
    return grpc.ssl_server_credentials([(key, certificate)], ca, require_client_auth=True)
