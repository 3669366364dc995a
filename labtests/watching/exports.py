"""Records for others while they come: InfluxDB's line protocol, and OpenMetrics for Prometheus (and
VictoriaMetrics). How long they are kept is theirs.

https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/ (escaping),
https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from labtests.capabilities.streams import StreamAlarm, StreamRecord, StreamTrouble
from labtests.core import prometheus
from labtests.watching.board import Board

_SPECIAL = re.compile(r"([,= \\])")
_PREFIX = "labtests_stream_"


def recorded(record: StreamRecord) -> str:
    """One line of JSON; `kind` says of what."""
    if isinstance(record, StreamTrouble):
        fields = {name: getattr(record, name) for name in record.__dataclass_fields__}
        return json.dumps({"record": "trouble", **fields})
    kind = "alarm" if isinstance(record, StreamAlarm) else "sample"
    return json.dumps({"record": kind, **record._asdict()})


def influx_line(record: StreamRecord, lab: str) -> str:
    """In InfluxDB's line protocol, at the device's time in ns (a trouble's: the lab's clock)."""
    if isinstance(record, StreamTrouble):
        tags = {"lab": lab, "device": record.device, "kind": record.kind}
        time_s = record.since_s
        return _line("labtests_trouble", tags, f"count={record.count}i", time_s)
    tags = {"lab": lab, "device": record.device, "port": record.port}
    if record.index is not None:
        tags["priority"] = str(record.index)
    if isinstance(record, StreamAlarm):
        text = record.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        tags["kind"] = record.kind
        return _line("labtests_alarm", tags, f'text="{text}"', record.device_s)
    return _line("labtests_stream", tags, f"{record.counter}={record.value}i", record.device_s)


def _line(measurement: str, tags: dict[str, str], fields: str, time_s: float) -> str:
    told = "".join(f",{key}={_escaped(value)}" for key, value in tags.items() if value)
    return f"{measurement}{told} {fields} {round(time_s * 1e9)}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))


class LineFile:
    """Lines of records in a file that is open, each batch flushed."""

    def __init__(self, file: TextIO, lab: str | None = None) -> None:
        """`lab`: InfluxDB's lines of this lab; else JSON."""
        self._file, self._lab = file, lab

    def take(self, batch: Iterable[StreamRecord]) -> None:
        """They are written."""
        for record in batch:
            lab = self._lab
            self._file.write((recorded(record) if lab is None else influx_line(record, lab)) + "\n")
        self._file.flush()


class StreamMetrics:
    """The board as OpenMetrics, whenever it is asked (a collector of prometheus_client): a counter
    or a gauge for each of a lab's counters, by device, port and priority."""

    def __init__(self, board: Board, lab: str) -> None:
        self._board, self._lab = board, lab

    def collect(self) -> Iterator[Any]:
        """Families, as prometheus_client wants them."""
        core = prometheus.client("prometheus_client.core")
        labels = ["lab", "device", "port", "priority"]
        families: dict[str, Any] = {}
        for place, now in list(self._board.places.items()):
            for name, value in list(now.values.items()):
                if name not in families:
                    told = f"{name}, in {now.units[name] or 'events'}, as streamed"
                    families[name] = core.GaugeMetricFamily(_PREFIX + name, told, labels=labels)
                index = "" if place.index < 0 else str(place.index)
                families[name].add_metric([self._lab, place.device, place.port, index], value)
        yield from families.values()
        for name in ("samples", "alarms", "troubles"):
            family = core.GaugeMetricFamily(
                f"labtests_streamed_{name}", f"{name} so far", labels=["lab"]
            )
            family.add_metric([self._lab], getattr(self._board, name))
            yield family


def text(board: Board, lab: str) -> str:
    """What Prometheus is answered now, in OpenMetrics' text form."""
    registry = prometheus.client().CollectorRegistry()
    registry.register(StreamMetrics(board, lab))
    latest = prometheus.client("prometheus_client.openmetrics.exposition").generate_latest(registry)
    return str(latest.decode())


def serve(board: Board, lab: str, address: str, port: int) -> Any:
    """Answers Prometheus until `shutdown` of what is returned. Raises LabError."""
    return prometheus.serve(StreamMetrics(board, lab), address, port)
