"""What collectors make of streams, and of what goes wrong with them: the run waits for nothing."""

import threading
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from stream_ends import (
    PORT,
    Authority,
    GnmiServer,
    dial,
    dialled,
    drops,
    queues,
    server_credentials,
    source_of,
    tree,
    wait_for,
)

from labtests.capabilities import counters as c
from labtests.streams import Collectors
from labtests.streams.collectors import OPENED_WITHIN_S
from labtests.streams.inbox import Inbox, Message

T = 1_700_000_000.0


@pytest.fixture
def server() -> Iterator[GnmiServer]:
    with GnmiServer() as serving:
        yield serving


def collecting(server: GnmiServer, **place: Any) -> Collectors:
    collectors = Collectors([source_of("sonic", server.port, **place)], epoch_s=T)
    wait_for(lambda: server.subscribed, "a subscription")
    return collectors


def troubles(collectors: Collectors) -> dict[str, str]:
    return {each.kind: each.text for each in collectors.seen()[2]}


def values(collectors: Collectors, counter: str) -> list[tuple[float, int]]:
    return [(s.time_s, s.value) for s in collectors.seen()[0] if s.counter == counter]


# -- gNMI ------------------------------------------------------------------------------------------


def test_a_tree_of_texts_becomes_samples_with_port_queue_unit_and_both_times(
    server: GnmiServer,
) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="120", DROPPED_PACKETS="0", OF_NO_USE="5"))
        wait_for(lambda: len(collectors.seen()[0]) == 2, "two samples")
        sample, other = collectors.seen()[0]
    assert sample.key == ("S", "Ethernet0", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    assert (sample.value, sample.unit, sample.time_s, sample.device_s) == (120, "packets", 1, T + 1)
    assert abs(sample.arrived_s - time.time()) < 60
    assert "/COUNTERS/Ethernet0/Queues" in sample.source
    assert (other.counter, other.value) == (c.QUEUE_DROPPED_PACKETS, 0)


def test_leaves_of_protobuf_and_lists_with_keys_are_the_same_samples() -> None:
    from labtests.protocols import gnmi
    from labtests.streams.gnmi import GnmiReader

    reader = GnmiReader(source_of("nxos", 1))
    at = (
        "device:/System/ipqos-items/queuing-items/policy-items/out-items/intf-items/"
        "If-list[name=eth1/1]/queCmap-items"
    )
    rows = [{"cmapName": "c-out-8q-q3", "dropPackets": 7}, {"cmapName": "other", "dropPackets": 9}]
    [listed] = reader.read(tree(at, {"QueuingStats-list": rows}, T).SerializeToString())
    leaf = gnmi.path(f"{at}/QueuingStats-list[cmapName=c-out-8q-q-default]/dropPackets")
    update = gnmi.pb2.Update(path=leaf, val=gnmi.pb2.TypedValue(uint_val=8))
    told = gnmi.pb2.Notification(timestamp=5, update=[update])
    [single] = reader.read(gnmi.pb2.SubscribeResponse(update=told).SerializeToString())
    assert [(m.port, m.index, m.counter, v) for m, v in (*listed.values, *single.values)] == [
        ("Ethernet1/1", 3, c.QUEUE_DROPPED_PACKETS, 7),
        ("Ethernet1/1", 0, c.QUEUE_DROPPED_PACKETS, 8),
    ]


@pytest.mark.parametrize("said", ["N/A", "-1", "12.5", "1e3", None, True, str(2**64)])
def test_what_is_no_count_is_told_and_never_0(server: GnmiServer, said: Any) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS=said, DROPPED_PACKETS="4"))
        wait_for(lambda: collectors.seen()[0], "the one that is a count")
        assert values(collectors, c.QUEUE_FORWARDED_PACKETS) == []
        assert values(collectors, c.QUEUE_DROPPED_PACKETS) == [(1, 4)]
        assert "is no count" in troubles(collectors)["unreadable"]


def test_sample_and_on_change_are_asked_for_in_the_encoding_of_the_testbed(
    server: GnmiServer,
) -> None:
    from labtests.protocols import gnmi

    with collecting(server, encoding="proto", sample_every_s=3):
        asked = server.subscribed[0].subscribe
    assert asked.encoding == gnmi.pb2.PROTO
    assert asked.prefix.target == "COUNTERS_DB"
    assert {s.sample_interval for s in asked.subscription} == {3 * 10**9}
    assert "/COUNTERS/Ethernet0/Queues" in [gnmi.text(s.path) for s in asked.subscription]


def test_gaps_resets_late_and_duplicate_samples_are_told_and_not_filled_in(
    server: GnmiServer,
) -> None:
    with collecting(server) as collectors:
        server.put(
            queues(T + 1, PACKETS="10"),
            queues(T + 2, PACKETS="20"),
            queues(T + 2, PACKETS="20"),  # twice
            queues(T + 9, PACKETS="90"),  # a gap before
            queues(T + 8, PACKETS="80"),  # late
            queues(T + 10, PACKETS="3"),  # reset
        )
        wait_for(lambda: len(collectors.seen()[0]) == 5, "what is new")
        told = troubles(collectors)
        found = values(collectors, c.QUEUE_FORWARDED_PACKETS)
    assert found == [(1, 10), (2, 20), (9, 90), (8, 80), (10, 3)]
    assert set(told) == {"duplicate", "gap", "late", "reset"}
    assert "for 7.0 s" in told["gap"]
    assert "from 90 to 3" in told["reset"]


def test_a_clock_that_is_off_is_told_and_taken_off(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 500, PACKETS="1"))
        wait_for(lambda: collectors.seen()[0], "a sample")
        collectors.mark(10.0)
        server.put(queues(T + 501, PACKETS="2"))
        wait_for(lambda: len(collectors.seen()[0]) == 2, "another")
        assert "off by about +490 s" in troubles(collectors)["clock"]
        assert collectors.unsure_s == {"S": 1}
        assert values(collectors, c.QUEUE_FORWARDED_PACKETS) == [(10, 1), (11, 2)]


def test_a_clock_that_jumps_ahead_leaves_no_sample_of_a_time_to_come(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="1"), queues(T + 2, PACKETS="2"))
        wait_for(lambda: len(collectors.seen()[0]) == 2, "samples")
        collectors.mark(2.2)
        server.put(queues(T + 503, PACKETS="3"))
        wait_for(lambda: len(collectors.seen()[0]) == 3, "one behind the jump")
        collectors.mark(3.2)
        assert "off by about +500 s" in troubles(collectors)["clock"]
        found = [time_s for time_s, _ in values(collectors, c.QUEUE_FORWARDED_PACKETS)]
    assert found == pytest.approx([1, 2, 3.2])


def test_a_stream_that_stops_is_told_with_since_when(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="1"))
        wait_for(lambda: collectors.seen()[0], "a sample")
        collectors.mark(1.2)
        assert troubles(collectors) == {}
        began = time.monotonic()
        collectors.mark(60.0)
        assert time.monotonic() - began < 10, "waiting for it has an end"
        [stopped] = collectors.seen()[2]
    assert (stopped.kind, stopped.since_s, stopped.until_s) == ("stopped", 1, 60)


def test_a_stream_that_comes_late_is_behind_and_no_clock_that_is_off(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="1"))
        wait_for(lambda: collectors.seen()[0], "a sample")
        collectors.mark(1.2)
        server.put(queues(T + 2, PACKETS="2"))
        wait_for(lambda: len(collectors.seen()[0]) == 2, "another")
        collectors.mark(30.0)
        assert troubles(collectors) == {"behind": "what comes of its stream is 28.0 s old"}


def test_only_ports_of_the_phase_are_kept(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        collectors.begin({("S", "Ethernet4")})
        server.put(queues(T + 1, PACKETS="1"))
        wait_for(lambda: collectors.received["S"], "a sample")
        assert collectors.seen()[0] == ()


# -- faults ----------------------------------------------------------------------------------------


def test_a_server_that_goes_and_comes_back_is_subscribed_again(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="1"))
        wait_for(lambda: collectors.seen()[0], "a sample")
        server.close()
        wait_for(lambda: "refused" in troubles(collectors), "that it is gone")
        with GnmiServer(server.port) as back:
            wait_for(lambda: back.subscribed, "a second subscription")
            back.put(queues(T + 30, PACKETS="5"))
            wait_for(lambda: len(collectors.seen()[0]) == 2, "a sample of the second")
        assert "gap" in troubles(collectors)


def test_a_certificate_of_another_ca_is_refused_and_told(tmp_path: Path) -> None:
    ours, others = Authority(tmp_path / "ours"), Authority(tmp_path / "others")
    credentials = server_credentials(others.files("switch"))
    with GnmiServer(credentials=credentials) as server:
        source = source_of("sonic", server.port, tls=ours.files("runner"))
        with Collectors([source]) as collectors:
            wait_for(lambda: "refused" in troubles(collectors), "that it is refused")
            assert server.subscribed == []


def test_with_tls_the_client_shows_its_certificate_and_logs_in(tmp_path: Path) -> None:
    ours = Authority(tmp_path / "ours")
    with GnmiServer(credentials=server_credentials(ours.files("switch"))) as server:
        with collecting(server, tls=ours.files("runner")) as collectors:
            server.put(queues(T + 1, PACKETS="1"))
            wait_for(lambda: collectors.seen()[0], "a sample")
        assert server.metadata[0]["username"] == "admin"
        assert server.metadata[0]["password"] == "word"


def test_without_tls_no_password_is_sent(server: GnmiServer) -> None:
    with collecting(server):
        assert "password" not in server.metadata[0]


def test_files_of_tls_that_are_not_there_are_told_by_name(tmp_path: Path) -> None:
    files = replace(Authority(tmp_path / "ours").files("runner"), key="/nowhere/runner.key")
    with Collectors([source_of("sonic", 9, tls=files)]) as collectors:
        assert "/nowhere/runner.key" in troubles(collectors)["refused"]


def test_half_a_message_is_told_and_the_rest_is_read(server: GnmiServer) -> None:
    whole = queues(T + 1, PACKETS="1").SerializeToString()
    with collecting(server) as collectors:
        server.put(whole[: len(whole) // 2], queues(T + 2, PACKETS="2"))
        wait_for(lambda: collectors.seen()[0], "the whole one")
        assert values(collectors, c.QUEUE_FORWARDED_PACKETS) == [(2, 2)]
        assert "SubscribeResponse" in troubles(collectors)["unreadable"]


def test_a_stream_is_settled_when_it_has_told_something_or_was_refused(server: GnmiServer) -> None:
    late = threading.Timer(0.4, lambda: server.put(queues(T + 1, PACKETS="1")))
    with collecting(server) as collectors:
        late.start()
        collectors.settle()
        assert collectors.received == {"S": 1}
    began_s = time.monotonic()
    with Collectors([source_of("sonic", 1)]) as nobody:
        nobody.settle()
        assert "refused" in troubles(nobody)
    assert time.monotonic() - began_s < OPENED_WITHIN_S


def test_a_flood_fills_no_memory_and_what_is_dropped_is_counted(server: GnmiServer) -> None:
    small = Inbox(most_bytes=300)
    with Collectors([source_of("sonic", server.port)], inbox=small) as collectors:
        wait_for(lambda: server.subscribed, "a subscription")
        with collectors._lock:  # whoever reads is held up
            server.put(*(queues(T + n, PACKETS=str(n)) for n in range(200)))
            time.sleep(1.0)
        wait_for(lambda: "dropped" in troubles(collectors), "that some were dropped")
        wait_for(lambda: small.empty, "all that was held")
        dropped = [each.count for each in collectors.seen()[2] if each.kind == "dropped"]
        assert sum(dropped) + len(collectors.seen()[0]) == 200


def test_a_slow_listener_loses_and_holds_up_nobody(server: GnmiServer) -> None:
    with collecting(server) as collectors:
        slow, quick = collectors.listen(batches=1), collectors.listen()
        for n in range(1, 6):
            server.put(queues(T + n, PACKETS=str(n)))
            wait_for(lambda n=n: collectors.received["S"] == n, "one more")
        assert len(collectors.seen()[0]) == 5
        wait_for(lambda: slow.lost, "what the slow one has lost")
    got = [record.value for batch in quick for record in batch]
    assert got == [1, 2, 3, 4, 5]
    assert len([r for batch in slow for r in batch]) + slow.lost == 5


# -- dial-out --------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ["Notification", "notification"])
@pytest.mark.parametrize(
    "eight",
    [
        "[0, 0, 0, 12, 0, 0, 0, 0]",
        [0, 0, 0, 12, 0, 0, 0, 0],
        {"Slice0": "[0,0,0,5,0,0,0,0]", "Slice1": "[0,0,0,7,0,0,0,0]"},
    ],
)
def test_rows_of_a_dial_out_are_samples_by_queue(eight: Any, room: str) -> None:
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        port = collectors.sources["S"].place.port
        dial(port, iter([drops(T + 1, eight, room=room)])).result(10)
        wait_for(lambda: len(collectors.seen()[0]) == 8, "eight samples")
        found = {s.index: s.value for s in collectors.seen()[0]}
    assert found == {0: 0, 1: 0, 2: 0, 3: 12, 4: 0, 5: 0, 6: 0, 7: 0}


def test_of_lengths_in_several_slices_the_most_counts() -> None:
    row = {"IfName": PORT["comware"], "HeadroomQueLenInBytes": {"Slice0": "[4]", "Slice1": "[9]"}}
    message = dialled("BufferMonitor/CommHeadroomUsages", "CommHeadroomUsage", row, T + 1)
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        dial(collectors.sources["S"].place.port, iter([message])).result(10)
        wait_for(lambda: collectors.seen()[0], "a sample")
        assert values(collectors, c.HEADROOM_BYTES) == [(1, 9)]


@pytest.mark.parametrize("alone", [9, "9", {"Slice0": 9}, "nine", [], None])
def test_one_number_is_no_row_of_queues(alone: object) -> None:
    """It is not that of queue 0: whose it is, is not told."""
    row = {"IfName": PORT["comware"], "HeadroomQueLenInBytes": alone}
    message = dialled("BufferMonitor/CommHeadroomUsages", "CommHeadroomUsage", row, T + 1)
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        dial(collectors.sources["S"].place.port, iter([message])).result(10)
        wait_for(lambda: "unreadable" in troubles(collectors), "what cannot be read")
        assert "one or no numbers, which is no row of queues" in troubles(collectors)["unreadable"]
        assert collectors.seen()[0] == ()


def test_what_a_switch_pushes_is_an_alarm_with_port_queue_and_kind() -> None:
    row = {"IfIndex": 13, "IfName": PORT["comware"], "QueIndex": 3, "AlarmType": 3}
    message = dialled("BufferMonitor/PortQueDropEvent", "PortQueDrop", row, T + 1.5)
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        dial(collectors.sources["S"].place.port, iter([message])).result(10)
        [alarm] = wait_for(lambda: collectors.seen()[1], "an alarm")
    assert (alarm.port, alarm.index, alarm.kind) == (PORT["comware"], 3, "drops")
    assert (alarm.text, alarm.time_s) == ("headroom", 1.5)


@pytest.mark.parametrize("broken", [b"\x0a\x05half", "{not json", "[]", "{}"])
def test_a_dial_out_that_is_broken_is_told_and_the_next_message_is_read(broken: Any) -> None:
    from labtests.protocols import dialout

    if isinstance(broken, str):
        broken = dialout.message(("H3C", "S", "M"), "buffermonitor/egressdrops", broken)
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        port = collectors.sources["S"].place.port
        dial(port, iter([broken, drops(T + 1, [1])])).result(10)
        wait_for(lambda: collectors.seen()[0], "the whole one")
        assert "unreadable" in troubles(collectors)


def test_a_switch_without_a_certificate_of_the_ca_cannot_dial(tmp_path: Path) -> None:
    ours, others = Authority(tmp_path / "ours"), Authority(tmp_path / "others")
    source = source_of("comware", 0, tls=ours.files("runner"))
    with Collectors([source], epoch_s=T) as collectors:
        port = collectors.sources["S"].place.port

        def channel(trusted: str, *files: str) -> Any:
            told = [Path(each).read_bytes() for each in (trusted, *files)]
            options = [("grpc.ssl_target_name_override", "switch.test")]
            credentials = grpc.ssl_channel_credentials(*told)
            return grpc.secure_channel(f"127.0.0.1:{port}", credentials, options)

        foreign, own = others.files("foreign"), ours.files("switch")
        for refused in (
            channel(ours.ca, foreign.key, foreign.certificate),
            channel(ours.ca),  # shows none
            channel(others.ca, own.key, own.certificate),  # does not take ours
            grpc.insecure_channel(f"127.0.0.1:{port}"),
        ):
            with pytest.raises(grpc.RpcError):
                dial(port, iter([drops(T + 1, [1])]), refused).result(10)
        assert not collectors.received["S"]
        own_channel = channel(ours.ca, own.key, own.certificate)
        dial(port, iter([drops(T + 2, [2])]), own_channel).result(10)
        wait_for(lambda: collectors.seen()[0], "the sample of ours")
        assert values(collectors, c.QUEUE_DROPPED_PACKETS) == [(2, 2)]


def test_a_port_that_is_taken_is_told_and_the_others_go_on() -> None:
    with Collectors([source_of("comware", 0)], epoch_s=T) as first:
        taken = first.sources["S"].place.port
        with Collectors([source_of("comware", taken)], epoch_s=T) as second:
            assert "another one" in troubles(second)["refused"]


# -- what a device may send and do -----------------------------------------------------------------

DEEP = b"[" * 100_000


def update(path: str, field: str, content: Any) -> bytes:
    """A message with one value that no tree of ours makes."""
    from labtests.protocols import gnmi

    message = tree(path, 0, T + 1)
    message.update.update[0].val.CopyFrom(gnmi.pb2.TypedValue(**{field: content}))
    return bytes(message.SerializeToString())


def hostile() -> dict[str, bytes]:
    from labtests.protocols import gnmi

    timeless = queues(T + 1, PACKETS="1")
    timeless.update.timestamp = 0
    pauses = "/COUNTERS/Ethernet0/SAI_PORT_STAT_PFC_3_RX_PKTS"
    return {
        "nested": update("/COUNTERS/Ethernet0/Queues", "json_ietf_val", DEEP),
        "digits": update(pauses, "decimal_val", gnmi.pb2.Decimal64(digits=1, precision=4 * 10**9)),
        "float": update(pauses, "json_ietf_val", b"1e300"),
        "path": update(f"/COUNTERS/{'x' * 10_000}", "uint_val", 1),
        "time": bytes(timeless.SerializeToString()),
    }


@pytest.mark.parametrize("kind", ["digits", "float", "nested", "path", "time"])
def test_no_message_ends_the_reading_of_all_others(server: GnmiServer, kind: str) -> None:
    with collecting(server) as collectors:
        server.put(hostile()[kind], queues(T + 2, PACKETS="2"))
        wait_for(lambda: collectors.seen()[0], "the sample behind it")
        assert values(collectors, c.QUEUE_FORWARDED_PACKETS) == [(2, 2)]
        assert len(troubles(collectors)["unreadable"]) < 1100


def test_what_a_reader_does_not_expect_costs_the_message_and_not_the_thread(
    server: GnmiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labtests.streams import gnmi

    monkeypatch.setattr(gnmi, "moment", lambda seconds: 1 / (seconds - T - 1))
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="1"), queues(T + 2, PACKETS="2"))
        wait_for(lambda: collectors.seen()[0], "the sample behind it")
        assert "ZeroDivisionError" in troubles(collectors)["unreadable"]


@pytest.mark.parametrize("field", [DEEP.decode(), list(range(65))])
def test_a_field_of_a_dial_out_that_is_no_row_of_queues_is_told(field: Any) -> None:
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        port = collectors.sources["S"].place.port
        dial(port, iter([drops(T + 1, field), drops(T + 2, [4])])).result(10)
        wait_for(lambda: collectors.seen()[0], "the row behind it")
        assert values(collectors, c.QUEUE_DROPPED_PACKETS) == [(2, 4)]
        assert "unreadable" in troubles(collectors)


def test_paths_that_a_device_makes_up_fill_no_memory() -> None:
    from labtests.streams.gnmi import GnmiReader
    from labtests.streams.told import MOST_PATHS

    reader = GnmiReader(source_of("sonic", 1))
    tracemalloc.start()
    try:
        for n in range(40):
            made_up = {f"{n}-{each}": 1 for each in range(1000)}
            reader.read(tree(f"/COUNTERS/{n}", made_up, T + 1).SerializeToString())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1000 * MOST_PATHS


def test_a_device_that_hangs_up_again_and_again_leaves_no_thread_behind() -> None:
    class HangsUp(GnmiServer):
        def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
            self.subscribed.append(next(requests))
            yield queues(T + len(self.subscribed), PACKETS="1").SerializeToString()

    with HangsUp() as server, collecting(server):
        wait_for(lambda: len(server.subscribed) > 1, "two subscriptions")
        before = _threads()
        wait_for(lambda: len(server.subscribed) > 6, "five more")
        wait_for(lambda: _threads() <= before + 1, "no thread of those that are over")


def _threads() -> int:
    """But for those of the server here, whose pool keeps them."""
    return sum(not each.name.startswith("ThreadPool") for each in threading.enumerate())


def test_a_proxy_of_the_web_is_not_asked_for_a_switch(
    server: GnmiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with collecting(server) as collectors:
        assert troubles(collectors) == {}


def test_paths_are_left_out_only_where_the_switch_has_refused_them() -> None:
    class Refuses(GnmiServer):
        def _subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
            self.subscribed.append(next(requests))
            if len(self.subscribed) < 3:
                code = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND)
                context.abort(code[len(self.subscribed) - 1], "not yet")
            yield from ()

    with Refuses() as server, collecting(server):
        wait_for(lambda: len(server.subscribed) > 2, "three subscriptions")
        asked = [len(each.subscribe.subscription) for each in server.subscribed]
    assert asked[0] == asked[1] == asked[2] + 1


def test_what_a_device_says_is_one_line_without_secrets_that_moves_no_cursor() -> None:
    from labtests.core.output import used

    used("pass-word-of-S")
    row = {"IfName": PORT["comware"], "QueIndex": 3, "AlarmType": "9\x1b[2J\r\npass-word-of-S"}
    message = dialled("BufferMonitor/PortQueDropEvent", "PortQueDrop", row, T + 1)
    broken = dialled("BufferMonitor/\x1b[2J\n", "pass-word-of-S", {}, T + 1)
    broken.jsonData = broken.jsonData[:-20]
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        dial(collectors.sources["S"].place.port, iter([message, broken])).result(10)
        [alarm] = wait_for(lambda: collectors.seen()[1], "an alarm")
        told = wait_for(lambda: troubles(collectors), "the one that is broken")["unreadable"]
    for text in (alarm.text, told):
        assert not {"\x1b", "\r", "\n"} & set(text)
        assert "pass-word-of-S" not in text


def test_a_device_that_is_up_to_date_is_not_behind_for_what_comes_just_now(
    server: GnmiServer,
) -> None:
    with collecting(server) as collectors:
        server.put(queues(T + 1, PACKETS="1"))
        wait_for(lambda: collectors.seen()[0], "a sample")
        with collectors._lock:  # as if another message had come between two looks
            collectors._inbox.put(Message("S", 0.0, b""))
            collectors._judge("S", collectors._orders["S"], 1.2)
        assert troubles(collectors) == {}


def test_what_another_switch_sends_to_the_same_port_is_not_taken_for_the_firsts() -> None:
    foreign = drops(T + 2, [9])
    foreign.deviceMsg.deviceName = "other"
    with Collectors([source_of("comware", 0)], epoch_s=T) as collectors:
        port = collectors.sources["S"].place.port
        dial(port, iter([drops(T + 1, [1]), foreign, drops(T + 3, [3])])).result(10)
        wait_for(lambda: len(collectors.seen()[0]) == 2, "two samples of the first")
        assert values(collectors, c.QUEUE_DROPPED_PACKETS) == [(1, 1), (3, 3)]
        assert "'other' sends to the port of 'S6550'" in troubles(collectors)["unreadable"]
