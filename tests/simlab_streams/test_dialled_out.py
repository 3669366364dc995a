"""The emulated Comware switch dials where it is configured to, and says what it counts."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any

import grpc
import pytest
from in_process import InProcessLab
from streams_bench import TLS, WITHIN_S, Typed, described

from labtests.protocols import dialout
from labtests.simlab.folder import CA, CERTIFICATE, KEY
from labtests.simlab.streaming.certificates import Authority, Pair

SWITCH = "S6550"


@dataclass
class Collector:
    """A collector of anybody's: what it is sent."""

    heard: "Queue[Any]" = field(default_factory=Queue)
    port: int = 0

    def receive(self, messages, context):
        for message in messages:
            self.heard.put(message)
        return dialout.DialoutResponse(response="")

    def next(self) -> tuple[str, dict[str, Any]]:
        message = self.heard.get(timeout=WITHIN_S)
        assert message.deviceMsg.producerName == "H3C"
        return message.sensorPath, json.loads(message.jsonData)["Notification"]


@contextmanager
def collecting(credentials: Any = None) -> Iterator[Collector]:
    made = Collector()
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers(dialout.handlers(made.receive))
    here = "127.0.0.1:0"
    made.port = (
        server.add_secure_port(here, credentials) if credentials else server.add_insecure_port(here)
    )
    server.start()
    yield made
    server.stop(None).wait()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[InProcessLab]:
    place = {"kind": "dial-out", "port": 50051, "address": "192.0.2.1", "insecure": True}
    folder = tmp_path_factory.mktemp("comware")
    with InProcessLab(described(folder, "h3c-s6550-cx4.yaml", SWITCH, place), seed=1) as lab:
        yield lab


def configured(port: int, *paths: str, interval: str = " sample-interval 1") -> list[str]:
    return [
        "system-view",
        "grpc enable",
        "telemetry",
        "sensor-group G",
        *(f"sensor path {path}" for path in paths),
        "quit",
        "destination-group D",
        f"ipv4-address 127.0.0.1 port {port}",
        "quit",
        "subscription S",
        f"sensor-group G{interval}",
        "destination-group D",
        "return",
    ]


@pytest.fixture
def cli(lab: InProcessLab) -> Iterator[Typed]:
    typed = Typed(lab, SWITCH)
    yield typed
    Typed(lab, SWITCH).type("system-view", "undo telemetry", "undo grpc enable")


def test_it_dials_when_its_configuration_says_so_and_no_longer(lab, cli, collector):
    lab.clock.sleep(2)
    assert cli.type(*configured(collector.port, "buffermonitor/pfcstatistics")).count("\n") == 1
    lab.clock.sleep(2.5)
    times = []
    for _ in range(2):
        path, told = collector.next()
        times.append(int(told["Timestamp"]))
        (row, *others) = told["BufferMonitor"]["PFCStatistics"]["PFCStatistic"]
        assert path == "buffermonitor/pfcstatistics"
        assert len(others) == 2
        assert json.loads(row["PfcSend"]) == [0] * 8
    assert times[1] - times[0] == 1000
    cli.type("system-view", "undo telemetry")
    before = lab.ask({"now": True})["streamed"]
    assert lab.ask({"advance_s": 3})["streamed"] == before


def test_the_running_configuration_has_it_and_each_line_can_be_undone(cli):
    lines = configured(9, "buffermonitor/pfcspeeds", "BufferMonitor/IngressDrops")
    cli.type(*lines)
    shown = cli.type("return", "display current-configuration")
    assert (
        "telemetry\n"
        " sensor-group G\n"
        "  sensor path buffermonitor/ingressdrops\n"
        "  sensor path buffermonitor/pfcspeeds\n"
        " destination-group D\n"
        "  ipv4-address 127.0.0.1 port 9\n"
        " subscription S\n"
        "  sensor-group G sample-interval 1\n"
        "  destination-group D\n"
    ) in shown
    assert " grpc enable\n" in shown
    undone = ["system-view", "telemetry", "subscription S", "undo sensor-group G"]
    undone += ["undo destination-group D", "quit", "undo subscription S", "undo sensor-group G"]
    assert cli.type(*undone, "undo destination-group D").count("\n") == 1
    assert "sensor" not in cli.type("return", "display current-configuration")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sensor path no/such", "% Wrong parameter found at '^' position."),
        ("ipv4-address 127.0.0.300 port 5", "% Wrong parameter found at '^' position."),
        ("sensor-group NONE sample-interval 1", "The sensor group does not exist."),
        ("sensor-group G sample-interval 0", "% Wrong parameter found at '^' position."),
        ("undo sensor-group G", "The sensor group is used by a subscription."),
    ],
)
def test_what_it_cannot_is_refused(cli, line, said):
    cli.type(*configured(9, "buffermonitor/pfcspeeds"))
    views = {
        "sensor path": "sensor-group G",
        "ipv4": "destination-group D",
        "sensor-group": "subscription S",
    }
    view = next((view for begins, view in views.items() if line.startswith(begins)), "")
    assert said in cli.type("system-view", "telemetry", view, line)


def test_nobody_is_there_and_then_somebody_is(lab, cli, collector):
    cli.type(*configured(1, "buffermonitor/egressdrops"))  # nobody listens at port 1
    lab.clock.sleep(2)
    view = ["system-view", "telemetry", "destination-group D"]
    cli.type(*view, f"ipv4-address 127.0.0.1 port {collector.port}")
    lab.clock.sleep(1.5)
    assert collector.next()[0] == "buffermonitor/egressdrops"


# -- TLS: both ends show a certificate, and look at the other's ------------------------------------


@pytest.fixture(scope="module")
def trusting(tmp_path_factory) -> Iterator[InProcessLab]:
    place = {"kind": "dial-out", "port": 50051, "address": "192.0.2.1", "tls": TLS}
    folder = tmp_path_factory.mktemp("comware-tls")
    with InProcessLab(described(folder, "h3c-s6550-cx4.yaml", SWITCH, place), seed=1) as lab:
        yield lab


def shown(pair: Any, clients: bytes) -> Any:
    return grpc.ssl_server_credentials([(pair.key, pair.certificate)], clients, True)


@pytest.mark.parametrize("end", ["ours", "a stranger's", "of ours that trusts strangers only"])
def test_it_streams_to_who_has_a_certificate_of_its_ca_and_takes_its_own(trusting, end):
    folder, strangers = trusting.directory, Authority()
    ca = (folder / CA).read_bytes()
    own = Pair((folder / CERTIFICATE).read_bytes(), (folder / KEY).read_bytes())
    credentials = {
        "ours": shown(own, ca),
        "a stranger's": shown(strangers.pair("collector"), ca),
        "of ours that trusts strangers only": shown(own, strangers.pem),
    }[end]
    typed = Typed(trusting, SWITCH)
    with collecting(credentials) as collector:
        typed.type(*configured(collector.port, "buffermonitor/egressdrops"))
        trusting.clock.sleep(3)
        if end == "ours":
            assert collector.next()[0] == "buffermonitor/egressdrops"
        else:
            with pytest.raises(Empty):
                collector.heard.get(timeout=2)
    typed.type("system-view", "undo telemetry", "undo grpc enable")
