"""H3C's gRPC dial-out: the switch is the client, and sends a stream of JSON texts.

`grpc_dialout.proto` as H3C's gRPC white paper prints it (2.2.2). The service has two spellings in
H3C's own texts: `GRPCDialout` in the configuration guides, `gRPCDialout` in the white paper; the
name is part of the request's path, so a collector has to answer to both.
"""

from collections.abc import Callable, Iterable
from typing import Any

from labtests.protocols.needed import needed
from labtests.protocols.texts import message_classes

PACKAGE = "grpc_dialout"
SERVICES = ("GRPCDialout", "gRPCDialout")
METHOD = "Dialout"
MESSAGES = {
    "DeviceInfo": (("producerName", ""), ("deviceName", ""), ("deviceModel", "")),
    "DialoutMsg": (("deviceMsg", "DeviceInfo"), ("sensorPath", ""), ("jsonData", "")),
    "DialoutResponse": (("response", ""),),
}
"""See `message_classes`."""

_CLASSES = message_classes(PACKAGE, MESSAGES)
DeviceInfo = _CLASSES["DeviceInfo"]
DialoutMsg = _CLASSES["DialoutMsg"]
DialoutResponse = _CLASSES["DialoutResponse"]


def message(device: tuple[str, str, str], sensor_path: str, json_data: str) -> Any:
    """One DialoutMsg of a device: its producer, its name and its model."""
    told = DeviceInfo(producerName=device[0], deviceName=device[1], deviceModel=device[2])
    return DialoutMsg(deviceMsg=told, sensorPath=sensor_path, jsonData=json_data)


def method(service: str = SERVICES[0]) -> str:
    """The path of the request, as gRPC writes it."""
    return f"/{PACKAGE}.{service}/{METHOD}"


def _serialized(sent: Any) -> bytes:
    return sent if isinstance(sent, bytes) else bytes(sent.SerializeToString())


def dial(channel: Any, service: str = SERVICES[0]) -> Any:
    """The call of a client, over a grpc (or grpc.aio) channel: give it an iterator of DialoutMsg
    (or of the bytes of some) and it returns a DialoutResponse, when the iterator ends."""
    return channel.stream_unary(
        method(service),
        request_serializer=_serialized,
        response_deserializer=DialoutResponse.FromString,
    )


def handlers(receive: Callable[[Iterable[Any], Any], Any]) -> tuple[Any, ...]:
    """For `server.add_generic_rpc_handlers`: `receive(messages, context)` gets each stream of
    DialoutMsg and returns a DialoutResponse. Under both spellings of the service."""
    grpc = needed("grpc")
    handler = grpc.stream_unary_rpc_method_handler(
        receive,
        request_deserializer=DialoutMsg.FromString,
        response_serializer=DialoutResponse.SerializeToString,
    )
    return tuple(
        grpc.method_handlers_generic_handler(f"{PACKAGE}.{service}", {METHOD: handler})
        for service in SERVICES
    )
