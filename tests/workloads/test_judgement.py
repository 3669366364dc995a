"""What a whole run is judged to be, from recordings: exit status 0 alone proves nothing."""

from dataclasses import replace

import pytest
from traffic_recordings import blank, recording

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.transport.protocol import Reply
from labtests.workloads import Attempt, Perftest

COMPLETE, FAILED, INFRASTRUCTURE = FlowStatus.COMPLETE, FlowStatus.FAILED, FlowStatus.INFRASTRUCTURE
SERVER = Reply(device="ServerC", command="the server", text="")


def perftest(name: str, *, by_us: bool, ended_s: float = 1000.0) -> FlowResult:
    """The recorded client's run, which was ended by us or by itself."""
    reply = recording("perftest", f"{name}.txt").reply
    tool = Perftest(tos=0, port=18515, report_every_s=3)
    attempt = Attempt(
        client=reply,
        server=SERVER,
        running_s=990.0 if "#bytes" in reply.text else None,
        ended_s=ended_s,
        ended_by_us=by_us,
    )
    return tool.judge(blank(tool.name), attempt)


@pytest.mark.parametrize(
    ("name", "status", "because"),
    [
        ("soft-roce-error-01", INFRASTRUCTURE, "Unexpected CM event bl blka 8"),
        ("soft-roce-error-03", INFRASTRUCTURE, "Couldn't connect to 10.77.0.13:18515"),
        ("soft-roce-error-05", INFRASTRUCTURE, "IB device nosuch0 not found"),
        ("soft-roce-error-07", INFRASTRUCTURE, "Gid index should be between 0 and 64"),
        ("soft-roce-error-09", INFRASTRUCTURE, "rdma_resolve_addr failed"),
        ("soft-roce-error-11", INFRASTRUCTURE, "unrecognized option '--nosuch'"),
        ("soft-roce-error-17", INFRASTRUCTURE, "exit status 124"),
        ("soft-roce-error-21", FAILED, "it ended by itself"),
        ("soft-roce-error-25", FAILED, "Couldn't read remote address"),
        ("soft-roce-error-29", FAILED, "Killed"),
        ("soft-roce-error-33", FAILED, "it ended by itself"),
        ("soft-roce-error-39", FAILED, "it ended by itself"),
        ("soft-roce-error-51", FAILED, "REM_OP_ERR"),
        ("soft-roce-error-57", INFRASTRUCTURE, "Incompatibility issue with GID types"),
        ("soft-roce-error-61", FAILED, "0 iterations"),
        ("soft-roce-ib-send-bw-15", INFRASTRUCTURE, "RDMA_CM_EVENT_REJECTED; error: 8"),
        ("soft-roce-ib-send-bw-21", FAILED, "not as a row"),
        ("soft-roce-ib-write-bw-07", FAILED, "'RDMA_Write' test, not 'Send'"),
        ("soft-roce-incast-1-none-09", FAILED, "TOS 96, not 0"),
        ("soft-roce-run-infinitely-01", FAILED, "exit status 124 (ended by its time limit)"),
    ],
)
def test_a_recorded_run_of_perftest_is_what_it_proves(
    name: str, status: FlowStatus, because: str
) -> None:
    result = perftest(name, by_us=False)
    assert result.status is status
    assert because in result.because


@pytest.mark.parametrize("name", ["01", "03", "05", "07", "09"])
def test_an_endless_run_that_was_interrupted_keeps_its_rows(name: str) -> None:
    result = perftest(f"soft-roce-run-infinitely-{name}", by_us=True)
    assert result.status is COMPLETE
    assert [(i.start_s, i.end_s) for i in result.intervals] == [(990, 993), (993, 996), (996, 999)]
    assert result.goodput_bits_per_s == pytest.approx(
        sum(i.goodput_bits_per_s for i in result.intervals) / 3
    )


def test_a_tool_that_could_not_measure_its_clock_is_taken_at_its_messages() -> None:
    """It prints messages at a rate of 0, and `Correlation coefficient r^2` on stderr."""
    reply = recording("perftest", "soft-roce-no-cpu-clock.txt").reply
    tool = Perftest(tos=96, port=18515, report_every_s=3)  # its row: the middle 3 s of `-D 5`
    attempt = Attempt(client=reply, server=SERVER, running_s=990.0, ended_s=997.0, ended_by_us=True)
    result = tool.judge(blank(tool.name), attempt)
    assert (result.status, result.because, result.iterations) == (COMPLETE, "", 188)
    # its client on the other guest, whose clock could be measured, printed 0.032573 Gb/s
    assert result.goodput_bits_per_s == pytest.approx(0.032573e9, rel=0.01)


@pytest.mark.parametrize(
    ("messages", "because"),
    [
        ((5, 4, 5, 0), ""),
        ((5, 0, 0, 4, 0, 0, 0), ""),
        ((5, 4, 5, 0, 0), "last 2 report rows: it stalled"),
        ((0, 5, 0, 5, 0, 0, 0), "last 3 report rows: it stalled"),
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
    tool = Perftest(tos=0, port=18515, report_every_s=3)
    result = tool.judge(blank(tool.name), attempt)
    assert result.status is (FAILED if because else COMPLETE)
    assert because in result.because


def test_an_endless_run_whose_rows_stopped_has_failed() -> None:
    result = perftest("soft-roce-run-infinitely-01", by_us=True, ended_s=1020.0)
    assert result.status is FAILED
    assert "only 3 report rows where 4 were due" in result.because


def test_rows_that_take_the_tool_s_own_time_are_not_missing() -> None:
    """Recorded in a busy guest: `-D 3` gave 4 rows in 28 s, each with messages."""
    result = perftest("soft-roce-run-infinitely-01", by_us=True, ended_s=1006.0)
    assert (result.status, result.because) == (COMPLETE, "")
    spans = [(i.start_s, i.end_s) for i in result.intervals]
    assert spans == [(990, 993), (994, 997), (998, 1001)]


def test_a_table_of_several_message_sizes_has_no_mean_and_is_not_what_was_asked() -> None:
    reply = recording("perftest", "soft-roce-run-infinitely-01.txt").reply
    head = reply.text[: reply.text.index(" 65536")]
    table = " 2 9000000 0.000000 0.048000 3.000000\n 65536 30 0.000000 0.005243 0.000010\n"
    attempt = Attempt(
        client=replace(reply, text=head + table),
        server=SERVER,
        running_s=990.0,
        ended_s=996.0,
        ended_by_us=True,
    )
    tool = Perftest(tos=0, port=18515, report_every_s=3)
    result = tool.judge(blank(tool.name), attempt)
    assert result.goodput_bits_per_s is None
    assert result.status is FAILED
    assert "messages of [2, 65536] bytes" in result.because


def test_a_race_may_be_tried_again_but_only_before_anything_was_sent() -> None:
    reply = recording("perftest", "soft-roce-ib-send-bw-15.txt").reply
    attempt = Attempt(client=reply, server=SERVER, running_s=None, ended_s=1.0, ended_by_us=False)
    tool = Perftest(tos=0, port=18515)
    assert tool.may_retry(attempt)
    assert not tool.may_retry(replace(attempt, running_s=0.5))
