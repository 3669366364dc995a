"""Labs of one switch whose testbed names a stream, and foreign clients for them."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import yaml
from in_process import InProcessLab
from pygnmi.spec.v080.gnmi_pb2_grpc import gNMIStub

from labtests.inventory import TelemetryPlace, Testbed, load
from labtests.protocols import dialin, gnmi

TESTBEDS = Path(__file__).parents[2] / "testbeds"
WITHIN_S = 30
TLS = {"ca": "ca.pem", "certificate": "client.pem", "key": "client.key"}


def described(folder: Path, file: str, device: str, telemetry: dict[str, Any]) -> Testbed:
    """The testbed of this file, where the device streams."""
    tree = yaml.safe_load((TESTBEDS / file).read_text())
    tree["devices"][device]["telemetry"] = telemetry
    for name in TLS.values():
        (folder / name).write_text("replaced in a dry run")
        (folder / name).chmod(0o600)
    path = folder / file
    path.write_text(yaml.safe_dump(tree))
    return load(path)


@dataclass
class Served:
    """One gNMI server of a lab."""

    lab: InProcessLab
    device: str
    place: TelemetryPlace
    token: str = ""

    @property
    def login(self) -> tuple[tuple[str, str], ...]:
        if self.token:
            return ((dialin.TOKEN, self.token),)
        return (("username", str(self.place.user)), ("password", self.lab.password))

    @contextmanager
    def channel(self) -> Iterator[grpc.Channel]:
        tls = self.place.tls
        assert tls is not None
        pem = [Path(name).read_bytes() for name in (tls.ca, tls.key, tls.certificate)]
        credentials = grpc.ssl_channel_credentials(*pem)
        # a connection of its own: gRPC else shares one that the last test's channel is closing,
        # and a call that is begun on it can stay without an end
        alone = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.secure_channel(f"127.0.0.1:{self.place.port}", credentials, alone) as channel:
            yield channel

    @contextmanager
    def subscribed(self, *subscriptions: Any, target: str = "", **listed: Any) -> Iterator[Any]:
        """A raw client of the public proto."""
        request = gnmi.pb2.SubscriptionList(
            prefix=gnmi.pb2.Path(target=target),
            subscription=subscriptions,
            **{"encoding": gnmi.pb2.PROTO, **listed},
        )
        first = gnmi.pb2.SubscribeRequest(subscribe=request)
        with self.channel() as channel:
            call = gNMIStub(channel).Subscribe(iter([first]), metadata=self.login, timeout=WITHIN_S)
            try:
                yield call
            finally:
                call.cancel()


def sampled(path: str, **more: Any) -> Any:
    return gnmi.pb2.Subscription(
        path=gnmi.path(path), **{"mode": gnmi.SAMPLE, "sample_interval": 10**9, **more}
    )


@contextmanager
def serving(folder: Path, file: str, device: str) -> Iterator[Served]:
    telemetry = {"kind": "gnmi", "port": 8080, "tls": TLS}
    testbed = described(folder, file, device, telemetry)
    with InProcessLab(testbed, seed=1) as lab:
        place = lab.reroute(testbed).device(device).telemetry
        assert place is not None
        yield Served(lab, device, place)


class Typed:
    """Somebody at the switch's command line."""

    def __init__(self, lab: InProcessLab, switch: str) -> None:
        self._session = lab.lab.devices[switch].session()
        self._lab = lab

    def type(self, *lines: str) -> str:
        done: Future[str] = Future()

        def act() -> None:
            done.set_result("".join(self._session.run(line) for line in lines))

        self._lab.soon(act)
        return done.result(WITHIN_S)
