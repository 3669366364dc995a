"""A switch that is dialled and answers as it should not: nothing is believed that it did not say,
and why nothing comes is told with what to do about it."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from stream_ends import PORT, Authority, GnmiServer, server_credentials, source_of, tree, wait_for
from test_dialling_in import AT, ROW, DialledIn, T

from labtests.capabilities import counters as c
from labtests.protocols import gnmi
from labtests.streams import Collectors, StreamSource
from labtests.streams.gnmi import GnmiRowReader

PAUSES = f"/BufferMonitor/PFCStatistics/PFCStatistic[IfIndex=13][IfName={PORT['comware']}]"
LENGTHS = f"/BufferMonitor/CommBufferUsages/CommBufferUsage[IfName={PORT['comware']}]"


def texts(collectors: Collectors) -> dict[str, str]:
    return {each.kind: each.text for each in collectors.seen()[2]}


def notified(*updates: tuple[str, Any]) -> Any:
    message = gnmi.pb2.Notification(timestamp=round((T + 1) * 1e9))
    for path, value in updates:
        held = gnmi.pb2.TypedValue(json_ietf_val=json.dumps(value).encode())
        message.update.add(path=gnmi.path(path), val=held)
    return gnmi.pb2.SubscribeResponse(update=message)


def collected(*messages: Any) -> tuple[dict[tuple[str, int | None], int], dict[str, str]]:
    """What came of priority or queue 3, and the troubles."""
    with DialledIn() as server:
        source = source_of("comware", server.port, kind="gnmi")
        with Collectors([source], epoch_s=T) as collectors:
            wait_for(lambda: server.subscribed, "a subscription")
            server.put(*messages, tree(AT, {"EgressDrop": [ROW]}, T + 1, target=""))
            wait_for(lambda: collectors.received["S"], "the row behind it")
        samples, _, _ = collectors.seen()
        return {(s.counter, s.index): s.value for s in samples}, texts(collectors)


# -- rows in parts ---------------------------------------------------------------------------------


def test_leaves_of_a_row_in_one_notification_are_one_row() -> None:
    sent, heard = (f"{PAUSES}/PfcSend", [0, 0, 0, 5]), (f"{PAUSES}/PfcRecv", [0, 0, 0, 9])
    found, told = collected(notified(sent, heard))
    assert (found[c.PFC_TX_FRAMES, 3], found[c.PFC_RX_FRAMES, 3]) == (5, 9)
    assert told == {}


def test_leaves_of_a_row_in_notifications_of_one_time_are_no_duplicates() -> None:
    sent, heard = (f"{PAUSES}/PfcSend", [0, 0, 0, 5]), (f"{PAUSES}/PfcRecv", [0, 0, 0, 9])
    found, told = collected(notified(sent), notified(heard))
    assert (found[c.PFC_TX_FRAMES, 3], found[c.PFC_RX_FRAMES, 3]) == (5, 9)
    assert told == {}


def test_slices_of_a_memory_that_come_apart_are_taken_together() -> None:
    at = f"{LENGTHS}/UnicastQueLenInBytes"
    found, _ = collected(notified((f"{at}/Slice0", "[0,0,0,2]"), (f"{at}/Slice1", "[0,0,0,9]")))
    assert found[c.QUEUE_LENGTH_BYTES, 3] == 9


def test_two_events_of_one_notification_stay_two() -> None:
    at = f"/BufferMonitor/PortQueDropEvent/PortQueDrop[IfName={PORT['comware']}]"
    events = [(f"{at}[QueIdx={queue}][AlarmType=2]/Drops", "7") for queue in (3, 4)]
    reader = GnmiRowReader(source_of("comware", 1, kind="gnmi"))
    told = reader.read(notified(*events).SerializeToString())
    assert [m.index for each in told for m, _ in each.values] == [3, 4]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"EgressDrop": [{"IfIndex": 13, "UnicastDroppedPkts": "[0]"}]}, "has no IfName"),
        ({"EgressDrop": ["a word"]}, "which is no row"),
        (5, "which is no table"),
        (None, "which is no table"),
        (
            {"EgressDrop": [{**ROW, "UnicastDroppedPkts": {"Slice0": "[1,2]", "Slice1": "[1]"}}]},
            "which is no row of queues",
        ),
    ],
)
def test_what_tells_of_nobody_is_told_and_not_passed_over(value: Any, says: str) -> None:
    _, told = collected(tree(AT, value, T + 0.5, target=""))
    assert says in told["unreadable"]


def test_rows_of_ports_that_nobody_asked_for_are_no_trouble() -> None:
    _, told = collected(tree(AT, {"EgressDrop": [{**ROW, "IfName": "Other"}]}, T + 0.5, target=""))
    assert told == {}


# -- sessions --------------------------------------------------------------------------------------


class Secured:
    """Servers with TLS, and who dials them."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder / "ca")
        self.credentials = server_credentials(self.authority.files("switch"))

    def source(self, server: GnmiServer, **place: Any) -> StreamSource:
        told = {"tls": self.authority.files("runner"), **place}
        return source_of("comware", server.port, kind="gnmi", **told)


@pytest.fixture
def secured(tmp_path: Path) -> Secured:
    return Secured(tmp_path)


def refusal(source: StreamSource) -> str:
    with Collectors([source], epoch_s=T) as collectors:
        return wait_for(lambda: texts(collectors).get("refused"), "a refusal")


def test_who_is_refused_is_told_what_to_correct(secured: Secured, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other")
    with DialledIn(credentials=secured.credentials) as server:
        named = secured.authority.files("runner2", "wrong.test")
        for tls in (named, other.files("runner")):
            assert "`tls:`" in refusal(secured.source(server, tls=tls))
        assert "`tls:`" in refusal(secured.source(server, tls=None))
        server.right = "another"
        assert "`password_env:`" in refusal(secured.source(server))
    assert "`port:`" in refusal(secured.source(server))  # it is gone
    with GnmiServer(credentials=secured.credentials) as server:
        assert "Login" in refusal(secured.source(server))


def test_who_does_not_log_in_for_want_of_tls_is_told_so() -> None:
    class Shut(DialledIn):
        def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong token")
            yield b""

    with Shut() as server:
        assert "without `tls:`" in refusal(source_of("comware", server.port, kind="gnmi"))


def test_a_login_without_a_token_is_none(secured: Secured) -> None:
    class Wordless(DialledIn):
        def _log_in(self, request: Any, context: Any) -> str:
            return ""

    with Wordless(credentials=secured.credentials) as server:
        assert "gave no token" in refusal(secured.source(server))
        assert server.subscribed == []


def test_a_token_that_the_switch_repeats_is_not_told(secured: Secured) -> None:
    class Repeats(DialledIn):
        def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "t0ken has expired")
            yield b""

    with Repeats(credentials=secured.credentials) as server:
        said = refusal(secured.source(server))
    assert "has expired" in said
    assert "t0ken" not in said


def test_who_is_closed_while_it_logs_in_logs_out_and_subscribes_to_nothing(
    secured: Secured,
) -> None:
    asked, answer = threading.Event(), threading.Event()

    class Waits(DialledIn):
        def _log_in(self, request: Any, context: Any) -> str:
            asked.set()
            answer.wait(10)
            return super()._log_in(request, context)

    with Waits(credentials=secured.credentials) as server:
        with Collectors([secured.source(server)], epoch_s=T):
            assert asked.wait(10)
            threading.Timer(0.5, answer.set).start()
        assert server.heard == [("in", "admin"), ("out", "t0ken")]
        assert server.subscribed == []


def test_a_session_that_ends_in_the_middle_is_tried_again_and_the_testbed_is_right(
    secured: Secured,
) -> None:
    class Expires(DialledIn):
        def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
            self.subscribed.append(next(requests))
            at_s = T + len(self.subscribed)
            yield tree(AT, {"EgressDrop": [ROW]}, at_s, target="").SerializeToString()
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "token expired")

    with (
        Expires(credentials=secured.credentials) as server,
        Collectors([secured.source(server)], epoch_s=T) as collectors,
    ):
        wait_for(lambda: len({s.time_s for s in collectors.seen()[0]}) > 1, "a second session")
        said = texts(collectors)["refused"]
    assert said == "UNAUTHENTICATED: token expired; it is tried again"
    assert server.heard[:3] == [("in", "admin"), ("out", "t0ken"), ("in", "admin")]


# -- why nothing comes -----------------------------------------------------------------------------


def test_a_stream_that_never_came_says_why_in_each_phase(secured: Secured) -> None:
    with DialledIn(credentials=secured.credentials) as server:
        server.right = "another"
        with Collectors([secured.source(server)], epoch_s=T) as collectors:
            wait_for(lambda: collectors.seen()[2], "a refusal")
            collectors.begin(())
            collectors.mark(5.0)
            assert "no such user" in texts(collectors)["stopped"]


def test_messages_that_tell_of_none_of_the_ports_are_not_nothing() -> None:
    foreign = {"EgressDrop": [{**ROW, "IfName": "WGE1/0/13"}]}
    with DialledIn() as server:
        source = source_of("comware", server.port, kind="gnmi")
        with Collectors([source], epoch_s=T) as collectors:
            wait_for(lambda: server.subscribed, "a subscription")
            server.put(tree(AT, foreign, T + 1, target=""))
            collectors.mark(5.0)
            assert "none of its ports" in texts(collectors)["stopped"]


def test_alarms_that_are_not_kept_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from labtests.streams import collectors as module

    monkeypatch.setattr(module, "MOST_ALARMS", 3)
    row = {"IfName": PORT["comware"], "QueIdx": 3, "AlarmType": 2}
    event = tree("/BufferMonitor/PortQueDropEvent", {"PortQueDrop": [row] * 5}, T + 1, target="")
    with DialledIn() as server:
        source = source_of("comware", server.port, kind="gnmi")
        with Collectors([source], epoch_s=T) as collectors:
            wait_for(lambda: server.subscribed, "a subscription")
            server.put(event)
            wait_for(lambda: len(collectors.seen()[1]) == 3, "those that are kept")
            wait_for(lambda: "dropped" in texts(collectors), "that some are not")
        [dropped] = [each for each in collectors.seen()[2] if each.kind == "dropped"]
    assert ("alarms" in dropped.text, dropped.count) == (True, 2)
