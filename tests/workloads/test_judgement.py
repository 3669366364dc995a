"""What a whole run is judged to be, from recordings: exit status 0 alone proves nothing."""

import json
from dataclasses import replace

import pytest
from traffic_recordings import recording

from labtests.records import FlowResult, FlowStatus
from labtests.transport import Reply
from labtests.workloads import Attempt, Iperf3, Perftest

COMPLETE, FAILED, INFRASTRUCTURE = FlowStatus.COMPLETE, FlowStatus.FAILED, FlowStatus.INFRASTRUCTURE
SERVER = Reply(device="ServerC", command="the server", text="")


def blank(tool: str) -> FlowResult:
    return FlowResult(
        sender="ServerA",
        receiver="ServerC",
        tool=tool,
        tos=0,
        status=INFRASTRUCTURE,
        because="",
        command="",
    )


def perftest(name: str, duration_s: int | None, *, ended_s: float = 1000.0) -> FlowResult:
    """The recorded client's run. Without a duration it was ended by us."""
    reply = recording("perftest", f"{name}.txt").reply
    tool = Perftest(verb="send", tos=0, port=18515, duration_s=duration_s, report_every_s=3)
    attempt = Attempt(
        client=reply,
        server=SERVER,
        running_s=990.0 if "#bytes" in reply.text else None,
        ended_s=ended_s,
        ended_by_us=duration_s is None,
    )
    return tool.judge(blank(tool.name), attempt)


@pytest.mark.parametrize(
    ("name", "duration_s", "status", "because"),
    [
        ("soft-roce-error-01", 3, INFRASTRUCTURE, "Unexpected CM event bl blka 8"),
        ("soft-roce-error-03", 3, INFRASTRUCTURE, "Couldn't connect to 10.77.0.13:18515"),
        ("soft-roce-error-05", 3, INFRASTRUCTURE, "IB device nosuch0 not found"),
        ("soft-roce-error-07", 3, INFRASTRUCTURE, "Gid index should be between 0 and 64"),
        ("soft-roce-error-09", 3, INFRASTRUCTURE, "rdma_resolve_addr failed"),
        ("soft-roce-error-11", 3, INFRASTRUCTURE, "unrecognized option '--nosuch'"),
        ("soft-roce-error-17", 3, INFRASTRUCTURE, "exit status 124"),
        ("soft-roce-error-21", 10, FAILED, "its table has no end"),
        ("soft-roce-error-25", 10, FAILED, "Couldn't read remote address"),
        ("soft-roce-error-29", 10, FAILED, "Killed"),
        ("soft-roce-error-33", 5, COMPLETE, ""),
        ("soft-roce-error-39", 3, COMPLETE, ""),
        ("soft-roce-error-51", 3, FAILED, "REM_OP_ERR"),
        ("soft-roce-error-57", 3, INFRASTRUCTURE, "Incompatibility issue with GID types"),
        ("soft-roce-error-61", 3, FAILED, "0 iterations"),
        ("soft-roce-ib-send-bw-15", 5, INFRASTRUCTURE, "RDMA_CM_EVENT_REJECTED; error: 8"),
        ("soft-roce-ib-send-bw-21", 5, FAILED, "not as a row"),
        ("soft-roce-ib-write-bw-07", 4, FAILED, "'RDMA_Write' test, not 'Send'"),
        ("soft-roce-incast-1-none-09", 10, FAILED, "TOS 96, not 0"),
        ("soft-roce-run-infinitely-01", 14, FAILED, "exit status 124 (ended by its time limit)"),
    ],
)
def test_a_recorded_run_of_perftest_is_what_it_proves(
    name: str, duration_s: int, status: FlowStatus, because: str
) -> None:
    result = perftest(name, duration_s)
    assert result.status is status
    assert because in result.because
    assert (result.because == "") == (status is COMPLETE)


@pytest.mark.parametrize("name", ["01", "03", "05", "07", "09"])
def test_an_endless_run_that_was_interrupted_keeps_its_rows(name: str) -> None:
    result = perftest(f"soft-roce-run-infinitely-{name}", None)
    assert result.status is COMPLETE
    assert [(i.start_s, i.end_s) for i in result.intervals] == [(990, 993), (993, 996), (996, 999)]
    assert result.goodput_bits_per_s == pytest.approx(
        sum(i.goodput_bits_per_s for i in result.intervals) / 3
    )


def test_a_tool_that_could_not_measure_its_clock_is_taken_at_its_messages() -> None:
    """It prints messages at a rate of 0, and `Correlation coefficient r^2` on stderr."""
    reply = recording("perftest", "soft-roce-no-cpu-clock.txt").reply
    tool = Perftest(verb="send", tos=96, port=18515, duration_s=5)
    attempt = Attempt(
        client=reply, server=SERVER, running_s=990.0, ended_s=997.0, ended_by_us=False
    )
    result = tool.judge(blank(tool.name), attempt)
    assert (result.status, result.because, result.iterations) == (COMPLETE, "", 188)
    # its client on the other guest, whose clock could be measured, printed 0.032573 Gb/s
    assert result.goodput_bits_per_s == pytest.approx(0.032573e9, rel=0.01)


@pytest.mark.parametrize(
    ("messages", "because"),
    [
        ((5, 4, 5, 0), ""),
        ((5, 0, 0, 4, 0, 0, 0), ""),
        ((5, 4, 5, 0, 0), "last 2 report rows: it stood still"),
        ((0, 5, 0, 5, 0, 0, 0), "last 3 report rows: it stood still"),
        ((0, 0), "0 iterations"),
    ],
)
def test_a_flow_may_pause_as_it_did_before_but_not_stand_still(
    messages: tuple[int, ...], because: str
) -> None:
    reply = recording("perftest", "soft-roce-run-infinitely-01.txt").reply
    head = reply.text[: reply.text.index(" 65536")]
    rates = [f"{n * 65536 * 8 / 3e9:.6f} {n / 3e6:.6f}" for n in messages]
    table = "\n".join(
        f" 65536 {n} 0.000000 {rate}" for n, rate in zip(messages, rates, strict=True)
    )
    attempt = Attempt(
        client=replace(reply, text=f"{head}{table}\n"),
        server=SERVER,
        running_s=990.0,
        ended_s=990.0 + 3 * len(messages),
        ended_by_us=True,
    )
    tool = Perftest(verb="send", tos=0, port=18515, report_every_s=3)
    result = tool.judge(blank(tool.name), attempt)
    assert result.status is (FAILED if because else COMPLETE)
    assert because in result.because


def test_an_endless_run_whose_rows_stopped_has_failed() -> None:
    result = perftest("soft-roce-run-infinitely-01", None, ended_s=1020.0)
    assert result.status is FAILED
    assert "only 3 report rows where 4 were due" in result.because


def test_rows_that_take_the_tool_s_own_time_are_not_missing() -> None:
    """Recorded in a busy guest: `-D 3` gave 4 rows in 28 s, each with messages."""
    result = perftest("soft-roce-run-infinitely-01", None, ended_s=1006.0)
    assert (result.status, result.because) == (COMPLETE, "")
    spans = [(i.start_s, i.end_s) for i in result.intervals]
    assert spans == [(990, 993), (994, 997), (998, 1001)]


def test_a_race_may_be_tried_again_but_only_before_anything_was_sent() -> None:
    reply = recording("perftest", "soft-roce-ib-send-bw-15.txt").reply
    attempt = Attempt(client=reply, server=SERVER, running_s=None, ended_s=1.0, ended_by_us=False)
    tool = Perftest(verb="send", tos=0, port=18515)
    assert tool.may_retry(attempt)
    assert not tool.may_retry(replace(attempt, running_s=0.5))


# -- iperf3 -----------------------------------------------------------------------------------


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
    tcp = replace(tool, protocol="tcp", offered_bits_per_s=None, parallel=4, reverse=True)
    assert tcp.client_command(server, rdma=None).endswith("-S 0x60 -P 4 -R -J")
    assert tcp.server_is == "sender"
