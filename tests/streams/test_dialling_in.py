"""Comware by gNMI (dial-in): the login, the session that is left behind, and rows of its tables."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from stream_ends import PORT, Authority, GnmiServer, server_credentials, source_of, tree, wait_for

from labtests.capabilities import counters as c
from labtests.core import output
from labtests.core.errors import DeviceError
from labtests.drivers import driver_module
from labtests.inventory import Device, Management, TelemetryPlace
from labtests.lab.streaming import is_told, open_streams
from labtests.protocols import dialin, gnmi
from labtests.streams import Collectors
from labtests.streams.gnmi import GnmiRowReader
from labtests.streams.order import Order

T = 1_700_000_000.0
AT = "/BufferMonitor/EgressDrops"
ROW = {"IfIndex": 13, "IfName": PORT["comware"], "UnicastDroppedPkts": "[0,0,0,12,0,0,0,0]"}


def read(path: str, value: Any) -> list[tuple[str, int | None, str, int | str]]:
    reader = GnmiRowReader(source_of("comware", 1, kind="gnmi"))
    told = reader.read(tree(path, value, T, target="").SerializeToString())
    return [
        (m.port, m.index, m.counter or m.alarm, value)
        for each in told
        for m, value in each.values
        if value
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (AT, {"EgressDrop": [ROW]}),
        (AT, json.dumps({"EgressDrop": [ROW]})),
        (f"{AT}/EgressDrop[IfIndex=13]", ROW),
        (f"{AT}/EgressDrop", json.dumps([ROW])),
        ("/BufferMonitor", {"EgressDrops": {"EgressDrop": ROW}}),
        (f"{AT}/EgressDrop[IfName={PORT['comware']}]/UnicastDroppedPkts", [0, 0, 0, 12]),
    ],
)
def test_a_row_is_the_same_wherever_the_path_of_its_update_ends(path: str, value: Any) -> None:
    assert read(path, value) == [(PORT["comware"], 3, c.QUEUE_DROPPED_PACKETS, 12)]


def test_an_event_is_an_alarm_of_its_port_and_queue() -> None:
    keys = f"[IfIndex=13][IfName={PORT['comware']}][QueIdx=3][AlarmType=2]"
    found = read(f"/BufferMonitor/PortQueDropEvent/PortQueDrop{keys}", {"Drops": "7"})
    assert found == [(PORT["comware"], 3, "drops", "egress")]


@pytest.mark.parametrize("value", ["{half", [["EgressDrop"]], 5, {"EgressDrop": ["no row"]}])
def test_what_is_no_table_gives_no_value(value: Any) -> None:
    assert read(AT, value) == []


def test_a_text_that_is_half_a_table_is_told() -> None:
    reader = GnmiRowReader(source_of("comware", 1, kind="gnmi"))
    [told] = reader.read(tree(AT, "{half", T).SerializeToString())
    assert f"{AT} cannot be read" in told.unread[0]


def in_order(*messages: Any) -> tuple[list[Any], list[str]]:
    """The samples of messages one after the other, and the kinds of trouble with them."""
    kinds: list[str] = []
    order = Order("S", 1, lambda kind, *_: kinds.append(kind))
    reader = GnmiRowReader(source_of("comware", 1, kind="gnmi"))
    told = [each for m in messages for each in reader.read(m.SerializeToString())]
    return [record for each in told for record in order.take(each, T, "gnmi")], kinds


def test_leaves_of_a_row_that_come_one_by_one_are_no_duplicates_of_each_other() -> None:
    row = f"/BufferMonitor/CommBufferUsages/CommBufferUsage[IfName={PORT['comware']}]"
    fields = ("UnicastQueLenInBytes", "IngressQueLenInBytes", "InIntervalPeak")
    leaves = [tree(f"{row}/{name}", [5] * 8, T) for name in fields]
    found, kinds = in_order(*leaves)
    assert {each.counter for each in found} == {
        c.QUEUE_LENGTH_BYTES,
        c.INGRESS_BYTES,
        c.INGRESS_PEAK_BYTES,
    }
    assert not kinds
    _, kinds = in_order(*leaves, leaves[0])
    assert kinds == ["duplicate"]


def test_slices_that_do_not_tell_of_as_many_queues_are_told_and_not_cut_short() -> None:
    row = {**ROW, "UnicastDroppedPkts": {"Slice0": [0] * 8, "Slice1": [0] * 3}}
    assert in_order(tree(AT, {"EgressDrop": [row]}, T)) == ([], ["unreadable"])


def test_a_row_that_does_not_say_of_which_port_it_is_is_told() -> None:
    row = {"IfIndex": 13, "UnicastDroppedPkts": [0] * 8}
    assert in_order(tree(AT, {"EgressDrop": [row]}, T)) == ([], ["unreadable"])


class DialledIn(GnmiServer):
    """A gNMI server with H3C's login, which takes the word that `source_of` has."""

    right = "word"
    expired = False

    def __init__(self, **more: Any) -> None:
        self.heard: list[tuple[str, str]] = []
        super().__init__(**more)

    def services(self) -> tuple[Any, ...]:
        answer = {"Login": self._log_in, "Logout": self._log_out}
        return (*super().services(), dialin.handlers(answer))

    def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
        if self.expired:
            token = dict(context.invocation_metadata())[dialin.TOKEN]
            context.abort(grpc.StatusCode.UNAUTHENTICATED, f"{token} has expired")
        yield from super()._subscribe(requests, context)

    def _log_in(self, request: Any, context: Any) -> str:
        self.heard.append(("in", request.user_name))
        if request.password != self.right:
            context.abort(grpc.StatusCode.UNKNOWN, "no such user")
        return "t0ken"

    def _log_out(self, request: Any, context: Any) -> str:
        shown = dict(context.invocation_metadata()).get(dialin.TOKEN)
        self.heard.append(("out", request.token_id if shown == request.token_id else ""))
        return ""


@pytest.fixture
def trusted(tmp_path: Path) -> Iterator[tuple[DialledIn, Any]]:
    authority = Authority(tmp_path / "ca")
    credentials = server_credentials(authority.files("switch"))
    with DialledIn(credentials=credentials) as server:
        files = authority.files("runner")
        yield server, source_of("comware", server.port, kind="gnmi", tls=files)


def test_who_subscribes_logs_in_shows_the_token_and_logs_out(
    trusted: tuple[DialledIn, Any],
) -> None:
    server, source = trusted
    with Collectors([source], epoch_s=T) as collectors:
        wait_for(lambda: server.subscribed, "a subscription")
        server.put(tree(AT, {"EgressDrop": [ROW]}, T + 1, target=""))
        wait_for(lambda: collectors.seen()[0], "samples")
        assert server.heard == [("in", "admin")]
        asked = server.subscribed[0].subscribe
    assert server.heard == [("in", "admin"), ("out", "t0ken")]
    assert server.metadata[0][dialin.TOKEN] == "t0ken"
    assert not {"username", "password"} & set(server.metadata[0])
    modes = {gnmi.text(each.path): each.mode for each in asked.subscription}
    assert modes[AT] == gnmi.SAMPLE
    assert modes["/BufferMonitor/PortQueDropEvent"] == gnmi.ON_CHANGE
    assert asked.encoding == gnmi.pb2.JSON_IETF


def test_a_login_that_is_refused_is_told_and_changes_nothing_that_is_asked_for(
    trusted: tuple[DialledIn, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, source = trusted
    monkeypatch.setattr(server, "right", "another")
    with Collectors([source], epoch_s=T) as collectors:
        wait_for(lambda: collectors.seen()[2], "a refusal")
        [trouble] = collectors.seen()[2]
        assert (trouble.kind, "no such user" in trouble.text) == ("refused", True)
        monkeypatch.setattr(server, "right", "word")
        wait_for(lambda: server.subscribed, "a subscription")
    paths = [gnmi.text(each.path) for each in server.subscribed[0].subscribe.subscription]
    assert "/BufferMonitor/PortQueDropEvent" in paths


def test_who_logs_in_with_what_cannot_be_sent_is_told_and_not_quoted(
    trusted: tuple[DialledIn, Any],
) -> None:
    _, source = trusted
    torn = os.fsdecode(b"w\xe9rd-of-mine")  # as Latin-1 in the environment is read
    with Collectors([replace(source, login=("admin", torn))], epoch_s=T) as collectors:
        wait_for(lambda: collectors.seen()[2], "a refusal")
        [trouble] = collectors.seen()[2]
    assert trouble.kind == "refused"
    assert "password_env" in trouble.text
    assert "rd-of-mine" not in trouble.text


def test_a_token_that_the_switch_says_again_is_hidden(
    trusted: tuple[DialledIn, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, source = trusted
    monkeypatch.setattr(output, "_used", set())
    monkeypatch.setattr(server, "expired", True)
    with Collectors([source], epoch_s=T) as collectors:
        wait_for(lambda: collectors.seen()[2], "a refusal")
        assert "*** has expired" in collectors.seen()[2][0].text


def test_events_are_left_out_where_the_switch_refuses_their_paths() -> None:
    class Refuses(DialledIn):
        def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
            self.subscribed.append(next(requests))
            if len(self.subscribed) == 1:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such path")
            yield from ()

    with (
        Refuses() as server,
        Collectors([source_of("comware", server.port, kind="gnmi")], epoch_s=T) as collectors,
    ):
        wait_for(lambda: len(server.subscribed) > 1, "a second subscription")
        assert "no such path" in collectors.seen()[2][0].text
    asked = [[s.mode for s in each.subscribe.subscription] for each in server.subscribed[:2]]
    assert [gnmi.ON_CHANGE in modes for modes in asked] == [True, False]
    assert asked[0].count(gnmi.SAMPLE) == asked[1].count(gnmi.SAMPLE) == 7


@pytest.mark.parametrize(
    ("platform", "place", "says"),
    [
        ("comware", {"kind": "gnmi", "encoding": "proto"}, "there is no proto of them"),
        ("sonic", {"kind": "dial-out", "address": "192.0.2.1"}, "sonic streams by gnmi only"),
        ("onyx", {"kind": "gnmi"}, "onyx streams nothing"),
        ("comware", {"kind": "gnmi", "watermarks_every_s": 1}, "comware polls no watermarks"),
    ],
)
def test_what_a_platform_does_not_stream_is_refused_before_anything_is_changed(
    platform: str, place: dict[str, Any], says: str
) -> None:
    told = TelemetryPlace(port=50051, **place)
    device = Device(name="S", platform=platform, management=Management(host="h"), telemetry=told)
    lab: Any = SimpleNamespace(
        testbed=SimpleNamespace(devices=[device]),
        drivers={"S": driver_module(platform).driver_of("S", ())},
    )
    with pytest.raises(DeviceError, match=says) as refused:
        open_streams(lab, print)
    assert "correct `telemetry:`" in str(refused.value)


@pytest.mark.parametrize(
    ("platform", "more", "told"),
    [
        ("comware", {}, True),
        ("sonic", {}, False),
        ("sonic", {"watermarks_every_s": 1}, True),
        ("cumulus", {}, False),
    ],
)
def test_who_watches_takes_the_lab_only_where_a_switch_has_to_be_told(
    platform: str, more: dict[str, Any], told: bool
) -> None:
    place = TelemetryPlace(kind="gnmi", port=1, **more)
    device = Device(name="S", platform=platform, management=Management(host="h"), telemetry=place)
    assert is_told(device) is told
    assert not is_told(replace(device, telemetry=None))


def test_without_tls_nobody_logs_in() -> None:
    with DialledIn() as server:
        source = source_of("comware", server.port, kind="gnmi")
        with Collectors([source], epoch_s=T):
            wait_for(lambda: server.subscribed, "a subscription")
        assert server.heard == []
