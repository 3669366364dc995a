"""The newest run of each lab as OpenMetrics: a file for node_exporter, or served to Prometheus.

Gauges only: what a run came to is as it was until the next one. Names and units follow the
conventions of Prometheus; what was simulated has that in its labels.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.output import tell
from labtests.core.printable import for_terminal
from labtests.core.private_files import write_whole
from labtests.history.comparing import facts_of
from labtests.history.records import OUTCOMES, KeptRun, is_ahead
from labtests.history.store import History

_LAB = ("testbed", "backend")
_ASKS_WITHIN_S = 10.0
"""Who connects and asks nothing would keep a thread for good."""


class LabMetrics:
    """What the history says now, whenever it is asked (a collector of prometheus_client).
    `hears_trouble` gets what is wrong with a history that cannot be read; then that is served, and
    nothing else. Without it LabError is raised."""

    def __init__(self, where: str, hears_trouble: Callable[[str], None] | None = None) -> None:
        self._where = where
        self._hears_trouble = hears_trouble

    def collect(self) -> Iterator[Any]:
        """One family after the other."""
        try:
            yield from _read(self._where).values()
        except LabError as error:
            if self._hears_trouble is None:
                raise
            self._hears_trouble(str(error))
            unread = _families()["read"]
            unread.add_metric([], 0)
            yield unread


def _read(where: str) -> dict[str, Any]:
    families = _families()
    with History.open(where, makes=False) as history:
        for lab, runs in history.labs().items():
            sound = [each for each in runs if each.run.faults == "[]"]
            if sound:
                _add(families, _shown(*lab), history.whole(sound[0].number))
    families["read"].add_metric([], 1)
    return families


def _families() -> dict[str, Any]:
    gauge = _client("prometheus_client.core").GaugeMetricFamily
    told: dict[str, tuple[str, str, tuple[str, ...]]] = {
        "passed": ("labtests_run_passed", "1 when no test of the newest run is red.", ()),
        "ended": ("labtests_run_ended_timestamp_seconds", "When the newest run ended.", ()),
        "tests": ("labtests_tests", "Tests of the newest run.", ("outcome",)),
        "test": ("labtests_test_passed", "1 for a test that passed, 0 for a red one.", ("test",)),
        "margin": (
            "labtests_margin",
            "What was left of a bound, in the unit of its figure.",
            ("test", "phase", "question", "fact", "again", "unit"),
        ),
    }
    of_labs = {
        key: gauge(name, text, labels=[*_LAB, *more]) for key, (name, text, more) in told.items()
    }
    read = "1 when the history could be read; 0 when it could not, and nothing else is told."
    return {"read": gauge("labtests_history_read", read, labels=[]), **of_labs}


def _add(families: dict[str, Any], lab: list[str], run: KeptRun) -> None:
    families["passed"].add_metric(lab, float(run.outcome in ("pass", "skipped")))
    if not is_ahead(run.ended or run.started) and (ended := _seconds(run.ended or run.started)):
        families["ended"].add_metric(lab, ended)
    outcomes = [test.outcome for test in run.tests]
    for outcome in OUTCOMES:
        families["tests"].add_metric([*lab, outcome], outcomes.count(outcome))
    for test in run.tests:
        if test.outcome != "skipped":
            families["test"].add_metric([*lab, *_shown(test.name)], float(test.outcome == "pass"))
        for (phase, question, name, again), fact in facts_of(test):
            if fact.margin is not None:
                labels = _shown(test.name, phase, question, name, again, fact.unit)
                families["margin"].add_metric([*lab, *labels], fact.margin)


def _shown(*labels: str) -> list[str]:
    """On one line, whoever wrote them: Prometheus escapes `\\n` only, and some readers of its text
    end a line at other characters too."""
    return list(map(for_terminal, labels))


def _seconds(when: str) -> float | None:
    try:
        return datetime.fromisoformat(when).timestamp()
    except ValueError:
        return None


def write_metrics(where: str, file: Path) -> None:
    """A file for node_exporter's textfile collector: whole or as it was. Raises LabError, OSError.

    It is readable by others (0644): who collects is another user."""
    write_whole(file, text(where))


def text(where: str) -> str:
    """In Prometheus' text form."""
    registry = _client("prometheus_client").CollectorRegistry()
    registry.register(LabMetrics(where))
    return str(_client("prometheus_client").generate_latest(registry).decode())


def serve(where: str, address: str, port: int) -> Any:
    """Answers Prometheus until `shutdown` of what is returned. Raises LabError, OSError."""
    client = _client("prometheus_client")
    registry = client.CollectorRegistry(auto_describe=False)
    registry.register(LabMetrics(where, tell))
    try:
        server, _ = client.start_http_server(port, addr=address, registry=registry)
    except OSError as error:
        raise LabError(
            f"nothing can be served at {address}, port {port}: {error.strerror}\n"
            "  remedy: an address of this machine, and a port that is free"
        ) from error
    brief = {"timeout": _ASKS_WITHIN_S, "handle": _unless_silent(server.RequestHandlerClass.handle)}
    server.RequestHandlerClass = type("Brief", (server.RequestHandlerClass,), brief)
    return server


def _unless_silent(handle: Callable[[Any], None]) -> Callable[[Any], None]:
    def handled(self: Any) -> None:
        with suppress(OSError):  # gone, or out of time: nobody is there to be told
            handle(self)

    return handled


def _client(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LabError(
            "metrics need the package prometheus_client\n  remedy: pip install 'labtests[metrics]'"
        ) from error
