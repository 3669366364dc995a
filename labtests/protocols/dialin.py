"""How a client of H3C's gRPC dial-in logs in: with `GrpcService`, before it speaks gNMI.

`grpc_service.proto` as H3C's gRPC white paper prints it (2.2.1), of it what a session needs: who
logs in gets a token, and shows it with every request, as metadata (5.3.1).
"""

from collections.abc import Callable, Mapping
from typing import Any

from labtests.protocols.needed import needed
from labtests.protocols.texts import message_classes

PACKAGE, SERVICE = "grpc_service", "GrpcService"
TOKEN = "token_id"
MESSAGES = {
    "LoginRequest": (("user_name", ""), ("password", "")),
    "LoginReply": ((TOKEN, ""),),
    "LogoutRequest": ((TOKEN, ""),),
    "LogoutReply": (("result", ""),),
}
"""See `message_classes`."""
METHODS = ("Login", "Logout")
_CLASSES = message_classes(PACKAGE, MESSAGES)


def logged_in(channel: Any, user: str, password: str, *, within_s: float) -> str:
    """The token. Raises grpc.RpcError."""
    return str(_ask(channel, "Login", within_s, user_name=user, password=password).token_id)


def log_out(channel: Any, token: str, *, within_s: float) -> None:
    """The token is worth nothing any more. Raises grpc.RpcError."""
    _ask(channel, "Logout", within_s, token_id=token)


def _ask(channel: Any, name: str, within_s: float, **said: str) -> Any:
    call = channel.unary_unary(
        f"/{PACKAGE}.{SERVICE}/{name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=_CLASSES[f"{name}Reply"].FromString,
    )
    token = said.get(TOKEN)
    shown = None if token is None else ((TOKEN, token),)
    return call(_CLASSES[f"{name}Request"](**said), timeout=within_s, metadata=shown)


def handlers(answer: Mapping[str, Callable[[Any, Any], Any]]) -> Any:
    """For `server.add_generic_rpc_handlers`: `answer[method](request, context)` gives the text of
    the reply, or a coroutine that does."""
    grpc = needed("grpc")
    methods = {
        name: grpc.unary_unary_rpc_method_handler(
            answer[name],
            request_deserializer=_CLASSES[f"{name}Request"].FromString,
            response_serializer=_written(f"{name}Reply"),
        )
        for name in METHODS
    }
    return grpc.method_handlers_generic_handler(f"{PACKAGE}.{SERVICE}", methods)


def _written(reply: str) -> Callable[[str], bytes]:
    ((field, _),) = MESSAGES[reply]
    return lambda text: bytes(_CLASSES[reply](**{field: text}).SerializeToString())
