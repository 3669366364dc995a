"""Where a stream comes from, and what opens it: addresses, files of TLS, who logs in."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labtests.capabilities.streams import StreamTable
from labtests.core.errors import DeviceError
from labtests.inventory import TelemetryPlace
from labtests.protocols.needed import needed

MESSAGE_BYTES = 16 * 2**20
"""The longest message that is taken. A switch of 128 ports sends some 200 kB of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSource:
    """One switch, how it streams, and what that means. `login` is user and password."""

    device: str
    host: str
    place: TelemetryPlace
    table: StreamTable
    login: tuple[str, str] | None = field(default=None, repr=False)


def options(source: StreamSource) -> list[tuple[str, Any]]:
    """Of a channel, or of a server. No keepalive: servers hang up on who pings more often than
    every five minutes, and a stream that stops is seen by what does not come."""
    told: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.so_reuseport", 0),
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
