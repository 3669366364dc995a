"""What a whole run of iperf3 is judged to be, from recordings: its exit status proves nothing."""

import json
from dataclasses import replace

import pytest
from traffic_recordings import blank, recording

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.transport.protocol import Reply
from labtests.workloads import Attempt, Iperf3

COMPLETE, FAILED, INFRASTRUCTURE = FlowStatus.COMPLETE, FlowStatus.FAILED, FlowStatus.INFRASTRUCTURE
SERVER = Reply(device="ServerC", command="the server", text="")


def iperf3(reply: Reply, *, by_us: bool = False, running: bool = True) -> FlowResult:
    tool = Iperf3(protocol="udp", tos=0, port=15311, offered_bits_per_s=20e6, duration_s=2)
    attempt = Attempt(
        client=reply,
        server=SERVER,
        running_s=10.0 if running else None,
        ended_s=13.0,
        ended_by_us=by_us,
    )
    return tool.judge(blank("iperf3"), attempt)


def changed(**received: object) -> Reply:
    reply = recording("iperf3", "json-3.12-udp.txt").reply
    report = json.loads(reply.text)
    report["end"]["sum_received"].update(received)
    return replace(reply, text=json.dumps(report))


def test_a_whole_udp_run_is_complete_with_its_datagrams() -> None:
    result = iperf3(changed(lost_packets=7))
    assert result.status is COMPLETE
    assert (result.sent_datagrams, result.received_datagrams, result.lost_datagrams) == (77, 70, 7)
    assert result.intervals[0].start_s == 10.0
    assert len(result.intervals) == 2


def heard_by(server: str) -> int | None:
    said = replace(SERVER, text=server)
    client = recording("iperf3", "json-3.12-udp.txt").reply
    attempt = Attempt(client=client, server=said, running_s=10.0, ended_s=13.0, ended_by_us=False)
    tool = Iperf3(protocol="udp", tos=0, port=15311, offered_bits_per_s=20e6, duration_s=2)
    return tool.judge(blank("iperf3"), attempt).late_datagrams


def test_datagrams_out_of_order_are_what_the_server_says() -> None:
    server = recording("iperf3", "server-3.12-late.out").reply.text
    assert heard_by(server) == 27
    (late,) = (line for line in server.splitlines(keepends=True) if "out-of-order" in line)
    assert heard_by(server.replace(late, "")) == 0
    assert heard_by(server.partition("[SUM]")[0]) is None  # it did not come to its end
    assert heard_by("") is None


def of_version(version: str | None, *, tos: int = 0x60, streams: int = 1) -> FlowResult:
    reply = recording("iperf3", "json-3.12-udp.txt").reply
    report = json.loads(reply.text)
    report["start"]["version"] = version
    report["start"]["test_start"]["tos"] = tos
    tool = Iperf3(
        protocol="udp",
        tos=tos,
        port=15311,
        offered_bits_per_s=20e6,
        duration_s=2,
        parallel=streams,
    )
    said = replace(reply, text=json.dumps(report))
    attempt = Attempt(client=said, server=SERVER, running_s=10.0, ended_s=13.0, ended_by_us=False)
    return tool.judge(blank("iperf3"), attempt)


@pytest.mark.parametrize(
    ("version", "first"),
    [
        ("iperf 3.9", 0),
        ("iperf 3.12", 0),
        ("iperf 3.18", 3),
        ("iperf 3.19.1", 3),
        ("iperf 3.22", 3),
    ],
)
def test_first_datagrams_are_in_the_class_of_the_stream_from_release_3_16_on(
    version: str, first: int
) -> None:
    assert of_version(version, streams=3).extra_packets == first


@pytest.mark.parametrize("version", [None, "", "iperf 3.14", "iperf3", "iperf 3.x"])
def test_what_a_release_that_nobody_has_counted_sends_beside_its_datagrams_is_not_known(
    version: str | None,
) -> None:
    assert of_version(version).extra_packets is None


def test_in_class_0_the_control_connection_goes_too_so_its_packets_are_not_known() -> None:
    assert of_version("iperf 3.18", tos=0).extra_packets is None


def of_3_18(name: str, duration_s: int, *, ended_s: float, by_us: bool = False) -> FlowResult:
    """A recording of Debian 13's iperf3, its client first seen to send at 10 s."""
    tool = Iperf3(
        protocol="udp",
        tos=0x60,
        port=5201,
        offered_bits_per_s=20e6,
        duration_s=duration_s,
        datagram_bytes=1472,
    )
    reply = replace(recording("iperf3", f"{name}.txt").reply, errors="")
    attempt = Attempt(
        client=reply, server=SERVER, running_s=10.0, ended_s=ended_s, ended_by_us=by_us
    )
    return tool.judge(blank("iperf3"), attempt)


def test_what_was_asked_what_the_sender_sent_and_what_arrived_stay_apart() -> None:
    result = of_3_18("json-3.18-udp", 2, ended_s=13.0)
    assert (result.status, result.because) == (COMPLETE, "")
    assert (result.asked_s, result.ran_s) == (2.0, pytest.approx(2.0023, abs=1e-4))
    assert (result.sent_bytes, result.received_bytes) == (3389 * 1472, 3389 * 1472)
    assert result.sent_bits_per_s == pytest.approx(1.99314e7, rel=1e-5)
    assert (result.extra_packets, result.unsure_datagrams) == (1, 0)
    assert result.receive_buffer_bytes == 800_000  # asked for 400000, which Linux doubles


def test_a_sender_that_was_stopped_for_a_while_is_not_complete_though_its_mean_is_right() -> None:
    result = of_3_18("json-3.18-udp-frozen", 6, ended_s=19.0)
    assert result.sent_bits_per_s == pytest.approx(20e6, rel=1e-3)
    assert result.status is FAILED
    assert "its row of 2.0 s to 8.0 s should be of 1 s" in result.because
    lengths = [row.end_s - row.start_s for row in result.intervals]
    assert lengths == [pytest.approx(length, abs=0.01) for length in (1.0, 1.0, 6.0)]
    assert (result.asked_s, result.ran_s) == (6.0, pytest.approx(8.0, abs=0.01))


def test_a_sender_that_we_had_to_end_long_after_its_time_is_not_complete() -> None:
    interrupted = of_3_18("json-3.18-udp-interrupted", 10, ended_s=12.5, by_us=True)
    assert (interrupted.status, interrupted.asked_s) == (COMPLETE, None)
    hung = of_3_18("json-3.18-udp-interrupted", 2, ended_s=22.5, by_us=True)
    assert hung.status is FAILED
    assert "had not ended 10.5 s after its 2 s were over" in hung.because


def test_a_run_that_took_much_longer_than_asked_is_not_complete() -> None:
    reply = recording("iperf3", "json-3.18-udp.txt").reply
    report = json.loads(reply.text)
    sent = report["end"]["sum_sent"]
    sent |= {"seconds": 3.5, "bits_per_second": sent["bytes"] * 8 / 3.5}
    tool = Iperf3(protocol="udp", tos=0x60, port=5201, offered_bits_per_s=20e6, duration_s=2)
    said = replace(reply, text=json.dumps(report))
    attempt = Attempt(client=said, server=SERVER, running_s=10.0, ended_s=14.0, ended_by_us=False)
    assert "sent for 3.5 s, not 2 s" in tool.judge(blank("iperf3"), attempt).because


@pytest.mark.parametrize(
    ("written", "arrived", "unsure"),
    [(3389, 3389, 0), (3385, 3300, 4), (3385, 3387, 2), (3389, 3000, 0)],
)
def test_a_datagram_that_was_counted_but_neither_written_nor_received_may_not_have_left(
    written: int, arrived: int, unsure: int
) -> None:
    reply = recording("iperf3", "json-3.18-udp.txt").reply
    report = json.loads(reply.text)
    for side, datagrams in (("sum_sent", written), ("sum_received", arrived)):
        total = report["end"][side]
        size = datagrams * 1472
        total |= {"bytes": size, "bits_per_second": size * 8 / total["seconds"]}
    report["end"]["sum_received"]["packets"] = arrived
    tool = Iperf3(
        protocol="udp",
        tos=0x60,
        port=5201,
        offered_bits_per_s=20e6,
        duration_s=2,
        datagram_bytes=1472,
    )
    said = replace(reply, text=json.dumps(report))
    attempt = Attempt(client=said, server=SERVER, running_s=10.0, ended_s=13.0, ended_by_us=False)
    result = tool.judge(blank("iperf3"), attempt)
    assert (result.sent_datagrams, result.unsure_datagrams) == (3389, unsure)


def test_a_receiver_that_counted_nothing_is_a_failure_and_no_zero() -> None:
    result = iperf3(changed(bytes=0, bits_per_second=0, packets=0, lost_packets=0))
    assert result.status is FAILED
    assert "the receiver counted nothing" in result.because
    assert (result.lost_datagrams, result.goodput_bits_per_s) == (None, None)


def test_an_error_with_exit_status_0_is_no_run() -> None:
    refused = recording("iperf3", "error-json-01.txt").reply
    result = iperf3(refused, running=False)
    assert refused.status == 0
    assert result.status is INFRASTRUCTURE
    assert "Connection refused" in result.because


def test_a_server_killed_mid_run_with_exit_status_0_has_failed() -> None:
    result = iperf3(recording("iperf3", "error-json-03.txt").reply)
    assert result.status is FAILED
    assert "Connection reset by peer" in result.because
    assert len(result.intervals) == 2


def test_a_client_that_we_interrupted_is_complete_but_its_loss_is_unknown() -> None:
    reply = recording("iperf3", "json-3.12-udp-interrupted.txt").reply
    result = iperf3(replace(reply, errors=""), by_us=True)
    assert result.status is COMPLETE
    assert result.lost_datagrams is None
    assert iperf3(reply).status is FAILED


def test_a_killed_client_leaves_no_report() -> None:
    result = iperf3(Reply(device="ServerA", command="iperf3", text="", status=137))
    assert result.status is FAILED
    assert "KILL" in result.because


def test_a_missing_tool_is_infrastructure() -> None:
    errors = "bash: line 1: iperf3: command not found\n"
    reply = Reply(device="ServerA", command="iperf3", text="", errors=errors, status=127)
    result = iperf3(reply, running=False)
    assert result.status is INFRASTRUCTURE
    assert "command not found" in result.because


def test_a_report_of_another_protocol_length_or_tos_is_not_this_run() -> None:
    assert "TCP" in iperf3(recording("iperf3", "json-03.txt").reply).because
    reply = recording("iperf3", "json-3.12-udp.txt").reply
    shorter = Iperf3(protocol="udp", tos=0, port=1, offered_bits_per_s=20e6, duration_s=9)
    attempt = Attempt(client=reply, server=SERVER, running_s=0, ended_s=9, ended_by_us=False)
    assert "of 9 s" in shorter.judge(blank("iperf3"), attempt).because
    marked = replace(shorter, duration_s=2, tos=96)
    assert "TOS 0, not 96" in marked.judge(blank("iperf3"), attempt).because


def test_the_command_line_is_that_of_document_000() -> None:
    from labtests.workloads import Party

    tool = Iperf3(
        protocol="udp", tos=0x60, port=1000, offered_bits_per_s=10e9, duration_s=100, interval_s=2
    )
    server = Party(name="ServerC", transport=None, address="192.168.10.12")  # type: ignore[arg-type]
    assert tool.server_command(server, rdma=None) == "stdbuf -oL iperf3 -s -p 1000 -1"
    assert tool.client_command(server, rdma=None) == (
        "stdbuf -oL iperf3 -c 192.168.10.12 -p 1000 -t 100 -i 2 -S 0x60 -u -b 10000000000 "
        "-l 65500 -J"
    )
    tcp = replace(tool, protocol="tcp", offered_bits_per_s=None, parallel=4)
    assert tcp.client_command(server, rdma=None).endswith("-S 0x60 -P 4 -J")


def test_a_report_that_lacks_a_row_in_the_middle_is_not_whole() -> None:
    reply = recording("iperf3", "json-3.18-udp-interrupted.txt").reply
    report = json.loads(reply.text)
    assert len(report["intervals"]) > 2
    del report["intervals"][1]
    tool = Iperf3(protocol="udp", tos=0x60, port=5201, offered_bits_per_s=20e6, duration_s=10)
    said = replace(reply, text=json.dumps(report))
    attempt = Attempt(client=said, server=SERVER, running_s=10.0, ended_s=12.5, ended_by_us=True)
    result = tool.judge(blank("iperf3"), attempt)
    assert result.status is FAILED
    assert "its report has no row of 1.0 s to 2.0 s" in result.because
