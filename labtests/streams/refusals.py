"""Why a switch that is dialled refuses, in a sentence, with what to correct in the testbed file."""

from typing import Any

from labtests.core.output import HIDDEN, excerpt
from labtests.streams.source import StreamSource

_MOST_SAID = 400
_NOBODY = ("UNAUTHENTICATED", "PERMISSION_DENIED")
_OF_PATHS = ("INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED", "FAILED_PRECONDITION", "UNKNOWN")


def refusal(error: Any, source: StreamSource, *, login: bool, token: str, worked: bool) -> str:
    """What gRPC says, without what it repeats, nor the token. `login`: it refused the login
    itself; `worked`: it did stream before, so that the testbed file is right."""
    details = getattr(error, "details", None)
    said = f"{_status(error)}: {details() if callable(details) else ''}".strip()
    if token:
        said = said.replace(token, HIDDEN)
    asked = f"Login at {source.device}: " if login else ""
    told = excerpt(f"{asked}{said}", _MOST_SAID)
    remedy = "it is tried again" if worked else _remedy(_status(error), source, login=login)
    return f"{told}; {remedy}" if remedy else told


def of_paths(error: Any) -> bool:
    """Whether a server that was reached, and knows who asks, has refused what is asked for. Some
    answer a path that they do not have with UNKNOWN."""
    return _status(error) in _OF_PATHS


def _remedy(status: str, source: StreamSource, *, login: bool) -> str:
    if status in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
        return "correct `port:`, `tls:` or `address:` of its `telemetry:`"
    if status == "UNIMPLEMENTED" and login:
        return f"at port {source.place.port} nobody can log in: correct `port:` of its `telemetry:`"
    if status in _NOBODY and source.place.tls is None:
        return "without `tls:` labtests sends no password: name it instead of `insecure: true`"
    if status in _NOBODY or login:
        return "correct `user:` and `password_env:` of its `telemetry:`"
    return ""


def _status(error: Any) -> str:
    code = getattr(error, "code", None)
    return str(code().name) if callable(code) else type(error).__name__
