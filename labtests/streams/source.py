"""Where a stream comes from, and what opens it: addresses, files of TLS, who logs in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labtests.capabilities.streams import StreamTable
from labtests.core.errors import DeviceError
from labtests.inventory import TelemetryPlace
from labtests.protocols.needed import needed

MS_PER_S = 1000
MESSAGE_BYTES = 16 * 2**20
"""The longest message that is taken. A switch of 128 ports sends some 200 kB of JSON."""
LEAST_WAIT_S, MOST_WAIT_S = 0.5, 15.0
"""Before who is gone is called again: doubled each time that nothing came. gRPC's own waiting, up
to two minutes in which each call fails unheard, is not to come on top."""
PING_EVERY_S, PONG_WITHIN_S = 301.0, 20.0
"""Who lost its power says no farewell: a stream over which nothing comes any more is seen to be
dead. Servers hang up on who pings more often than every five minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSource:
    """One switch, how it streams, and what that means. `login` is user and password."""

    device: str
    host: str
    place: TelemetryPlace
    table: StreamTable
    login: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Hearers:
    """Who is told, by device: what came, as bytes, and why nothing comes. Called from any thread,
    and never waits."""

    received: Callable[[str, bytes], None]
    refused: Callable[[str, str], None]


def options(source: StreamSource) -> list[tuple[str, Any]]:
    """Of a channel, or of a server. A lab's switches are not behind the proxy of the web."""
    told: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.so_reuseport", 0),
        ("grpc.enable_http_proxy", 0),
        ("grpc.initial_reconnect_backoff_ms", round(LEAST_WAIT_S * MS_PER_S)),
        ("grpc.max_reconnect_backoff_ms", round(LEAST_WAIT_S * MS_PER_S)),
        ("grpc.keepalive_time_ms", round(PING_EVERY_S * MS_PER_S)),
        ("grpc.keepalive_timeout_ms", round(PONG_WITHIN_S * MS_PER_S)),
        ("grpc.http2.ping_timeout_ms", round(PONG_WITHIN_S * MS_PER_S)),
        ("grpc.http2.max_pings_without_data", 0),
    ]
    tls = source.place.tls
    if tls is not None and tls.server_name is not None:
        told.append(("grpc.ssl_target_name_override", tls.server_name))
    return told


def channel(source: StreamSource) -> Any:
    """To its gNMI server, with TLS unless the testbed says otherwise. Raises DeviceError for a file
    that cannot be read."""
    grpc = needed("grpc")
    address = f"{source.place.address or source.host}:{source.place.port}"
    if source.place.tls is None:
        return grpc.insecure_channel(address, options(source))
    ca, certificate, key = _files(source)
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return grpc.secure_channel(address, credentials, options(source))


def bound(server: Any, source: StreamSource) -> int:
    """The port where our server hears its switch, which has to show a certificate of the CA.
    Raises DeviceError."""
    grpc = needed("grpc")
    address = f"{source.place.address}:{source.place.port}"
    try:
        if source.place.tls is None:
            return int(server.add_insecure_port(address))
        ca, certificate, key = _files(source)
        credentials = grpc.ssl_server_credentials(
            [(key, certificate)], root_certificates=ca, require_client_auth=True
        )
        return int(server.add_secure_port(address, credentials))
    except RuntimeError as error:  # of grpc, where it cannot listen
        raise DeviceError(
            source.device,
            f"listening at {address} for its streams",
            str(error),
            "give `telemetry:` an address of this machine and a port that is free, for each switch "
            "another one",
        ) from error


def _files(source: StreamSource) -> tuple[bytes, bytes, bytes]:
    tls = source.place.tls
    assert tls is not None
    try:
        ca, certificate, key = (Path(p).read_bytes() for p in (tls.ca, tls.certificate, tls.key))
    except OSError as error:
        raise DeviceError(
            source.device,
            "reading the files of `tls:`",
            f"{error.filename}: {error.strerror}",
            "correct `telemetry: {tls: ...}` in the testbed file",
        ) from error
    return ca, certificate, key
