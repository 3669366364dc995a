"""What answers Prometheus, by the package of the extra `metrics`."""

import importlib
from typing import Any

from labtests.core.errors import LabError

ASKED_WITHIN_S = 10.0
"""Who connects and asks nothing has a thread for so long."""


def client(module: str = "prometheus_client") -> Any:
    """The package, or a module of it. Raises LabError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LabError(
            "metrics need the package prometheus_client\n  remedy: pip install 'labtests[metrics]'"
        ) from error


def serve(collector: Any, address: str, port: int) -> Any:
    """A server that asks the collector, whenever it is asked, until its `shutdown`. Raises
    LabError."""
    registry = client().CollectorRegistry(auto_describe=False)
    registry.register(collector)
    try:
        server, _ = client().start_http_server(port, addr=address, registry=registry)
        patient = server.RequestHandlerClass
        server.RequestHandlerClass = type("Asked", (patient,), {"timeout": ASKED_WITHIN_S})
        server.handle_error = lambda *_: None  # who hangs up early is no traceback in a terminal
    except OSError as error:
        raise LabError(
            f"nothing can be served at {address}, port {port}: {error.strerror}\n"
            "  remedy: an address of this machine, and a port that is free"
        ) from error
    return server
